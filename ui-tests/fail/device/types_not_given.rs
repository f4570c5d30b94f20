use sarek::prelude::*;

#[device]
fn double<T: Num>(x: T) -> T {
    x + x
}

#[kernel]
fn wrong(x: &[f32], out: &mut [f32]) {
    let i = global_idx_x();
    out[i] = double(x[i]);
}

fn main() {}
