use sarek::prelude::*;

#[kernel]
fn wrong(out: &mut [u32]) {
    let i = global_idx_x();
    let mut x = 1u32;
    native!("cuda", "{x} = 2u;");
    out[i] = x;
}

fn main() {}
