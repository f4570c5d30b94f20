use sarek::prelude::*;

#[kernel]
fn wrong(#[item] x: u32, #[item] out: &mut u32) {
    barrier();
    *out = x;
}

fn main() {}
