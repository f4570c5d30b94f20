use sarek::prelude::*;

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Entry {
    at: usize,
}

fn main() {}
