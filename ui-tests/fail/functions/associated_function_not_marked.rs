use sarek::prelude::*;

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Disc {
    r: f32,
}

impl Disc {
    fn new(r: f32) -> Disc {
        Disc { r }
    }
}

#[kernel]
fn wrong(out: &mut [f32]) {
    let i = global_idx_x();
    let disc = Disc::new(1.0);
    out[i] = disc.r;
}

fn main() {}
