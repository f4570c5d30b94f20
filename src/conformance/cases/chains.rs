//! Indices that are read from the array which they index.

use crate::conformance::Case;
use crate::conformance::check::{Check, expect, poisoned};
use crate::conformance::input::Random;
use crate::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("chains/arrays", &[], arrays),
    Case::new("chains/across_barriers", &[], across_barriers),
];

/// Random ones whose sums do not wrap.
fn numbers(seed: u64, count: usize) -> Vec<u32> {
    let numbers = Random::new(seed).values::<u32>(count).into_iter();
    numbers.map(|number| number >> 20).collect()
}

/// A chain of stores and loads in arrays of a thread's own; no index of it needs a test.
#[device]
fn chained(x: [u32; 4]) -> u32 {
    let mut own = x;
    own[own[0] as usize & 3] = 5;
    own[own[own[1] as usize % 4] as usize % 4] += 7;
    own[(own[2] & 3) as usize] ^= own[(own[3] & 3) as usize];
    let mut rows = [[0u32; 3]; 2];
    rows[own[1] as usize % 2][own[0] as usize % 3] = own[0] | 1;
    rows[1][rows[0][0] as usize % 3] = 9;
    rows[rows[1][2] as usize % 2][(rows[0][1] % 3) as usize] += 4;
    let mut sum = own[0] + 3 * own[1] + 5 * own[2] + 7 * own[3];
    for k in 0..2 {
        sum = sum * 11 + rows[k][0] + 2 * rows[k][1] + 3 * rows[k][2];
    }
    sum
}

#[kernel]
fn arrays_kernel(x: &[u32], out: &mut [u32]) {
    let i = global_idx_x();
    if i < out.len() && 4 * i + 3 < x.len() {
        out[i] = chained([x[4 * i], x[4 * i + 1], x[4 * i + 2], x[4 * i + 3]]);
    }
}

fn arrays(device: &Device) -> Check {
    let x = numbers(3, 4 * 101);
    let mut out = poisoned(101);
    arrays_kernel(&Vector::from_slice(&x), &mut out)
        .over(101)
        .run_on(device)?;
    let due = x
        .chunks(4)
        .map(|four| chained([four[0], four[1], four[2], four[3]]));
    expect("out", &out, &due.collect::<Vec<u32>>())
}

/// As above, of arrays that live across a barrier, with a loop in which they are indexed.
#[kernel(block = 32)]
fn across_barriers_kernel(x: &[u32], out: &mut [u32]) {
    let tile = shared_array::<u32, 32>();
    let t = thread_idx_x();
    let mut own = [0u32; 4];
    for k in 0..4 {
        own[k] = x[4 * global_idx_x() + k];
    }
    tile[t] = own[own[0] as usize % 4];
    barrier();
    for k in 0..3 {
        own[own[k] as usize % 4] += tile[(t + k) % 32];
        own[own[own[3] as usize % 4] as usize % 4] ^= 1;
    }
    barrier();
    if t == 0 {
        let at = tile[5] as usize % 32;
        tile[at] = tile[tile[6] as usize % 32];
        for k in 0..32 {
            let at = tile[k] as usize % 32;
            tile[at] += 1;
        }
    }
    barrier();
    out[global_idx_x()] = tile[t] + own[0] + 3 * own[1] + 5 * own[2] + 7 * own[3];
}

fn across_barriers(device: &Device) -> Check {
    let x = numbers(4, 4 * 64);
    let mut out = poisoned(64);
    across_barriers_kernel(&Vector::from_slice(&x), &mut out)
        .grid(2)
        .run_on(device)?;
    let mut due = vec![];
    for block in x.chunks(4 * 32) {
        let mut own: Vec<Vec<u32>> = block.chunks(4).map(<[u32]>::to_vec).collect();
        let mut tile: Vec<u32> = own.iter().map(|own| own[own[0] as usize % 4]).collect();
        for (t, own) in own.iter_mut().enumerate() {
            for k in 0..3 {
                let at = own[k] as usize % 4;
                own[at] += tile[(t + k) % 32];
                let at = own[own[3] as usize % 4] as usize % 4;
                own[at] ^= 1;
            }
        }
        let at = tile[5] as usize % 32;
        tile[at] = tile[tile[6] as usize % 32];
        for k in 0..32 {
            let at = tile[k] as usize % 32;
            tile[at] += 1;
        }
        let sums = own.iter().zip(tile);
        due.extend(sums.map(|(own, tile)| tile + own[0] + 3 * own[1] + 5 * own[2] + 7 * own[3]));
    }
    expect("out", &out, &due)
}
