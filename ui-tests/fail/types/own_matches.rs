use sarek::prelude::*;

macro_rules! matches {
    ($($t:tt)*) => { false };
}

#[kernel]
fn test(x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    y[i] = matches!(x[i], 1 | 2) as u32;
}

fn main() {}
