use sarek::prelude::*;

#[derive(Clone, Copy, KernelType)]
#[repr(u128)]
enum Kind {
    A,
    B,
}

#[derive(Clone, Copy, KernelType)]
enum Far {
    A = 1 << 40,
    B,
}

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Point {
    x: f32,
}

#[kernel]
fn number(x: &[Point], y: &mut [u32]) {
    let i = global_idx_x();
    y[i] = x[i] as u32;
}

fn main() {}
