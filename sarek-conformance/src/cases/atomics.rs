//! Every operation of `Atomic` under contention: by all threads of a launch, and on shared elements by those of a block.
//!
//! The device orders the operations, so a case checks only results that no order changes: sums, extremes and bits; that all
//! tickets drawn are different; and that no swapped value is lost.

use crate::check::{Check, ensure, expect, sentinel_filled};
use crate::input::{Random, block_sizes};
use crate::{Capability, Case};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("atomics/i32", &[], i32_::run),
    Case::new("atomics/u32", &[], u32_::run),
    Case::new("atomics/f32", &[], f32_::run),
    Case::new(
        "atomics/i64",
        &[Capability::I64, Capability::Atomics64],
        i64_::run,
    ),
    Case::new(
        "atomics/u64",
        &[Capability::I64, Capability::Atomics64],
        u64_::run,
    ),
    Case::new(
        "atomics/f64",
        &[Capability::F64, Capability::Atomics64],
        f64_::run,
    ),
    Case::new("atomics/bits/i32", &[], i32_::bits),
    Case::new("atomics/bits/u32", &[], u32_::bits),
    Case::new(
        "atomics/bits/i64",
        &[Capability::I64, Capability::Atomics64],
        i64_::bits,
    ),
    Case::new(
        "atomics/bits/u64",
        &[Capability::I64, Capability::Atomics64],
        u64_::bits,
    ),
    Case::new("atomics/last_block", &[Capability::Fences], last_block),
];

/// Initial values of the slots for `add`, `sub`, `min`, `max`, tickets, `swap`, and a counter by `compare_and_swap`.
const FIRST: [u8; 7] = [3, 100, 60, 60, 0, 77, 0];

/// Whole numbers from 1 to 120, so that floats add them exactly.
fn numbers(n: usize) -> Vec<u8> {
    let mut random = Random::new(n as u64);
    (0..n).map(|_| 1 + random.below(120) as u8).collect()
}

macro_rules! operations {
    ($($module:ident $ty:ident;)*) => {$(
        mod $module {
            use super::*;

            #[kernel]
            fn global_kernel(x: &[$ty], slots: &[Atomic<$ty>], y: &mut [$ty]) {
                let i = global_idx_x();
                if i < x.len() {
                    slots[0].fetch_add(x[i]);
                    slots[1].fetch_sub(x[i]);
                    slots[2].fetch_min(x[i]);
                    slots[3].fetch_max(x[i]);
                    y[2 * i] = slots[4].fetch_add(1 as $ty);
                    y[2 * i + 1] = slots[5].swap(x[i]);
                    loop {
                        let seen = slots[6].load();
                        if slots[6].compare_and_swap(seen, seen + 1 as $ty) == seen {
                            break;
                        }
                    }
                }
            }

            #[kernel]
            fn shared_kernel(x: &[$ty], first: &[$ty], slots: &[Atomic<$ty>], y: &mut [$ty]) {
                let own = shared_array::<Atomic<$ty>, 7>();
                let t = thread_idx_x();
                let i = global_idx_x();
                let mut k = t;
                while k < 7 {
                    own[k].store(first[k]);
                    k += block_dim_x();
                }
                barrier();
                own[0].fetch_add(x[i]);
                own[1].fetch_sub(x[i]);
                own[2].fetch_min(x[i]);
                own[3].fetch_max(x[i]);
                y[2 * i] = own[4].fetch_add(1 as $ty);
                y[2 * i + 1] = own[5].swap(x[i]);
                loop {
                    let seen = own[6].load();
                    if own[6].compare_and_swap(seen, seen + 1 as $ty) == seen {
                        break;
                    }
                }
                barrier();
                let mut k = t;
                while k < 7 {
                    slots[7 * block_idx_x() + k].store(own[k].load());
                    k += block_dim_x();
                }
            }

            /// Checks the slots, and the values that each thread got, for the numbers `x`.
            fn check(what: &str, x: &[u8], slots: &[$ty], got: &[$ty]) -> Check {
                let sum: i64 = x.iter().map(|v| i64::from(*v)).sum();
                let n = x.len() as i64;
                let expected = [
                    3 + sum,
                    100 - sum,
                    x.iter().fold(60, |a, b| a.min(i64::from(*b))),
                    x.iter().fold(60, |a, b| a.max(i64::from(*b))),
                    n,
                    slots[5] as i64,
                    n,
                ];
                let expected = expected.map(|v| v as $ty);
                ensure(slots == expected, || format!("{what}: {slots:?} instead of {expected:?}"))?;
                let mut tickets: Vec<i64> = got.iter().step_by(2).map(|v| *v as i64).collect();
                tickets.sort_unstable();
                ensure(tickets.iter().copied().eq(0..n), || format!("{what}: the tickets {tickets:?}"))?;
                let mut swapped: Vec<i64> = got.iter().skip(1).step_by(2).map(|v| *v as i64).collect();
                swapped.push(slots[5] as i64);
                swapped.sort_unstable();
                let mut given: Vec<i64> = x.iter().map(|v| i64::from(*v)).chain([77]).collect();
                given.sort_unstable();
                ensure(swapped == given, || format!("{what}: swapped {swapped:?} of {given:?}"))
            }

            pub fn run(device: &Device) -> Check {
                let first: Vec<$ty> = FIRST.map(|v| v as $ty).to_vec();
                for n in [1, 33, 1000] {
                    let numbers = numbers(n);
                    let x: Vec<$ty> = numbers.iter().map(|v| *v as $ty).collect();
                    let (mut slots, mut y) = (Vector::from_slice(&first), Vector::zeros(2 * n));
                    global_kernel(&Vector::from_vec(x), &mut slots, &mut y).over(n).run_on(device)?;
                    check(&format!("{n} threads"), &numbers, &slots.to_vec()?, &y.to_vec()?)?;
                }
                for block in block_sizes(device) {
                    let numbers = numbers(2 * block);
                    let x: Vec<$ty> = numbers.iter().map(|v| *v as $ty).collect();
                    let (mut slots, mut y) = (Vector::zeros(14), Vector::zeros(4 * block));
                    let (x, first) = (Vector::from_vec(x), Vector::from_slice(&first));
                    shared_kernel(&x, &first, &mut slots, &mut y).grid(2).block(block).run_on(device)?;
                    let (slots, y) = (slots.to_vec()?, y.to_vec()?);
                    for (b, x) in numbers.chunks(block).enumerate() {
                        let what = format!("block {b} of {block} threads");
                        check(&what, x, &slots[7 * b..][..7], &y[2 * block * b..][..2 * block])?;
                    }
                }
                Ok(())
            }
        }
    )*};
}

/// Adds the bitwise operations, which only integers have. Both ends of the type are among the values.
macro_rules! bitwise {
    ($($module:ident $ty:ident $wide:ident;)*) => {$(
        mod $module {
            pub use super::$wide::run;
            use super::*;

            #[kernel]
            fn bits_kernel(x: &[$ty], slots: &[Atomic<$ty>], y: &mut [$ty]) {
                let own = shared_array::<Atomic<$ty>, 3>();
                let t = thread_idx_x();
                let i = global_idx_x();
                if t < 3 {
                    own[t].store(slots[t].load());
                }
                barrier();
                own[0].fetch_and(x[i]);
                own[1].fetch_or(x[i]);
                own[2].fetch_xor(x[i]);
                slots[3].fetch_and(x[i]);
                slots[4].fetch_or(x[i]);
                slots[5].fetch_xor(x[i]);
                slots[6].fetch_add(x[i]);
                slots[7].fetch_sub(x[i]);
                slots[8].fetch_min(x[i]);
                slots[9].fetch_max(x[i]);
                barrier();
                y[i] = own[t % 3].load();
            }

            pub fn bits(device: &Device) -> Check {
                for block in block_sizes(device).filter(|b| *b >= 3) {
                    let mut x: Vec<$ty> = Random::new(block as u64).values(2 * block);
                    (x[0], x[1], x[block]) = ($ty::MIN, $ty::MAX, $ty::MAX - 5);
                    let first: [$ty; 10] = [!0, 0, 9, !0, 0, 9, 1, 1, 50, 50];
                    let (mut slots, mut y) = (Vector::from_slice(&first), sentinel_filled(2 * block));
                    bits_kernel(&Vector::from_slice(&x), &mut slots, &mut y)
                        .grid(2)
                        .block(block)
                        .run_on(device)?;
                    let all = |x: &[$ty]| [
                        x.iter().fold(!0, |a, b| a & b),
                        x.iter().fold(0, |a, b| a | b),
                        x.iter().fold(9, |a, b| a ^ b),
                    ];
                    let expected: Vec<$ty> = x
                        .chunks(block)
                        .flat_map(|of_block| (0..block).map(move |t| all(of_block)[t % 3]))
                        .collect();
                    expect(&format!("blocks of {block}"), &y, &expected)?;
                    let sum = x.iter().fold(0, |a: $ty, b| a.wrapping_add(*b));
                    let mut expected = first;
                    expected[3..6].copy_from_slice(&all(&x));
                    expected[6..8].copy_from_slice(&[sum.wrapping_add(1), (1 as $ty).wrapping_sub(sum)]);
                    expected[8..].copy_from_slice(&[$ty::MIN.min(50), $ty::MAX]);
                    let got = slots.to_vec()?;
                    ensure(got == expected, || format!("blocks of {block}: {got:?} instead of {expected:?}"))?;
                }
                Ok(())
            }
        }
    )*};
}

operations! {
    f32_ f32;
    f64_ f64;
    i32_of_all i32;
    u32_of_all u32;
    i64_of_all i64;
    u64_of_all u64;
}

bitwise! {
    i32_ i32 i32_of_all;
    u32_ u32 u32_of_all;
    i64_ i64 i64_of_all;
    u64_ u64 u64_of_all;
}

// SAFETY: the last block alone reads `parts`, and the others stored to it before their fences.
#[kernel]
unsafe fn last_block_kernel(x: &[u32], parts: &mut [u32], done: &[Atomic<u32>]) {
    if thread_idx_x() == 0 {
        parts[block_idx_x()] = x[global_idx_x()];
        device_fence();
        let before = done[0].fetch_add(1);
        if before as usize + 1 == grid_dim_x() {
            device_fence();
            let mut sum = 0;
            for k in 0..grid_dim_x() {
                sum += parts[k];
            }
            parts[grid_dim_x()] = sum;
        }
    }
}

fn last_block(device: &Device) -> Check {
    for (grid, block) in [(1, 33), (7, 32), (300, 4)] {
        let x: Vec<u32> = (0..(grid * block) as u32).map(|v| v * 7 % 1001).collect();
        let mut expected: Vec<u32> = x.iter().step_by(block).copied().collect();
        expected.push(expected.iter().sum());
        let (mut parts, mut done) = (sentinel_filled(grid + 1), Vector::zeros(1));
        let launch = {
            let x = Vector::from_vec(x);
            // SAFETY: see the kernel.
            unsafe { last_block_kernel(&x, &mut parts, &mut done) }
                .grid(grid)
                .block(block)
                .run_on(device)
        };
        launch?;
        expect(&format!("{grid} blocks of {block}"), &parts, &expected)?;
    }
    Ok(())
}
