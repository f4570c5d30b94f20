use sarek::prelude::*;

#[device]
fn measure(ref a: (f32, f32)) -> f32 {
    a.0 * a.1
}

#[kernel]
fn calls(out: &mut [f32]) {
    let i = global_idx_x();
    let pair: (f32, f32) = (1.0, 2.0);
    let x = measure(pair);
    out[i] = x + 1.0;
}

fn main() {}
