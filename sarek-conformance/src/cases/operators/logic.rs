//! `&& || ! & | ^` of `bool`, and casts of `bool`.

use crate::Case;
use crate::check::{Check, Expected, binary};
use sarek::prelude::*;

pub const CASES: &[Case] = &[Case::new("operators/logic", &[], run)];

#[kernel]
fn logic(a: &[u32], b: &[u32], out: &mut [u32]) {
    let i = global_idx_x();
    let p = a[i] != 0;
    let q = b[i] != 0;
    out[8 * i] = (p && q) as u32;
    out[8 * i + 1] = (p || q) as u32;
    out[8 * i + 2] = !p as u32;
    out[8 * i + 3] = (p & q) as u32;
    out[8 * i + 4] = (p | q) as u32;
    out[8 * i + 5] = (p ^ q) as u32;
    let mut r = p;
    r ^= q;
    r |= p;
    r &= !q;
    out[8 * i + 6] = r as u32;
    out[8 * i + 7] = (!p || !q && p != q) as u32;
}

fn run(device: &Device) -> Check {
    binary(
        ["&&", "||", "!", "&", "|", "^", "compound", "mixed"],
        &[(0, 0), (0, 1), (1, 0), (1, 1), (7, 0), (u32::MAX, 2)],
        |a, b, out, n| logic(a, b, out).over(n).run_on(device),
        |a, b| {
            // Truth tables, indexed by `2 p + q`.
            let row = usize::from(a != 0) * 2 + usize::from(b != 0);
            let tables = [
                [0, 0, 0, 1],
                [0, 1, 1, 1],
                [1, 1, 0, 0],
                [0, 0, 0, 1],
                [0, 1, 1, 1],
                [0, 1, 1, 0],
                [0, 0, 1, 0],
                [1, 1, 1, 0],
            ];
            tables.map(|table| Expected::Exactly(table[row]))
        },
    )
}
