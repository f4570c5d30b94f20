use sarek::prelude::*;
use std::ops::Mul;

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Meters {
    x: f32,
}

#[device]
impl Mul<f32> for Meters {
    type Output = Meters;

    fn mul(self, by: f32) -> Meters {
        Meters { x: self.x * by }
    }
}

// Rust takes this one for a literal without a suffix.
impl Mul<f64> for Meters {
    type Output = Meters;

    fn mul(self, by: f64) -> Meters {
        Meters {
            x: -self.x * by as f32,
        }
    }
}

#[kernel]
fn wrong(lengths: &mut [Meters]) {
    let i = global_idx_x();
    lengths[i] = lengths[i] * 2.0;
}

fn main() {}
