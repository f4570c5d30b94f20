use sarek::prelude::*;

#[kernel]
fn wrong(x: &[u8], y: &[u16], out: &mut [u16]) {
    let i = global_idx_x();
    out[i] = x[i] + y[i];
}

fn main() {}
