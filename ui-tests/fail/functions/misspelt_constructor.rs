use sarek::prelude::*;

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Disc {
    r: f32,
}

#[device]
impl Disc {
    fn new(r: f32) -> Self {
        Disc { r }
    }
    fn area(&self) -> f32 {
        self.r
    }
}

#[kernel]
fn wrong(out: &mut [f32]) {
    let i = global_idx_x();
    let d = Disc::nwe(1.0);
    out[i] = d.area();
}

fn host() {
    let _ = Disc::nwe(1.0);
}

fn main() {}
