use sarek::prelude::*;

#[kernel]
extern "C" fn wrong(out: &mut [f32]) {
    let i = global_idx_x();
    out[i] = 1.0;
}

fn main() {}
