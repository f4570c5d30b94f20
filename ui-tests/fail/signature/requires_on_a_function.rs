use sarek::prelude::*;

#[device(requires(x > 0.0))]
fn wrong(x: f32) -> f32 {
    x * x
}

fn main() {}
