use sarek::prelude::*;

#[kernel]
fn wrong(out: &mut [f32]) {
    let i = global_idx_x();
    let (a, b) = (1.0, 2.0);
    out[i] = a + b;
}

fn main() {}
