use sarek::prelude::*;

#[kernel]
fn wrong(x: &[u32], out: &mut [f32]) {
    let i = global_idx_x();
    if x[i] {
        out[i] = 1.0;
    }
}

fn main() {}
