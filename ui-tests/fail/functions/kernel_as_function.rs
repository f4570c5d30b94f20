use sarek::prelude::*;

#[kernel]
fn inner(x: &[f32], out: &mut [f32]) {
    let i = global_idx_x();
    out[i] = x[i];
}

#[kernel]
unsafe fn outer(x: &[f32], out: &mut [f32]) {
    inner(x, out);
}

fn main() {}
