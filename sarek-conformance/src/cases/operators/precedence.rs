//! Rust's precedence and associativity, where C differs or parentheses are easily lost.

use crate::Case;
use crate::check::{Check, Expected, binary};
use crate::input::Random;
use sarek::prelude::*;

pub const CASES: &[Case] = &[Case::new("operators/precedence", &[], run)];

#[kernel]
#[allow(clippy::precedence)]
fn precedence(a: &[i32], b: &[i32], out: &mut [i32]) {
    let i = global_idx_x();
    let x = a[i];
    let y = b[i];
    // In C, `&` binds looser than `==`.
    out[12 * i] = (x & y == 0) as i32;
    out[12 * i + 1] = (x ^ y != x | y) as i32;
    out[12 * i + 2] = x - (y - 3);
    out[12 * i + 3] = x - y - 3;
    out[12 * i + 4] = x << 1 + 1;
    out[12 * i + 5] = -x.wrapping_add(1);
    out[12 * i + 6] = (-x).wrapping_add(1);
    out[12 * i + 7] = !x as u32 as i32;
    out[12 * i + 8] = -(-x);
    out[12 * i + 9] = x * (y / 7);
    out[12 * i + 10] = (x + y) * -2;
    out[12 * i + 11] = x - -y;
}

fn run(device: &Device) -> Check {
    let mut random = Random::new(35);
    let mut small = || random.below(2000) as i32 - 1000;
    let inputs: Vec<(i32, i32)> = (0..200).map(|_| (small(), small())).collect();
    binary(
        [
            "&==", "^!=|", "-(-)", "--", "<<+", "-m", "(-)m", "!as", "-(-x)", "*(/)", "(+)*-",
            "- -",
        ],
        &inputs,
        |a, b, out, n| precedence(a, b, out).over(n).run_on(device),
        |x, y| {
            let (and, or, xor) = (i32::min(x & y, x & y), x | y, x ^ y);
            [
                i32::from(and == 0),
                i32::from(xor != or),
                x + 3 - y,
                x - (y + 3),
                x * 4,
                -(x + 1),
                1 - x,
                -1 - x,
                x,
                (y / 7) * x,
                -2 * x - 2 * y,
                y + x,
            ]
            .map(Expected::Exactly)
        },
    )
}
