use sarek::prelude::*;

#[kernel]
fn wrong(input: &[f32], out: &mut [f32]) {
    let i = global_idx_x();
    out[i] = inptu[i] * 2.0;
}

fn main() {}
