use sarek::prelude::*;

#[kernel]
fn wrong(out: &mut [f32]) {
    out[0] = 1.0;
}

fn main() {}
