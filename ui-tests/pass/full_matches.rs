//! Matches that cover all values without a `_`.
#![deny(warnings)]

use sarek::prelude::*;

#[kernel]
fn classes(x: &[u8], flags: &[bool], out: &mut [u32]) {
    let i = global_idx_x();
    let class = match x[i] {
        0 => 0,
        1..=9 => 1,
        10 | 12 | 14 => 2,
        11..=255 => 3,
    };
    let flag = match flags[i] {
        true => 10,
        false => 20,
    };
    out[i] = match (class, flag > 10) {
        (c, true) => c,
        (c, false) => c + flag,
    };
}

fn main() -> sarek::Result<()> {
    let x = Vector::from_vec(vec![0u8, 9, 12, 255]);
    let flags = Vector::from_vec(vec![true, false, true, false]);
    let mut out = Vector::zeros(4);
    classes(&x, &flags, &mut out).over(4).run()?;
    assert_eq!(out.to_vec()?, [10, 1, 12, 3]);
    Ok(())
}
