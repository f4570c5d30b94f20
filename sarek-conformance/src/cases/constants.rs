//! Literals, local and module constants, and the associated constants of the numeric types.

use crate::check::{Check, expect, sentinel_filled};
use crate::{Capability, Case};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("constants/f32", &[], f32_case),
    Case::new("constants/rounded", &[], rounded),
    Case::new("constants/i32", &[], i32_case),
    Case::new("constants/arrays", &[], arrays),
    Case::new("constants/usize", &[], sizes),
    Case::new("constants/bytes", &[], bytes),
    Case::new("constants/u64", &[Capability::I64], u64_case),
    Case::new("constants/f64", &[Capability::F64], f64_case),
];

const SCALE: f32 = 2.5;
const OFFSET: i32 = -40 + 3 * 7;

mod elsewhere {
    pub const LIMIT: i32 = 1 << 20;
    pub const MASK: u64 = 0xffff_0000_ffff_0000;
    pub const HALF: f64 = 0.5;
    pub const PRIMES: [u32; 5] = [2, 3, 5, 7, 11];
    pub const WIDTH: usize = 33;
}

struct Holder;

impl Holder {
    const ANSWER: i32 = 42;
    const STEPS: [[u32; 2]; 3] = [[1, 2], [30, 40], [500, 600]];
}

#[kernel]
fn f32_kernel(out: &mut [f32]) {
    const LOCAL: f32 = 0.75;
    let i = global_idx_x();
    out[16 * i] = f32::MAX;
    out[16 * i + 1] = f32::MIN;
    out[16 * i + 2] = f32::MIN_POSITIVE;
    out[16 * i + 3] = f32::EPSILON;
    out[16 * i + 4] = f32::INFINITY;
    out[16 * i + 5] = f32::NEG_INFINITY;
    out[16 * i + 6] = f32::NAN;
    out[16 * i + 7] = std::f32::consts::PI;
    out[16 * i + 8] = core::f32::consts::LN_2;
    out[16 * i + 9] = SCALE;
    out[16 * i + 10] = LOCAL;
    out[16 * i + 11] = 1e-3;
    out[16 * i + 12] = 16_777_217.0;
    out[16 * i + 13] = -0.0;
    out[16 * i + 14] = 3f32;
    out[16 * i + 15] = self::SCALE * LOCAL;
}

fn f32_case(device: &Device) -> Check {
    let bits = [
        0x7f7f_ffff,
        0xff7f_ffff,
        0x0080_0000,
        0x3400_0000,
        0x7f80_0000,
        0xff80_0000,
        0x7fc0_0000,
        0x4049_0fdb,
        0x3f31_7218,
        0x4020_0000,
        0x3f40_0000,
        0x3a83_126f,
        0x4b80_0000,
        0x8000_0000,
        0x4040_0000,
        0x3ff0_0000,
    ];
    let mut out = sentinel_filled(bits.len());
    f32_kernel(&mut out).over(1).run_on(device)?;
    expect("constants", &out, &bits.map(f32::from_bits))
}

/// Rounds constants. Compilers fold these calls, and must round as the device does.
#[kernel]
fn rounded_kernel(out: &mut [f32]) {
    let i = global_idx_x();
    out[16 * i] = f32::INFINITY.floor();
    out[16 * i + 1] = f32::INFINITY.ceil();
    out[16 * i + 2] = f32::INFINITY.trunc();
    out[16 * i + 3] = f32::INFINITY.round();
    out[16 * i + 4] = f32::NEG_INFINITY.floor();
    out[16 * i + 5] = f32::NEG_INFINITY.ceil();
    out[16 * i + 6] = f32::NEG_INFINITY.trunc();
    out[16 * i + 7] = f32::NEG_INFINITY.round();
    out[16 * i + 8] = f32::NAN.floor();
    out[16 * i + 9] = f32::NAN.ceil();
    out[16 * i + 10] = f32::NAN.trunc();
    out[16 * i + 11] = f32::MIN.floor();
    out[16 * i + 12] = f32::MAX.round();
    out[16 * i + 13] = f32::INFINITY.floor().is_finite() as u32 as f32;
    out[16 * i + 14] = f32::NEG_INFINITY.ceil().is_finite() as u32 as f32;
    out[16 * i + 15] = f32::NAN.trunc().is_finite() as u32 as f32;
}

fn rounded(device: &Device) -> Check {
    let mut expected = [0.0; 16];
    expected[..4].fill(f32::INFINITY);
    expected[4..8].fill(f32::NEG_INFINITY);
    expected[8..11].fill(f32::NAN);
    expected[11..13].copy_from_slice(&[f32::MIN, f32::MAX]);
    let mut out = sentinel_filled(expected.len());
    rounded_kernel(&mut out).over(1).run_on(device)?;
    expect("rounded constants", &out, &expected)
}

#[kernel]
fn i32_kernel(out: &mut [i32]) {
    const NEGATIVE: i32 = -7;
    let i = global_idx_x();
    out[12 * i] = i32::MAX;
    out[12 * i + 1] = i32::MIN;
    out[12 * i + 2] = OFFSET;
    out[12 * i + 3] = elsewhere::LIMIT;
    out[12 * i + 4] = NEGATIVE;
    out[12 * i + 5] = -2_147_483_648;
    out[12 * i + 6] = 0x7fff_ffff;
    out[12 * i + 7] = 0b1010;
    out[12 * i + 8] = 0o777;
    out[12 * i + 9] = u32::MAX as i32;
    out[12 * i + 10] = i32::BITS as i32;
    out[12 * i + 11] = Holder::ANSWER;
}

fn i32_case(device: &Device) -> Check {
    let expected = [
        2_147_483_647,
        -2_147_483_648,
        -19,
        1_048_576,
        -7,
        -2_147_483_648,
        2_147_483_647,
        10,
        511,
        -1,
        32,
        42,
    ];
    let mut out = sentinel_filled(expected.len());
    i32_kernel(&mut out).over(1).run_on(device)?;
    expect("constants", &out, &expected)
}

#[kernel]
fn u64_kernel(out: &mut [u64]) {
    let i = global_idx_x();
    out[6 * i] = u64::MAX;
    out[6 * i + 1] = elsewhere::MASK;
    out[6 * i + 2] = i64::MIN as u64;
    out[6 * i + 3] = 18_446_744_073_709_551_615;
    out[6 * i + 4] = 0x1_0000_0000u64;
    out[6 * i + 5] = i64::MAX as u64;
}

fn u64_case(device: &Device) -> Check {
    let expected = [!0, 0xffff_0000_ffff_0000, 1 << 63, !0, 1 << 32, !0 >> 1];
    let mut out = sentinel_filled(expected.len());
    u64_kernel(&mut out).over(1).run_on(device)?;
    expect("constants", &out, &expected)
}

#[kernel]
fn f64_kernel(out: &mut [f64]) {
    let i = global_idx_x();
    out[7 * i] = f64::MAX;
    out[7 * i + 1] = std::f64::consts::E;
    out[7 * i + 2] = elsewhere::HALF;
    out[7 * i + 3] = 0.1;
    out[7 * i + 4] = 1e300;
    out[7 * i + 5] = f64::INFINITY;
    out[7 * i + 6] = f64::EPSILON;
}

fn f64_case(device: &Device) -> Check {
    let bits = [
        0x7fef_ffff_ffff_ffff,
        0x4005_bf0a_8b14_5769,
        0x3fe0_0000_0000_0000,
        0x3fb9_9999_9999_999a,
        0x7e37_e43c_8800_759c,
        0x7ff0_0000_0000_0000,
        0x3cb0_0000_0000_0000,
    ];
    let mut out = sentinel_filled(bits.len());
    f64_kernel(&mut out).over(1).run_on(device)?;
    expect("constants", &out, &bits.map(f64::from_bits))
}

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Rule {
    weights: [[u32; 2]; 3],
    first: u32,
    parts: [Part; 2],
    last: u32,
}

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Part {
    at: u32,
    of: [u32; 2],
}

const RULE: Rule = Rule {
    weights: [[1, 2], [3, 4], [5, 6]],
    first: 7,
    parts: [
        Part { at: 8, of: [9, 10] },
        Part {
            at: 11,
            of: [12, 13],
        },
    ],
    last: 14,
};

#[device]
fn prime(i: usize) -> u32 {
    elsewhere::PRIMES[i % elsewhere::PRIMES.len()]
}

#[kernel]
fn arrays_kernel(out: &mut [u32]) {
    const OWN: [u32; 3] = [4, 5, 6];
    let i = global_idx_x();
    let primes = elsewhere::PRIMES;
    let rule = RULE;
    out[8 * i] = primes[i % 5];
    out[8 * i + 1] = prime(i) * elsewhere::PRIMES[4];
    out[8 * i + 2] = OWN[i % 3] + Holder::STEPS[i % 3][i % 2];
    out[8 * i + 3] = rule.weights[i % 3][1] + 100 * rule.first;
    out[8 * i + 4] = RULE.parts[i % 2].of[1] + 100 * RULE.parts[1].at;
    out[8 * i + 5] = RULE.last;
    let mut k = 0;
    while elsewhere::PRIMES[k] < i as u32 && k < 4 {
        k += 1;
    }
    out[8 * i + 6] = k as u32;
    let mut sum = 0;
    for k in 0..2 {
        sum += Holder::STEPS[2][k];
    }
    out[8 * i + 7] = sum;
}

fn arrays(device: &Device) -> Check {
    let n = 33;
    let primes = elsewhere::PRIMES;
    let expected = (0..n).flat_map(|i| {
        let below = primes[..4].iter().filter(|p| **p < i as u32).count();
        [
            primes[i % 5],
            primes[i % 5] * 11,
            [4, 5, 6][i % 3] + Holder::STEPS[i % 3][i % 2],
            [702, 704, 706][i % 3],
            [1110, 1113][i % 2],
            14,
            below as u32,
            1100,
        ]
    });
    let expected: Vec<u32> = expected.collect();
    let mut out = sentinel_filled(expected.len());
    arrays_kernel(&mut out).over(n).run_on(device)?;
    expect("arrays", &out, &expected)
}

/// Uses constants of another module, which only rustc knows to be `usize`.
#[kernel]
fn sizes_kernel(out: &mut [f32]) {
    let i = global_idx_x();
    out[2 * i] = elsewhere::WIDTH as f32;
    let row = i / elsewhere::WIDTH;
    out[2 * i + 1] = (row * elsewhere::WIDTH + elsewhere::PRIMES.len()) as f32;
}

fn sizes(device: &Device) -> Check {
    let n = 100;
    let expected: Vec<f32> = (0..n)
        .flat_map(|i| [33.0, (i / 33 * 33 + 5) as f32])
        .collect();
    let mut out = sentinel_filled(expected.len());
    sizes_kernel(&mut out).over(n).run_on(device)?;
    expect("sizes", &out, &expected)
}

#[kernel]
fn bytes_kernel(x: &[u32], out: &mut [u32]) {
    let i = global_idx_x();
    let byte = x[i] as u8;
    out[i] = match byte {
        b'0'..=b'9' => (byte - b'0') as u32,
        b'\n' | b' ' => 100,
        _ if byte == b'\\' => 101,
        _ => b'z' as u32,
    };
}

fn bytes(device: &Device) -> Check {
    let text = b"07 9\\\n:/";
    let x = Vector::from_vec(text.iter().map(|b| u32::from(*b)).collect());
    let mut out = sentinel_filled(text.len());
    bytes_kernel(&x, &mut out).over(text.len()).run_on(device)?;
    expect("bytes", &out, &[0, 7, 100, 9, 101, 100, 122, 122])
}
