// launch: seed=5 grid=1,1,1 block=3,1,1 lens=512,38,510
use sarek::prelude::*;

#[kernel]
pub unsafe fn k(a0: i64, a1: i64, mut a2: i32, a3: i8, a4: bool, r0: &[u64], r1: &[u64], out2: &mut [i32]) {
}
