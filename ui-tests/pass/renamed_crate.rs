//! The crate under another name.
#![deny(warnings)]

pub extern crate sarek as renamed;

mod elsewhere {
    pub use renamed as inner;
}

use elsewhere::inner::prelude::*;

#[kernel(unsafe(crate = crate::elsewhere::inner))]
fn fill(out: &mut [u32]) {
    let i = global_idx_x();
    out[i] = 1;
}

fn main() -> renamed::Result<()> {
    let mut out = Vector::zeros(2);
    fill(&mut out).over(2).run()?;
    assert_eq!(out.to_vec()?, [1, 1]);
    Ok(())
}
