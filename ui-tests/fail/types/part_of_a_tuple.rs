use sarek::prelude::*;

#[kernel]
fn part(y: &mut [f32]) {
    let pair = (1.0f32, 2.0f32);
    y[global_idx_x()] = pair.2;
}

fn main() {}
