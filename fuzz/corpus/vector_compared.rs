// launch: seed=1 over=40,1,1 lens=40,40
use sarek::prelude::*;

#[kernel]
pub fn k(r0: &[u32], out1: &mut [u32]) {
    let i = global_idx_x();
    if i < out1.len() {
        let z = r0[i] & 3;
        out1[i] = (u32x4::new(9, 7 / z, z, z) != u32x4::splat(z)) as u32;
    }
}
