use sarek::prelude::*;

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Disc {
    r: f32,
}

impl Disc {
    fn area(self) -> f32 {
        self.r * self.r
    }
}

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Ring {
    outer: Disc,
}

#[kernel]
fn wrong(ring: Ring, out: &mut [f32]) {
    let i = global_idx_x();
    out[i] = ring.outer.area();
}

fn main() {}
