//! Layouts of structs: padded fields of all widths, nested structs, generic ones, structs in arrays. Each byte is where Rust has it.

use super::{COUNTS, same};
use crate::check::Check;
use crate::input::Random;
use crate::{Capability, Case};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new(
        "types/layouts/bytes",
        &[
            Capability::Storage8,
            Capability::Storage16,
            Capability::I64,
            Capability::F64,
        ],
        bytes,
    ),
    Case::new(
        "types/layouts/words",
        &[Capability::I64, Capability::F64],
        words,
    ),
    Case::new("types/layouts/generic_arrays", &[], generic_arrays),
];

/// Seven bytes of padding come before `wide`, one before `short`, and more in and after `inner`.
#[derive(Clone, Copy, PartialEq, Debug, KernelType)]
#[repr(C)]
struct Mixed {
    tag: u8,
    wide: f64,
    flag: bool,
    short: i16,
    inner: Inner,
    rest: [u8; 3],
    last: u16,
}

#[derive(Clone, Copy, PartialEq, Debug, KernelType)]
#[repr(C)]
struct Inner {
    small: i8,
    long: i64,
    byte: u8,
}

fn mixed(random: &mut Random) -> Mixed {
    Mixed {
        tag: random.bits() as u8,
        wide: random.below(1 << 40) as f64 / 8.0,
        flag: random.below(2) == 0,
        short: random.bits() as i16,
        inner: Inner {
            small: random.bits() as i8,
            long: random.bits() as i64,
            byte: random.bits() as u8,
        },
        rest: [(); 3].map(|()| random.bits() as u8),
        last: random.bits() as u16,
    }
}

/// Copies fields between structs: as whole values, parts and single fields.
#[kernel]
fn bytes_kernel(by: Mixed, x: &[Mixed], y: &mut [Mixed]) {
    let i = global_idx_x();
    if i < x.len() && i < y.len() {
        let one = x[i];
        y[i] = Mixed {
            tag: one.rest[2],
            rest: [one.tag, one.inner.byte, by.tag],
            ..one
        };
        y[i].wide = one.wide + by.wide;
        y[i].flag = !one.flag;
        y[i].inner.long ^= by.inner.long;
        y[i].inner.small = by.inner.small;
        y[i].last = one.short as u16;
        y[i].short = by.short;
    }
}

fn bytes(device: &Device) -> Check {
    for n in COUNTS {
        let mut random = Random::new(n as u64);
        let by = mixed(&mut random);
        let x: Vec<Mixed> = (0..n).map(|_| mixed(&mut random)).collect();
        let expected = x.iter().map(|one| Mixed {
            tag: one.rest[2],
            wide: one.wide + by.wide,
            flag: !one.flag,
            short: by.short,
            inner: Inner {
                small: by.inner.small,
                long: one.inner.long ^ by.inner.long,
                byte: one.inner.byte,
            },
            rest: [one.tag, one.inner.byte, by.tag],
            last: one.short as u16,
        });
        let expected: Vec<Mixed> = expected.collect();
        let mut y = Vector::filled(n, by);
        bytes_kernel(by, &Vector::from_slice(&x), &mut y)
            .over(n)
            .run_on(device)?;
        same("bytes", &y, &expected)?;
    }
    Ok(())
}

/// The same with words of four and eight bytes, and a vector that has its own alignment.
#[derive(Clone, Copy, PartialEq, Debug, KernelType)]
#[repr(C)]
struct Words {
    id: u32,
    long: u64,
    part: Part,
    four: f32x4,
    end: f32,
}

#[derive(Clone, Copy, PartialEq, Debug, KernelType)]
#[repr(C)]
struct Part {
    of: [i32; 3],
    wide: f64,
    pair: f32x2,
}

fn word(random: &mut Random) -> Words {
    let mut float = || random.below(1 << 16) as f32 / 4.0;
    let four = f32x4::new(float(), float(), float(), float());
    let pair = f32x2::new(float(), float());
    Words {
        id: random.bits() as u32,
        long: random.bits(),
        part: Part {
            of: [(); 3].map(|()| random.bits() as i32),
            wide: random.below(1 << 30) as f64,
            pair,
        },
        four,
        end: random.below(100) as f32,
    }
}

#[kernel]
fn words_kernel(by: Words, x: &[Words], y: &mut [Words]) {
    let i = global_idx_x();
    if i < x.len() && i < y.len() {
        let mut one = x[i];
        one.long = one.long.rotate_left(by.id % 64);
        one.part.of[one.id as usize % 3] ^= by.part.of[1];
        one.part.wide += by.part.wide;
        one.part.pair = by.part.pair;
        one.four.z = by.four.w;
        y[i] = one;
        y[i].end += by.end;
    }
}

fn words(device: &Device) -> Check {
    for n in COUNTS {
        let mut random = Random::new(n as u64 + 1);
        let by = word(&mut random);
        let x: Vec<Words> = (0..n).map(|_| word(&mut random)).collect();
        let expected = x.iter().map(|one| {
            let mut expected = *one;
            expected.long = one.long.rotate_left(by.id % 64);
            expected.part.of[one.id as usize % 3] ^= by.part.of[1];
            expected.part.wide += by.part.wide;
            expected.part.pair = by.part.pair;
            expected.four = f32x4::new(one.four.x, one.four.y, by.four.w, one.four.w);
            expected.end += by.end;
            expected
        });
        let expected: Vec<Words> = expected.collect();
        let mut y = Vector::filled(n, by);
        words_kernel(by, &Vector::from_slice(&x), &mut y)
            .over(n)
            .run_on(device)?;
        same("words", &y, &expected)?;
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Debug, KernelType)]
#[repr(C)]
struct Row<T, const N: usize> {
    of: [T; N],
    sum: T,
}

/// A kernel for rows of any length and type.
#[kernel]
fn rows_kernel<T: Num, const N: usize>(rows: &mut [Row<T, N>]) {
    let i = global_idx_x();
    if i < rows.len() {
        let mut row: Row<T, N> = rows[i];
        let mut sum = T::ZERO;
        for k in 0..N {
            sum += row.of[k];
            row.of[k] = row.of[N - 1 - k] + T::ONE;
        }
        row.sum = sum;
        rows[i] = row;
    }
}

fn generic_arrays(device: &Device) -> Check {
    rows::<u32, 3>(device, |i| i)?;
    rows::<f32, 5>(device, |i| i as f32 * 0.5)
}

fn rows<T: Num + sarek::Element + PartialEq + std::fmt::Debug, const N: usize>(
    device: &Device,
    value: impl Fn(u32) -> T,
) -> Check {
    for n in COUNTS {
        let row = |i: usize| Row::<T, N> {
            of: std::array::from_fn(|k| value((i * 3 + k) as u32)),
            sum: T::ZERO,
        };
        let expected = |i: usize| {
            let Row { mut of, mut sum } = row(i);
            for k in 0..N {
                sum += of[k];
                of[k] = of[N - 1 - k] + T::ONE;
            }
            Row { of, sum }
        };
        let expected: Vec<Row<T, N>> = (0..n).map(expected).collect();
        let mut rows = Vector::from_vec((0..n).map(row).collect());
        rows_kernel::<T, N>(&mut rows).over(n).run_on(device)?;
        same("rows", &rows, &expected)?;
    }
    Ok(())
}
