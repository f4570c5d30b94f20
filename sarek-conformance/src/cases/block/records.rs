//! Shared arrays of structs, tuples and arrays.

use super::barriers::of_each_thread;
use crate::check::Check;
use crate::{Capability, Case};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("block/shared_structs", &[], structs),
    Case::new("block/shared_tuples", &[], tuples),
    Case::new("block/shared_slice_of_structs", &[], slices),
    Case::new("block/shared_rows_of_structs", &[], rows),
    Case::new("block/shared_of_any_type", &[Capability::F64], generic),
];

#[derive(Clone, Copy, PartialEq, Debug, KernelType)]
#[repr(C)]
struct Body {
    at: [f32; 3],
    mass: f32,
    links: Links,
}

#[derive(Clone, Copy, PartialEq, Debug, KernelType)]
#[repr(C)]
struct Links {
    next: u32,
    back: i32,
}

/// Reads and writes whole elements, fields, and elements of arrays inside them.
#[kernel]
fn structs_kernel(y: &mut [u32]) {
    let tile = shared_array::<Body, 1024>();
    let t = thread_idx_x();
    let n = block_dim_x();
    tile[t] = Body {
        at: [t as f32, 1.0, 2.0],
        mass: 0.5,
        links: Links {
            next: ((t + 1) % n) as u32,
            back: 0,
        },
    };
    tile[t].links.back = -(t as i32);
    tile[t].at[t % 3] += 10.0;
    tile[t].mass *= 4.0;
    barrier();
    let next = tile[t].links.next;
    let other = tile[next as usize];
    let mirrored = tile[n - 1 - t].at[1];
    barrier();
    tile[t].links = Links { next: 7, back: 1 };
    barrier();
    let sum = other.at[0] + other.at[1] + other.at[2] + other.mass + mirrored;
    y[global_idx_x()] = sum as u32 * 1000
        + other.links.next.wrapping_sub(other.links.back as u32)
        + tile[n - 1 - t].links.next;
}

fn structs(device: &Device) -> Check {
    let run = |y: &mut Vector<u32>, block| structs_kernel(y).grid(2).block(block).run_on(device);
    of_each_thread(device, run, |_, t, n| {
        let (next, mirrored) = ((t + 1) % n, n - 1 - t);
        let sum = next + 3 + 10 + 2 + if mirrored % 3 == 1 { 11 } else { 1 };
        sum * 1000 + (next + 1) % n + next + 7
    })
}

#[kernel]
fn tuples_kernel(y: &mut [u32]) {
    let pairs = shared_array::<(f32, [u32; 2]), 1024>();
    let t = thread_idx_x();
    pairs[t] = (t as f32 * 0.5, [t as u32, 3]);
    pairs[t].1[1] = 5;
    barrier();
    let (half, own) = pairs[block_dim_x() - 1 - t];
    y[global_idx_x()] = (half * 2.0) as u32 + 10000 * own[0] + own[1];
}

fn tuples(device: &Device) -> Check {
    let run = |y: &mut Vector<u32>, block| tuples_kernel(y).grid(2).block(block).run_on(device);
    of_each_thread(device, run, |_, t, n| (n - 1 - t) * 10001 + 5)
}

#[kernel]
fn slices_kernel(rounds: u32, y: &mut [u32]) {
    let line = shared_slice::<Links>(block_dim_x() + 2);
    let t = thread_idx_x();
    line[t + 1] = Links {
        next: t as u32,
        back: 1,
    };
    if t == 0 {
        line[0] = Links { next: 1, back: 1 };
        line[block_dim_x() + 1] = Links { next: 2, back: 1 };
    }
    for _ in 0..rounds {
        barrier();
        let sum = line[t].next + line[t + 2].next;
        barrier();
        line[t + 1].next = sum % 1000;
        line[t + 1].back += 1;
    }
    y[global_idx_x()] = line[t + 1].next + 1000 * line[t + 1].back as u32 + line.len() as u32;
}

fn slices(device: &Device) -> Check {
    let run = |y: &mut Vector<u32>, block| slices_kernel(3, y).grid(2).block(block).run_on(device);
    of_each_thread(device, run, |_, t, n| {
        let mut line: Vec<u32> = [1].into_iter().chain(0..n).chain([2]).collect();
        for _ in 0..3 {
            let old = line.clone();
            for i in 1..=n as usize {
                line[i] = (old[i - 1] + old[i + 1]) % 1000;
            }
        }
        line[t as usize + 1] + 4000 + n + 2
    })
}

#[kernel(block = (8, 4))]
fn rows_kernel(y: &mut [u32]) {
    let tile = shared_array::<[Links; 8], 4>();
    let r = thread_idx_y();
    let c = thread_idx_x();
    tile[r][c] = Links {
        next: (10 * r + c) as u32,
        back: c as i32,
    };
    barrier();
    if r == 0 && c < 4 {
        let mut sum = 0;
        for k in 0..8 {
            let Links { next, back } = tile[c][k];
            sum += next + 100 * back as u32;
        }
        y[4 * block_idx_x() + c] = sum;
    }
}

fn rows(device: &Device) -> Check {
    let mut y = crate::check::sentinel_filled(8);
    rows_kernel(&mut y).grid(2).run_on(device)?;
    let expected: Vec<u32> = (0..8).map(|i| 80 * (i % 4) + 28 * 101).collect();
    crate::check::expect("rows", &y, &expected)
}

#[kernel]
fn generic_kernel<T: Float, const N: usize>(x: &[T], y: &mut [T]) {
    let tile = shared_array::<[T; 2], N>();
    let t = thread_idx_x();
    tile[t][0] = x[global_idx_x()];
    tile[t][1] = x[global_idx_x()] * x[global_idx_x()];
    barrier();
    let other = block_dim_x() - 1 - t;
    y[global_idx_x()] = tile[other][0] + tile[other][1];
}

fn generic(device: &Device) -> Check {
    let run = |y: &mut Vector<u32>, block: usize| {
        let x: Vec<f64> = (0..2 * block).map(|i| i as f64).collect();
        let mut z = Vector::zeros(2 * block);
        generic_kernel::<f64, 1024>(&Vector::from_vec(x), &mut z)
            .grid(2)
            .block(block)
            .run_on(device)?;
        let z: Vec<u32> = z.to_vec()?.into_iter().map(|v| v as u32).collect();
        y.as_mut_slice()?[..2 * block].copy_from_slice(&z);
        Ok(())
    };
    of_each_thread(device, run, |b, t, n| {
        let x = b * n + n - 1 - t;
        x + x * x
    })
}
