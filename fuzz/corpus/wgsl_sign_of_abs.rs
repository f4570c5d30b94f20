// launch: seed=3003031 grid=3,1,1 block=1,1,1 lens=3
use sarek::prelude::*;

#[kernel]
pub unsafe fn k(mut a0: f32, out0: &mut [u32]) {
    let i = global_idx_x();
    let x = -((a0 - a0).max(-128.0).min(128.0));
    out0[i] = ((x * 1.0).floor() % 128.0).abs().to_bits();
}
