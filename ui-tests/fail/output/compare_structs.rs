use sarek::prelude::*;

#[derive(Clone, Copy, Debug, PartialEq, KernelType)]
#[repr(C)]
struct Pair {
    a: f32,
    b: f32,
}

#[kernel]
fn compare(pairs: &[Pair]) {
    let i = global_idx_x();
    assert_eq!(pairs[i], pairs[0]);
}

fn main() {}
