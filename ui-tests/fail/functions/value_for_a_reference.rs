use sarek::prelude::*;

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Disc {
    r: f32,
    h: f32,
}
#[device]
fn of(d: &Disc) -> f32 {
    d.r
}

#[kernel]
fn wrong(x: &[f32], y: &mut [f32]) {
    let i = global_idx_x();
    let d = Disc { r: x[i], h: 1.0 };
    y[i] = of(d);
}

fn main() {}
