use sarek::prelude::*;

#[kernel(block = 64)]
fn wrong(x: &mut [u32]) {
    let tile = shared_array::<u32, 64>();
    let t = thread_idx_x();
    tile[t] = x[global_idx_x()];
    barrier();
    let mut d = 1;
    while d < 64 {
        if t >= d {
            tile[t] += tile[t - d];
        }
        barrier();
        d *= 2;
    }
    x[global_idx_x()] = tile[t];
}

fn main() {}
