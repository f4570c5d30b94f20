//! `f16`: every number in conversions and methods, pairs of numbers in operators, and values in every kind of place.

use crate::check::{Check, Expected, binary, expect, sentinel_filled, unary};
use crate::input::{Sample, pairs, values};
use crate::{Capability, Case};
use sarek::prelude::*;
use sarek::testing::tolerance::{Class, Tolerance};

const HALF: &[Capability] = &[Capability::F16];

pub const CASES: &[Case] = &[
    Case::new("half/widened", HALF, widened),
    Case::new("half/narrowed", HALF, narrowed),
    Case::new(
        "half/narrowed_f64",
        &[Capability::F16, Capability::F64],
        narrowed_f64,
    ),
    Case::new("half/bits", HALF, bits),
    Case::new("half/tests", HALF, tests),
    Case::new("half/methods", HALF, methods),
    Case::new("half/operators", HALF, operators),
    Case::new("half/comparisons", HALF, comparisons),
    Case::new("half/values", &[], half_values),
    Case::new("half/structs", HALF, structs),
    Case::new(
        "half/mixed_structs",
        &[Capability::Storage16],
        mixed_structs,
    ),
    Case::new("half/shared", HALF, shared),
    Case::new("half/generic", HALF, generic),
];

/// Every 16-bit float, NaNs included.
fn all() -> Vec<f16> {
    (0..=u16::MAX).map(f16::from_bits).collect()
}

#[kernel]
fn widened_kernel(a: &[f16], out: &mut [f32]) {
    let i = global_idx_x();
    out[i] = a[i].to_f32();
}

/// The value of a number, from the definition of the format.
fn defined(a: f16) -> f32 {
    let bits = a.to_bits();
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 0x3ff));
    let size = match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        e => (1024.0 + fraction) * 2f64.powi(e - 25),
    };
    (if bits < 0x8000 { size } else { -size }) as f32
}

fn widened(device: &Device) -> Check {
    unary(
        ["to_f32"],
        &all(),
        |a, out, n| widened_kernel(a, out).over(n).run_on(device),
        |a| [Expected::Exactly(defined(a))],
    )
}

#[kernel]
fn narrowed_kernel(a: &[f32], out: &mut [f16]) {
    let i = global_idx_x();
    out[i] = f16::from_f32(a[i]);
}

/// Every number, every tie between neighbours, and the numbers next to each tie, each with its rounded result.
fn near_ties(next: impl Fn(f64) -> [f64; 2]) -> Vec<(f64, f16)> {
    let mut all = vec![];
    for low in 0..0x7c00_u16 {
        let number = |bits: u16| f64::from(defined(f16::from_bits(bits)));
        // Rounding takes infinity for the number that would follow the largest one.
        let above = if low == 0x7bff {
            65536.0
        } else {
            number(low + 1)
        };
        let tie = (number(low) + above) / 2.0;
        let [before, after] = next(tie);
        all.extend([
            (number(low), low),
            (before, low),
            (tie, low + (low & 1)),
            (after, low + 1),
        ]);
    }
    let both = |(x, bits): (f64, u16)| [(x, bits), (-x, bits | 0x8000)];
    let all = all.into_iter().flat_map(both);
    let all = all.map(|(x, bits)| (x, f16::from_bits(bits)));
    all.chain([
        (f64::INFINITY, f16::INFINITY),
        (f64::NAN, f16::NAN),
        (1e30, f16::INFINITY),
    ])
    .collect()
}

fn narrowed(device: &Device) -> Check {
    let cases = near_ties(|tie| {
        let tie = tie as f32;
        [tie.next_down().into(), tie.next_up().into()]
    });
    let inputs: Vec<f32> = cases.iter().map(|(x, _)| *x as f32).collect();
    let expected: Vec<f16> = cases.iter().map(|(_, expected)| *expected).collect();
    let mut out = sentinel_filled(expected.len());
    narrowed_kernel(&Vector::from_vec(inputs), &mut out)
        .over(expected.len())
        .run_on(device)?;
    expect("from_f32", &out, &expected)
}

#[kernel]
fn narrowed_f64_kernel(a: &[f64], out: &mut [f16]) {
    let i = global_idx_x();
    // Converting there and back a second time must not change the result.
    out[i] = f16::from_f64(f16::from_f64(a[i]).to_f64());
}

fn narrowed_f64(device: &Device) -> Check {
    // Devices convert through an `f32`. The reference uses the `half` crate, whose software conversion rounds near ties differently.
    let is_own = device.backend() == "reference";
    let cases = near_ties(|tie| match is_own {
        true => [(tie as f32).next_down(), (tie as f32).next_up()].map(f64::from),
        // An `f32` cannot be this close to the tie.
        false => [tie.next_down(), tie.next_up()],
    });
    let inputs: Vec<f64> = cases.iter().map(|(x, _)| *x).collect();
    let expected: Vec<f16> = inputs.iter().map(|x| f16::from_f32(*x as f32)).collect();
    let mut out = sentinel_filled(expected.len());
    narrowed_f64_kernel(&Vector::from_vec(inputs), &mut out)
        .over(expected.len())
        .run_on(device)?;
    expect("from_f64", &out, &expected)
}

#[kernel]
fn bits_kernel(a: &[f16], out: &mut [u32]) {
    let i = global_idx_x();
    let bits = a[i].to_bits();
    out[2 * i] = bits as u32;
    out[2 * i + 1] = f16::from_bits(i as u16).to_f32().to_bits();
}

fn bits(device: &Device) -> Check {
    unary(
        ["to_bits", "from_bits"],
        &all(),
        |a, out, n| bits_kernel(a, out).over(n).run_on(device),
        |a| match a.is_nan() {
            true => [Expected::Anything; 2],
            false => [a.to_bits().into(), defined(a).to_bits()].map(Expected::Exactly),
        },
    )
}

#[kernel]
fn tests_kernel(a: &[f16], out: &mut [u32]) {
    let i = global_idx_x();
    let x = a[i];
    let mut found = 0;
    if x.is_nan() {
        found += 1;
    }
    if x.is_infinite() {
        found += 2;
    }
    if x.is_finite() {
        found += 4;
    }
    if x.is_sign_negative() {
        found += 8;
    }
    if x.is_sign_positive() {
        found += 16;
    }
    if x == f16::ZERO {
        found += 32;
    }
    out[i] = found;
}

fn tests(device: &Device) -> Check {
    unary(
        ["what it is"],
        &all(),
        |a, out, n| tests_kernel(a, out).over(n).run_on(device),
        |a| {
            let size = a.to_bits() & 0x7fff;
            let kind = match size {
                0x7c01.. => 1,
                0x7c00 => 2,
                0 => 4 + 32,
                _ => 4,
            };
            let sign = if a.to_bits() >= 0x8000 { 8 } else { 16 };
            // A conversion may lose the sign of a NaN.
            [if kind == 1 {
                Expected::Anything
            } else {
                Expected::Exactly(kind + sign)
            }]
        },
    )
}

#[kernel]
fn methods_kernel(a: &[f16], out: &mut [f16]) {
    let i = global_idx_x();
    let x = a[i];
    out[10 * i] = -x;
    out[10 * i + 1] = x.abs();
    out[10 * i + 2] = x.signum();
    out[10 * i + 3] = x.floor();
    out[10 * i + 4] = x.ceil();
    out[10 * i + 5] = x.round();
    out[10 * i + 6] = x.trunc();
    out[10 * i + 7] = x.fract();
    out[10 * i + 8] = x.clamp(f16::NEG_ONE, f16::PI);
    out[10 * i + 9] = x.sqrt();
}

/// Allows half a unit in the last place more than a single rounding.
const NEAR: Tolerance = Tolerance {
    ulps: 1.0,
    absolute: 0.0,
    flush: false,
};

fn methods(device: &Device) -> Check {
    unary(
        [
            "-", "abs", "signum", "floor", "ceil", "round", "trunc", "fract", "clamp", "sqrt",
        ],
        &all(),
        |a, out, n| methods_kernel(a, out).over(n).run_on(device),
        |a| {
            let x = f64::from(defined(a));
            let exact = [
                -x,
                x.abs(),
                x.signum(),
                x.floor(),
                x.ceil(),
                x.round(),
                x.trunc(),
                x.fract(),
            ];
            let mut expected = [Expected::Near(x.sqrt(), NEAR); 10];
            for (expected, exact) in expected.iter_mut().zip(exact) {
                *expected = Expected::Exactly(f16::from_f32(exact as f32));
            }
            expected[7] = Expected::Equal(f16::from_f32(x.fract() as f32));
            if !x.is_finite() {
                expected[7] = Expected::Anything;
            }
            expected[8] = Expected::Exactly(match x {
                _ if x < -1.0 => f16::NEG_ONE,
                _ if x > f16::PI.to_f64() => f16::PI,
                _ => a,
            });
            expected
        },
    )
}

#[kernel]
fn operators_kernel(a: &[f16], b: &[f16], out: &mut [f16]) {
    let i = global_idx_x();
    let (x, y) = (a[i], b[i]);
    out[8 * i] = x + y;
    out[8 * i + 1] = x - y;
    out[8 * i + 2] = x * y;
    out[8 * i + 3] = x / y;
    let mut z = x;
    z += y;
    z *= x;
    out[8 * i + 4] = z;
    out[8 * i + 5] = x.min(y);
    out[8 * i + 6] = x.max(y);
    out[8 * i + 7] = x.copysign(y);
}

fn operators(device: &Device) -> Check {
    let class = Class::of(device);
    binary(
        ["+", "-", "*", "/", "+= *=", "min", "max", "copysign"],
        &pairs::<f16, f16>(101, 3000),
        |a, b, out, n| operators_kernel(a, b, out).over(n).run_on(device),
        |a, b| {
            let (x, y) = (defined(a), defined(b));
            // For sums and products of so few digits, rounding twice is the same as rounding once.
            let round = |x: f32| Expected::Exactly(f16::from_f32(x));
            let quotient = f64::from(x) / f64::from(y);
            let sum = f16::from_f32(x + y);
            let extreme = |of: fn(f32, f32) -> f32| match x == 0.0 && y == 0.0 {
                true => Expected::Equal(f16::ZERO),
                false => round(of(x, y)),
            };
            [
                round(x + y),
                round(x - y),
                round(x * y),
                match class {
                    Class::Wgsl if x.is_finite() && y.is_finite() && y != 0.0 => {
                        Expected::Near(quotient, NEAR)
                    }
                    _ => round(x / y),
                },
                round(defined(sum) * x),
                extreme(f32::min),
                extreme(f32::max),
                match b.is_nan() {
                    true => Expected::Anything,
                    false => round(x.copysign(y)),
                },
            ]
        },
    )
}

#[kernel]
fn comparisons_kernel(a: &[f16], b: &[f16], out: &mut [u32]) {
    let i = global_idx_x();
    let (x, y) = (a[i], b[i]);
    out[i] = (x == y) as u32
        | ((x != y) as u32) << 1
        | ((x < y) as u32) << 2
        | ((x <= y) as u32) << 3
        | ((x > y) as u32) << 4
        | ((x >= y) as u32) << 5;
}

fn comparisons(device: &Device) -> Check {
    binary(
        ["== != < <= > >="],
        &pairs::<f16, f16>(102, 1000),
        |a, b, out, n| comparisons_kernel(a, b, out).over(n).run_on(device),
        |a, b| {
            let (x, y) = (defined(a), defined(b));
            let all = [x == y, x != y, x < y, x <= y, x > y, x >= y];
            let bits = all.iter().enumerate().map(|(k, is)| u32::from(*is) << k);
            [Expected::Exactly(bits.sum())]
        },
    )
}

const THIRD: f16 = f16::from_f32_const(1.0 / 3.0);

/// Uses `f16` as argument, constant and local array, and in loops, also on devices without buffers of it.
#[kernel]
fn values_kernel(scale: f16, a: &[f32], out: &mut [f32]) {
    let i = global_idx_x();
    let mut kept = [f16::ZERO; 4];
    for k in 0..4 {
        kept[k] = f16::from_f32(a[i]) * scale + THIRD;
    }
    let mut sum = f16::from_f64(0.25);
    for k in 0..4 {
        sum += kept[k];
    }
    let rounded: f16 = if sum > f16::MAX { f16::ONE } else { sum };
    out[i] = rounded.to_f32();
}

fn half_values(device: &Device) -> Check {
    let scale = f16::from_f32(1.7);
    unary(
        ["value"],
        &values::<f32>(103, 300),
        |a, out, n| values_kernel(scale, a, out).over(n).run_on(device),
        |a| {
            let round = |x: f32| f16::from_f32(x).to_f32();
            let kept = round(round(round(a) * scale.to_f32()) + THIRD.to_f32());
            let sum = (0..4).fold(0.25, |sum, _| round(sum + kept));
            let expected = if sum > 65504.0 { 1.0 } else { sum };
            [Expected::Exactly(expected)]
        },
    )
}

/// A struct of `f16` fields alone: its buffer is one of `f16`.
#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Complex {
    re: f16,
    im: f16,
}

#[kernel]
fn structs_kernel(a: &[Complex], out: &mut [Complex]) {
    let i = global_idx_x();
    let c = a[i];
    out[i] = Complex {
        re: c.re * c.re - c.im * c.im,
        im: c.re * c.im + c.im * c.re,
    };
}

fn structs(device: &Device) -> Check {
    let input: Vec<Complex> = pairs::<f16, f16>(104, 200)
        .into_iter()
        .map(|(re, im)| Complex { re, im })
        .collect();
    let n = input.len();
    let zero = Complex {
        re: f16::ZERO,
        im: f16::ZERO,
    };
    let mut out = Vector::filled(n, zero);
    structs_kernel(&Vector::from_slice(&input), &mut out)
        .over(n)
        .run_on(device)?;
    let out: Vec<f16> = out.to_vec()?.iter().flat_map(|c| [c.re, c.im]).collect();
    let round = |x: f32| f16::from_f32(x);
    let wide = |x: f32| round(x).to_f32();
    let expected = input.iter().flat_map(|c| {
        let (x, y) = (defined(c.re), defined(c.im));
        let im = wide(x * y) + wide(y * x);
        [round(wide(x * x) - wide(y * y)), round(im)]
    });
    same(&out, &expected.collect::<Vec<_>>())
}

fn same(out: &[f16], expected: &[f16]) -> Check {
    let bad = out.iter().zip(expected).position(|(o, d)| !o.same(*d));
    crate::check::ensure(bad.is_none(), || {
        let i = bad.unwrap_or_default();
        format!("[{i}]: {:?} instead of {:?}", out[i], expected[i])
    })
}

/// A struct with other fields: its buffer is one of 16-bit words.
#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Mixed {
    count: u16,
    weight: f16,
    total: f32,
}

#[kernel]
fn mixed_kernel(a: &mut [Mixed]) {
    let i = global_idx_x();
    a[i].count += 1;
    a[i].weight = a[i].weight * f16::from_f32(a[i].total);
    a[i].total += a[i].weight.to_f32();
}

fn mixed_structs(device: &Device) -> Check {
    let weights = values::<f16>(105, 200);
    let input = weights.iter().enumerate().map(|(i, &weight)| Mixed {
        count: i as u16,
        weight,
        total: i as f32 / 8.0,
    });
    let mut vector = Vector::from_vec(input.collect());
    mixed_kernel(&mut vector)
        .over(weights.len())
        .run_on(device)?;
    for (i, got) in vector.to_vec()?.iter().enumerate() {
        let total = i as f32 / 8.0;
        let weight = defined(weights[i]) * f16::from_f32(total).to_f32();
        let weight = f16::from_f32(weight);
        let total = total + defined(weight);
        let right = got.count == i as u16 + 1 && got.weight.same(weight) && got.total.same(total);
        crate::check::ensure(right, || format!("[{i}]: {} {}", got.weight, got.total))?;
    }
    Ok(())
}

/// Sums of neighbours through a shared array.
#[kernel(block = 64)]
fn shared_kernel(a: &[f16], out: &mut [f16]) {
    let tile = shared_array::<f16, 64>();
    let t = thread_idx_x();
    tile[t] = a[global_idx_x()];
    barrier();
    out[global_idx_x()] = tile[t] + tile[(t + 1) % 64];
}

fn shared(device: &Device) -> Check {
    let input: Vec<f16> = values::<f16>(106, 1000).into_iter().take(640).collect();
    let mut out = sentinel_filled(input.len());
    shared_kernel(&Vector::from_slice(&input), &mut out)
        .cover(input.len())
        .run_on(device)?;
    let expected = (0..input.len()).map(|i| {
        let next = i / 64 * 64 + (i + 1) % 64;
        f16::from_f32(defined(input[i]) + defined(input[next]))
    });
    expect("neighbours", &out, &expected.collect::<Vec<_>>())
}

#[kernel]
fn generic_kernel<T: Float>(a: T, x: &[T], y: &mut [T]) {
    let i = global_idx_x();
    y[i] = (a * x[i] + T::from_f32(0.5)).abs().sqrt() + T::ONE;
}

fn generic(device: &Device) -> Check {
    let input = values::<f16>(107, 300);
    let a = f16::from_f32(2.5);
    unary(
        ["sqrt |a x + 1/2| + 1"],
        &input,
        |x, y, n| generic_kernel::<f16>(a, x, y).over(n).run_on(device),
        |x| {
            let round = |x: f32| f16::from_f32(x).to_f32();
            let sum = round(round(2.5 * defined(x)) + 0.5);
            [Expected::Near((round(sum.abs().sqrt()) + 1.0).into(), NEAR)]
        },
    )
}
