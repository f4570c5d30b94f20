//! `u64::from(x)` and similar conversions, which keep every value.

use crate::check::{Check, Expected, expect, sentinel_filled, unary};
use crate::input::values;
use crate::{Capability, Case};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("casts/from/u32", &[], to_u32),
    Case::new("casts/from/f32", &[], to_f32),
    Case::new("casts/from/fields", &[], fields),
    Case::new(
        "casts/from/fields_f64",
        &[Capability::F64, Capability::Storage8],
        fields_f64,
    ),
    Case::new("casts/from/i64", &[Capability::I64], to_i64),
    Case::new("casts/from/f64", &[Capability::F64], to_f64),
];

#[kernel]
fn to_u32_kernel(a: &[u32], out: &mut [u32]) {
    let i = global_idx_x();
    let v = a[i];
    out[6 * i] = u32::from(v as u8);
    out[6 * i + 1] = u16::from(v as u8) as u32;
    out[6 * i + 2] = i32::from(v as i16) as u32;
    out[6 * i + 3] = i32::from(v as i8) as u32;
    out[6 * i + 4] = u32::from(v > 5) + 10 * u32::from(u8::from(v > 7));
    out[6 * i + 5] = usize::from(v as u16) as u32;
}

fn to_u32(device: &Device) -> Check {
    unary(
        ["u8", "u8 to u16", "i16", "i8", "bool", "u16 to usize"],
        &values::<u32>(301, 300),
        |a, out, n| to_u32_kernel(a, out).over(n).run_on(device),
        |v| {
            let signed = |bits: u32| {
                let low = i64::from(v) % (1 << bits);
                (low - if low >> (bits - 1) == 1 { 1 << bits } else { 0 }) as u32
            };
            let flags = u32::from(v > 5) + if v > 7 { 10 } else { 0 };
            [v % 256, v % 256, signed(16), signed(8), flags, v % 65536].map(Expected::Exactly)
        },
    )
}

#[kernel]
fn to_f32_kernel(a: &[u32], out: &mut [f32]) {
    let i = global_idx_x();
    let v = a[i];
    out[6 * i] = f32::from(v as i16);
    out[6 * i + 1] = f32::from(v as u16);
    out[6 * i + 2] = f32::from(v as u8);
    out[6 * i + 3] = f32::from(v > 5);
    out[6 * i + 4] = f16::from(v as i8).to_f32();
    out[6 * i + 5] = f32::from(f16::from(v as u8));
}

fn to_f32(device: &Device) -> Check {
    unary(
        ["i16", "u16", "u8", "bool", "i8 to f16", "u8 to f16"],
        &values::<u32>(302, 300),
        |a, out, n| to_f32_kernel(a, out).over(n).run_on(device),
        |v| {
            let signed = |bits: u32| {
                let low = i64::from(v) % (1 << bits);
                (low - if low >> (bits - 1) == 1 { 1 << bits } else { 0 }) as f32
            };
            let (low, byte) = ((v % 65536) as f32, (v % 256) as f32);
            let flag = if v > 5 { 1.0 } else { 0.0 };
            [signed(16), low, byte, flag, signed(8), byte].map(Expected::Exactly)
        },
    )
}

#[kernel]
fn to_i64_kernel(a: &[u32], out: &mut [i64]) {
    let i = global_idx_x();
    let v = a[i];
    out[4 * i] = i64::from(v);
    out[4 * i + 1] = i64::from(v as i32);
    out[4 * i + 2] = u64::from(v) as i64 - i64::from(v > 5);
    out[4 * i + 3] = i64::from(i64::from(v as i8) - 7);
}

fn to_i64(device: &Device) -> Check {
    unary(
        ["u32", "i32", "u32 to u64, less a bool", "i8"],
        &values::<u32>(303, 300),
        |a, out, n| to_i64_kernel(a, out).over(n).run_on(device),
        |v| {
            let wide = i128::from(v);
            let signed = |bits: u32| {
                let low = wide % (1 << bits);
                low - if low >> (bits - 1) == 1 { 1 << bits } else { 0 }
            };
            let less = wide - if v > 5 { 1 } else { 0 };
            [wide, signed(32), less, signed(8) - 7].map(|v| Expected::Exactly(v as i64))
        },
    )
}

#[kernel]
fn to_f64_kernel(a: &[u32], out: &mut [f64]) {
    let i = global_idx_x();
    let v = a[i];
    out[4 * i] = f64::from(v);
    out[4 * i + 1] = f64::from(v as i32) + f64::from(2);
    out[4 * i + 2] = f64::from(v as u16 as f32 * 0.5);
    out[4 * i + 3] = f64::from(f16::from(v as i8)) + f64::from(v > 5);
}

fn to_f64(device: &Device) -> Check {
    unary(
        ["u32", "i32", "f32", "i8 to f16"],
        &values::<u32>(304, 300),
        |a, out, n| to_f64_kernel(a, out).over(n).run_on(device),
        |v| {
            let wide = i64::from(v);
            let signed = |bits: u32| {
                let low = wide % (1 << bits);
                (low - if low >> (bits - 1) == 1 { 1 << bits } else { 0 }) as f64
            };
            let flag = if v > 5 { 1.0 } else { 0.0 };
            let half = (v % 65536) as f64 / 2.0;
            [wide as f64, signed(32) + 2.0, half, signed(8) + flag].map(Expected::Exactly)
        },
    )
}

/// A struct that a function returns, so that only rustc knows the types of its fields.
#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Mixed {
    word: u32,
    low: [u16; 2],
    byte: u8,
    signed: i8,
    flag: bool,
}

#[device]
fn mixed(v: u32) -> Mixed {
    Mixed {
        word: v,
        low: [v as u16, 7],
        byte: v as u8,
        signed: v as i8,
        flag: v > 5,
    }
}

#[kernel]
fn fields_kernel(a: &[u32], out: &mut [f32]) {
    let i = global_idx_x();
    let m = mixed(a[i]);
    out[6 * i] = f32::from(m.low[0]);
    out[6 * i + 1] = f32::from(m.byte);
    out[6 * i + 2] = f32::from(m.signed);
    out[6 * i + 3] = f32::from(m.flag);
    out[6 * i + 4] = f32::from(f16::from(m.byte)) + f16::from(m.signed).to_f32();
    out[6 * i + 5] =
        (u32::from(m.flag) + u32::from(m.word) % 256 + u32::from(mixed(2).low[0])) as f32;
}

fn fields(device: &Device) -> Check {
    unary(
        ["u16", "u8", "i8", "bool", "to f16", "to u32"],
        &values::<u32>(303, 300),
        |a, out, n| fields_kernel(a, out).over(n).run_on(device),
        |v| {
            let (low, byte) = ((v % 65536) as f32, (v % 256) as f32);
            let signed = if byte > 127.0 { byte - 256.0 } else { byte };
            let flag = if v > 5 { 1.0 } else { 0.0 };
            let all = [low, byte, signed, flag, byte + signed, flag + byte + 2.0];
            all.map(Expected::Exactly)
        },
    )
}

#[kernel]
fn fields_f64_kernel(a: &[Mixed], out: &mut [f64]) {
    let i = global_idx_x();
    out[3 * i] = f64::from(a[i].word);
    out[3 * i + 1] = f64::from(a[i].signed) + f64::from(a[i].low[1]);
    out[3 * i + 2] = f64::from(a[i].flag);
}

fn fields_f64(device: &Device) -> Check {
    let words = values::<u32>(304, 77);
    let of = |v: &u32| Mixed {
        word: *v,
        low: [1, *v as u16],
        byte: 0,
        signed: *v as i8,
        flag: v.is_multiple_of(3),
    };
    let a = Vector::from_vec(words.iter().map(of).collect());
    let mut out = sentinel_filled(3 * words.len());
    fields_f64_kernel(&a, &mut out)
        .over(words.len())
        .run_on(device)?;
    let expected = words.iter().flat_map(|v| {
        let signed = f64::from(v % 256) - if v % 256 > 127 { 256.0 } else { 0.0 };
        let flag = if v % 3 == 0 { 1.0 } else { 0.0 };
        [f64::from(*v), signed + f64::from(v % 65536), flag]
    });
    expect("fields", &out, &expected.collect::<Vec<f64>>())
}
