// launch: seed=2 over=1,1,1 lens=68,24,32,42,14,7
use sarek::prelude::*;

#[kernel]
pub unsafe fn k(r0: &[i32], r1: &[u32], r2: &[i32], wild3: &[f32], out4: &mut [u32], near5: &mut [f32]) {
}
