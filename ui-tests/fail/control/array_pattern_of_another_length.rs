use sarek::prelude::*;

#[kernel]
fn k(x: &[f32], y: &mut [f32]) {
    let i = global_idx_x();
    let three = [x[i], 1.0, 2.0];
    let [a, b] = three;
    y[i] = match [a, b] {
        [a, _, ..] => a,
    };
}

fn main() {}
