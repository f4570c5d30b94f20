use sarek::prelude::*;

#[kernel]
fn wrong(out: &mut [f32]) {
    let i = thread_idx_x();
    out[i] = 1.0;
}

fn main() {}
