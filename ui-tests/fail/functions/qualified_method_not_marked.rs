use sarek::prelude::*;

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Disc {
    r: f32,
}

trait Shape {
    fn area(&self) -> f32;
}

impl Shape for Disc {
    fn area(&self) -> f32 {
        self.r * self.r
    }
}

#[kernel]
fn wrong(disc: Disc, out: &mut [f32]) {
    let i = global_idx_x();
    out[i] = <Disc as Shape>::area(&disc);
}

fn main() {}
