use sarek::prelude::*;

#[kernel]
fn wrong(x: &[f32], y: &mut [f32]) {
    let i = global_idx_x();
    if y[i] = 1.0 {
        y[i] = 2.0;
    }
}

fn main() {}
