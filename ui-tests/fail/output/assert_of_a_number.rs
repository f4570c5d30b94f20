use sarek::prelude::*;

#[kernel]
fn wrong(out: &mut [u32]) {
    let i = global_idx_x();
    assert!(i);
    out[i] = 1;
}

fn main() {}
