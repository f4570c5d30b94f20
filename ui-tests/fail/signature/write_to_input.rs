use sarek::prelude::*;

#[kernel]
fn wrong(x: &[f32], out: &mut [f32]) {
    let i = global_idx_x();
    x[i] = 1.0;
    out[i] = 1.0;
}

fn main() {}
