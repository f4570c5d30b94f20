use sarek::prelude::*;

#[kernel]
fn wrong(out: &mut [f32]) {
    let i = global_idx_x();
    let j = i else { return };
    out[j] = 1.0;
}

fn main() {}
