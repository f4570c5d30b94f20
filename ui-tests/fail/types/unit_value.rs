use sarek::prelude::*;

#[kernel]
fn wrong(out: &mut [f32]) {
    let i = global_idx_x();
    out[i] = if i > 3 {};
}

fn main() {}
