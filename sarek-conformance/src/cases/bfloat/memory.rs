//! Vectors, shared arrays, structs, enums and views with `bf16` elements.

use super::{expected, is_flushed, is_same, number, round, words};
use crate::check::{Check, Expected, ensure, expect_within, sentinel_filled, unary};
use crate::input::values;
use crate::{Capability, Case};
use sarek::prelude::*;
use sarek::testing::tolerance::Class;

const STORED: &[Capability] = &[Capability::Storage16];

pub const CASES: &[Case] = &[
    Case::new("bfloat/vectors", STORED, vectors),
    Case::new("bfloat/shared", &[], shared),
    Case::new("bfloat/structs", STORED, structs),
    Case::new("bfloat/mixed_structs", STORED, mixed_structs),
    Case::new("bfloat/bytes", &[Capability::Storage8], bytes),
    Case::new("bfloat/enums", STORED, enums),
    Case::new("bfloat/views", STORED, views),
    Case::new("bfloat/generic", STORED, generic),
];

/// Changes a vector of `bf16` in place; different threads write neighbouring elements.
#[kernel]
fn vectors_kernel(a: bf16, x: &[bf16], y: &mut [bf16]) {
    let i = global_idx_x();
    if i < y.len() {
        y[i] = a * x[i] + y[i];
    }
}

fn vectors(device: &Device) -> Check {
    let class = Class::of(device);
    let a = bf16::from_f32(1.37);
    for n in [1, 3, 32, 33, 255, 1023] {
        let x: Vec<bf16> = values::<bf16>(211, 1000).into_iter().take(n).collect();
        let y: Vec<bf16> = values::<bf16>(212, 1000)
            .into_iter()
            .rev()
            .take(n)
            .collect();
        let mut out = Vector::from_slice(&y);
        vectors_kernel(a, &Vector::from_slice(&x), &mut out)
            .cover(n)
            .run_on(device)?;
        for (i, got) in out.to_vec()?.iter().enumerate() {
            let product = round(a.to_f32() * x[i].to_f32());
            let sum = product + y[i].to_f32();
            if is_flushed(class, &[product, sum, x[i].to_f32(), y[i].to_f32()]) {
                continue;
            }
            let expected = bf16::from_f32(sum);
            ensure(is_same(*got, expected), || {
                format!("{n} elements, [{i}]: {got} instead of {expected}")
            })?;
        }
    }
    Ok(())
}

/// Sums of neighbours through a shared array.
#[kernel(block = 64)]
fn shared_kernel(a: &[u32], out: &mut [f32]) {
    let tile = shared_array::<bf16, 64>();
    let t = thread_idx_x();
    tile[t] = bf16::from_bits(a[global_idx_x()] as u16);
    barrier();
    out[global_idx_x()] = (tile[t] + tile[(t + 1) % 64]).to_f32();
}

fn shared(device: &Device) -> Check {
    let class = Class::of(device);
    let input: Vec<u32> = words(213, 1000).into_iter().take(640).collect();
    let mut out = sentinel_filled(input.len());
    shared_kernel(&Vector::from_slice(&input), &mut out)
        .cover(input.len())
        .run_on(device)?;
    let neighbours = |i: usize| {
        let next = i / 64 * 64 + (i + 1) % 64;
        let (x, y) = (number(input[i]), number(input[next]));
        match is_flushed(class, &[x, y]) {
            true => Expected::Anything,
            false => expected(class, round(x + y)),
        }
    };
    let expected: Vec<_> = (0..input.len()).map(neighbours).collect();
    expect_within("neighbours", &out, &expected, &|_| String::new())
}

/// A struct of `bf16` fields alone: its buffer is one of `bf16`.
#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Complex {
    re: bf16,
    im: bf16,
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
    let number = |k: i32| bf16::from_f32(k as f32 / 8.0 - 13.0);
    let input: Vec<Complex> = (0..333)
        .map(|k| Complex {
            re: number(k),
            im: number(7 * k % 200),
        })
        .collect();
    let zero = Complex {
        re: bf16::ZERO,
        im: bf16::ZERO,
    };
    let mut out = Vector::filled(input.len(), zero);
    structs_kernel(&Vector::from_slice(&input), &mut out)
        .over(input.len())
        .run_on(device)?;
    for (i, (got, c)) in out.to_vec()?.iter().zip(&input).enumerate() {
        let (x, y) = (c.re.to_f32(), c.im.to_f32());
        let re = bf16::from_f32(round(x * x) - round(y * y));
        let im = bf16::from_f32(round(x * y) + round(y * x));
        ensure(is_same(got.re, re) && is_same(got.im, im), || {
            format!("[{i}]: {} {} instead of {re} {im}", got.re, got.im)
        })?;
    }
    Ok(())
}

/// A struct with other fields: its buffer is one of 16-bit words.
#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Mixed {
    half: f16,
    weight: bf16,
    total: f32,
}

#[kernel]
fn mixed_kernel(a: &mut [Mixed]) {
    let i = global_idx_x();
    a[i].half = f16::from_f32(a[i].weight.to_f32());
    a[i].weight = a[i].weight * bf16::from_f32(a[i].total);
    a[i].total += a[i].weight.to_f32();
}

fn mixed_structs(device: &Device) -> Check {
    let input: Vec<Mixed> = (0..333)
        .map(|i| Mixed {
            half: f16::ZERO,
            weight: bf16::from_f32(i as f32 * 1.375 - 200.0),
            total: i as f32 / 7.0,
        })
        .collect();
    let mut vector = Vector::from_slice(&input);
    mixed_kernel(&mut vector).over(input.len()).run_on(device)?;
    for (i, (got, was)) in vector.to_vec()?.iter().zip(&input).enumerate() {
        let half = f16::from_f32(was.weight.to_f32());
        let weight = bf16::from_f32(was.weight.to_f32() * round(was.total));
        let total = was.total + weight.to_f32();
        let right = got.half == half && is_same(got.weight, weight) && got.total == total;
        ensure(right, || {
            format!("[{i}]: {} {} {}", got.half, got.weight, got.total)
        })?;
    }
    Ok(())
}

/// A struct with a byte: its buffer is one of bytes.
#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Byte {
    count: u8,
    weight: bf16,
}

#[kernel]
fn bytes_kernel(a: &mut [Byte]) {
    let i = global_idx_x();
    a[i].weight = a[i].weight + bf16::from(a[i].count);
    a[i].count += 1;
}

fn bytes(device: &Device) -> Check {
    let weight = |i: u8| bf16::from_f32(f32::from(i) * -3.25);
    let input = (0..200).map(|i| Byte {
        count: i,
        weight: weight(i),
    });
    let mut vector = Vector::from_vec(input.collect());
    bytes_kernel(&mut vector).over(200).run_on(device)?;
    for (i, got) in (0..).zip(vector.to_vec()?) {
        let expected = bf16::from_f32(weight(i).to_f32() + f32::from(i));
        let right = got.count == i + 1 && is_same(got.weight, expected);
        ensure(right, || format!("[{i}]: {} {}", got.count, got.weight))?;
    }
    Ok(())
}

/// An enum in which `bf16`s share their bytes with other payloads.
#[derive(Clone, Copy, PartialEq, Debug, KernelType)]
#[repr(C, u32)]
enum Weight {
    Given(bf16),
    Pair { low: bf16, high: bf16 },
    Index(u32),
    Missing,
}

#[kernel]
fn enums_kernel(a: &mut [Weight]) {
    let i = global_idx_x();
    a[i] = match a[i] {
        Weight::Given(x) if x > bf16::ONE => Weight::Pair {
            low: bf16::ONE,
            high: x,
        },
        Weight::Given(x) => Weight::Given(x + bf16::ONE),
        Weight::Pair { low, high } => Weight::Given(high - low),
        Weight::Index(k) => Weight::Given(bf16::from_f32(k as f32)),
        Weight::Missing => Weight::Index(7),
    };
}

fn enums(device: &Device) -> Check {
    let number = |k: u32| bf16::from_f32(k as f32 / 64.0);
    let input: Vec<Weight> = (0..333)
        .map(|k| match k % 4 {
            0 => Weight::Given(number(k)),
            1 => Weight::Pair {
                low: number(3 * k),
                high: number(k),
            },
            2 => Weight::Index(k),
            _ => Weight::Missing,
        })
        .collect();
    let after = |weight: &Weight| match *weight {
        Weight::Given(x) if x > bf16::ONE => Weight::Pair {
            low: bf16::ONE,
            high: x,
        },
        Weight::Given(x) => Weight::Given(bf16::from_f32(x.to_f32() + 1.0)),
        Weight::Pair { low, high } => Weight::Given(bf16::from_f32(high.to_f32() - low.to_f32())),
        Weight::Index(k) => Weight::Given(bf16::from_f32(k as f32)),
        Weight::Missing => Weight::Index(7),
    };
    let mut vector = Vector::from_slice(&input);
    enums_kernel(&mut vector).over(input.len()).run_on(device)?;
    let expected: Vec<Weight> = input.iter().map(after).collect();
    ensure(vector.to_vec()? == expected, || {
        "the weights differ".to_owned()
    })
}

#[kernel]
fn views_kernel(a: View2<bf16>, mut sum: ViewMut2<bf16>) {
    let row = global_idx_y();
    let col = global_idx_x();
    if row < sum.rows() && col < sum.cols() {
        sum[[row, col]] += a[[row, col]];
    }
}

fn views(device: &Device) -> Check {
    for (rows, cols) in [(1, 1), (3, 5), (33, 7)] {
        let number = |k: usize| bf16::from_f32(k as f32 * 0.75 - 9.0);
        let a: Vec<bf16> = (0..rows * cols).map(number).collect();
        let (x, mut sum) = (Vector::from_slice(&a), Vector::from_slice(&a));
        // The rows of one view are the columns of the other.
        views_kernel(
            x.view2(cols, rows)?.transposed(),
            sum.view2_mut(rows, cols)?,
        )
        .over((cols + 1, rows + 2))
        .run_on(device)?;
        for (i, got) in sum.to_vec()?.iter().enumerate() {
            let other = a[i % cols * rows + i / cols];
            let expected = bf16::from_f32(a[i].to_f32() + other.to_f32());
            ensure(is_same(*got, expected), || {
                format!("{rows} x {cols}, [{i}]: {got} instead of {expected}")
            })?;
        }
    }
    Ok(())
}

#[kernel]
fn generic_kernel<T: Float>(a: T, x: &[T], y: &mut [T]) {
    let i = global_idx_x();
    y[i] = (a * x[i] + T::from_f32(0.5)).abs().max(T::ONE) + T::EPSILON;
}

fn generic(device: &Device) -> Check {
    let class = Class::of(device);
    let input = values::<bf16>(214, 300);
    let a = bf16::from_f32(2.5);
    unary(
        ["|a x + 1/2|"],
        &input,
        |x, y, n| generic_kernel::<bf16>(a, x, y).over(n).run_on(device),
        |x| {
            let sum = round(round(2.5 * x.to_f32()) + 0.5);
            match is_flushed(class, &[x.to_f32()]) {
                true => [Expected::Anything],
                false => [Expected::Exactly(bf16::from_f32(
                    sum.abs().max(1.0) + bf16::EPSILON.to_f32(),
                ))],
            }
        },
    )
}
