//! `#[kernel(strict)]` gives the bits that Rust gives, even where targets would fuse, approximate or flush.

use crate::check::{Check, Expected, ensure, expect_within, sentinel_filled};
use crate::input::{Random, Sample};
use crate::{Capability, Case};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new(
        "strict/arithmetic/f32",
        &[Capability::Strict],
        f32_arithmetic,
    ),
    Case::new(
        "strict/arithmetic/f64",
        &[Capability::Strict, Capability::F64],
        f64_arithmetic,
    ),
    Case::new(
        "strict/arithmetic/f16",
        &[Capability::Strict, Capability::F16],
        f16_arithmetic,
    ),
    Case::new(
        "strict/arithmetic/bf16",
        &[Capability::Strict, Capability::Storage16],
        bf16_arithmetic,
    ),
    Case::new("strict/rounding/f32", &[Capability::Strict], f32_rounding),
    Case::new(
        "strict/rounding/f64",
        &[Capability::Strict, Capability::F64],
        f64_rounding,
    ),
    Case::new(
        "strict/casts",
        &[Capability::Strict, Capability::F64, Capability::I64],
        casts,
    ),
    Case::new("strict/generic", &[Capability::Strict], generic),
    Case::new("strict/block_sum", &[Capability::Strict], block_sum),
];

/// Arbitrary bits, numbers of similar size whose sums cancel, subnormal numbers, and edge values.
macro_rules! inputs {
    ($name:ident $t:ident $bits:ident) => {
        fn $name(seed: u64, n: usize) -> Vec<$t> {
            let mut random = Random::new(seed);
            let edges = <$t as Sample>::edges();
            let mut make = |i: usize| {
                let bits = random.bits();
                match i % 5 {
                    0 => $t::from_bits(bits as $bits),
                    1 => random.between(-4.0, 4.0) as $t,
                    2 => $t::from_bits($t::MIN_POSITIVE.to_bits() + 9 - bits as $bits % 4096),
                    3 => random.between(-1e-3, 1e3) as $t,
                    _ => edges[bits as usize % edges.len()],
                }
            };
            (0..n).map(&mut make).collect()
        }
    };
}

inputs!(inputs_f32 f32 u32);
inputs!(inputs_f64 f64 u64);

/// Compares `K` results for each triple of inputs with those of the same formulas on the host.
fn compare<T: Sample, const K: usize>(
    inputs: [Vec<T>; 3],
    launch: impl Fn([&Vector<T>; 3], &mut Vector<T>, usize) -> sarek::Result<()>,
    formulas: impl Fn(T, T, T) -> [T; K],
) -> Check {
    let [a, b, c] = &inputs;
    let mut out = sentinel_filled::<T>(K * a.len());
    let columns = [a, b, c].map(|column| Vector::from_slice(column));
    let [x, y, z] = &columns;
    launch([x, y, z], &mut out, a.len())?;
    let expected = (0..a.len()).flat_map(|i| formulas(a[i], b[i], c[i]).map(Expected::Exactly));
    expect_within("bits", &out, &expected.collect::<Vec<_>>(), &|i| {
        let at = i / K;
        format!(" formula {} of {:?}", i % K, (a[at], b[at], c[at]))
    })
}

macro_rules! arithmetic {
    ($case:ident $kernel:ident $device:ident $t:ident $inputs:ident) => {
        #[device]
        fn $device(a: $t, b: $t, c: $t, d: $t) -> $t {
            a * b - c * d
        }

        #[kernel(strict)]
        fn $kernel(a: &[$t], b: &[$t], c: &[$t], out: &mut [$t]) {
            let i = global_idx_x();
            let (x, y, z) = (a[i], b[i], c[i]);
            out[9 * i] = x * y + z;
            out[9 * i + 1] = z - x * y;
            out[9 * i + 2] = $device(x, y, z, x);
            let mut sum = x;
            for k in 0..5u32 {
                sum = sum * y + z * k as $t;
            }
            out[9 * i + 3] = sum;
            out[9 * i + 4] = x / y / 3.0 + z;
            out[9 * i + 5] = (x * x + y * y).sqrt() - x.abs();
            out[9 * i + 6] = x.mul_add(y, z) * y + x;
            out[9 * i + 7] = (x * y) % z;
            out[9 * i + 8] = if x * y + z < z + 1.0 { 1.0 } else { -x };
        }

        fn $case(device: &Device) -> Check {
            let inputs = [301, 302, 303].map(|seed| $inputs(seed, 3000));
            let fused = |i: usize| {
                let (x, y, z) = (inputs[0][i], inputs[1][i], inputs[2][i]);
                (x * y + z).is_finite() && x * y + z != x.mul_add(y, z)
            };
            let telling = (0..3000).filter(|&i| fused(i)).count();
            ensure(telling > 100, || {
                format!("{telling} inputs would show a fused operation")
            })?;
            compare(
                inputs,
                |[a, b, c], out, n| $kernel(a, b, c, out).over(n).run_on(device),
                |x, y, z| {
                    let mut sum = x;
                    for k in 0..5 {
                        sum = sum * y + z * k as $t;
                    }
                    [
                        x * y + z,
                        z - x * y,
                        x * y - z * x,
                        sum,
                        x / y / 3.0 + z,
                        (x * x + y * y).sqrt() - x.abs(),
                        x.mul_add(y, z) * y + x,
                        (x * y) % z,
                        if x * y + z < z + 1.0 { 1.0 } else { -x },
                    ]
                },
            )
        }
    };
}

arithmetic!(f32_arithmetic arithmetic_f32 cross_f32 f32 inputs_f32);
arithmetic!(f64_arithmetic arithmetic_f64 cross_f64 f64 inputs_f64);

macro_rules! rounding {
    ($case:ident $kernel:ident $t:ident $inputs:ident) => {
        #[kernel(strict)]
        fn $kernel(a: &[$t], b: &[$t], c: &[$t], out: &mut [$t]) {
            let i = global_idx_x();
            let x = a[i] * b[i];
            out[8 * i] = x.floor();
            out[8 * i + 1] = x.ceil();
            out[8 * i + 2] = x.round();
            out[8 * i + 3] = x.trunc();
            out[8 * i + 4] = x.fract();
            out[8 * i + 5] = x.clamp(-1.0, 1.5);
            out[8 * i + 6] = c[i].recip();
            out[8 * i + 7] = c[i].sqrt();
        }

        fn $case(device: &Device) -> Check {
            compare(
                [304, 305, 306].map(|seed| $inputs(seed, 2000)),
                |[a, b, c], out, n| $kernel(a, b, c, out).over(n).run_on(device),
                |a, b, c| {
                    let x = a * b;
                    [
                        x.floor(),
                        x.ceil(),
                        x.round(),
                        x.trunc(),
                        x.fract(),
                        x.clamp(-1.0, 1.5),
                        c.recip(),
                        c.sqrt(),
                    ]
                },
            )
        }
    };
}

rounding!(f32_rounding rounding_f32 f32 inputs_f32);
rounding!(f64_rounding rounding_f64 f64 inputs_f64);

macro_rules! half_arithmetic {
    ($case:ident $kernel:ident $t:ident) => {
        #[kernel(strict)]
        fn $kernel(a: &[$t], b: &[$t], c: &[$t], out: &mut [$t]) {
            let i = global_idx_x();
            out[3 * i] = a[i] * b[i] + c[i];
            out[3 * i + 1] = a[i] / b[i] - c[i];
            out[3 * i + 2] = a[i].sqrt() * b[i];
        }

        fn $case(device: &Device) -> Check {
            let inputs = [307, 308, 309].map(|seed| Random::new(seed).values::<$t>(3000));
            compare(
                inputs,
                |[a, b, c], out, n| $kernel(a, b, c, out).over(n).run_on(device),
                |a, b, c| [a * b + c, a / b - c, $t::from_f32(f32::from(a).sqrt()) * b],
            )
        }
    };
}

half_arithmetic!(f16_arithmetic arithmetic_f16 f16);
half_arithmetic!(bf16_arithmetic arithmetic_bf16 bf16);

#[kernel(strict)]
fn casts_kernel(a: &[f64], n: &[i64], narrow: &mut [f32], wide: &mut [f64]) {
    let i = global_idx_x();
    narrow[3 * i] = a[i] as f32;
    narrow[3 * i + 1] = n[i] as f32;
    narrow[3 * i + 2] = (a[i] * 0.1) as f32 * 3.0 + 0.7;
    wide[2 * i] = n[i] as f64 * a[i] + 1.0;
    wide[2 * i + 1] = a[i] as f32 as f64 * a[i] - 1.0;
}

fn casts(device: &Device) -> Check {
    let mut a = inputs_f64(310, 2000);
    a.extend(inputs_f32(311, 2000).into_iter().map(f64::from));
    let n = Random::new(312).values::<i64>(a.len());
    let (mut narrow, mut wide) = (
        sentinel_filled::<f32>(3 * a.len()),
        sentinel_filled::<f64>(2 * a.len()),
    );
    let columns = (Vector::from_slice(&a), Vector::from_slice(&n));
    casts_kernel(&columns.0, &columns.1, &mut narrow, &mut wide)
        .over(a.len())
        .run_on(device)?;
    let pairs = || a.iter().copied().zip(n.iter().copied());
    let narrow_expected =
        pairs().flat_map(|(a, n)| [a as f32, n as f32, (a * 0.1) as f32 * 3.0 + 0.7]);
    let wide_expected = pairs().flat_map(|(a, n)| [n as f64 * a + 1.0, a as f32 as f64 * a - 1.0]);
    let of =
        |count: usize| move |i: usize| format!(" formula {} of input {}", i % count, i / count);
    let narrow_expected: Vec<_> = narrow_expected.map(Expected::Exactly).collect();
    expect_within("f32", &narrow, &narrow_expected, &of(3))?;
    let wide_expected: Vec<_> = wide_expected.map(Expected::Exactly).collect();
    expect_within("f64", &wide, &wide_expected, &of(2))
}

#[device]
fn horner<T: Float>(x: T, c: [T; 3]) -> T {
    (c[2] * x + c[1]) * x + c[0]
}

#[kernel(strict)]
fn generic_kernel<T: Float>(a: &[T], b: &[T], c: &[T], out: &mut [T]) {
    let i = global_idx_x();
    out[i] = horner(a[i], [a[i], b[i], c[i]]);
}

/// Calls a generic kernel and function, whose text is rendered at the call.
fn generic(device: &Device) -> Check {
    compare(
        [313, 314, 315].map(|seed| inputs_f32(seed, 1000)),
        |[a, b, c], out, n| generic_kernel(a, b, c, out).over(n).run_on(device),
        |a, b, c| [(c * a + b) * a + a],
    )
}

#[kernel(strict, block = 64)]
fn block_sum_kernel(x: &[f32], y: &[f32], out: &mut [f32]) {
    let tile = shared_array::<f32, 64>();
    let t = thread_idx_x();
    let i = global_idx_x();
    tile[t] = x[i] * y[i] + 0.1;
    barrier();
    let mut half = 32;
    while half > 0 {
        if t < half {
            tile[t] = tile[t] * 0.9 + tile[t + half];
        }
        barrier();
        half /= 2;
    }
    if t == 0 {
        out[block_idx_x()] = tile[0];
    }
}

/// A reduction in the order that the kernel defines.
fn block_sum(device: &Device) -> Check {
    const BLOCKS: usize = 9;
    let mut random = Random::new(316);
    let [x, y] = [(); 2].map(|()| random.floats(64 * BLOCKS, -3.0, 3.0));
    let mut out = sentinel_filled::<f32>(BLOCKS);
    block_sum_kernel(&Vector::from_slice(&x), &Vector::from_slice(&y), &mut out)
        .grid(BLOCKS)
        .run_on(device)?;
    let expected = x.chunks(64).zip(y.chunks(64)).map(|(x, y)| {
        let mut tile: Vec<f32> = x.iter().zip(y).map(|(x, y)| x * y + 0.1).collect();
        let mut half = 32;
        while half > 0 {
            for t in 0..half {
                tile[t] = tile[t] * 0.9 + tile[t + half];
            }
            half /= 2;
        }
        Expected::Exactly(tile[0])
    });
    let expected: Vec<_> = expected.collect();
    expect_within("sums", &out, &expected, &|_| String::new())
}
