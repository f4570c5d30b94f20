use sarek::prelude::*;

#[kernel]
fn wrong(x: &[f32]) -> f32 {
    x[0]
}

fn main() {}
