use sarek::prelude::*;

#[kernel]
fn wrong(x: &[i32], out: &mut [i32]) {
    let i = global_idx_x();
    let sum = x[i].checked_add(1);
    out[i] = 1;
}

fn main() {}
