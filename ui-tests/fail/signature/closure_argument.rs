use sarek::prelude::*;

#[kernel]
fn wrong(f: impl Fn(f32) -> f32, x: &mut [f32]) {
    let i = global_idx_x();
    x[i] = f(1.0);
}

fn main() {}
