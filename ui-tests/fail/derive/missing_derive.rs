use sarek::prelude::*;

#[derive(Clone, Copy)]
#[repr(C)]
struct Point {
    x: f32,
}

#[kernel]
fn wrong(points: &mut [Point]) {
    let i = global_idx_x();
    points[i].x = 1.0;
}

fn main() {}
