//! Pairs of `bf16` in operators and methods, and values outside of memory.

use super::{expected, is_flushed, number, pairs, round};
use crate::Case;
use crate::check::{Check, Expected, binary, unary};
use crate::input::values;
use sarek::prelude::*;
use sarek::testing::tolerance::{Class, Tolerance};

pub const CASES: &[Case] = &[
    Case::new("bfloat/operators", &[], operators),
    Case::new("bfloat/comparisons", &[], comparisons),
    Case::new("bfloat/functions", &[], functions),
    Case::new("bfloat/values", &[], bfloat_values),
];

#[kernel]
fn operators_kernel(a: &[u32], b: &[u32], out: &mut [f32]) {
    let i = global_idx_x();
    let (x, y) = (bf16::from_bits(a[i] as u16), bf16::from_bits(b[i] as u16));
    out[10 * i] = (x + y).to_f32();
    out[10 * i + 1] = (x - y).to_f32();
    out[10 * i + 2] = (x * y).to_f32();
    out[10 * i + 3] = (x / y).to_f32();
    out[10 * i + 4] = (x % y).to_f32();
    let mut z = x;
    z += y;
    z *= x;
    out[10 * i + 5] = z.to_f32();
    out[10 * i + 6] = x.min(y).to_f32();
    out[10 * i + 7] = x.max(y).to_f32();
    out[10 * i + 8] = x.copysign(y).to_f32();
    // Product and sum are not fused: each is rounded.
    out[10 * i + 9] = (x * y + x).to_f32();
}

fn operators(device: &Device) -> Check {
    let class = Class::of(device);
    binary(
        [
            "+", "-", "*", "/", "%", "+= *=", "min", "max", "copysign", "* +",
        ],
        &pairs(202, 3000),
        |a, b, out, n| operators_kernel(a, b, out).over(n).run_on(device),
        |a, b| {
            let (x, y) = (number(a), number(b));
            let (sum, product) = (x + y, x * y);
            if is_flushed(class, &[x, y, round(sum), round(product)]) {
                return [Expected::Anything; 10];
            }
            let rounded = |x: f32| expected(class, round(x));
            let extreme = |of: fn(f32, f32) -> f32| match x == 0.0 && y == 0.0 {
                true => Expected::Equal(0.0),
                false => rounded(of(x, y)),
            };
            // WGSL promises no quotient for an infinite operand, for a zero divisor, or for a divisor of 2^126 or more.
            let is_divided = class != Class::Wgsl
                || x.is_finite() && y.is_finite() && y != 0.0 && y.abs() < 2f32.powi(126);
            [
                rounded(sum),
                rounded(x - y),
                rounded(product),
                match is_divided {
                    true => rounded(x / y),
                    false => Expected::Anything,
                },
                match is_divided && class == Class::Host {
                    true => rounded(x % y),
                    false => Expected::Anything,
                },
                rounded(round(sum) * x),
                extreme(f32::min),
                extreme(f32::max),
                match y.is_nan() {
                    true => Expected::Anything,
                    false => rounded(x.copysign(y)),
                },
                rounded(round(product) + x),
            ]
        },
    )
}

#[kernel]
fn comparisons_kernel(a: &[u32], b: &[u32], out: &mut [u32]) {
    let i = global_idx_x();
    let (x, y) = (bf16::from_bits(a[i] as u16), bf16::from_bits(b[i] as u16));
    out[i] = (x == y) as u32
        | ((x != y) as u32) << 1
        | ((x < y) as u32) << 2
        | ((x <= y) as u32) << 3
        | ((x > y) as u32) << 4
        | ((x >= y) as u32) << 5;
}

fn comparisons(device: &Device) -> Check {
    let class = Class::of(device);
    binary(
        ["== != < <= > >="],
        &pairs(203, 1000),
        |a, b, out, n| comparisons_kernel(a, b, out).over(n).run_on(device),
        |a, b| {
            let (x, y) = (number(a), number(b));
            if is_flushed(class, &[x, y]) {
                return [Expected::Anything];
            }
            let all = [x == y, x != y, x < y, x <= y, x > y, x >= y];
            let bits = all.iter().enumerate().map(|(k, is)| u32::from(*is) << k);
            [Expected::Exactly(bits.sum())]
        },
    )
}

#[kernel]
fn functions_kernel(a: &[f32], out: &mut [f32]) {
    let i = global_idx_x();
    let found = functions_of(bf16::from_f32(a[i]));
    for k in 0..4 {
        out[4 * i + k] = found[k];
    }
}

#[device]
fn functions_of<T: Float>(x: T) -> [f32; 4] {
    [
        x.exp().to_f32(),
        x.abs().ln().to_f32(),
        x.mul_add(x, T::from_f32(1.0)).to_f32(),
        x.rsqrt().to_f32(),
    ]
}

/// One unit in the last place of a `bf16`, for functions whose `f32` result may not be the nearest.
const NEAR: Tolerance = Tolerance {
    ulps: 65536.0,
    absolute: 0.0,
    flush: true,
};

fn functions(device: &Device) -> Check {
    let inputs: Vec<f32> = (0..1000).map(|k| k as f32 / 50.0 + 0.01).collect();
    unary(
        ["exp", "ln", "mul_add", "rsqrt"],
        &inputs,
        |a, out, n| functions_kernel(a, out).over(n).run_on(device),
        |a| {
            let x = round(a);
            [x.exp(), x.ln(), x.mul_add(x, 1.0), 1.0 / x.sqrt()]
                .map(|exact| Expected::Near(round(exact).into(), NEAR))
        },
    )
}

const THIRD: bf16 = bf16::from_f32_const(1.0 / 3.0);

/// Uses `bf16` as argument, constant and local array, and in loops.
#[kernel]
fn values_kernel(scale: bf16, a: &[f32], out: &mut [f32]) {
    let i = global_idx_x();
    let mut kept = [bf16::ZERO; 4];
    for k in 0..4 {
        kept[k] = bf16::from_f32(a[i]) * scale + THIRD;
    }
    let mut sum = bf16::from_f64(0.25);
    for k in 0..4 {
        sum += kept[k];
    }
    let rounded: bf16 = if sum > bf16::MAX { bf16::ONE } else { sum };
    out[i] = rounded.to_f32();
}

fn bfloat_values(device: &Device) -> Check {
    let class = Class::of(device);
    let scale = bf16::from_f32(1.7);
    unary(
        ["value"],
        &values::<f32>(204, 300),
        |a, out, n| values_kernel(scale, a, out).over(n).run_on(device),
        |a| {
            let kept = round(round(round(a) * scale.to_f32()) + THIRD.to_f32());
            let sum = (0..4).fold(0.25, |sum, _| round(sum + kept));
            let value = if sum > bf16::MAX.to_f32() { 1.0 } else { sum };
            [expected(class, value)]
        },
    )
}
