use sarek::prelude::*;

#[kernel(inline = 2)]
fn wrong(out: &mut [u32]) {
    out[global_idx_x()] = 1;
}

fn main() {}
