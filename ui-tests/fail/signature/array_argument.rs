use sarek::prelude::*;

#[kernel]
fn wrong(x: &mut [f32; 16]) {
    let i = global_idx_x();
    x[i] = 1.0;
}

fn main() {}
