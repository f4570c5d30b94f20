use sarek::prelude::*;

#[kernel]
fn wrong(x: &[f32], out: &mut [f32]) {
    let i = global_idx_x();
    let mut sum = 0.0f32;
    for v in x.chunks(2) {
        sum += v[0];
    }
    out[i] = sum;
}

fn main() {}
