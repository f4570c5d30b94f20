use sarek::prelude::*;

#[kernel]
fn wrong(out: &mut [u32]) {
    let i = global_idx_x();
    println!("{}", i, 3);
    out[i] = 1;
}

fn main() {}
