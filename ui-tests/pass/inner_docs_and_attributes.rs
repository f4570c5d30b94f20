//! Documentation, `allow`, `deprecated` and `cfg` on a kernel keep their meaning.
#![deny(warnings)]

use sarek::prelude::*;

/// Fills.
///
/// ```text
/// out[i] = 1
/// ```
#[kernel]
#[allow(non_snake_case)]
fn Fill(out: &mut [u32]) {
    // A comment.
    let I = global_idx_x();
    out[I] = 1;
}

#[cfg(any())]
#[kernel]
fn absent(out: &mut [u32]) {
    unknown();
}

fn main() -> sarek::Result<()> {
    let mut out = Vector::zeros(1);
    Fill(&mut out).over(1).run()?;
    assert_eq!(out.get(0)?, 1);
    Ok(())
}
