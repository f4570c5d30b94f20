use sarek::prelude::*;

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Disc {
    r: f32,
}

impl Disc {
    fn grow(&mut self, by: f32) {
        self.r += by;
    }
}

#[kernel]
fn wrong(disc: Disc, out: &mut [f32]) {
    let i = global_idx_x();
    let mut disc = disc;
    disc.grow(1.0);
    out[i] = disc.r;
}

fn main() {}
