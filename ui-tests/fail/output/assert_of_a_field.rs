//! Assertions on fields that are not conditions, or have different types.
use sarek::prelude::*;

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Disc {
    r: f32,
    n: u32,
}

#[kernel]
fn asserted(disc: Disc, out: &mut [f32]) {
    let i = global_idx_x();
    assert!(disc.r);
    out[i] = 1.0;
}

#[kernel]
fn asserted_with_a_message(disc: Disc, out: &mut [f32]) {
    let i = global_idx_x();
    debug_assert!(disc.n, "n");
    out[i] = 1.0;
}

#[kernel]
fn compared(disc: Disc, out: &mut [f32]) {
    let i = global_idx_x();
    assert_eq!(disc.r, disc.n);
    out[i] = 1.0;
}

#[kernel]
fn compared_with_a_literal(disc: Disc, out: &mut [f32]) {
    let i = global_idx_x();
    assert_eq!(disc.r, 1u32);
    out[i] = 1.0;
}

fn main() {}
