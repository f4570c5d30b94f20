//! Subgroup operations on arbitrary values: negative ones, values that differ in their upper halves, and the ends of the types.

use super::subgroups::in_blocks;
use crate::check::{Check, Expected, expect_within, sentinel_filled};
use crate::input::Random;
use crate::{Capability, Case};
use sarek::prelude::*;

const WIDE: &[Capability] = &[Capability::Subgroups, Capability::I64];

pub const CASES: &[Case] = &[
    Case::new("subgroups/values/i32", &[Capability::Subgroups], i32_),
    Case::new("subgroups/values/u32", &[Capability::Subgroups], u32_),
    Case::new("subgroups/values/f32", &[Capability::Subgroups], f32_),
    Case::new("subgroups/values/i64", WIDE, i64_),
    Case::new("subgroups/values/u64", WIDE, u64_),
    Case::new(
        "subgroups/values/f64",
        &[Capability::Subgroups, Capability::F64],
        f64_,
    ),
    Case::new(
        "subgroups/wrapping/i32",
        &[Capability::Subgroups],
        i32_wraps,
    ),
    Case::new(
        "subgroups/wrapping/u32",
        &[Capability::Subgroups],
        u32_wraps,
    ),
    Case::new("subgroups/wrapping/i64", WIDE, i64_wraps),
    Case::new("subgroups/wrapping/u64", WIDE, u64_wraps),
    Case::new("subgroups/flags", &[Capability::Subgroups], flags),
    Case::new("subgroups/usize", WIDE, sizes),
];

/// Number of results for each thread.
const EACH: usize = 8;

macro_rules! moves {
    ($($case:ident $kernel:ident $ty:ident;)*) => {$(
        #[kernel]
        fn $kernel(lanes: usize, x: &[$ty], y: &mut [$ty]) {
            let i = global_idx_x();
            let v = x[i];
            let lane = subgroup_lane();
            y[8 * i] = subgroup_min(v);
            y[8 * i + 1] = subgroup_max(v);
            y[8 * i + 2] = subgroup_broadcast(v, lanes - 1);
            y[8 * i + 3] = subgroup_shuffle(v, lane * 5 % lanes);
            y[8 * i + 4] = subgroup_shuffle(v, lanes - 1 - lane % lanes);
            y[8 * i + 5] = subgroup_shuffle_up(v, 1);
            y[8 * i + 6] = subgroup_shuffle_down(v, lanes / 2);
            y[8 * i + 7] = subgroup_shuffle_xor(v, 6);
        }

        fn $case(device: &Device) -> Check {
            in_blocks(device, |block, size| {
                let lanes = block.min(size);
                let x: Vec<$ty> = Random::new(block as u64).values::<$ty>(2 * block);
                let x: Vec<$ty> = x.into_iter().map(finite).collect();
                let mut expected: Vec<Expected<$ty>> = vec![];
                for group in x.chunks(block).flat_map(|of_block| of_block.chunks(size)) {
                    let low = group.iter().copied().reduce(|a, b| if b < a { b } else { a });
                    let high = group.iter().copied().reduce(|a, b| if b > a { b } else { a });
                    for (lane, own) in group.iter().enumerate() {
                        let at = |from: usize| Expected::Equal(*group.get(from).unwrap_or(own));
                        expected.extend([low, high].map(|v| Expected::Equal(v.unwrap_or(*own))));
                        expected.extend([
                            at(lanes - 1),
                            at(lane * 5 % lanes),
                            at(lanes - 1 - lane),
                            at(lane.saturating_sub(1)),
                            at(lane + lanes / 2),
                            at(lane ^ 6),
                        ]);
                    }
                }
                let mut y = sentinel_filled(expected.len());
                $kernel(lanes, &Vector::from_slice(&x), &mut y)
                    .grid(2)
                    .block(block)
                    .run_on(device)?;
                let what = format!("blocks of {block}, subgroups of {size}");
                expect_within(&what, &y, &expected, &|i| format!(" operation {} of thread {}", i % EACH, i / EACH))
            })
        }
    )*};
}

/// Replaces NaN by zero, since targets differ in the minimum and maximum of NaNs.
fn finite<T: PartialOrd + Default>(v: T) -> T {
    if v.partial_cmp(&v).is_some() {
        v
    } else {
        T::default()
    }
}

moves! {
    i32_ moves_i32 i32;
    u32_ moves_u32 u32;
    i64_ moves_i64 i64;
    u64_ moves_u64 u64;
    f32_ moves_f32 f32;
    f64_ moves_f64 f64;
}

macro_rules! sums {
    ($($case:ident $kernel:ident $ty:ident;)*) => {$(
        #[kernel]
        fn $kernel(x: &[$ty], y: &mut [$ty]) {
            let i = global_idx_x();
            y[4 * i] = subgroup_sum(x[i]);
            y[4 * i + 1] = subgroup_product(x[i] | 1);
            y[4 * i + 2] = subgroup_inclusive_sum(x[i]);
            y[4 * i + 3] = subgroup_exclusive_sum(x[i]);
        }

        fn $case(device: &Device) -> Check {
            in_blocks(device, |block, size| {
                let x: Vec<$ty> = Random::new(block as u64 + 7).values::<$ty>(2 * block);
                let sum = |of: &[$ty]| of.iter().fold(0 as $ty, |a, b| a.wrapping_add(*b));
                let mut expected: Vec<Expected<$ty>> = vec![];
                for group in x.chunks(block).flat_map(|of_block| of_block.chunks(size)) {
                    let product = group.iter().fold(1 as $ty, |a, b| a.wrapping_mul(*b | 1));
                    for lane in 0..group.len() {
                        let each = [sum(group), product, sum(&group[..=lane]), sum(&group[..lane])];
                        expected.extend(each.map(Expected::Exactly));
                    }
                }
                let mut y = sentinel_filled(expected.len());
                $kernel(&Vector::from_slice(&x), &mut y)
                    .grid(2)
                    .block(block)
                    .run_on(device)?;
                let what = format!("blocks of {block}, subgroups of {size}");
                expect_within(&what, &y, &expected, &|i| format!(" operation {} of thread {}", i % 4, i / 4))
            })
        }
    )*};
}

sums! {
    i32_wraps sums_i32 i32;
    u32_wraps sums_u32 u32;
    i64_wraps sums_i64 i64;
    u64_wraps sums_u64 u64;
}

/// Lanes exchange `bool`s as they exchange numbers.
#[kernel]
fn flags_kernel(x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    let odd = x[i] % 2 == 1;
    let mut found = 0;
    if subgroup_broadcast(odd, 0) {
        found += 1;
    }
    if subgroup_shuffle(odd, subgroup_lane() / 3) {
        found += 2;
    }
    if subgroup_shuffle_up(odd, 2) {
        found += 4;
    }
    if subgroup_shuffle_down(odd, 1) {
        found += 8;
    }
    y[i] = found;
}

fn flags(device: &Device) -> Check {
    in_blocks(device, |block, size| {
        let x: Vec<u32> = (0..2 * block as u32).map(|i| i * 37 % 101).collect();
        let mut expected = vec![];
        for group in x.chunks(block).flat_map(|of_block| of_block.chunks(size)) {
            let odd = |lane: usize| group[lane] % 2;
            expected.extend((0..group.len()).map(|lane| {
                let below = if lane < 2 { lane } else { lane - 2 };
                let above = if lane + 1 < group.len() {
                    lane + 1
                } else {
                    lane
                };
                Expected::Exactly(odd(0) + 2 * odd(lane / 3) + 4 * odd(below) + 8 * odd(above))
            }));
        }
        let mut y = sentinel_filled(expected.len());
        flags_kernel(&Vector::from_slice(&x), &mut y)
            .grid(2)
            .block(block)
            .run_on(device)?;
        let what = format!("blocks of {block}, subgroups of {size}");
        expect_within(&what, &y, &expected, &|i| format!(" of thread {i}"))
    })
}

/// `usize` has 64 bits here, too, if a value needs them.
#[kernel]
fn sizes_kernel(shift: u32, x: &[u64], y: &mut [u64]) {
    let i = global_idx_x();
    let v = (x[i] as usize) << shift;
    y[11 * i] = subgroup_sum(v) as u64;
    y[11 * i + 1] = subgroup_product(v | 1) as u64;
    y[11 * i + 2] = subgroup_min(v) as u64;
    y[11 * i + 3] = subgroup_max(v) as u64;
    y[11 * i + 4] = subgroup_inclusive_sum(v) as u64;
    y[11 * i + 5] = subgroup_exclusive_sum(v) as u64;
    y[11 * i + 6] = subgroup_broadcast(v, 0) as u64;
    y[11 * i + 7] = subgroup_shuffle(v, subgroup_lane() / 2) as u64;
    y[11 * i + 8] = subgroup_shuffle_up(v, 1) as u64;
    y[11 * i + 9] = subgroup_shuffle_down(v, 0) as u64;
    y[11 * i + 10] = subgroup_shuffle_xor(v, 0) as u64;
}

fn sizes(device: &Device) -> Check {
    for shift in [0, 36] {
        in_blocks(device, |block, size| {
            let x: Vec<u64> = (0..2 * block as u64).map(|i| i * 37 % 101).collect();
            let moved: Vec<u64> = x.iter().map(|v| v << shift).collect();
            let mut expected = vec![];
            for group in moved
                .chunks(block)
                .flat_map(|of_block| of_block.chunks(size))
            {
                let product = group.iter().fold(1u64, |a, b| a.wrapping_mul(b | 1));
                let sum = |of: &[u64]| of.iter().sum::<u64>();
                for (lane, own) in group.iter().enumerate() {
                    expected.extend([
                        sum(group),
                        product,
                        group.iter().copied().min().unwrap_or(0),
                        group.iter().copied().max().unwrap_or(0),
                        sum(&group[..=lane]),
                        sum(&group[..lane]),
                        group[0],
                        group[lane / 2],
                        group[lane.saturating_sub(1)],
                        *own,
                        *own,
                    ]);
                }
            }
            let expected: Vec<Expected<u64>> =
                expected.into_iter().map(Expected::Exactly).collect();
            let mut y = sentinel_filled(expected.len());
            sizes_kernel(shift, &Vector::from_slice(&x), &mut y)
                .grid(2)
                .block(block)
                .run_on(device)?;
            let what = format!("blocks of {block}, subgroups of {size}");
            expect_within(&what, &y, &expected, &|i| {
                format!(" operation {} of thread {}", i % 11, i / 11)
            })
        })?;
    }
    Ok(())
}
