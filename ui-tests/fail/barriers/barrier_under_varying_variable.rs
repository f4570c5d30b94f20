use sarek::prelude::*;

#[kernel]
fn wrong(out: &mut [f32]) {
    let t = thread_idx_x();
    let first = t < 16;
    if first {
        out[global_idx_x()] = 1.0;
        barrier();
    }
}

fn main() {}
