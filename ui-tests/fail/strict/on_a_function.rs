use sarek::prelude::*;

#[device(strict)]
fn wrong(x: f32) -> f32 {
    x * x
}

fn main() {}
