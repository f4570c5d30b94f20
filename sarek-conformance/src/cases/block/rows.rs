//! Shared slices of arrays, whose number of rows the launch decides.

use super::barriers::of_each_thread;
use crate::Case;
use crate::cases::faults::fault_of;
use crate::check::{Check, ensure, sentinel_filled};
use sarek::FaultKind;
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("block/rows/of_a_thread", &[], of_a_thread),
    Case::new("block/rows/of_planes", &[], of_planes),
    Case::new("block/rows/of_atomics", &[], of_atomics),
    Case::new("block/rows/of_structs", &[], of_structs),
    Case::new("block/rows/faults", &[], faults),
    Case::new("block/rows/too_many", &[], too_many),
];

/// Each thread fills a row of its own, and reads the row of another thread.
#[kernel]
fn own_kernel(y: &mut [u32]) {
    let n = block_dim_x();
    let rows = shared_slice::<[f32; 3]>(n);
    let t = thread_idx_x();
    for k in 0..rows[t].len() {
        rows[t][k] = (t * 10 + k) as f32;
    }
    rows[t][1] += 0.5;
    barrier();
    let [a, b, c] = rows[n - 1 - t];
    let sum = a + 2.0 * b + rows[(t + 1) % n][2];
    y[global_idx_x()] = (sum + c) as u32 + 1000 * rows.len() as u32;
}

fn of_a_thread(device: &Device) -> Check {
    let run = |y: &mut Vector<u32>, block| own_kernel(y).grid(2).block(block).run_on(device);
    of_each_thread(device, run, |_, t, n| {
        let last = 10 * (n - 1 - t);
        last + 2 * last + 3 + 10 * ((t + 1) % n) + 2 + last + 2 + 1000 * n
    })
}

/// The number of planes depends on an argument, a length and the block size.
#[kernel]
fn planes_kernel(more: u32, x: &[u32], y: &mut [u32]) {
    const WIDE: usize = 2;
    let planes = shared_slice::<[[u32; WIDE]; 3]>(more as usize + x.len() * 2 + block_dim_x());
    let (t, i) = (thread_idx_x(), global_idx_x());
    planes[t][0][1] = x[i % x.len()];
    for k in 0..3 {
        planes[t][k][0] = (7 * i + k) as u32;
    }
    barrier();
    let other = block_dim_x() - 1 - t;
    let sizes = planes.len() * 100 + planes[0].len() * 10 + planes[0][2].len();
    y[i] = planes[other][0][1] + planes[other][2][0] + sizes as u32;
}

fn of_planes(device: &Device) -> Check {
    for (more, n) in [(0, 1), (3, 2), (11, 5)] {
        let x: Vec<u32> = (0..n).map(|i| 1_000_000 + 5 * i).collect();
        let input = Vector::from_slice(&x);
        let run = |y: &mut Vector<u32>, block| {
            planes_kernel(more, &input, y)
                .grid(2)
                .block(block)
                .run_on(device)
        };
        of_each_thread(device, run, |b, t, threads| {
            let other = b * threads + threads - 1 - t;
            let sizes = 100 * (more + 2 * n + threads) + 32;
            x[(other % n) as usize] + 7 * other + 2 + sizes
        })?;
    }
    Ok(())
}

/// Counts threads by two keys.
#[kernel]
fn atomics_kernel(keys: usize, y: &mut [u32]) {
    let counts = shared_slice::<[Atomic<u32>; 4]>(keys);
    let t = thread_idx_x();
    if t == 0 {
        for key in 0..keys {
            for k in 0..4 {
                counts[key][k].store(0);
            }
        }
    }
    barrier();
    counts[t % keys][t % 4].fetch_add(1);
    barrier();
    y[global_idx_x()] = counts[(t + 1) % keys][t % 4].load();
}

fn of_atomics(device: &Device) -> Check {
    for keys in [1, 3, 17] {
        let run = |y: &mut Vector<u32>, block| {
            atomics_kernel(keys, y).grid(2).block(block).run_on(device)
        };
        let keys = keys as u32;
        of_each_thread(device, run, |_, t, n| {
            let counted = |i: &u32| i % keys == (t + 1) % keys && i % 4 == t % 4;
            (0..n).filter(counted).count() as u32
        })?;
    }
    Ok(())
}

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Cell {
    at: [u32; 2],
    of: u32,
}

#[kernel]
fn structs_kernel(y: &mut [u32]) {
    let n = block_dim_x();
    let cells = shared_slice::<[Cell; 2]>(n + 1);
    let t = thread_idx_x();
    let mine = t as u32;
    cells[t][0] = Cell {
        at: [mine, 3],
        of: 5,
    };
    cells[t][1] = Cell {
        at: [3, 1],
        of: mine + 2,
    };
    cells[t][1].at[1] += 6;
    barrier();
    let other = n - 1 - t;
    let Cell { at: [a, b], of } = cells[other][1];
    y[global_idx_x()] = a + b * 10 + of * 100 + cells[other][0].at[0] * 1000;
}

fn of_structs(device: &Device) -> Check {
    let run = |y: &mut Vector<u32>, block| structs_kernel(y).grid(2).block(block).run_on(device);
    of_each_thread(device, run, |_, t, n| {
        let other = n - 1 - t;
        3 + 70 + 100 * (other + 2) + 1000 * other
    })
}

/// Every thread stores to its own row, except thread 1, whose row is `far` rows further.
// SAFETY: unless an index is out of bounds, the row is the thread's own.
#[kernel]
unsafe fn far_kernel(rows: usize, far: usize, column: usize, y: &mut [u32]) {
    let tile = shared_slice::<[u32; 4]>(rows);
    let t = thread_idx_x();
    let more = if t == 1 { far } else { 0 };
    tile[t + more][column] = 1;
    barrier();
    y[global_idx_x()] = tile[t][0];
}

fn faults(device: &Device) -> Check {
    for (far, column, dimension, index) in [(6, 0, 0, 7), (2, 4, 1, 4), (usize::MAX / 2, 0, 0, 0)] {
        let mut y = sentinel_filled(4);
        // SAFETY: see the kernel; an index out of bounds is a fault.
        let run = unsafe { far_kernel(7, far, column, &mut y) };
        let fault = fault_of(run.grid(1).block(4).run_on(device), &mut y)?;
        let expected = match &fault.kind {
            FaultKind::Dimension {
                argument,
                dimension: at,
                index: found,
            } => {
                let is_index = index == 0 || *found == index;
                argument == "tile" && *at == dimension && is_index
            }
            _ => far > 1 << 32,
        };
        ensure(expected, || format!("{:?} for {far}, {column}", fault.kind))?;
    }
    Ok(())
}

/// Asks for so many rows that the number of their elements overflows to 0.
fn too_many(device: &Device) -> Check {
    let mut y: Vector<u32> = sentinel_filled(4);
    // SAFETY: the kernel does not run.
    let run = unsafe { far_kernel(1 << 62, 0, 0, &mut y) };
    let result = run.grid(1).block(4).run_on(device);
    ensure(result.is_err(), || "rows of 2^64 elements were made".into())
}
