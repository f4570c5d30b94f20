use sarek::prelude::*;

#[kernel]
fn name(y: &mut [u32]) {
    let letter = 'a';
    y[global_idx_x()] = letter as u32;
}

fn main() {}
