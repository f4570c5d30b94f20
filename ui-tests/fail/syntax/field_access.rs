use sarek::prelude::*;

struct Point {
    x: f32,
}

const ORIGIN: Point = Point { x: 0.0 };

#[kernel]
fn wrong(out: &mut [f32]) {
    let i = global_idx_x();
    out[i] = ORIGIN.x;
}

fn main() {}
