//! Integer algorithms made of bit operations.

use crate::check::{Check, expect, sentinel_filled};
use crate::input::values;
use crate::{Capability, Case};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("bits/murmur3", &[], murmur3),
    Case::new("bits/morton", &[], morton),
    Case::new("bits/splitmix64", &[Capability::I64], splitmix64),
    Case::new("bits/gcd", &[], gcd),
    Case::new("bits/crc32", &[], crc32),
    Case::new("bits/gray", &[], gray),
];

/// The finaliser of MurmurHash3.
#[kernel]
fn murmur3_kernel(input: &[u32], output: &mut [u32]) {
    let i = global_idx_x();
    let mut h = input[i];
    h ^= h >> 16;
    h = h.wrapping_mul(0x85eb_ca6b);
    h ^= h >> 13;
    h = h.wrapping_mul(0xc2b2_ae35);
    h ^= h >> 16;
    output[i] = h;
}

fn murmur3(device: &Device) -> Check {
    let input = values::<u32>(11, 500);
    let expected: Vec<u32> = input
        .iter()
        .map(|&x| {
            let times = |a: u32, b: u64| (u64::from(a) * b % (1 << 32)) as u32;
            let h = times(x ^ (x / 65_536), 0x85eb_ca6b);
            let h = times(h ^ (h / 8192), 0xc2b2_ae35);
            h ^ (h / 65_536)
        })
        .collect();
    map_u32(&input, &expected, |i, o, n| {
        murmur3_kernel(i, o).over(n).run_on(device)
    })
}

/// Interleaves the low and the high half of a word.
#[kernel]
fn morton_kernel(input: &[u32], output: &mut [u32]) {
    let i = global_idx_x();
    let mut x = input[i] & 0xffff;
    x = (x | x << 8) & 0x00ff_00ff;
    x = (x | x << 4) & 0x0f0f_0f0f;
    x = (x | x << 2) & 0x3333_3333;
    x = (x | x << 1) & 0x5555_5555;
    let mut y = input[i] >> 16;
    y = (y | y << 8) & 0x00ff_00ff;
    y = (y | y << 4) & 0x0f0f_0f0f;
    y = (y | y << 2) & 0x3333_3333;
    y = (y | y << 1) & 0x5555_5555;
    output[i] = x | y << 1;
}

fn morton(device: &Device) -> Check {
    let input = values::<u32>(12, 500);
    let interleave = |v: u32| {
        (0..16)
            .map(|k| ((v >> k & 1) << (2 * k)) | ((v >> (16 + k) & 1) << (2 * k + 1)))
            .sum()
    };
    let expected: Vec<u32> = input.iter().map(|&v| interleave(v)).collect();
    map_u32(&input, &expected, |i, o, n| {
        morton_kernel(i, o).over(n).run_on(device)
    })
}

#[kernel]
fn splitmix64_kernel(input: &[u64], output: &mut [u64]) {
    let i = global_idx_x();
    let mut z = input[i].wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    output[i] = z ^ (z >> 31);
}

fn splitmix64(device: &Device) -> Check {
    let input = values::<u64>(13, 500);
    let expected: Vec<u64> = input
        .iter()
        .map(|&x| {
            let cut = |v: u128| (v % (1 << 64)) as u64;
            let times = |a: u64, b: u128| cut(u128::from(a) * b);
            let z = cut(u128::from(x) + 0x9e37_79b9_7f4a_7c15);
            let z = times(z ^ (z / (1 << 30)), 0xbf58_476d_1ce4_e5b9);
            let z = times(z ^ (z / (1 << 27)), 0x94d0_49bb_1331_11eb);
            z ^ (z / (1 << 31))
        })
        .collect();
    let mut output = sentinel_filled(input.len());
    splitmix64_kernel(&Vector::from_slice(&input), &mut output)
        .over(input.len())
        .run_on(device)?;
    expect("splitmix64", &output, &expected)
}

/// The greatest common divisor by the binary algorithm, compared with Euclid's algorithm.
#[kernel]
fn gcd_kernel(input: &[u32], output: &mut [u32]) {
    let i = global_idx_x();
    let mut a = input[i];
    let mut b = 360_360u32;
    if a == 0 {
        output[i] = b;
        return;
    }
    let shift = (a | b).trailing_zeros();
    a >>= a.trailing_zeros();
    loop {
        b >>= b.trailing_zeros();
        if a > b {
            let t = a;
            a = b;
            b = t;
        }
        b -= a;
        if b == 0 {
            break;
        }
    }
    output[i] = a << shift;
}

fn gcd(device: &Device) -> Check {
    let input = values::<u32>(14, 500);
    let euclid = |mut a: u32, mut b: u32| {
        while b != 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    let expected: Vec<u32> = input.iter().map(|&a| euclid(a, 360_360)).collect();
    map_u32(&input, &expected, |i, o, n| {
        gcd_kernel(i, o).over(n).run_on(device)
    })
}

/// CRC-32 of the four bytes of a word, bit by bit, compared with polynomial division in a 64-bit register.
#[kernel]
fn crc32_kernel(input: &[u32], output: &mut [u32]) {
    let i = global_idx_x();
    let mut crc = !0u32;
    for byte in 0..4u32 {
        crc ^= input[i] >> (8 * byte) & 0xff;
        for _ in 0..8 {
            crc = if crc & 1 != 0 {
                crc >> 1 ^ 0xedb8_8320
            } else {
                crc >> 1
            };
        }
    }
    output[i] = !crc;
}

fn crc32(device: &Device) -> Check {
    // Polynomial division of the reflected message, in one 64-bit register.
    let reference = |word: u32| {
        let mut register = u64::from(word) ^ 0xffff_ffff;
        for _ in 0..32 {
            let out = register % 2 == 1;
            register /= 2;
            if out {
                register ^= 0xedb8_8320;
            }
        }
        register as u32 ^ 0xffff_ffff
    };
    let input = values::<u32>(15, 500);
    let expected: Vec<u32> = input.iter().map(|&w| reference(w)).collect();
    map_u32(&input, &expected, |i, o, n| {
        crc32_kernel(i, o).over(n).run_on(device)
    })
}

/// Computes the Gray code and its inverse, and the bits in which neighbours differ.
#[kernel]
fn gray_kernel(input: &[u32], output: &mut [u32]) {
    let i = global_idx_x();
    let code = input[i] ^ input[i] >> 1;
    let next = input[i].wrapping_add(1);
    let differ = (code ^ next ^ next >> 1).count_ones();
    let mut number = code;
    let mut by = 16;
    while by > 0 {
        number ^= number >> by;
        by /= 2;
    }
    output[i] = if number == input[i] {
        code.rotate_left(differ)
    } else {
        0
    };
}

fn gray(device: &Device) -> Check {
    let input = values::<u32>(16, 500);
    // Each bit of the code is the sum of two neighbouring bits of the number, modulo 2. One bit changes from a number to the next.
    let code = |x: u32| {
        let bit = |at: u32| (u64::from(x) >> at) & 1;
        (0..32)
            .map(|at| ((bit(at) + bit(at + 1)) % 2) << at)
            .sum::<u64>()
    };
    let expected: Vec<u32> = input
        .iter()
        .map(|&x| (2 * code(x) % (1 << 32) + (code(x) >> 31)) as u32)
        .collect();
    map_u32(&input, &expected, |i, o, n| {
        gray_kernel(i, o).over(n).run_on(device)
    })
}

fn map_u32(
    input: &[u32],
    expected: &[u32],
    launch: impl Fn(&Vector<u32>, &mut Vector<u32>, usize) -> sarek::Result<()>,
) -> Check {
    let mut output = sentinel_filled(input.len());
    launch(&Vector::from_slice(input), &mut output, input.len())?;
    expect("words", &output, expected)
}
