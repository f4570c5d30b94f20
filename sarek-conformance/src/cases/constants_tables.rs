//! Constant tables: of every type, small and large, of structs, in functions, passed as slices, and used several times.

use crate::check::{Check, expect, sentinel_filled};
use crate::{Capability, Case};
use sarek::Element;
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("constants/tables/large", &[], large),
    Case::new("constants/tables/small_types", &[], small_types),
    Case::new("constants/tables/floats", &[], floats),
    Case::new(
        "constants/tables/wide",
        &[Capability::I64, Capability::F64],
        wide,
    ),
    Case::new("constants/tables/records", &[], records),
    Case::new("constants/tables/lent", &[], lent),
    Case::new("constants/tables/generic", &[], generic),
    Case::new("constants/tables/changed", &[], changed),
];

const fn mixed(k: usize) -> u32 {
    (k as u32).wrapping_mul(2_654_435_761) >> 7
}

const fn numbers<const N: usize>() -> [u32; N] {
    let mut table = [0; N];
    let mut k = 0;
    while k < N {
        table[k] = mixed(k);
        k += 1;
    }
    table
}

#[allow(clippy::large_const_arrays)] // this case is about large tables
const LARGE: [u32; 4099] = numbers();
/// A table of more than 64 KiB.
#[allow(clippy::large_const_arrays)]
const HUGE: [u32; 20_011] = numbers();
const ROWS: [[u32; 33]; 65] = {
    let mut rows = [[0; 33]; 65];
    let mut k = 0;
    while k < 65 * 33 {
        rows[k / 33][k % 33] = mixed(k);
        k += 1;
    }
    rows
};

#[kernel]
fn large_kernel(x: &[u32], out: &mut [u32]) {
    let i = global_idx_x();
    let at = x[i] as usize;
    let mut sum = LARGE[at % LARGE.len()].wrapping_add(HUGE[at % 20_011]);
    sum = sum.wrapping_add(ROWS[at % 65][at % 33]);
    let mut k = 0;
    while k < 5 {
        sum = sum.wrapping_add(LARGE[(at + k) % 4099] ^ HUGE[20_010 - k]);
        k += 1;
    }
    out[i] = sum.wrapping_add(ROWS[64][32]);
}

fn large(device: &Device) -> Check {
    let x: Vec<u32> = (0..1025).map(|k| k * 977).collect();
    let expected = x.iter().map(|x| {
        let at = *x as usize;
        let mut sum = LARGE[at % 4099].wrapping_add(HUGE[at % 20_011]);
        sum = sum.wrapping_add(ROWS[at % 65][at % 33]);
        for k in 0..5 {
            sum = sum.wrapping_add(LARGE[(at + k) % 4099] ^ HUGE[20_010 - k]);
        }
        sum.wrapping_add(ROWS[64][32])
    });
    let expected: Vec<u32> = expected.collect();
    let x = Vector::from_vec(x);
    // The second launch finds the tables already on the device.
    for n in [1, 33, 255, 1025] {
        let mut out = sentinel_filled(n);
        large_kernel(&x, &mut out).over(n).run_on(device)?;
        expect("large tables", &out, &expected[..n])?;
    }
    Ok(())
}

const BOOLS: [bool; 37] = {
    let mut table = [false; 37];
    let mut k = 0;
    while k < 37 {
        table[k] = mixed(k).is_multiple_of(3);
        k += 1;
    }
    table
};
const BYTES: [i8; 259] = {
    let mut table = [0; 259];
    let mut k = 0;
    while k < 259 {
        table[k] = k as i8;
        k += 1;
    }
    table
};
const WORDS: [u16; 5] = [0, 1, 0x7fff, 0x8000, u16::MAX];
const STEPS: [usize; 3] = [3, 0, 1 << 12];

#[kernel]
fn small_types_kernel(x: &[u32], out: &mut [i32]) {
    let i = global_idx_x();
    let at = x[i] as usize;
    let mut sum = BYTES[at % 259] as i32;
    if BOOLS[at % 37] {
        sum += 1000;
    }
    if BOOLS[3] == BOOLS[at % BOOLS.len()] {
        sum += 4000;
    }
    sum += WORDS[at % 5] as i32;
    out[i] = sum + (STEPS[at % 3] + at) as i32;
}

fn small_types(device: &Device) -> Check {
    let x: Vec<u32> = (0..1000).map(|k| k * 13 % 4001).collect();
    let expected = x.iter().map(|x| {
        let at = *x as usize;
        let mut sum = i32::from(BYTES[at % 259]);
        sum += if BOOLS[at % 37] { 1000 } else { 0 };
        sum += if BOOLS[3] == BOOLS[at % 37] { 4000 } else { 0 };
        sum += i32::from(WORDS[at % 5]);
        sum + (STEPS[at % 3] + at) as i32
    });
    let expected: Vec<i32> = expected.collect();
    let mut out = sentinel_filled(x.len());
    small_types_kernel(&Vector::from_slice(&x), &mut out)
        .over(x.len())
        .run_on(device)?;
    expect("small types", &out, &expected)
}

const FLOATS: [f32; 3] = [0.1, -0.0, 16_777_216.0];
const UNUSUAL: [f32; 6] = [
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::NAN,
    f32::MAX,
    f32::MIN_POSITIVE,
    -1.5,
];
const HALVES: [f16; 4] = [
    f16::from_bits(0x3c00),
    f16::from_bits(0xc500),
    f16::from_bits(0x7bff),
    f16::from_bits(0x0400),
];
const BRIEF: [bf16; 3] = [
    bf16::from_bits(0x3f80),
    bf16::from_bits(0xc2f7),
    bf16::from_bits(0x7f7f),
];
const WAVE: [f32; 511] = {
    let mut table = [0.0; 511];
    let mut k = 0;
    while k < 511 {
        table[k] = k as f32 * 0.37 - 90.0;
        k += 1;
    }
    table
};

#[kernel]
fn floats_kernel(x: &[u32], out: &mut [u32]) {
    let i = global_idx_x();
    let at = x[i] as usize;
    let (first, unusual): (f32, f32) = (FLOATS[at % 3], UNUSUAL[at % 6]);
    let (half, brief): (f16, bf16) = (HALVES[at % 4], BRIEF[at % 3]);
    let last: f32 = WAVE[at % 511];
    out[5 * i] = first.to_bits();
    out[5 * i + 1] = unusual.to_bits();
    out[5 * i + 2] = half.to_f32().to_bits();
    out[5 * i + 3] = brief.to_f32().to_bits();
    out[5 * i + 4] = last.to_bits();
}

fn floats(device: &Device) -> Check {
    let x: Vec<u32> = (0..600).collect();
    let expected = x.iter().flat_map(|x| {
        let at = *x as usize;
        [
            FLOATS[at % 3],
            UNUSUAL[at % 6],
            HALVES[at % 4].to_f32(),
            BRIEF[at % 3].to_f32(),
            WAVE[at % 511],
        ]
    });
    let expected: Vec<u32> = expected.map(f32::to_bits).collect();
    let mut out = sentinel_filled(expected.len());
    floats_kernel(&Vector::from_slice(&x), &mut out)
        .over(x.len())
        .run_on(device)?;
    expect("floats", &out, &expected)
}

const SIGNED: [i64; 35] = {
    let mut table = [0; 35];
    let mut k = 0;
    while k < 35 {
        table[k] = (mixed(k) as i64 - (1 << 24)) << (k % 30);
        k += 1;
    }
    table
};
const DOUBLES: [f64; 3] = [0.1, f64::NEG_INFINITY, 1e-300];

#[kernel]
fn wide_kernel(x: &[u32], whole: &mut [i64], parts: &mut [f64]) {
    let i = global_idx_x();
    let at = x[i] as usize;
    whole[i] = SIGNED[at % 35];
    parts[i] = DOUBLES[at % 3];
}

fn wide(device: &Device) -> Check {
    let x: Vec<u32> = (0..257).map(|k| k * 11).collect();
    let (mut whole, mut parts) = (sentinel_filled(x.len()), sentinel_filled(x.len()));
    wide_kernel(&Vector::from_slice(&x), &mut whole, &mut parts)
        .over(x.len())
        .run_on(device)?;
    let at = |x: &u32| *x as usize;
    let expected: Vec<i64> = x.iter().map(|x| SIGNED[at(x) % 35]).collect();
    expect("i64", &whole, &expected)?;
    let expected: Vec<f64> = x.iter().map(|x| DOUBLES[at(x) % 3]).collect();
    expect("f64", &parts, &expected)
}

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Entry {
    key: u32,
    weights: [f32; 3],
    last: i16,
}

const ENTRIES: [Entry; 67] = {
    let mut table = [Entry {
        key: 0,
        weights: [0.0; 3],
        last: 0,
    }; 67];
    let mut k = 0;
    while k < 67 {
        table[k] = Entry {
            key: mixed(k) % 1000,
            weights: [k as f32, 0.5, -(k as f32)],
            last: k as i16 - 30,
        };
        k += 1;
    }
    table
};

struct Holder;

impl Holder {
    const PAIRS: [(u32, Option<u32>); 3] = [(1, None), (2, Some(5)), (3, Some(70))];
}

#[kernel]
fn records_kernel(x: &[u32], out: &mut [f32]) {
    let i = global_idx_x();
    let at = x[i] as usize;
    let entry = ENTRIES[at % 67];
    let mut sum = entry.key as f32 + entry.weights[at % 3] + entry.last as f32;
    sum += ENTRIES[(at + 1) % 67].weights[1] + ENTRIES[66].key as f32;
    let (first, second) = Holder::PAIRS[at % 3];
    if let Some(second) = second {
        sum += second as f32;
    }
    out[i] = sum + first as f32;
}

fn records(device: &Device) -> Check {
    let x: Vec<u32> = (0..333).map(|k| k * 7).collect();
    let expected = x.iter().map(|x| {
        let at = *x as usize;
        let entry = ENTRIES[at % 67];
        let mut sum = entry.key as f32 + entry.weights[at % 3] + f32::from(entry.last);
        sum += 0.5 + ENTRIES[66].key as f32;
        let (first, second) = Holder::PAIRS[at % 3];
        sum + second.unwrap_or(0) as f32 + first as f32
    });
    let expected: Vec<f32> = expected.collect();
    let mut out = sentinel_filled(x.len());
    records_kernel(&Vector::from_slice(&x), &mut out)
        .over(x.len())
        .run_on(device)?;
    expect("records", &out, &expected)
}

#[device]
fn search(table: &[u32], wanted: u32) -> u32 {
    let mut found = 0;
    for k in 0..table.len() {
        if table[k] == wanted {
            found = k as u32;
        }
    }
    found
}

#[device]
fn at(table: &[u32], i: usize) -> u32 {
    table[i % table.len()]
}

#[device]
fn inner(i: usize) -> u32 {
    LARGE[i % 4099] + at(&LARGE, i + 1)
}

#[kernel]
fn lent_kernel(x: &[u32], out: &mut [u32]) {
    const OWN: [u32; 5] = [70, 60, 50, 40, 30];
    let i = global_idx_x();
    let k = x[i] as usize;
    let first = search(&OWN, 50) + at(&OWN, k);
    let second = at(&LARGE, k) / 2 + inner(k) / 4;
    out[i] = first + second + at(x, k) + at(&ROWS[k % 65], k);
}

fn lent(device: &Device) -> Check {
    let x: Vec<u32> = (0..300).map(|k| k * 3).collect();
    let expected = x.iter().map(|k| {
        let k = *k as usize;
        let inner = LARGE[k % 4099] + LARGE[(k + 1) % 4099];
        let first = 2 + [70, 60, 50, 40, 30][k % 5];
        first + LARGE[k % 4099] / 2 + inner / 4 + x[k % x.len()] + ROWS[k % 65][k % 33]
    });
    let expected: Vec<u32> = expected.collect();
    let mut out = sentinel_filled(x.len());
    lent_kernel(&Vector::from_slice(&x), &mut out)
        .over(x.len())
        .run_on(device)?;
    expect("lent", &out, &expected)
}

#[device]
trait Tabled {
    const TABLE: [u32; 40];
}

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Even {
    by: u32,
}

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Odd {
    by: u32,
}

#[device]
impl Tabled for Even {
    const TABLE: [u32; 40] = numbers();
}

#[device]
impl Tabled for Odd {
    const TABLE: [u32; 40] = {
        let mut table = numbers();
        table[7] = 1;
        table
    };
}

#[kernel]
fn generic_kernel<T: Tabled + Element>(x: &[u32], _of: T, out: &mut [u32]) {
    let i = global_idx_x();
    out[i] = T::TABLE[x[i] as usize % 40];
}

fn generic(device: &Device) -> Check {
    let x: Vec<u32> = (0..99).collect();
    let given = Vector::from_slice(&x);
    // Each type has its own table, though the kernel's source is the same.
    for turn in [0, 1] {
        let mut out = sentinel_filled(x.len());
        generic_kernel(&given, Even { by: turn }, &mut out)
            .over(x.len())
            .run_on(device)?;
        let expected: Vec<u32> = x.iter().map(|k| Even::TABLE[*k as usize % 40]).collect();
        expect("even", &out, &expected)?;
        generic_kernel(&given, Odd { by: turn }, &mut out)
            .over(x.len())
            .run_on(device)?;
        let expected: Vec<u32> = x.iter().map(|k| Odd::TABLE[*k as usize % 40]).collect();
        expect("odd", &out, &expected)?;
    }
    Ok(())
}

/// Each thread changes its own copy of a table.
#[kernel]
fn changed_kernel(x: &[u32], out: &mut [u32]) {
    let i = global_idx_x();
    let mut own: [u32; 33] = ROWS[2];
    own[x[i] as usize % 33] = i as u32;
    own[0] += ROWS[2][1];
    let mut sum = 0u32;
    for k in 0..33 {
        sum = sum.wrapping_add(own[k]);
    }
    out[i] = sum;
}

fn changed(device: &Device) -> Check {
    let x: Vec<u32> = (0..77).map(|k| k * 5).collect();
    let expected = (0..77u32).map(|i| {
        let mut own = ROWS[2];
        own[i as usize * 5 % 33] = i;
        own[0] += ROWS[2][1];
        own.iter().fold(0u32, |sum, v| sum.wrapping_add(*v))
    });
    let expected: Vec<u32> = expected.collect();
    let mut out = sentinel_filled(x.len());
    changed_kernel(&Vector::from_slice(&x), &mut out)
        .over(x.len())
        .run_on(device)?;
    expect("changed copies", &out, &expected)
}
