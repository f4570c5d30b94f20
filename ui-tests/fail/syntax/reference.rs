use sarek::prelude::*;

#[kernel]
fn wrong(out: &mut [f32]) {
    let i = global_idx_x();
    let x = (&i, 1);
    out[i] = 1.0;
}

fn main() {}
