use sarek::prelude::*;

#[kernel]
fn wrong(x: &mut [f32]) {
    let i = global_idx_x();
    let y: f32 = if x[i] > 0.0 { 1 } else { 0 };
    x[i] = y;
}

fn main() {}
