//! A struct and an enum that do not exist, in literals and patterns.

use sarek::prelude::*;

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Point {
    x: f32,
    mass: f32,
}

#[derive(Clone, Copy, KernelType)]
#[repr(C, u32)]
enum Op {
    Add,
    Scale(f32),
}

#[kernel]
fn made(p: &mut [Point]) {
    let i = global_idx_x();
    p[i] = Piont { x: 1.0, mass: 2.0 };
}

#[kernel]
fn taken_apart(p: &[Point], out: &mut [f32]) {
    let i = global_idx_x();
    let Piont { x, mass } = p[i];
    out[i] = x + mass;
}

#[kernel]
fn matched(ops: &[Op], out: &mut [f32]) {
    let i = global_idx_x();
    out[i] = match ops[i] {
        Opp::Add => 0.0,
        Opp::Scale(x) => x,
    };
}

fn main() {}
