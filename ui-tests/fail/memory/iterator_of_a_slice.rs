use sarek::prelude::*;

#[kernel]
fn wrong(x: &[f32], out: &mut [f32]) {
    let i = global_idx_x();
    out[i] = x.iter().copied().reduce(|a, b| a + b).unwrap_or(0.0);
}

fn main() {}
