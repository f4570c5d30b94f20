//! A function that is private to its module.
use sarek::prelude::*;

mod maths {
    use sarek::prelude::*;

    #[device]
    fn twice(x: f32) -> f32 {
        x + x
    }
}

#[kernel]
fn calls(out: &mut [f32]) {
    let i = global_idx_x();
    out[i] = maths::twice(1.0);
}

fn main() {}
