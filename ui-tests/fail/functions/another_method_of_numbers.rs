//! The trait `Float`, which has `rsqrt`, is not imported.
use sarek::{global_idx_x, kernel};

trait Mine {
    fn rsqrt(self) -> f32;
}

impl Mine for f32 {
    fn rsqrt(self) -> f32 {
        -self
    }
}

#[kernel]
fn roots(x: &[f32], y: &mut [f32]) {
    let i = global_idx_x();
    y[i] = x[i].rsqrt();
}

fn main() {}
