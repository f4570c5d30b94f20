#![forbid(unsafe_code)]
use sarek::prelude::*;

mod elsewhere {
    pub use sarek;
}

#[derive(Clone, Copy, KernelType)]
#[kernel_type(unsafe(crate = elsewhere::sarek))]
#[repr(C)]
struct Pair {
    a: u64,
    b: u32,
}

#[kernel(unsafe(crate = elsewhere::sarek))]
fn firsts(x: &[Pair], y: &mut [u64]) {
    let i = global_idx_x();
    y[i] = x[i].a;
}

fn main() {}
