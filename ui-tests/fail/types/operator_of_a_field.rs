use sarek::prelude::*;
use std::ops::Add;

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Meters {
    x: f32,
}

#[device]
impl Add for Meters {
    type Output = Meters;

    fn add(self, other: Meters) -> Meters {
        Meters {
            x: self.x + other.x,
        }
    }
}

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Walk {
    length: Meters,
    way_back: Meters,
}

#[kernel]
fn wrong(walks: &mut [Walk]) {
    let i = global_idx_x();
    walks[i].length = walks[i].length + walks[i].way_back;
}

fn main() {}
