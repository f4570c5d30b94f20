use sarek::prelude::*;

#[kernel]
fn wrong(out: &mut [bf16]) {
    out[global_idx_x()] = 1.5bf16;
}

fn main() {}
