use sarek::prelude::*;

trait Limits {
    const TOP: f32;
}

impl Limits for f32 {
    const TOP: f32 = 4.0;
}

#[kernel]
fn fill(y: &mut [f32]) {
    y[global_idx_x()] = <f32 as Limits>::TOP;
}

fn main() {}
