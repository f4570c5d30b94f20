use sarek::prelude::*;

#[kernel]
fn wrong(x: View2<f32>, y: &mut [f32]) {
    let i = global_idx_x();
    y[i] = x[i] + x[[i]];
}

fn main() {}
