use sarek::prelude::*;

#[kernel]
fn wrong(x: i128, out: &mut [f32]) {
    let i = global_idx_x();
    out[i] = 1.0;
}

fn main() {}
