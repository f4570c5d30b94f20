use sarek::prelude::*;

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Angle {
    degrees: u32,
}

impl PartialEq for Angle {
    fn eq(&self, other: &Angle) -> bool {
        self.degrees % 360 == other.degrees % 360
    }
}

#[kernel]
fn compare(to: Angle, angles: &[Angle], same: &mut [u32]) {
    let i = global_idx_x();
    same[i] = (angles[i] == to) as u32;
}

fn main() {}
