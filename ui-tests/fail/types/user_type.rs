use sarek::prelude::*;

#[derive(Clone, Copy)]
struct Point;

#[kernel]
fn wrong(p: Point, out: &mut [f32]) {
    let i = global_idx_x();
    out[i] = 1.0;
}

fn main() {}
