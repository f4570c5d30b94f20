use sarek::prelude::*;

#[kernel]
fn wrong(out: &mut [f32]) {
    let i = global_idx_x();
    let double = |x: f32| 2.0 * x;
    out[i] = double(1.0);
}

fn main() {}
