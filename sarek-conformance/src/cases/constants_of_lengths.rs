//! Constants of functions and types, associated ones among them, as lengths of arrays; and arrays of arrays whose rows come from
//! calls, fields and literals.

use crate::Case;
use crate::check::{Check, expect, sentinel_filled};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("constants/lengths", &[], lengths),
    Case::new("constants/literals_of_fields", &[], literals_of_fields),
    Case::new("constants/rows_of_values", &[], rows_of_values),
];

const TWO: usize = 2;

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Steps {
    from: u32,
    by: u32,
}

#[device]
impl Steps {
    const COUNT: usize = 5;

    fn last(&self) -> u32 {
        let mut at = [self.from; Self::COUNT];
        for k in 1..Self::COUNT {
            at[k] = at[k - 1] + self.by;
        }
        at[Self::COUNT - 1]
    }
}

#[kernel]
fn lengths_kernel(y: &mut [u32]) {
    const N: usize = 3;
    const M: usize = N * TWO;
    const ROW: [u32; N] = [10, 20, 30];
    const GRID: [[u32; N]; M] = [[5; N]; M];
    let i = global_idx_x();
    let mut own: [u32; M] = [1; M];
    own[N] = i as u32;
    let steps = Steps { from: 100, by: 3 };
    y[i] = ROW[1] + GRID[M - 1][N - 1] + own[3] + own[4] + steps.last();
}

fn lengths(device: &Device) -> Check {
    let mut y = sentinel_filled(64);
    lengths_kernel(&mut y).grid(2).block(32).run_on(device)?;
    let expected: Vec<u32> = (0..64).map(|i| 20 + 5 + i + 1 + 112).collect();
    expect("lengths", &y, &expected)
}

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Parts {
    weights: [f32; 2],
    counts: [[u32; 2]; 2],
}

#[kernel]
fn literals_of_fields_kernel(y: &mut [u32]) {
    let i = global_idx_x();
    let mut parts = Parts {
        weights: [1.5, -2.0],
        counts: [[1, 2], [3, 4]],
    };
    parts.counts[1] = [7, i as u32];
    if i % 2 == 1 {
        parts.weights = [4.0, 0.5];
    }
    let weight = 8.0 * (parts.weights[0] + parts.weights[1]);
    y[i] = (weight + 4.0) as u32 + parts.counts[1][0] + parts.counts[1][1] + parts.counts[0][1];
}

fn literals_of_fields(device: &Device) -> Check {
    let mut y = sentinel_filled(64);
    let launch = literals_of_fields_kernel(&mut y).grid(2).block(32);
    launch.run_on(device)?;
    let expected = (0..64).map(|i| [0, 40][i as usize % 2] + 9 + i);
    expect("literals", &y, &expected.collect::<Vec<u32>>())
}

#[device]
fn pair(a: u32) -> [u32; 2] {
    [a, a + 1]
}

#[kernel]
fn rows_of_values_kernel(y: &mut [u32]) {
    let i = global_idx_x();
    let parts = Parts {
        weights: [0.0, 0.0],
        counts: [[100, 200], [300, i as u32]],
    };
    let mixed = [pair(3), [4, i as u32]];
    let last = [[4, 5], pair(30)];
    let mut rows: [[u32; 2]; 3] = [pair(50); 3];
    rows[1] = pair(70);
    rows = [rows[1], parts.counts[1], pair(rows[2][0])];
    y[i] = mixed[0][1] + mixed[1][1] + last[1][0] + rows[0][1] + rows[1][1] + rows[2][1];
}

fn rows_of_values(device: &Device) -> Check {
    let mut y = sentinel_filled(64);
    rows_of_values_kernel(&mut y)
        .grid(2)
        .block(32)
        .run_on(device)?;
    let expected: Vec<u32> = (0..64).map(|i| 4 + i + 30 + 71 + i + 51).collect();
    expect("rows", &y, &expected)
}
