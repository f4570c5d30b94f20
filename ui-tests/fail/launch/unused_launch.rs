#![deny(unused_must_use)]

use sarek::prelude::*;

#[kernel]
fn scale(by: f32, x: &[f32], out: &mut [f32]) {
    let i = global_idx_x();
    out[i] = by * x[i];
}

fn main() -> sarek::Result<()> {
    let x = Vector::from_vec(vec![1.0f32; 4]);
    let mut out = Vector::<f32>::zeros(4);
    let _ = &mut out;
    scale(2.0, &x, &mut out).over(4);
    Ok(())
}
