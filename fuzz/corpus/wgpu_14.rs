// launch: seed=14 over=1,1,1 lens=43,40,40
use sarek::prelude::*;

#[kernel]
unsafe fn k(a0: bool, a1: usize, r0: &[i64], out1: &mut [i64], out2: &mut [i32]) {
    let mut v25 = 0i32;
    if (r0[0usize.swap_bytes()] < 0i64) {
        if false {
        } else if (0u32 <= {
            v25 &= (0i32 >> block_dim_y());
        0u32 }) {
        } else {
        }
    }
}
