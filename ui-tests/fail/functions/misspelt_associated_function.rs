use sarek::prelude::*;

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Disc {
    r: f32,
}

#[device]
impl Disc {
    fn area_of(r: f32) -> f32 {
        r * r
    }
}

#[kernel]
fn wrong(out: &mut [f32]) {
    let i = global_idx_x();
    out[i] = Disc::area_fo(1.0);
}

fn main() {}
