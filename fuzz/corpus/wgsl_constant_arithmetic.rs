// launch: seed=1 over=4,1,1 lens=4
use sarek::prelude::*;

#[kernel]
pub fn k(out1: &mut [i32]) {
    let i = global_idx_x();
    let v = 2147483647i32;
    let w = v + 1;
    let f = 1e30f32;
    out1[i] = w + (f * f > 1.0) as i32;
}
