//! Each block sorts its elements in shared memory: by a bitonic network, and by odd-even transposition.

use crate::Case;
use crate::check::{Check, expect, sentinel_filled};
use crate::input::{Random, block_sizes};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("block/sort", &[], sort),
    Case::new("block/sort_odd_even", &[], sort_odd_even),
];

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
        let mut expected = x.clone();
        expected.chunks_mut(block).for_each(<[u32]>::sort_unstable);
        let (x, mut y) = (Vector::from_vec(x), sentinel_filled(n));
        sort_kernel(&x, &mut y)
            .grid(2)
            .block(block)
            .run_on(device)?;
        expect(&format!("blocks of {block}"), &y, &expected)?;
    }
    Ok(())
}

#[kernel]
fn odd_even_kernel(x: &[i32], y: &mut [i32]) {
    let tile = shared_slice::<i32>(block_dim_x());
    let t = thread_idx_x();
    let n = block_dim_x();
    tile[t] = x[global_idx_x()];
    for round in 0..n {
        barrier();
        if t % 2 == round % 2 && t + 1 < n && tile[t] > tile[t + 1] {
            let larger = tile[t];
            tile[t] = tile[t + 1];
            tile[t + 1] = larger;
        }
    }
    barrier();
    y[global_idx_x()] = tile[t];
}

fn sort_odd_even(device: &Device) -> Check {
    for block in block_sizes(device).filter(|b| *b <= 256) {
        let n = 2 * block;
        let x: Vec<i32> = Random::new(block as u64).values(n);
        let mut expected = x.clone();
        expected.chunks_mut(block).for_each(<[i32]>::sort_unstable);
        let (x, mut y) = (Vector::from_vec(x), sentinel_filled(n));
        let launch = odd_even_kernel(&x, &mut y);
        launch.grid(2).block(block).run_on(device)?;
        expect(&format!("blocks of {block}"), &y, &expected)?;
    }
    Ok(())
}
