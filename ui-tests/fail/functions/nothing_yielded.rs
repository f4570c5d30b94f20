use sarek::prelude::*;

#[device]
fn half(x: f32) -> f32 {
    let y = 0.5 * x;
}

fn main() {}
