use sarek::prelude::*;

#[kernel]
fn wrong(out: &mut [u32]) {
    let i = global_idx_x();
    if i > 7 {
        panic!("{i} is too large");
    }
    out[i] = 1;
}

fn main() {}
