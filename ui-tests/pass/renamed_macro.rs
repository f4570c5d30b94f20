//! The attribute under another name, and without the prelude.
#![deny(warnings)]

use sarek::kernel as k;
use sarek::{Vector, global_idx_x};

#[k]
fn fill(out: &mut [u32]) {
    let i = global_idx_x();
    out[i] = 1;
}

#[sarek::kernel]
fn fill_by_path(out: &mut [u32]) {
    let i = sarek::global_idx_x();
    out[i] = 2;
}

fn main() -> sarek::Result<()> {
    let mut out = Vector::zeros(2);
    fill(&mut out).over(2).run()?;
    fill_by_path(&mut out).over(1).run()?;
    assert_eq!(out.to_vec()?, [2, 1]);
    Ok(())
}
