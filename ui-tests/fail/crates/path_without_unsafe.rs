use sarek::prelude::*;

mod elsewhere {
    pub use sarek;
}

#[derive(Clone, Copy, KernelType)]
#[kernel_type(crate = elsewhere::sarek)]
#[repr(C)]
struct Pair {
    a: u64,
    b: u32,
}

#[device(crate = elsewhere::sarek)]
fn sum(pair: Pair) -> u64 {
    pair.a + pair.b as u64
}

#[kernel(crate = elsewhere::sarek)]
fn sums(x: &[Pair], y: &mut [u64]) {
    let i = global_idx_x();
    y[i] = sum(x[i]);
}

fn main() {}
