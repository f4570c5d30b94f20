use sarek::prelude::*;

#[kernel]
fn wrong(s: usize, x: &mut [u32]) {
    let i = global_idx_x();
    if i <= s {
        x[i] += x[i + s];
    }
}

fn main() {}
