//! Wrong calls inside generic kernels.

use sarek::prelude::*;

#[device]
fn scaled<T: Float>(x: T, by: T) -> T {
    x * by
}

#[kernel]
fn few<T: Float>(out: &mut [T]) {
    let i = global_idx_x();
    out[i] = scaled(out[i]);
}

#[kernel]
fn ty<T: Float>(out: &mut [T], n: u32) {
    let i = global_idx_x();
    out[i] = scaled(out[i], n);
}

#[kernel]
fn many<T: Float>(out: &mut [T], n: u32) {
    let i = global_idx_x();
    out[i] = scaled(out[i], out[i], out[i]);
}

fn main() {}
