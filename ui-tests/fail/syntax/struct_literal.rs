use sarek::prelude::*;

struct Point {
    x: f32,
}

#[kernel]
fn wrong(out: &mut [f32]) {
    let i = global_idx_x();
    let p = Point { x: 1.0 };
    out[i] = 1.0;
}

fn main() {}
