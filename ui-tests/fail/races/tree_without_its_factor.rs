//! Each thread with a multiple of the distance adds, while every second one should.

use sarek::prelude::*;

#[kernel(block = 32)]
fn wrong(x: &[u32], y: &mut [u32]) {
    let part = shared_array::<u32, 32>();
    let t = thread_idx_x();
    part[t] = x[global_idx_x()];
    barrier();
    let mut apart = 1;
    while apart < 32 {
        if t % apart == 0 && t + apart < 32 {
            part[t] += part[t + apart];
        }
        barrier();
        apart *= 2;
    }
    y[global_idx_x()] = part[0];
}

fn main() {}
