use sarek::prelude::*;

#[kernel]
fn fill(y: &mut [u32]) {
    for k in 0..4u32 {
        y[global_idx_x()] = k;
        k
    }
}

fn main() {}
