use sarek::prelude::*;

#[device]
fn clear(out: &ViewMut2<f32>) {
    out[[0, 0]] = 0.0;
}

fn main() {}
