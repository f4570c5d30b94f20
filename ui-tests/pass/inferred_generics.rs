use sarek::prelude::*;

#[device]
fn double<T: Num>(x: T) -> T {
    x + x
}

#[device]
fn zero<T: Num>() -> T {
    T::ZERO
}

#[kernel]
fn doubles(x: &[f32], out: &mut [f32]) {
    let i = global_idx_x();
    let start: f32 = zero();
    out[i] = double(x[i]) + double(1.0) + start;
}

fn main() {}
