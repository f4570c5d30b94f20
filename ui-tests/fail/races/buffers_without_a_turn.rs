//! The buffers never take turns.

use sarek::prelude::*;

#[kernel(block = 16)]
fn wrong(y: &mut [u32]) {
    let s = shared_array::<[u32; 16], 2>();
    let t = thread_idx_x();
    let from = 0;
    let to = 0;
    s[from][t] = y[global_idx_x()];
    barrier();
    let mut far = 1;
    while far < 16 {
        s[to][t] = s[from][t] + if t >= far { s[from][t - far] } else { 0 };
        barrier();
        far *= 2;
    }
    y[global_idx_x()] = s[from][t];
}

fn main() {}
