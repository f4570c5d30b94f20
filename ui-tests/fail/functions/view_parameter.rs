use sarek::prelude::*;

#[device]
fn first(x: View2<f32>) -> f32 {
    x[[0, 0]]
}

fn main() {}
