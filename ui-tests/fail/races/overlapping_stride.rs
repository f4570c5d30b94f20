use sarek::prelude::*;

#[kernel]
fn wrong(out: &mut [f32]) {
    let i = global_idx_x();
    for k in 0..4 {
        out[3 * i + k] = 1.0;
    }
}

fn main() {}
