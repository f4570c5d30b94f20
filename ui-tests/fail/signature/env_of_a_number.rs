use sarek::prelude::*;

#[kernel(env(cuda_fp16, 7))]
fn k(y: &mut [f32]) {
    y[global_idx_x()] = 1.0;
}

fn main() {}
