// launch: seed=1 over=7,1,1 lens=7
use sarek::prelude::*;

#[kernel]
pub fn k(out0: &mut [i32]) {
    let i = global_idx_x();
    let mut a = [250u8; 2];
    let mut b = [[-3i16, 7], [40, 11]];
    a[i % 2] += i as u8 * 3;
    b[i % 2][1] -= a[1] as i16;
    out0[i] = a[i % 2] as i32 * 1000 + b[i % 2][i % 2] as i32;
}
