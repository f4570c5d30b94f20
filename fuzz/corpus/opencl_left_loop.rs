// launch: seed=1 grid=2,1,1 block=3,1,1 lens=10,6
use sarek::prelude::*;

#[kernel]
pub unsafe fn k(r0: &[u32], near1: &mut [f32]) {
    let m = r0[38] & 3;
    near1[global_idx_x()] = ('a: { m as f32 }).log10();
    barrier();
}
