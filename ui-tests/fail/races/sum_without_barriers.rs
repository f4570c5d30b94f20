use sarek::prelude::*;

#[kernel(block = 64)]
fn wrong(x: &[u32], sums: &mut [u32]) {
    let tile = shared_array::<u32, 64>();
    let t = thread_idx_x();
    tile[t] = x[global_idx_x()];
    barrier();
    let mut half = 32;
    while half > 0 {
        if t < half {
            tile[t] += tile[t + half];
        }
        half /= 2;
    }
    if t == 0 {
        sums[block_idx_x()] = tile[0];
    }
}

fn main() {}
