use sarek::prelude::*;

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Point {
    x: f32,
}

#[device]
impl Point {
    fn new(x: f32) -> Point {
        Point { x }
    }

    fn doubled(self) -> f32 {
        self.x * 2.0
    }
}

#[kernel]
fn wrong(out: &mut [f32]) {
    let i = global_idx_x();
    let p = Point::new(1.0);
    out[i] = p.doubled() + p.tripled();
}

fn main() {}
