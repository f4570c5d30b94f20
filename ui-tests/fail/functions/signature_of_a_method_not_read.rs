use sarek::prelude::*;

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Disc {
    r: f32,
}

#[device]
impl Disc {
    fn measured(self, ref a: (f32, f32)) -> f32 {
        self.r * a.0 * a.1
    }
}

#[kernel]
fn calls(disc: Disc, out: &mut [f32]) {
    let i = global_idx_x();
    let pair: (f32, f32) = (1.0, 2.0);
    let r = disc.measured(pair);
    out[i] = r + 1.0;
}

fn main() {}
