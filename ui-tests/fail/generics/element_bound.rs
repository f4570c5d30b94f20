use sarek::prelude::*;

#[kernel]
fn wrong<T: Copy>(x: &[T], out: &mut [T]) {
    let i = global_idx_x();
    out[i] = x[i];
}

fn main() {}
