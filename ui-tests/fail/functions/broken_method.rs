//! A method with an error, and callers of it: the error is reported once.

use sarek::prelude::*;

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Disc {
    radius: f32,
}

#[device]
impl Disc {
    fn area(&self) -> f32 {
        let radii = vec![self.radius];
        radii[0] * radii[0] * 3.0
    }

    fn twice(&self) -> f32 {
        self.area() * 2.0
    }
}

#[kernel]
fn areas(discs: &[Disc], out: &mut [f32]) {
    let i = global_idx_x();
    if i < discs.len() && i < out.len() {
        let disc: Disc = discs[i];
        out[i] = disc.area() + disc.twice();
    }
}

fn main() {}
