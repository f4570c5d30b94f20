use sarek::prelude::*;

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Point {
    x: f32,
}

#[kernel]
fn wrong(points: &[Point], out: &mut [f32]) {
    let i = global_idx_x();
    out[i] = points[i].z;
}

fn main() {}
