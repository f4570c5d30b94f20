//! rustc names the likely id itself, unless another error keeps the macro from passing the call on.

use sarek::prelude::*;

#[kernel]
fn wrong(x: &mut [f32]) {
    let i = global_idx();
    x[i / 2] = 1.0;
}

fn main() {}
