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

#[device]
fn unit() -> Disc {
    Disc { r: 1.0 }
}

#[kernel]
fn wrong(out: &mut [f32]) {
    let i = global_idx_x();
    let area = unit().area();
    out[i] = area * 2.0;
}

fn main() {}
