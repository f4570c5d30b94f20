use sarek::prelude::*;

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
union Either {
    a: f32,
    b: u32,
}

fn main() {}
