use sarek::prelude::*;

#[kernel]
fn wrong(x: &[u32], bins: &mut [u32]) {
    let i = global_idx_x();
    if i < x.len() {
        bins[(x[i] % 4) as usize] += 1;
    }
}

fn main() {}
