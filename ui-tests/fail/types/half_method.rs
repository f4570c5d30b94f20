use sarek::prelude::*;

#[kernel]
fn wrong(x: &[f16], out: &mut [f16]) {
    let i = global_idx_x();
    out[i] = x[i].exp();
}

fn main() {}
