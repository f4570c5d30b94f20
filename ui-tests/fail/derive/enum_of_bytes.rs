use sarek::prelude::*;

#[derive(Clone, Copy, KernelType)]
#[repr(u8)]
enum Kind {
    A,
    B,
}

fn main() {}
