// launch: seed=1 over=9,1,1 lens=9,9
use sarek::prelude::*;

#[kernel]
pub fn k(r0: &[i32], out1: &mut [i32]) {
    let i = global_idx_x();
    let mut v = i32x4::splat(r0[i]);
    v ^= i32x4::new(1, 2, 3, 4);
    v |= i32x4::splat(8);
    v &= v.wzyx() ^ 77;
    out1[i] = v.x + v.y + v.z + v.w;
}
