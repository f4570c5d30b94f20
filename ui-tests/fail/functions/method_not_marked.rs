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

#[kernel]
fn wrong(disc: Disc, out: &mut [f32]) {
    let i = global_idx_x();
    let area = disc.area();
    out[i] = area + 1.0;
}

fn main() {}
