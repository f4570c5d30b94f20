use sarek::prelude::*;

#[kernel]
fn wrong(n: usize, out: &mut [f32]) {
    let i = global_idx_x();
    let mut k = 0;
    while k < n {
        if k == thread_idx_x() {
            break;
        }
        out[i] = k as f32;
        barrier();
        k += 1;
    }
}

fn main() {}
