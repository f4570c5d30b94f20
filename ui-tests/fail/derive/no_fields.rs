use sarek::prelude::*;

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Nothing {}

#[kernel]
fn fill(y: &mut [Nothing]) {
    y[global_idx_x()] = Nothing {};
}

fn main() {}
