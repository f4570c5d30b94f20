use sarek::prelude::*;

#[kernel]
fn wrong(x: &[f32], out: &mut [f32]) {
    let i = global_idx_x();
    let sum = 0.0;
    for k in 0..4 {
        sum += x[k];
    }
    out[i] = sum;
}

fn main() {}
