use sarek::prelude::*;

#[device]
fn put(tile: &mut [u32], at: &mut usize) {
    tile[thread_idx_x() + *at] = 1;
    *at += 1;
    let next = tile[thread_idx_x() + *at];
    barrier();
    *at += next as usize;
}

#[device]
fn own(at: &mut usize) -> u32 {
    let tile = shared_array::<u32, 64>();
    tile[thread_idx_x() + *at] = 1;
    barrier();
    let first = tile[0];
    barrier();
    *at += 1;
    first
}

#[kernel(block = 8)]
fn wrong(y: &mut [u32]) {
    let tile = shared_array::<u32, 64>();
    let mut at = 0;
    put(tile, &mut at);
    y[global_idx_x()] = own(&mut at);
}

fn main() {}
