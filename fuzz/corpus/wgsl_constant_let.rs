// launch: seed=1132 over=1,1,1 lens=2,8,4,1
use sarek::prelude::*;

#[kernel]
pub fn k(a0: f64, r0: &[f32], r1: &[i32], r2: &[i64], out3: &mut [f32]) {
    let mut v1 = r0['v2: {
        if 'v3: {
            let v28: i64 = 9223372036854775805i64;
            let v34 = 0usize; 'v33: for v35 in v34..v34 + ((0usize >> v28) & 3) {
            }
        false } { break 'v2 0usize; }
    0usize }.clamp(36, 262)];
}
