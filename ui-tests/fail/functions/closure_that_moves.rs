use sarek::prelude::*;

#[kernel]
fn double(x: &mut [f32]) {
    let f = move |v: f32| 2.0 * v;
    let i = global_idx_x();
    x[i] = f(x[i]);
}

fn main() {}
