use sarek::prelude::*;

#[kernel(strict)]
fn wrong<T: Float>(x: &[T], out: &mut [T]) {
    let i = global_idx_x();
    out[i] = x[i].max(x[0]);
}

fn main() {}
