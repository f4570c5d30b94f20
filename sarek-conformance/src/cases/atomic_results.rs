//! The result and the effect of each atomic operation on elements that only one thread uses. Since no order matters, the
//! values are arbitrary, the ends of the types included.

use crate::check::{Check, Expected, expect_within, sentinel_filled};
use crate::input::{Random, block_sizes};
use crate::{Capability, Case};
use sarek::prelude::*;

const WIDE: &[Capability] = &[Capability::I64, Capability::Atomics64];

pub const CASES: &[Case] = &[
    Case::new("atomics/results/i32", &[], i32_),
    Case::new("atomics/results/u32", &[], u32_),
    Case::new("atomics/results/i64", WIDE, i64_),
    Case::new("atomics/results/u64", WIDE, u64_),
    Case::new("atomics/results/f32", &[], f32_),
    Case::new(
        "atomics/results/f64",
        &[Capability::F64, Capability::Atomics64],
        f64_,
    ),
    Case::new("atomics/bit_results/i32", &[], i32_bits),
    Case::new("atomics/bit_results/u32", &[], u32_bits),
    Case::new("atomics/bit_results/i64", WIDE, i64_bits),
    Case::new("atomics/bit_results/u64", WIDE, u64_bits),
];

/// Number of results for each of a thread's two elements, the global and the shared one.
const EACH: usize = 8;

macro_rules! results {
    ($($case:ident $kernel:ident $ty:ident $input:ident ($add:expr) ($sub:expr);)*) => {$(
        #[kernel]
        fn $kernel(x: &[$ty], slots: &[Atomic<$ty>], y: &mut [$ty]) {
            let own = shared_array::<Atomic<$ty>, 1024>();
            let t = thread_idx_x();
            let i = global_idx_x();
            let v = x[3 * i + 1];
            let w = x[3 * i + 2];
            slots[i].store(x[3 * i]);
            own[t].store(x[3 * i]);
            y[16 * i] = slots[i].fetch_add(v);
            y[16 * i + 1] = slots[i].fetch_sub(w);
            y[16 * i + 2] = slots[i].fetch_min(v);
            y[16 * i + 3] = slots[i].fetch_max(w);
            y[16 * i + 4] = slots[i].swap(v);
            // The first comparison succeeds; the second fails unless `w` equals `v`.
            y[16 * i + 5] = slots[i].compare_and_swap(v, w);
            y[16 * i + 6] = slots[i].compare_and_swap(v, v);
            y[16 * i + 7] = slots[i].load();
            y[16 * i + 8] = own[t].fetch_add(v);
            y[16 * i + 9] = own[t].fetch_sub(w);
            y[16 * i + 10] = own[t].fetch_min(v);
            y[16 * i + 11] = own[t].fetch_max(w);
            y[16 * i + 12] = own[t].swap(v);
            // The first comparison succeeds; the second fails unless `w` equals `v`.
            y[16 * i + 13] = own[t].compare_and_swap(v, w);
            y[16 * i + 14] = own[t].compare_and_swap(v, v);
            y[16 * i + 15] = own[t].load();
        }

        fn $case(device: &Device) -> Check {
            for block in block_sizes(device) {
                let x: Vec<$ty> = $input(block as u64, 6 * block);
                let mut expected: Vec<Expected<$ty>> = vec![];
                for of_thread in x.chunks(3) {
                    let (x, v, w) = (of_thread[0], of_thread[1], of_thread[2]);
                    let sum = ($add)(x, v);
                    let rest = ($sub)(sum, w);
                    let low = if v < rest { v } else { rest };
                    let high = if w > low { w } else { low };
                    let last = if w == v { v } else { w };
                    let each = [x, sum, rest, low, high, v, last, last].map(Expected::Equal);
                    expected.extend(each.into_iter().chain(each));
                }
                let (mut slots, mut y) = (Vector::zeros(2 * block), sentinel_filled(expected.len()));
                $kernel(&Vector::from_slice(&x), &mut slots, &mut y)
                    .grid(2)
                    .block(block)
                    .run_on(device)?;
                expect_within(&format!("blocks of {block}"), &y, &expected, &|i| {
                    let space = if i / EACH % 2 == 0 { "global" } else { "shared" };
                    format!(" operation {} of {:?}, {space}", i % EACH, &x[i / 16 * 3..][..3])
                })?;
            }
            Ok(())
        }
    )*};
}

fn any<T: crate::input::Sample>(seed: u64, n: usize) -> Vec<T> {
    Random::new(seed).values(n)
}

/// Multiples of 1/8, whose sums are exact.
fn eighths<T: From<f32>>(seed: u64, n: usize) -> Vec<T> {
    let mut random = Random::new(seed);
    let mut next = || (random.below(1 << 16) as f32 - 32_768.0) / 8.0;
    (0..n).map(|_| T::from(next())).collect()
}

results! {
    i32_ kernel_i32 i32 any (i32::wrapping_add) (i32::wrapping_sub);
    u32_ kernel_u32 u32 any (u32::wrapping_add) (u32::wrapping_sub);
    i64_ kernel_i64 i64 any (i64::wrapping_add) (i64::wrapping_sub);
    u64_ kernel_u64 u64 any (u64::wrapping_add) (u64::wrapping_sub);
    f32_ kernel_f32 f32 eighths (|a: f32, b: f32| a + b) (|a: f32, b: f32| a - b);
    f64_ kernel_f64 f64 eighths (|a: f64, b: f64| a + b) (|a: f64, b: f64| a - b);
}

macro_rules! bit_results {
    ($($case:ident $kernel:ident $ty:ident;)*) => {$(
        #[kernel]
        fn $kernel(x: &[$ty], slots: &[Atomic<$ty>], y: &mut [$ty]) {
            let own = shared_array::<Atomic<$ty>, 1024>();
            let t = thread_idx_x();
            let i = global_idx_x();
            slots[i].store(x[4 * i]);
            own[t].store(x[4 * i]);
            y[8 * i] = slots[i].fetch_and(x[4 * i + 1]);
            y[8 * i + 1] = slots[i].fetch_or(x[4 * i + 2]);
            y[8 * i + 2] = slots[i].fetch_xor(x[4 * i + 3]);
            y[8 * i + 3] = slots[i].load();
            y[8 * i + 4] = own[t].fetch_and(x[4 * i + 1]);
            y[8 * i + 5] = own[t].fetch_or(x[4 * i + 2]);
            y[8 * i + 6] = own[t].fetch_xor(x[4 * i + 3]);
            y[8 * i + 7] = own[t].load();
        }

        fn $case(device: &Device) -> Check {
            for block in block_sizes(device) {
                let x: Vec<$ty> = any(block as u64 + 1, 8 * block);
                let expected = x.chunks(4).flat_map(|x| {
                    let both = x[0] & x[1];
                    let each = [x[0], both, both | x[2], (both | x[2]) ^ x[3]];
                    each.into_iter().chain(each).map(Expected::Exactly)
                });
                let expected: Vec<Expected<$ty>> = expected.collect();
                let (mut slots, mut y) = (Vector::zeros(2 * block), sentinel_filled(expected.len()));
                $kernel(&Vector::from_slice(&x), &mut slots, &mut y)
                    .grid(2)
                    .block(block)
                    .run_on(device)?;
                expect_within(&format!("blocks of {block}"), &y, &expected, &|i| {
                    format!(" operation {} of {:?}", i % 8, &x[i / 8 * 4..][..4])
                })?;
            }
            Ok(())
        }
    )*};
}

bit_results! {
    i32_bits bits_i32 i32;
    u32_bits bits_u32 u32;
    i64_bits bits_i64 i64;
    u64_bits bits_u64 u64;
}
