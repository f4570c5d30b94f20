use sarek::prelude::*;

#[kernel]
fn wrong((a, b): (f32, f32), out: &mut [f32]) {
    let i = global_idx_x();
    out[i] = a + b;
}

fn main() {}
