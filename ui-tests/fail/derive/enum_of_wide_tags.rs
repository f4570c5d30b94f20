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
fn number(y: &mut [Point], n: &mut [u32]) {
    n[0] = y[0] as u32;
}

fn main() {}
