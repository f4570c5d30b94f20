use sarek::prelude::*;

#[device]
fn factorial(n: u32) -> u32 {
    if n < 2 { 1 } else { n * factorial(n - 1) }
}

#[kernel]
fn wrong(out: &mut [u32]) {
    let i = global_idx_x();
    out[i] = factorial(5);
}

fn main() {}
