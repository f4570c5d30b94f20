use sarek::prelude::*;

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Reading {
    value: i32,
}

#[kernel]
fn wrong(x: &[Reading], out: &mut [u64]) {
    let i = global_idx_x();
    out[i] = u64::from(x[i].value);
}

fn main() {}
