use sarek::prelude::*;

#[kernel]
fn wrong(out: &mut [f32]) {
    for k in 0..4 {
        let tile = shared_array::<f32, 64>();
        tile[thread_idx_x()] = k as f32;
        barrier();
    }
    out[global_idx_x()] = 1.0;
}

fn main() {}
