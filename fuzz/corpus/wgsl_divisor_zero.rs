// launch: seed=1 over=4,1,1 lens=4
use sarek::prelude::*;

#[device]
pub fn g0(a: u32) -> u32 {
    if a == 7 { 8u32 % 0u32 } else { a / 3u32 }
}

#[kernel]
pub fn k(a0: u32, out1: &mut [u32]) {
    let i = global_idx_x();
    out1[i] = g0(a0 & 3);
}
