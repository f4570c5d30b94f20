use sarek::prelude::*;

#[kernel]
fn wrong(mask: &[Atomic<f32>]) {
    mask[0].fetch_and(1.0);
}

fn main() {}
