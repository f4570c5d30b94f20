//! A function that does not exist, called by name and by path.

use sarek::prelude::*;

mod helpers {}

#[kernel]
fn unknown(out: &mut [f32]) {
    let i = global_idx_x();
    if i < out.len() {
        let x: f32 = smoothstep(0.0, 1.0);
        let y: f32 = helpers::smoothstep(0.0, 1.0);
        out[i] = x + y;
    }
}

fn main() {}
