use sarek::prelude::*;

fn square(x: f32) -> f32 {
    x * x
}

#[kernel]
fn wrong(x: &[f32], out: &mut [f32]) {
    let i = global_idx_x();
    let y = square(square(x[i])).max(1.0);
    if y > 2.0 {
        out[i] = y;
    }
}

fn main() {}
