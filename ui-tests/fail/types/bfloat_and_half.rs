use sarek::prelude::*;

#[kernel]
fn wrong(x: &[f16], out: &mut [bf16]) {
    let i = global_idx_x();
    out[i] = out[i] + x[i];
}

fn main() {}
