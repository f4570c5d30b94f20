use sarek::prelude::*;

#[device(intrinsic)]
fn both(x: f32) -> (f32, f32) {
    (x, -x)
}

fn main() {}
