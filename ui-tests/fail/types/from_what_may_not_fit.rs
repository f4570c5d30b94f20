use sarek::prelude::*;

#[kernel]
fn wrong(x: &[u32], out: &mut [u8]) {
    let i = global_idx_x();
    out[i] = u8::from(x[i]);
}

fn main() {}
