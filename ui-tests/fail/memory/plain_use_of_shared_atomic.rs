use sarek::prelude::*;

#[kernel]
fn wrong(out: &mut [u32]) {
    let bins = shared_array::<Atomic<u32>, 64>();
    bins[thread_idx_x()] = 0;
    barrier();
    out[global_idx_x()] = bins[0];
}

fn main() {}
