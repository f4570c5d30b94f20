use sarek::prelude::*;

#[kernel]
fn wrong(out: &mut [f32]) {
    let i = global_idx_x();
    if i > 0 {
        out[i] = out[i - 1];
    }
}

fn main() {}
