use sarek::prelude::*;

#[kernel(block = 64)]
fn k(x: &[u32], y: &mut [u32]) {
    let tile = shared_array::<u32, 64>();
    let t = thread_idx_x();
    let i = global_idx_x();
    tile[t] = if i < x.len() { x[i] } else { 0 };
    barrier();
    let largest = tile.iter().max();
    let copied = tile.iter().copied().max();
    let first = tile.first();
    barrier();
    if i < y.len() {
        y[i] = *largest.unwrap() + copied.unwrap() + *first.unwrap();
    }
}

fn main() {}
