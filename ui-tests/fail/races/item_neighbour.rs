use sarek::prelude::*;

#[kernel]
fn wrong(#[item] x: u32, y: &mut [u32], #[item] out: &mut u32) {
    *out = x + y[item_id()];
    y[item_id() + 1] = 3;
}

fn main() {}
