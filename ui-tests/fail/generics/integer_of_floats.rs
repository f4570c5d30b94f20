use sarek::prelude::*;

#[device]
fn halved<T: Int>(x: T) -> T {
    x >> 1
}

#[kernel]
fn wrong(x: &mut [f32]) {
    let i = global_idx_x();
    x[i] = halved(x[i]);
}

fn main() {}
