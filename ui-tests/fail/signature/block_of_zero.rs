use sarek::prelude::*;

#[kernel(block = 0)]
fn wrong(out: &mut [f32]) {
    let i = global_idx_x();
    out[i] = 1.0;
}

fn main() {}
