use sarek::prelude::*;

#[kernel]
fn wrong(ref a: f32, out: &mut [f32]) {
    let i = global_idx_x();
    out[i] = *a;
}

fn main() {}
