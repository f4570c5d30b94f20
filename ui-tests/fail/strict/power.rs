use sarek::prelude::*;

#[kernel(strict)]
fn wrong(x: &[f64], out: &mut [f64]) {
    let i = global_idx_x();
    out[i] = x[i].powi(3);
}

fn main() {}
