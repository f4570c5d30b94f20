use sarek::prelude::*;

#[device]
fn at(tile: &mut [u32], at: usize) {
    tile[thread_idx_x() + at] = 1;
    barrier();
}

#[device]
fn by(tile: &mut [u32], per_thread: usize) {
    for k in 0..per_thread {
        tile[thread_idx_x() * per_thread + k] = 1;
    }
    barrier();
}

#[device]
fn exchange(tile: &mut [u32], mask: usize) {
    let t = thread_idx_x();
    let other = t ^ mask;
    if other > t {
        let kept = tile[t];
        tile[t] = tile[other];
        tile[other] = kept;
    }
    barrier();
}

#[device]
fn one_stores(tile: &mut [u32], who: usize) {
    if thread_idx_x() == who {
        tile[0] = 1;
    }
    barrier();
}

#[device]
fn of_its_own(at: usize) -> u32 {
    let tile = shared_array::<u32, 64>();
    tile[thread_idx_x() + at] = 1;
    barrier();
    let first = tile[0];
    barrier();
    first
}

#[kernel(block = 8)]
fn wrong(y: &mut [u32]) {
    let tile = shared_array::<u32, 64>();
    let t = thread_idx_x();
    at(tile, 7 - t);
    by(tile, t);
    exchange(tile, t ^ 7);
    one_stores(tile, t);
    y[global_idx_x()] = of_its_own(7 - t);
}

fn main() {}
