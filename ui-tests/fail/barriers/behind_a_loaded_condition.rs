use sarek::prelude::*;

#[kernel(block = 64)]
fn wrong(x: &[u32], out: &mut [u32]) {
    let i = global_idx_x();
    let wanted = x[i] > 3;
    let mut left = 2;
    while left > 0 && wanted {
        barrier();
        left -= 1;
    }
    out[i] = left;
}

fn main() {}
