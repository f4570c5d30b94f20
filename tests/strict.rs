//! `#[kernel(strict)]`: bit-identical results on every device that accepts such a kernel, for all inputs.

use sarek::Error;
use sarek::prelude::*;

#[device]
fn cross(a: f32, b: f32, c: f32, d: f32) -> f32 {
    a * b - c * d
}

#[device]
fn cross_wide(a: f64, b: f64, c: f64, d: f64) -> f64 {
    a * b - c * d
}

/// Sums of products, which compilers tend to fuse, in every form; quotients and roots, which they tend to approximate.
macro_rules! kernels {
    ($kernel:ident $expected:ident $cross:ident $t:ident) => {
        #[kernel(strict)]
        fn $kernel(a: &[$t], b: &[$t], c: &[$t], out: &mut [$t]) {
            let i = global_idx_x();
            if i < a.len() {
                let (x, y, z) = (a[i], b[i], c[i]);
                out[9 * i] = x * y + z;
                out[9 * i + 1] = z - x * y;
                out[9 * i + 2] = $cross(x, y, z, x);
                let mut sum = x;
                for k in 0..6u32 {
                    sum = sum * y + z * k as $t;
                }
                out[9 * i + 3] = sum;
                out[9 * i + 4] = (x / y) / 3.0 + z;
                out[9 * i + 5] = (x * x + y * y).sqrt() - x.abs();
                out[9 * i + 6] = x.mul_add(y, z) * y + x;
                let product = x * y;
                out[9 * i + 7] = product.fract() + (product % z);
                out[9 * i + 8] = if x * y + z < product + z { 1.0 } else { 0.0 };
            }
        }

        /// The same computation in plain Rust.
        fn $expected(x: $t, y: $t, z: $t) -> [$t; 9] {
            let mut sum = x;
            for k in 0..6 {
                sum = sum * y + z * k as $t;
            }
            let product = x * y;
            [
                x * y + z,
                z - x * y,
                x * y - z * x,
                sum,
                (x / y) / 3.0 + z,
                (x * x + y * y).sqrt() - x.abs(),
                x.mul_add(y, z) * y + x,
                product.fract() + (product % z),
                if x * y + z < product + z { 1.0 } else { 0.0 },
            ]
        }
    };
}

kernels!(narrow narrow_expected cross f32);
kernels!(wide wide_expected cross_wide f64);

/// Marsaglia's xorshift generator.
fn random(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

/// Bit patterns of all kinds: arbitrary, ordinary numbers, subnormal numbers, and edge values.
fn inputs<const EXPONENT: u32, const FRACTION: u32>(seed: u64, n: usize) -> Vec<u64> {
    let (one, all) = (1u64 << FRACTION, (1u64 << EXPONENT) - 1);
    let ends = [
        0,
        1,
        one - 1,
        one,
        one + 1,
        all * one,
        all * one + 1,
        all * one - 1,
    ];
    let mut state = seed;
    let make = |i: usize| {
        let bits = random(&mut state);
        let sign = bits >> 63 << (EXPONENT + FRACTION);
        let fraction = bits % one;
        let exponent = match i % 5 {
            0 => bits >> 40 & all,
            1 => all / 2 + (bits >> 40 & 3),
            2 => all / 2 - 1,
            3 => (bits >> 40) % 2,
            _ => return ends[bits as usize % ends.len()] | sign,
        };
        sign | exponent << FRACTION | fraction
    };
    (0..n).map(make).collect()
}

fn strict_devices() -> Vec<Device> {
    let all = Device::all().into_iter();
    all.filter(|device| device.info().features.strict).collect()
}

const SIZES: [usize; 6] = [1, 3, 33, 255, 1000, 40_000];

#[test]
fn every_device_gives_the_bits_of_rust() {
    let devices = strict_devices();
    assert!(!devices.is_empty());
    for device in devices {
        for (seed, n) in (1..).zip(SIZES) {
            let column = |k: u64| inputs::<8, 23>(3 * seed + k, n).into_iter();
            let [a, b, c] = [0, 1, 2].map(|k| column(k).map(|bits| f32::from_bits(bits as u32)));
            let [a, b, c]: [Vec<f32>; 3] = [a.collect(), b.collect(), c.collect()];
            let mut out = Vector::filled(9 * n, 7.0f32);
            let [x, y, z] = [&a, &b, &c].map(|v| Vector::from_slice(v));
            narrow(&x, &y, &z, &mut out)
                .over(n)
                .run_on(&device)
                .unwrap();
            let got = out.to_vec().unwrap();
            for i in 0..n {
                for (k, expected) in narrow_expected(a[i], b[i], c[i]).into_iter().enumerate() {
                    let got = got[9 * i + k];
                    let same =
                        got.to_bits() == expected.to_bits() || got.is_nan() && expected.is_nan();
                    let of = (a[i], b[i], c[i]);
                    assert!(
                        same,
                        "{device}: result {k} of {of:?} is {got:e}, not {expected:e}"
                    );
                }
            }
        }
    }
}

#[test]
fn every_device_gives_the_bits_of_rust_in_f64() {
    for device in strict_devices()
        .into_iter()
        .filter(|d| d.info().features.f64)
    {
        for (seed, n) in (1..).zip(SIZES) {
            let column = |k: u64| inputs::<11, 52>(30 * seed + k, n).into_iter();
            let [a, b, c] = [0, 1, 2].map(|k| column(k).map(f64::from_bits));
            let [a, b, c]: [Vec<f64>; 3] = [a.collect(), b.collect(), c.collect()];
            let mut out = Vector::filled(9 * n, 7.0f64);
            let [x, y, z] = [&a, &b, &c].map(|v| Vector::from_slice(v));
            wide(&x, &y, &z, &mut out).over(n).run_on(&device).unwrap();
            let got = out.to_vec().unwrap();
            for i in 0..n {
                for (k, expected) in wide_expected(a[i], b[i], c[i]).into_iter().enumerate() {
                    let got = got[9 * i + k];
                    let same =
                        got.to_bits() == expected.to_bits() || got.is_nan() && expected.is_nan();
                    let of = (a[i], b[i], c[i]);
                    assert!(
                        same,
                        "{device}: result {k} of {of:?} is {got:e}, not {expected:e}"
                    );
                }
            }
        }
    }
}

/// The inputs contain enough values that would reveal fused operations and flushed subnormals.
#[test]
fn the_inputs_distinguish_fused_operations() {
    let column = |k| {
        inputs::<8, 23>(k, 40_000)
            .into_iter()
            .map(|bits| f32::from_bits(bits as u32))
    };
    let (mut fused, mut subnormal) = (0, 0);
    for ((x, y), z) in column(1).zip(column(2)).zip(column(3)) {
        let expected = x * y + z;
        fused += u32::from(expected.is_finite() && expected != x.mul_add(y, z));
        subnormal += u32::from(expected.is_subnormal());
    }
    assert!(fused > 1000 && subnormal > 100, "{fused}, {subnormal}");
}

#[test]
fn a_device_that_cannot_be_strict_refuses() {
    for device in Device::all() {
        if device.info().features.strict {
            continue;
        }
        let x = Vector::from_vec(vec![1.0f32; 4]);
        let mut out = Vector::from_vec(vec![0.0f32; 36]);
        let refused = narrow(&x, &x, &x, &mut out).over(4).run_on(&device);
        let Err(Error::NotEligible { reasons, .. }) = refused else {
            panic!("{device} took a strict kernel: {refused:?}");
        };
        assert!(
            reasons.iter().any(|r| r.contains("same to the bit")),
            "{reasons:?}"
        );
    }
}

#[test]
fn explain_and_texts_mark_strict_kernels() {
    assert!(
        narrow::explain().contains("same to the bit"),
        "{}",
        narrow::explain()
    );
    let cuda = narrow::source("cuda").unwrap();
    assert!(cuda.contains("__fadd_rn(__fmul_rn(x, y), z)"), "{cuda}");
    let body = cuda.split_once("{\n    const u64").unwrap().1;
    assert!(!body.contains(" + z") && !body.contains(" / "), "{cuda}");
    let opencl = narrow::source("opencl").unwrap();
    assert!(
        opencl.contains("#pragma OPENCL FP_CONTRACT OFF"),
        "{opencl}"
    );
    assert!(matches!(
        narrow::source("wgsl"),
        Err(Error::Unsupported { .. })
    ));
}

#[test]
fn environments_may_change_floats_and_are_refused() {
    let x = Vector::from_vec(vec![1.0f32; 4]);
    let mut out = Vector::from_vec(vec![0.0f32; 36]);
    let refused = narrow(&x, &x, &x, &mut out)
        .environment("fast")
        .over(4)
        .run();
    assert!(matches!(refused, Err(Error::Launch { .. })), "{refused:?}");
}
