use sarek::prelude::*;

#[derive(Clone, Copy, Debug, KernelType)]
#[repr(C)]
struct Pair {
    a: f32,
    b: f32,
}

#[kernel]
fn show(pairs: &[Pair]) {
    println!("{:?}", pairs[global_idx_x()]);
}

fn main() {}
