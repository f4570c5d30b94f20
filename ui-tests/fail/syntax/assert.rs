use sarek::prelude::*;

#[kernel]
fn wrong(out: &mut [f32]) {
    let i = global_idx_x();
    assert!(i < 100);
    out[i] = 1.0;
}

fn main() {}
