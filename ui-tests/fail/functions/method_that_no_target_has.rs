use sarek::prelude::*;

#[kernel]
fn wrong(x: &[i32], out: &mut [i32]) {
    let i = global_idx_x();
    let log = x[i].checked_ilog10();
    out[i] = 1;
}

fn main() {}
