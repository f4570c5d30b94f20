use sarek::prelude::*;

#[kernel]
fn wrong(parts: &mut [u32], done: &[Atomic<u32>]) {
    if thread_idx_x() == 0 {
        parts[block_idx_x()] = 1;
        if done[0].fetch_add(1) as usize + 1 == grid_dim_x() {
            parts[grid_dim_x()] = parts[0];
        }
    }
}

fn main() {}
