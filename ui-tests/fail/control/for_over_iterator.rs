use sarek::prelude::*;

#[kernel]
fn wrong(x: &[f32], out: &mut [f32]) {
    let i = global_idx_x();
    let mut sum = 0.0f32;
    for v in x.iter().cycle() {
        sum += v;
    }
    out[i] = sum;
}

fn main() {}
