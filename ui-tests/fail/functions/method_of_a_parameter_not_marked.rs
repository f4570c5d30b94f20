use sarek::prelude::*;

trait Shape {
    fn area(&self) -> f32;
}

#[kernel]
fn wrong<S: Shape + sarek::Element>(shape: S, out: &mut [f32]) {
    let i = global_idx_x();
    out[i] = shape.area();
}

fn main() {}
