use sarek::prelude::*;

#[kernel]
fn wrong(width: usize, out: &mut [f32]) {
    let x = global_idx_x();
    let y = global_idx_y();
    out[y * width + x] = 1.0;
}

fn main() {}
