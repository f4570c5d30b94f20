use sarek::prelude::*;

#[device]
fn rounds(counts: &[u32], tile: &mut [u32]) {
    for _ in 0..counts[0] {
        tile[thread_idx_x()] += 1;
        barrier();
    }
    barrier();
}

#[kernel]
fn wrong(out: &mut [u32]) {
    let tile = shared_array::<u32, 64>();
    let counts = [thread_idx_x() as u32; 2];
    rounds(&counts, tile);
    out[global_idx_x()] = counts[1];
}

fn main() {}
