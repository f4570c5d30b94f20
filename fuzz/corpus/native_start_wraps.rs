// launch: seed=1 grid=2,1,1 block=32,1,1 lens=50,64
use sarek::prelude::*;

#[kernel]
pub unsafe fn k(r0: &[u32], out0: &mut [u32]) {
    let mut sum = 1u32;
    let mut at = usize::MAX - 9 + thread_idx_x();
    while at < r0.len() {
        sum = sum * 3 + r0[at] % 7;
        at += 128;
    }
    out0[global_idx_x()] = sum;
}
