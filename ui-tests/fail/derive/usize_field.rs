use sarek::prelude::*;

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Entry {
    at: usize,
}

#[kernel]
fn fill(y: &mut [Entry]) {
    y[global_idx_x()] = Entry { at: 1 };
}

fn main() {}
