use sarek::prelude::*;

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Flagged {
    value: f32,
    flag: bool,
}

#[derive(Clone, Copy, KernelType)]
#[repr(u32)]
enum Colour {
    Red,
    Green,
}

#[kernel]
fn wrong(out: &mut [f32]) {
    let flags = shared_array::<Flagged, 64>();
    let colours = shared_array::<[Colour; 2], 64>();
    let options = shared_slice::<Option<f32>>(block_dim_x());
    let pairs = shared_array::<(f32, usize), 64>();
    out[global_idx_x()] = 1.0;
}

fn main() {}
