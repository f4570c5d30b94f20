use sarek::prelude::*;

#[kernel(unsafe(block = 64))]
fn ones(y: &mut [u64]) {
    let i = global_idx_x();
    y[i] = 1;
}

#[kernel(unsafe(crate = sarek, block = 64))]
fn twos(y: &mut [u64]) {
    let i = global_idx_x();
    y[i] = 2;
}

fn main() {}
