use sarek::prelude::*;

#[kernel]
fn wrong(out: &mut [usize]) {
    let i = global_idx_x();
    out[i] = i;
}

fn main() {}
