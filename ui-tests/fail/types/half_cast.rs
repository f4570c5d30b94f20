use sarek::prelude::*;

#[kernel]
fn wrong(x: &[f32], out: &mut [f16]) {
    let i = global_idx_x();
    out[i] = x[i] as f16;
}

fn main() {}
