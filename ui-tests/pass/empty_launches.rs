//! Launches without work are fine: empty vectors, empty index spaces, and indices that no thread reaches.
#![deny(warnings)]

use sarek::prelude::*;

#[kernel]
fn first(x: &[f32], out: &mut [f32]) {
    let i = global_idx_x();
    out[i] = x[0];
}

fn main() -> sarek::Result<()> {
    let x = Vector::from_vec(Vec::<f32>::new());
    let mut out = Vector::from_vec(Vec::<f32>::new());
    first(&x, &mut out).over(0).run()?;
    first(&x, &mut out).grid(0).block(64).run()?;
    assert!(out.to_vec()?.is_empty());
    Ok(())
}
