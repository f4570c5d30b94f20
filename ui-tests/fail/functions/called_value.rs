use sarek::prelude::*;

#[kernel]
fn wrong(y: &mut [f32]) {
    y[global_idx_x()] = (f32::abs)(-1.0);
}

fn main() {}
