use sarek::prelude::*;

#[kernel]
fn wrong(out: &mut [f64]) {
    let i = global_idx_x();
    let x = 2.0;
    out[i] = x.sqrt();
}

fn main() {}
