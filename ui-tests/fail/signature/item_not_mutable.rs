use sarek::prelude::*;

#[kernel]
fn wrong(#[item] x: u32, #[item] out: &u32) {
    *out = x;
}

fn main() {}
