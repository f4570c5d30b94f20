use sarek::prelude::*;

#[kernel(block = 64)]
fn fill(y: &mut [f32]) {
    let flags = shared_array::<bool, 64>();
    flags[thread_idx_x()] = true;
    y[global_idx_x()] = 1.0;
}

fn main() {}
