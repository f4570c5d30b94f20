use sarek::prelude::*;

#[kernel]
fn wrong(out: &mut [u32]) {
    let i = global_idx_x();
    assert_eq!(i, 3u32);
    out[i] = 1;
}

fn main() {}
