use sarek::prelude::*;

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Meters {
    x: f32,
}

impl std::ops::Add for Meters {
    type Output = Meters;

    fn add(self, other: Meters) -> Meters {
        Meters {
            x: self.x + other.x,
        }
    }
}

#[kernel]
fn wrong(lengths: &mut [Meters]) {
    let i = global_idx_x();
    let a = lengths[i];
    lengths[i] = a + a;
}

fn main() {}
