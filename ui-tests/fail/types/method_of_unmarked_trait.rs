use sarek::prelude::*;

trait Doubled {
    fn doubled(self) -> f32;
}

impl Doubled for f32 {
    fn doubled(self) -> f32 {
        2.0 * self
    }
}

#[kernel]
fn k(y: &mut [f32]) {
    let i = global_idx_x();
    y[i] = y[i].doubled();
}

fn main() {}
