use sarek::prelude::*;

#[kernel]
fn wrong(out: &mut [f32]) {
    let i = global_idx_x();
    for x in 0.0..1.0 {}
    out[i] = 1.0;
}

fn main() {}
