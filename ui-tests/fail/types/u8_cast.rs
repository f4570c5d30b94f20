use sarek::prelude::*;

#[kernel]
fn wrong(x: &[u32], out: &mut [u32]) {
    let i = global_idx_x();
    out[i] = x[i] as u8 as u32;
}

fn main() {}
