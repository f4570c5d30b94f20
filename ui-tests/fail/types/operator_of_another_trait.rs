use sarek::prelude::*;

trait Add {
    fn add(self, other: Meters) -> Meters;
}

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Meters {
    x: f32,
}

#[device]
impl Add for Meters {
    fn add(self, other: Meters) -> Meters {
        other
    }
}

fn main() {}
