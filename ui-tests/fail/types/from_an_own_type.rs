use sarek::prelude::*;

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Meters {
    value: u32,
}

impl From<Meters> for u64 {
    fn from(of: Meters) -> u64 {
        of.value.into()
    }
}

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Reading {
    far: Meters,
}

#[kernel]
fn wrong(x: &[Reading], out: &mut [u64]) {
    let i = global_idx_x();
    out[i] = u64::from(x[i].far);
}

fn main() {}
