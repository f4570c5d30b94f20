// launch: seed=12 over=1,1,1 lens=28,32
use sarek::prelude::*;

#[kernel]
pub fn k(r0: &[i32], out1: &mut [i32]) {
    let mut v1 = r0[0usize];
    let mut v5 = 1.0f32;
    v5 += (((if true {
        v5 = 'v47: {
            v1 = (0i32 << block_dim_z());
        0.0f32 };
        let v65: usize; if false { v65 = 0usize; } else { v65 = (0.0f32 as usize); }
    514usize } else { 1usize }) & 127) as f32); v5 = v5.clamp(-128.0, 128.0);
}
