use sarek::prelude::*;

macro_rules! assert {
    ($($ignored:tt)*) => {};
}

#[kernel]
fn ones(y: &mut [u32]) {
    let i = global_idx_x();
    assert!(i < 2);
    y[i] = 1;
}

fn main() {}
