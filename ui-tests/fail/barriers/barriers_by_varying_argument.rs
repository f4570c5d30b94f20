use sarek::prelude::*;

#[device]
fn rounds(count: usize) -> u32 {
    let mut rounds = 0;
    for _ in 0..count {
        barrier();
        rounds += 1;
    }
    rounds
}

#[kernel]
fn wrong(out: &mut [u32]) {
    out[global_idx_x()] = rounds(thread_idx_x());
}

fn main() {}
