use sarek::prelude::*;

#[kernel]
fn wrong(x: &mut [u32]) {
    let i = global_idx_x();
    let other = i ^ 1;
    let a = x[i];
    x[i] = x[other];
    x[other] = a;
}

fn main() {}
