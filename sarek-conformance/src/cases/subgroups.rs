//! Every subgroup operation, on subgroups of the size and with the lanes that the device reports.

use crate::check::{Check, Expected, ensure, expect_within, sentinel_filled};
use crate::input::block_sizes;
use crate::{Capability, Case};
use sarek::prelude::*;

const NEEDS: &[Capability] = &[Capability::Subgroups];

pub const CASES: &[Case] = &[
    Case::new("subgroups/i32", NEEDS, i32_),
    Case::new("subgroups/u32", NEEDS, u32_),
    Case::new("subgroups/f32", NEEDS, f32_),
    Case::new(
        "subgroups/i64",
        &[Capability::Subgroups, Capability::I64],
        i64_,
    ),
    Case::new(
        "subgroups/u64",
        &[Capability::Subgroups, Capability::I64],
        u64_,
    ),
    Case::new(
        "subgroups/f64",
        &[Capability::Subgroups, Capability::F64],
        f64_,
    ),
    Case::new("subgroups/votes", NEEDS, votes),
    Case::new("subgroups/in_uniform_loops", NEEDS, loops),
    Case::new("subgroups/of_those_here", NEEDS, parts),
    Case::new("subgroups/in_tiles", &[Capability::ShapedSubgroups], tiles),
];

/// Reports each thread's lane, and the size of its subgroup.
#[kernel]
fn lanes_kernel(y: &mut [u32]) {
    let i = global_idx_x();
    y[2 * i] = subgroup_lane() as u32;
    y[2 * i + 1] = subgroup_size() as u32;
}

/// Checks that lanes are threads in a row, and calls `run` with the block size and the subgroup size.
pub(super) fn in_blocks(device: &Device, mut run: impl FnMut(usize, usize) -> Check) -> Check {
    for block in block_sizes(device) {
        let mut y = Vector::zeros(4 * block);
        lanes_kernel(&mut y).grid(2).block(block).run_on(device)?;
        let y = y.to_vec()?;
        let size = y[1] as usize;
        ensure(size > 0, || "a subgroup has no threads".into())?;
        for (i, got) in y.chunks(2).enumerate() {
            let expected = [(i % block % size) as u32, size as u32];
            ensure(got == expected, || {
                format!("blocks of {block}: {got:?} at {i} instead of {expected:?}")
            })?;
        }
        run(block, size)?;
    }
    Ok(())
}

/// Number of results for each thread.
const EACH: usize = 13;

macro_rules! operations {
    ($($kernel:ident $case:ident $ty:ident;)*) => {$(
        #[kernel]
        fn $kernel(x: &[$ty], y: &mut [$ty]) {
            let i = global_idx_x();
            let v = x[i];
            y[13 * i] = subgroup_sum(v);
            y[13 * i + 1] = subgroup_product(v);
            y[13 * i + 2] = subgroup_min(v);
            y[13 * i + 3] = subgroup_max(v);
            y[13 * i + 4] = subgroup_inclusive_sum(v);
            y[13 * i + 5] = subgroup_exclusive_sum(v);
            y[13 * i + 6] = subgroup_broadcast(v, 0);
            y[13 * i + 7] = subgroup_shuffle(v, subgroup_lane() / 2);
            y[13 * i + 8] = subgroup_shuffle_up(v, 3);
            y[13 * i + 9] = subgroup_shuffle_down(v, 2);
            y[13 * i + 10] = subgroup_shuffle_xor(v, 1);
            // Reads lanes that have no thread, in short blocks or in all.
            y[13 * i + 11] = subgroup_broadcast(v, 5);
            y[13 * i + 12] = subgroup_shuffle(v, subgroup_size());
        }

        fn $case(device: &Device) -> Check {
            in_blocks(device, |block, size| {
                // Few elements differ from 1, so that floats hold their product exactly.
                let x: Vec<$ty> = (0..2 * block)
                    .map(|i| if i % 8 == 5 { 2 as $ty } else { 1 as $ty } + if i % 37 == 9 { 2 as $ty } else { 0 as $ty })
                    .collect();
                let mut expected: Vec<Expected<$ty>> = vec![];
                for of_block in x.chunks(block) {
                    for lanes in of_block.chunks(size) {
                        for (lane, own) in lanes.iter().enumerate() {
                            let or_own = |at: Option<usize>| at.and_then(|at| lanes.get(at)).unwrap_or(own);
                            expected.extend([
                                lanes.iter().sum::<$ty>(),
                                lanes.iter().product(),
                                lanes.iter().fold(*own, |a, b| a.min(*b)),
                                lanes.iter().fold(*own, |a, b| a.max(*b)),
                                lanes[..=lane].iter().sum(),
                                // An empty sum of floats is -0.
                                lanes[..lane].iter().sum::<$ty>() + 0 as $ty,
                                lanes[0],
                                lanes[lane / 2],
                                *or_own(lane.checked_sub(3)),
                                *or_own(Some(lane + 2)),
                                *or_own(Some(lane ^ 1)),
                                *or_own(Some(5)),
                                *or_own(Some(size)),
                            ].map(Expected::Equal));
                        }
                    }
                }
                let mut y = sentinel_filled(2 * block * EACH);
                $kernel(&Vector::from_slice(&x), &mut y).grid(2).block(block).run_on(device)?;
                let what = format!("blocks of {block}, subgroups of {size}");
                expect_within(&what, &y, &expected, &|i| format!(" operation {} of thread {}", i % EACH, i / EACH))
            })
        }
    )*};
}

operations! {
    i32_kernel i32_ i32;
    u32_kernel u32_ u32;
    i64_kernel i64_ i64;
    u64_kernel u64_ u64;
    f32_kernel f32_ f32;
    f64_kernel f64_ f64;
}

#[kernel]
fn votes_kernel(x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    let odd = x[i] % 2 == 1;
    let mut found = 0;
    if subgroup_any(odd) {
        found += 1;
    }
    if subgroup_all(odd) {
        found += 2;
    }
    if subgroup_shuffle_xor(odd, 0) {
        found += 4;
    }
    let ballot = subgroup_ballot(odd);
    y[3 * i] = found;
    y[3 * i + 1] = ballot as u32;
    y[3 * i + 2] = (ballot >> 32) as u32;
}

fn votes(device: &Device) -> Check {
    in_blocks(device, |block, size| {
        // Some subgroups have only odd numbers, some only even ones, and some both.
        let number = |i: usize| match i % block / size % 3 {
            0 => i as u32 % 5,
            1 => 7,
            _ => 8,
        };
        let x: Vec<u32> = (0..2 * block).map(number).collect();
        let mut expected: Vec<u32> = vec![];
        for lanes in x.chunks(block).flat_map(|of_block| of_block.chunks(size)) {
            let odd: Vec<bool> = lanes.iter().map(|v| v % 2 == 1).collect();
            let any = u32::from(odd.contains(&true));
            let all = 2 * u32::from(!odd.contains(&false));
            let ballot: u64 = (0..)
                .zip(&odd)
                .map(|(lane, odd)| u64::from(*odd) << lane)
                .sum();
            for odd in &odd {
                let (low, high) = (ballot as u32, (ballot >> 32) as u32);
                expected.extend([any + all + 4 * u32::from(*odd), low, high]);
            }
        }
        let mut y = sentinel_filled(6 * block);
        votes_kernel(&Vector::from_slice(&x), &mut y)
            .grid(2)
            .block(block)
            .run_on(device)?;
        let expected: Vec<_> = expected.into_iter().map(Expected::Exactly).collect();
        let what = format!("blocks of {block}, subgroups of {size}");
        expect_within(&what, &y, &expected, &|i| format!(" of thread {}", i / 3))
    })
}

/// Sums by a tree of shuffles, for some rounds.
#[kernel]
fn loops_kernel(rounds: u32, x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    let mut sum = x[i];
    for round in 0..rounds {
        if round % 2 == 0 {
            sum += subgroup_shuffle_xor(sum, 1);
        } else {
            sum = subgroup_sum(sum) + round;
        }
    }
    y[i] = sum;
}

fn loops(device: &Device) -> Check {
    in_blocks(device, |block, size| {
        if block % size != 0 {
            return Ok(());
        }
        let x: Vec<u32> = (0..2 * block as u32).map(|i| i * 37 % 101).collect();
        let mut expected = x.clone();
        for lanes in expected.chunks_mut(size) {
            for round in 0..3u32 {
                let old = lanes.to_vec();
                let sum: u32 = old.iter().sum();
                for (lane, value) in lanes.iter_mut().enumerate() {
                    *value = match round % 2 {
                        0 => old[lane] + old.get(lane ^ 1).unwrap_or(&old[lane]),
                        _ => sum + round,
                    };
                }
            }
        }
        let mut y = sentinel_filled(2 * block);
        loops_kernel(3, &Vector::from_slice(&x), &mut y)
            .grid(2)
            .block(block)
            .run_on(device)?;
        let expected: Vec<_> = expected.into_iter().map(Expected::Exactly).collect();
        let what = format!("blocks of {block}, subgroups of {size}");
        expect_within(&what, &y, &expected, &|_| String::new())
    })
}

/// Threads that take another path, have left a loop or have returned take no part. After branches and loops all take part again.
#[kernel]
fn parts_kernel(x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    let lane = subgroup_lane();
    let v = x[i];
    if lane % 3 == 0 {
        y[7 * i] = subgroup_sum(v);
        y[7 * i + 1] = subgroup_shuffle(v, 4);
    } else {
        y[7 * i] = subgroup_max(v);
        y[7 * i + 1] = subgroup_broadcast(v, 4);
    }
    let mut rounds = 0;
    for _ in 0..lane % 4 {
        rounds += subgroup_sum(1u32);
    }
    y[7 * i + 2] = rounds;
    let mut turns = 0;
    let mut left = v % 5;
    loop {
        if left == 0 {
            break;
        }
        left -= 1;
        turns += subgroup_inclusive_sum(1u32);
    }
    y[7 * i + 3] = turns;
    y[7 * i + 4] = subgroup_sum(1u32);
    if lane % 5 == 2 {
        y[7 * i + 5] = 77;
        y[7 * i + 6] = 77;
        return;
    }
    y[7 * i + 5] = subgroup_exclusive_sum(1u32);
    y[7 * i + 6] = subgroup_shuffle_up(v, 1);
}

fn parts(device: &Device) -> Check {
    // The reference runs the user's function. It cannot tell apart operations of one kind in different places.
    if device.backend() == "reference" {
        return Ok(());
    }
    in_blocks(device, |block, size| {
        let x: Vec<u32> = (0..2 * block as u32).map(|i| i * 37 % 101).collect();
        let mut expected = vec![];
        for lanes in x.chunks(block).flat_map(|of_block| of_block.chunks(size)) {
            let all = 0..lanes.len();
            for (lane, own) in lanes.iter().enumerate() {
                let alike = || all.clone().filter(|l| (l % 3 == 0) == (lane % 3 == 0));
                let brought = alike().map(|l| lanes[l]);
                let joined = match lane % 3 {
                    0 => brought.sum(),
                    _ => brought.fold(0, u32::max),
                };
                let fifth = if alike().any(|l| l == 4) {
                    lanes[4]
                } else {
                    *own
                };
                let in_round = |round: usize| all.clone().filter(|l| l % 4 > round).count();
                let in_turn = |turn: u32| lanes[..=lane].iter().filter(|v| **v % 5 > turn).count();
                let rounds: usize = (0..lane % 4).map(in_round).sum();
                let turns: usize = (0..own % 5).map(in_turn).sum();
                expected.extend([
                    joined,
                    fifth,
                    rounds as u32,
                    turns as u32,
                    lanes.len() as u32,
                ]);
                let stays = |l: &usize| l % 5 != 2;
                expected.extend(match stays(&lane) {
                    true => {
                        let below = lane.checked_sub(1).filter(stays);
                        let before = (0..lane).filter(stays).count();
                        [before as u32, below.map_or(*own, |l| lanes[l])]
                    }
                    false => [77; 2],
                });
            }
        }
        let mut y = sentinel_filled(expected.len());
        parts_kernel(&Vector::from_slice(&x), &mut y)
            .grid(2)
            .block(block)
            .run_on(device)?;
        let expected: Vec<_> = expected.into_iter().map(Expected::Exactly).collect();
        let what = format!("blocks of {block}, subgroups of {size}");
        expect_within(&what, &y, &expected, &|i| {
            format!(" operation {} of thread {}", i % 7, i / 7)
        })
    })
}

#[kernel(block = (12, 8))]
fn tiles_kernel(x: &[u32], y: &mut [u32]) {
    let i = block_idx_x() * 96 + thread_idx_y() * 12 + thread_idx_x();
    y[3 * i] = subgroup_lane() as u32;
    y[3 * i + 1] = subgroup_size() as u32;
    y[3 * i + 2] = subgroup_sum(x[i]);
}

/// A subgroup consists of threads with consecutive numbers in the block, whatever the block's shape.
fn tiles(device: &Device) -> Check {
    let blocks = 3;
    let x: Vec<u32> = (0..96 * blocks).map(|i| i * 37 % 101).collect();
    let mut y = sentinel_filled(3 * x.len());
    tiles_kernel(&Vector::from_slice(&x), &mut y)
        .grid(blocks as usize)
        .run_on(device)?;
    let size = y.get(1)?;
    ensure(size > 0, || "a subgroup has no threads".into())?;
    let mut expected = vec![];
    for lanes in x.chunks(96).flat_map(|block| block.chunks(size as usize)) {
        let sum = lanes.iter().sum();
        expected.extend((0..lanes.len() as u32).flat_map(|lane| [lane, size, sum]));
    }
    let expected: Vec<_> = expected.into_iter().map(Expected::Exactly).collect();
    expect_within("blocks of 12 by 8", &y, &expected, &|i| {
        format!(" of thread {}", i / 3)
    })
}
