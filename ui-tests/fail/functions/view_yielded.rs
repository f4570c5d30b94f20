use sarek::prelude::*;

#[device]
fn same(x: View2<f32>) -> View2<f32> {
    x
}

fn main() {}
