// launch: seed=3 over=64,1,1 lens=64,64
use sarek::prelude::*;

#[kernel]
pub fn k(r0: &[u32], out1: &mut [u32]) {
    let i = global_idx_x();
    let mut rows = [[1u32; 3]; 2];
    rows[r0[i] as usize % 2][(rows[1][0] as usize) % 3] = r0[i];
    out1[i] = rows[0][1] ^ rows[1][1];
}
