use sarek::prelude::*;

#[kernel]
fn wrong(x: &[f32], out: &mut [bf16]) {
    let i = global_idx_x();
    out[i] = x[i] as bf16;
}

fn main() {}
