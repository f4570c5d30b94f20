use sarek::prelude::*;

#[kernel]
fn wrong(out: &mut [u8]) {
    let i = global_idx_x();
    let mut sum = 0u8;
    for k in 0..=255 {
        sum ^= k;
    }
    out[i] = sum;
}

fn main() {}
