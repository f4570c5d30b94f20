use sarek::prelude::*;

#[device]
fn wrong(unit: &str, x: f32) -> f32 {
    x
}

fn main() {}
