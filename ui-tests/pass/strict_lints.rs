//! Expansions cause no warnings under lints that users deny.
#![forbid(unsafe_code)]
#![deny(missing_docs, warnings)]
#![deny(clippy::all, clippy::pedantic, unreachable_pub, missing_debug_implementations)]

use sarek::prelude::*;

/// Doubles each element.
#[kernel]
pub fn double(x: &[f32], y: &mut [f32]) {
    let i = global_idx_x();
    if i < y.len() {
        y[i] = 2.0 * x[i];
    }
}

fn main() -> sarek::Result<()> {
    let x = Vector::from_vec(vec![1.0, 2.0]);
    let mut y = Vector::zeros(2);
    double(&x, &mut y).over(2).run()?;
    assert_eq!(y.to_vec()?, [2.0, 4.0]);
    Ok(())
}
