use sarek::prelude::*;

#[kernel]
fn clear(x: &mut [f32]) {
    assert!(x.len() > 0 x);
}

fn main() {}
