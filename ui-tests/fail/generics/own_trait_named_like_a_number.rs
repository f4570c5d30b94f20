//! A user trait with the name of one of sarek's traits, which kernels know by name.
use sarek::{global_idx_x, kernel};

trait Float: sarek::Num {
    fn sqrt(self) -> Self;
}

impl Float for f32 {
    fn sqrt(self) -> f32 {
        1.0
    }
}

#[kernel]
fn roots<T: Float>(x: &mut [T]) {
    let i = global_idx_x();
    x[i] = x[i].sqrt();
}

fn main() {}
