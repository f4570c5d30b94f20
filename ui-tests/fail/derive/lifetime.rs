use sarek::prelude::*;

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Borrowed<'a> {
    x: &'a f32,
}

fn main() {}
