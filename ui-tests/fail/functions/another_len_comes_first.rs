//! Rust calls the trait's `len(self)`, which takes precedence over that of slices, `len(&self)`.
use sarek::prelude::*;

trait Mine {
    fn len(self) -> usize;
}

impl Mine for [u32; 4] {
    fn len(self) -> usize {
        9
    }
}

#[kernel]
fn length(x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    let own = [x[i], 1, 2, 3u32];
    y[i] = own.len() as u32;
}

fn main() {}
