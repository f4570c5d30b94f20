use sarek::prelude::*;

#[kernel]
fn wrong(#[items] x: u32, #[item] out: &mut u32) {
    *out = x;
}

fn main() {}
