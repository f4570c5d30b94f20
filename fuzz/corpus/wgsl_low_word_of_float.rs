// launch: seed=3 over=64,1,1 lens=64,64
use sarek::prelude::*;

#[kernel]
pub fn k(r0: &[u32], out1: &mut [u32]) {
    let i = global_idx_x();
    if i < out1.len() {
        let v = (r0[i] as i32) as u64;
        out1[i] = (v.wrapping_mul(v) as f32) as u64 as u32;
    }
}
