use sarek::prelude::*;

#[kernel]
fn wrong(w: usize, h: usize, out: &mut [f32]) {
    let x = global_idx_x();
    let y = global_idx_y();
    if x < w && y < h {
        out[y * w + x] = 1.0;
        out[x * h + y] = 2.0;
    }
}

fn main() {}
