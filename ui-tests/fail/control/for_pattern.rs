use sarek::prelude::*;

#[kernel]
fn wrong(out: &mut [f32]) {
    let i = global_idx_x();
    for (a, b) in 0..4usize {}
    out[i] = 1.0;
}

fn main() {}
