//! Arithmetic that seems undefined, but is defined by the methods used.
#![deny(warnings)]

use sarek::prelude::*;

#[kernel]
fn edges(n: u32, out: &mut [i32]) {
    let i = global_idx_x();
    let most = i32::MAX;
    out[i] = match i {
        0 => most.wrapping_add(1),
        1 => most.saturating_add(1),
        2 => i32::MIN.wrapping_neg(),
        3 => i32::MIN.wrapping_abs(),
        4 => 1i32.wrapping_shl(n),
        5 => (-1i32) >> (n & 31),
        6 => (-7i32).rem_euclid(3),
        _ => -7 / 2,
    };
}

fn main() -> sarek::Result<()> {
    let mut out = Vector::zeros(8);
    edges(33, &mut out).over(8).run()?;
    let due = [i32::MIN, i32::MAX, i32::MIN, i32::MIN, 2, -1, 2, -3];
    assert_eq!(out.to_vec()?, due);
    Ok(())
}
