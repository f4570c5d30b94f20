use sarek::prelude::*;

#[derive(Clone, Copy)]
#[repr(C)]
struct Point {
    x: f32,
}

#[device]
impl Point {
    fn doubled(self) -> f32 {
        self.x * 2.0
    }

    fn halved(&self) -> f32 {
        self.x * 0.5
    }
}

fn main() {}
