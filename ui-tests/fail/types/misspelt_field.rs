use sarek::prelude::*;

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Point {
    x: f32,
    mass: f32,
}

#[kernel]
fn literal(p: &mut [Point]) {
    let i = global_idx_x();
    p[i] = Point { x: 1.0, mas: 2.0 };
}

#[kernel]
fn store(p: &mut [Point]) {
    let i = global_idx_x();
    p[i].mas = 2.0;
}

#[kernel]
fn local(p: &mut [Point]) {
    let i = global_idx_x();
    let mut q = p[i];
    q.mas = 3.0;
    p[i] = q;
}

#[kernel]
fn read(p: &[Point], out: &mut [f32]) {
    let i = global_idx_x();
    let q = p[i];
    out[i] = q.mas;
}

#[kernel]
fn pattern(p: &[Point], out: &mut [f32]) {
    let i = global_idx_x();
    let Point { x, mas } = p[i];
    out[i] = x + mas;
}

fn main() {}
