use sarek::prelude::*;

#[kernel]
fn name(y: &mut [u32]) {
    y[global_idx_x()] = 'a' as u32;
}

fn main() {}
