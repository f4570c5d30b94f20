// launch: seed=3 over=1,1,1 lens=65,39,54,64,64
use sarek::prelude::*;

#[kernel]
pub fn k(a0: u16, r0: &[i32], r1: &[u32], r2: &[f32], out3: &mut [i32], near4: &mut [f32]) {
}
