use sarek::prelude::*;

#[kernel]
fn wrong(out: &mut [f32]) {
    if thread_idx_x() < 16 {
        barrier();
    }
    out[global_idx_x()] = 1.0;
}

fn main() {}
