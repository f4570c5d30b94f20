use sarek::prelude::*;

#[kernel]
fn wrong(x: View2<f32>, out: &mut [f32]) {
    let y = x;
    out[global_idx_x()] = x.len() as f32;
}

fn main() {}
