//! Shared arrays of every number type and every shape, and every way to give their length.

use super::barriers::of_each_thread;
use crate::check::{Check, expect, sentinel_filled};
use crate::input::{Random, block_sizes};
use crate::{Capability, Case};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("block/shared_i8", &[], i8_),
    Case::new("block/shared_u8", &[], u8_),
    Case::new("block/shared_i16", &[], i16_),
    Case::new("block/shared_u16", &[], u16_),
    Case::new("block/shared_i32", &[], i32_),
    Case::new("block/shared_u32", &[], u32_),
    Case::new("block/shared_i64", &[Capability::I64], i64_),
    Case::new("block/shared_u64", &[Capability::I64], u64_),
    Case::new("block/shared_f32", &[], f32_),
    Case::new("block/shared_f64", &[Capability::F64], f64_),
    Case::new("block/shared_bf16", &[], bf16_),
    Case::new("block/shared_f16", &[Capability::F16], f16_),
    Case::new("block/shared_in_three_dimensions", &[], cube),
    Case::new("block/shared_sized_by_arguments", &[], sized),
    Case::new("block/shared_vectors", &[], vectors),
    Case::new("block/shared_rows_of_atomics", &[], atomics),
    Case::new("block/fence_in_the_block", &[Capability::Fences], fence),
];

/// Each thread stores a number, adds to it in place, and reads the number of another thread.
macro_rules! of_type {
    ($($case:ident $kernel:ident $ty:ty, $one:expr, $into:expr, $back:expr, $expected:expr;)*) => {$(
        #[kernel]
        fn $kernel(x: &[u32], y: &mut [u32]) {
            let tile = shared_array::<$ty, 1024>();
            let t = thread_idx_x();
            let into = $into;
            let back = $back;
            tile[t] = into(x[global_idx_x()]);
            tile[t] += $one;
            barrier();
            let other = tile[block_dim_x() - 1 - t];
            y[global_idx_x()] = back(other);
        }

        fn $case(device: &Device) -> Check {
            for block in block_sizes(device) {
                let x: Vec<u32> = Random::new(block as u64).values(2 * block);
                let one: fn(u32) -> u32 = $expected;
                let other = |i: usize| i / block * block + block - 1 - i % block;
                let expected: Vec<u32> = (0..2 * block).map(|i| one(x[other(i)])).collect();
                let mut y = sentinel_filled(expected.len());
                $kernel(&Vector::from_slice(&x), &mut y)
                    .grid(2)
                    .block(block)
                    .run_on(device)?;
                expect(&format!("blocks of {block}"), &y, &expected)?;
            }
            Ok(())
        }
    )*};
}

of_type! {
    i8_ kernel_i8 i8, 1, |v: u32| (v % 100) as i8 - 90, |v: i8| v as u32, |v| ((v % 100) as i32 - 89) as u32;
    u8_ kernel_u8 u8, 1, |v: u32| (v % 250) as u8, |v: u8| v as u32, |v| v % 250 + 1;
    i16_ kernel_i16 i16, 1, |v: u32| (v % 30_000) as i16 - 29_000, |v: i16| v as u32, |v| ((v % 30_000) as i32 - 28_999) as u32;
    u16_ kernel_u16 u16, 1, |v: u32| (v % 65_000) as u16, |v: u16| v as u32, |v| v % 65_000 + 1;
    i32_ kernel_i32 i32, 1, |v: u32| (v >> 1) as i32 - 7, |v: i32| v as u32, |v| (v >> 1).wrapping_sub(6);
    u32_ kernel_u32 u32, 1, |v: u32| v >> 1, |v: u32| v, |v| (v >> 1) + 1;
    i64_ kernel_i64 i64, 1, |v: u32| (v as i64 - 5) << 30, |v: i64| (v >> 30) as u32 ^ (v & 1) as u32, |v| v.wrapping_sub(5) ^ 1;
    u64_ kernel_u64 u64, 1, |v: u32| (v as u64) << 31, |v: u64| (v >> 31) as u32 ^ (v & 1) as u32, |v| v ^ 1;
    f32_ kernel_f32 f32, 0.5, |v: u32| (v % 1000) as f32, |v: f32| (v * 2.0) as u32, |v| v % 1000 * 2 + 1;
    f64_ kernel_f64 f64, 0.25, |v: u32| v as f64, |v: f64| ((v - 0.25) as u32).wrapping_add((v.fract() * 4.0) as u32), |v| v.wrapping_add(1);
    bf16_ kernel_bf16 bf16, bf16::ONE, |v: u32| bf16::from_f32((v % 100) as f32), |v: bf16| v.to_f32() as u32, |v| v % 100 + 1;
    f16_ kernel_f16 f16, f16::ONE, |v: u32| f16::from_f32((v % 1000) as f32), |v: f16| v.to_f32() as u32, |v| v % 1000 + 1;
}

#[kernel(block = (5, 4, 3))]
fn cube_kernel(y: &mut [u32]) {
    let cube = shared_array::<[[u32; 5]; 4], 3>();
    let (x, row, plane) = (thread_idx_x(), thread_idx_y(), thread_idx_z());
    cube[plane][row][x] = (100 * plane + 10 * row + x) as u32;
    barrier();
    cube[2 - plane][3 - row][4 - x] += 1000 * (1 + plane as u32);
    barrier();
    let next = cube[(plane + 1) % 3][(row + 1) % 4][(x + 1) % 5];
    y[60 * block_idx_x() + 20 * plane + 5 * row + x] = next + cube.len() as u32;
}

fn cube(device: &Device) -> Check {
    let expected = (0..120).map(|i| {
        let (p, r, x) = ((i / 20 % 3 + 1) % 3, (i / 5 % 4 + 1) % 4, (i % 5 + 1) % 5);
        100 * p + 10 * r + x + 1000 * (3 - p) + 3
    });
    let mut y = sentinel_filled(120);
    cube_kernel(&mut y).grid(2).run_on(device)?;
    expect("cubes", &y, &expected.collect::<Vec<u32>>())
}

/// Three arrays in one launch: their lengths are a scalar, the length of a slice, and a formula of both.
#[kernel]
fn sized_kernel(extra: usize, x: &[u32], y: &mut [u32]) {
    let by_scalar = shared_slice::<u32>(extra);
    let by_length = shared_slice::<f32>(x.len());
    let by_both = shared_slice::<u32>(extra * 2 + x.len() + block_dim_x());
    let t = thread_idx_x();
    let i = global_idx_x();
    if t == 0 {
        for k in 0..extra {
            by_scalar[k] = (7 * k) as u32;
        }
        for k in 0..x.len() {
            by_length[k] = x[k] as f32 * 0.5;
        }
    }
    by_both[t] = 3 * i as u32;
    barrier();
    let sizes = by_scalar.len() + by_length.len() * 100 + by_both.len() * 10_000;
    let other = by_both[block_dim_x() - 1 - t];
    y[i] = sizes as u32 + by_scalar[t % extra] + (by_length[t % x.len()] * 2.0) as u32 + other;
}

fn sized(device: &Device) -> Check {
    for (extra, n) in [(1, 1), (7, 3), (100, 33)] {
        let x: Vec<u32> = (0..n).map(|i| 5 * i + 1).collect();
        let input = Vector::from_slice(&x);
        let run = |y: &mut Vector<u32>, block| {
            sized_kernel(extra, &input, y)
                .grid(2)
                .block(block)
                .run_on(device)
        };
        let extra = extra as u32;
        of_each_thread(device, run, |b, t, threads| {
            let sizes = extra + 100 * n + 10_000 * (2 * extra + n + threads);
            let other = b * threads + threads - 1 - t;
            sizes + 7 * (t % extra) + x[(t % n) as usize] + 3 * other
        })?;
    }
    Ok(())
}

#[kernel]
fn vectors_kernel(y: &mut [u32]) {
    let fours = shared_array::<f32x4, 256>();
    let t = thread_idx_x();
    if t < 256 {
        fours[t] = f32x4::new(t as f32, 1.0, 2.0, 3.0);
        fours[t].w += 4.0;
    }
    barrier();
    let last = block_dim_x().min(256) - 1;
    let v = fours[last - t % (last + 1)];
    y[global_idx_x()] = (v.x + 1000.0 * v.w + v.zy().x) as u32;
}

fn vectors(device: &Device) -> Check {
    let run = |y: &mut Vector<u32>, block| vectors_kernel(y).grid(2).block(block).run_on(device);
    of_each_thread(device, run, |_, t, n| {
        let n = n.min(256);
        n - 1 - t % n + 7002
    })
}

/// Rows of counters: thread `t` increments the one in row `t % 5` and column `t % 3`.
#[kernel]
fn atomics_kernel(y: &mut [u32]) {
    let counts = shared_array::<[Atomic<u32>; 3], 5>();
    let t = thread_idx_x();
    if t == 0 {
        for row in 0..5 {
            for column in 0..3 {
                counts[row][column].store(10);
            }
        }
    }
    barrier();
    counts[t % 5][t % 3].fetch_add(1);
    barrier();
    y[global_idx_x()] = counts[(t + 1) % 5][(t + 1) % 3].load();
}

fn atomics(device: &Device) -> Check {
    let run = |y: &mut Vector<u32>, block| atomics_kernel(y).grid(2).block(block).run_on(device);
    of_each_thread(device, run, |_, t, n| {
        let place = |t: u32| (t % 5, t % 3);
        10 + (0..n).filter(|k| place(*k) == place(t + 1)).count() as u32
    })
}

/// The last thread of a block to count reads the elements that the others stored before their fences.
// SAFETY: the fences order these accesses, and no thread stores after it has counted.
#[kernel]
unsafe fn fence_kernel(y: &mut [u32]) {
    let tile = shared_array::<u32, 1024>();
    let done = shared_array::<Atomic<u32>, 1>();
    let t = thread_idx_x();
    if t == 0 {
        done[0].store(0);
    }
    barrier();
    tile[t] = t as u32 + 1;
    block_fence();
    let before = done[0].fetch_add(1);
    if before as usize + 1 == block_dim_x() {
        block_fence();
        let mut sum = 0;
        for k in 0..block_dim_x() {
            sum += tile[k];
        }
        y[block_idx_x()] = sum;
    }
}

fn fence(device: &Device) -> Check {
    for block in block_sizes(device) {
        let mut y = sentinel_filled(3);
        // SAFETY: see the kernel.
        let launch = unsafe { fence_kernel(&mut y) };
        launch.grid(3).block(block).run_on(device)?;
        let sum = (block * (block + 1) / 2) as u32;
        expect(&format!("blocks of {block}"), &y, &[sum; 3])?;
    }
    Ok(())
}
