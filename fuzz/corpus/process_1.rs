// launch: seed=1 grid=1,1,1 block=3,1,1 lens=47,768,768
use sarek::prelude::*;

#[kernel]
pub unsafe fn k(mut a0: i8, mut a1: bool, a2: f32, r0: &[u32], out1: &mut [i32], near2: &mut [f32]) {
}
