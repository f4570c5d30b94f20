use sarek::prelude::*;

const N: usize = 4;

#[kernel]
fn k(x: &[f32], y: &mut [f32]) {
    let i = global_idx_x();
    let row = [x[i]; N];
    let [first, rest @ ..] = row;
    let [second, none @ ..] = [first];
    y[i] = rest[0] + second;
}

fn main() {}
