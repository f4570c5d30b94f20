use sarek::prelude::*;

#[kernel]
fn wrong(x: &mut [f32]) {
    let i = global_idx();
    x[i] = 1.0;
}

fn main() {}
