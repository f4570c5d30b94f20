use sarek::prelude::*;

#[kernel]
fn wrong(name: String, out: &mut [f32]) {
    let i = global_idx_x();
    out[i] = name.len() as f32;
}

fn main() {}
