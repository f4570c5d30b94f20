//! Operators, casts and conditions on structs, which have none.

use sarek::prelude::*;

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Point {
    x: f32,
    mass: f32,
}

#[kernel]
fn added(p: &mut [Point], q: Point) {
    let i = global_idx_x();
    p[i] = p[i] + q;
    p[i] += q;
    p[i] = -q;
}

#[kernel]
fn compared(p: &[Point], q: Point, out: &mut [u32]) {
    let i = global_idx_x();
    if p[i] == q {
        out[i] = 1;
    }
    if q < p[i] {
        out[i] = 2;
    }
    if q {
        out[i] = 3;
    }
}

#[kernel]
fn cast(p: &[Point], out: &mut [f32]) {
    let i = global_idx_x();
    out[i] = p[i] as f32;
}

#[kernel]
fn of_any_type<T: sarek::Element>(p: &mut [T]) {
    let i = global_idx_x();
    p[i] += p[i];
    if p[i] == p[i] {
        p[i] = -p[i];
    }
}

fn main() {}
