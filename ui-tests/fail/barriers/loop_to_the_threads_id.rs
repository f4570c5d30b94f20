use sarek::prelude::*;

#[kernel(block = 64)]
fn wrong(out: &mut [u32]) {
    let i = global_idx_x();
    for _k in 0..thread_idx_x() {
        barrier();
    }
    out[i] = 1;
}

fn main() {}
