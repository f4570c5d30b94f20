//! A function that its module keeps to itself.
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
