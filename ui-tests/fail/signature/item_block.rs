use sarek::prelude::*;

#[kernel(block = 64)]
fn wrong(#[item] x: u32, #[item] out: &mut u32) {
    *out = x;
}

fn main() {}
