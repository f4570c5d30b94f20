//! A tail-recursive function, which becomes a loop on every device.
#![deny(warnings)]

use sarek::prelude::*;

#[device]
fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[device(inline = 6)]
fn fibonacci(n: u32) -> u32 {
    if n < 2 { n } else { fibonacci(n - 1) + fibonacci(n - 2) }
}

#[kernel]
fn both(x: &[u32], out: &mut [u32]) {
    let i = global_idx_x();
    out[i] = gcd(x[i], 12) + fibonacci(x[i] % 6);
}

fn main() -> sarek::Result<()> {
    let x = Vector::from_vec(vec![8, 9, 5]);
    let mut out = Vector::zeros(3);
    both(&x, &mut out).over(3).run()?;
    assert_eq!(out.to_vec()?, [4 + 1, 3 + 2, 1 + 5]);
    Ok(())
}
