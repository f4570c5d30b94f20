use sarek::prelude::*;

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Pair {
    low: u32,
    high: u32,
}

#[kernel]
fn wrong(out: &mut [u32]) {
    let i = global_idx_x();
    let pair = Pair { low: 1, high: 2 };
    println!("{:?}", pair);
    out[i] = pair.low + pair.high;
}

fn main() {}
