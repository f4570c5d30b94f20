use sarek::prelude::*;

#[kernel]
fn wrong(#[item] x: &[u32], #[item] out: &mut u32) {
    *out = x[0];
}

fn main() {}
