use sarek::prelude::*;

#[kernel]
fn wrong(out: &mut [f32]) {
    let i = global_idx_x();
    out[i / 2] = 1.0;
}

fn main() {}
