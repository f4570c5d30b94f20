use sarek::prelude::*;

#[device]
fn measure((a, b): (f32, f32)) -> f32 {
    a * b
}

#[kernel]
fn calls(out: &mut [f32]) {
    let i = global_idx_x();
    let pair: (f32, f32) = (1.0, 2.0);
    let x = measure(pair);
    out[i] = x + 1.0;
}

fn main() {}
