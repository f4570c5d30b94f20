use sarek::prelude::*;

#[kernel]
fn wrong(x: &[bf16], out: &mut [f32]) {
    let i = global_idx_x();
    out[i] += x[i];
}

fn main() {}
