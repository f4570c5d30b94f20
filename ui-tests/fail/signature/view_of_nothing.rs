use sarek::prelude::*;

#[kernel]
fn wrong(x: View2, y: View3<usize>, out: &mut [f32]) {
    out[global_idx_x()] = 1.0;
}

fn main() {}
