use sarek::prelude::*;

#[kernel]
fn wrong(x: &mut [f32]) {
    let i = global_idx_x();
    let mut v = Vec::new();
    v.push(x[i]);
    x[i] = v[0];
}

fn main() {}
