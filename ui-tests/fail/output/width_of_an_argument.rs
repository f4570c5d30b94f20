use sarek::prelude::*;

#[kernel]
fn wrong(out: &mut [u32]) {
    let i = global_idx_x();
    let width = 5usize;
    println!("{:width$}", i);
    out[i] = 1;
}

fn main() {}
