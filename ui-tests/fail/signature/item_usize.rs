use sarek::prelude::*;

#[kernel]
fn wrong(#[item] x: usize, #[item] out: &mut u32) {
    *out = x as u32;
}

fn main() {}
