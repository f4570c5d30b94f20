// launch: seed=45000883 grid=1,1,1 block=3,1,1 lens=18 for=host
use sarek::prelude::*;

#[kernel]
pub unsafe fn k(out2: &mut [i32]) {
    let i = global_idx_x();
    out2[i * 3 + 2] = subgroup_broadcast(out2[i * 3], 5);
}
