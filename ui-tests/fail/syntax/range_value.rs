use sarek::prelude::*;

#[kernel]
fn wrong(out: &mut [f32]) {
    let i = global_idx_x();
    let r = 0..4;
    out[i] = 1.0;
}

fn main() {}
