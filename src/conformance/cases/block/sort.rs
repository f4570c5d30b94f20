//! Each block sorted by a bitonic network in shared memory.

use crate::conformance::Case;
use crate::conformance::check::{Check, expect, poisoned};
use crate::conformance::input::{Random, block_sizes};
use crate::prelude::*;

pub const CASES: &[Case] = &[Case::new("block/sort", &[], sort)];

#[kernel]
fn sort_kernel(x: &[u32], y: &mut [u32]) {
    let tile = shared_array::<u32, 1024>();
    let t = thread_idx_x();
    tile[t] = x[global_idx_x()];
    barrier();
    let mut run = 2;
    while run <= block_dim_x() {
        let mut apart = run / 2;
        while apart > 0 {
            let other = t ^ apart;
            if other > t {
                let ascending = t & run == 0;
                let a = tile[t];
                let b = tile[other];
                if (a > b) == ascending {
                    tile[t] = b;
                    tile[other] = a;
                }
            }
            barrier();
            apart /= 2;
        }
        run *= 2;
    }
    y[global_idx_x()] = tile[t];
}

fn sort(device: &Device) -> Check {
    for block in block_sizes(device).filter(|b| b.is_power_of_two()) {
        let n = 2 * block;
        let x: Vec<u32> = Random::new(block as u64).values(n);
        let mut due = x.clone();
        due.chunks_mut(block).for_each(<[u32]>::sort_unstable);
        let (x, mut y) = (Vector::from_vec(x), poisoned(n));
        sort_kernel(&x, &mut y)
            .grid(2)
            .block(block)
            .run_on(device)?;
        expect(&format!("blocks of {block}"), &y, &due)?;
    }
    Ok(())
}
