// launch: seed=1 grid=2,1,1 block=64,1,1 lens=128
use sarek::prelude::*;

#[kernel]
pub unsafe fn k(out0: &mut [u32]) {
    let i = global_idx_x();
    let low = i as u32;
    let tile = shared_array::<u32, 256>();
    barrier();
    let value = low & 127;
    let mut k = thread_idx_x();
    while k < tile.len() {
        tile[k] = value + k as u32;
        k += block_dim_x();
    }
    barrier();
    out0[i] = tile[255 - thread_idx_x()] + low;
}
