use sarek::prelude::*;

#[kernel]
fn wrong(x: &[f32], out: &mut [u32]) {
    let i = global_idx_x();
    out[i] = x[i].count_ones();
}

fn main() {}
