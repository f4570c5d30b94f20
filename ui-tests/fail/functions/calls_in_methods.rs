use sarek::prelude::*;

#[device]
fn scaled(x: f32, by: f32) -> f32 {
    x * by
}

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Disc {
    r: f32,
}

#[device]
impl Disc {
    fn area(&self) -> f32 {
        scaled(self.r)
    }
    fn scaled_area(self, k: u32) -> f32 {
        self.aera() + scaled(self.r, k)
    }
    fn of(k: u32) -> f32 {
        scaled(k, 1.0)
    }
}

#[kernel]
fn wrong(d: Disc, out: &mut [f32]) {
    let i = global_idx_x();
    out[i] = d.area(1.0);
    out[i] = d.scaled_area(1.0);
    out[i] = Disc::of();
}

fn main() {}
