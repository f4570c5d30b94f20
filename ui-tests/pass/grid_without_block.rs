//! A number of blocks is enough to run: the device picks their size.
#![deny(warnings)]

use sarek::prelude::*;

#[kernel]
fn scale(by: f32, x: &[f32], out: &mut [f32]) {
    let i = global_idx_x();
    if i < x.len() {
        out[i] = by * x[i];
    }
}

fn main() -> sarek::Result<()> {
    let x = Vector::from_vec(vec![1.0f32; 4]);
    let mut out = Vector::<f32>::zeros(4);
    scale(2.0, &x, &mut out).grid(1).run()?;
    for device in Device::all() {
        scale(2.0, &x, &mut out).grid((1, 1)).run_on(&device)?;
        let event = scale(2.0, &x, &mut out).grid(2).enqueue(&device.stream())?;
        event.sync()?;
        assert!(scale(2.0, &x, &mut out).grid(2).ready().explain().contains("scale"));
    }
    assert_eq!(out.to_vec()?, [2.0; 4]);
    Ok(())
}
