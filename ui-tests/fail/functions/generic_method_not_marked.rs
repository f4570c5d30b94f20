use sarek::prelude::*;

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Disc {
    r: f32,
}

impl Disc {
    fn scaled<T: Float>(self, by: T) -> T {
        by
    }
}

#[kernel]
fn wrong(disc: Disc, out: &mut [f32]) {
    let i = global_idx_x();
    out[i] = disc.scaled::<f32>(2.0);
}

fn main() {}
