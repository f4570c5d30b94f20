//! Conversions that round twice in Rust. A device's compiler must not merge them into one rounding.

use sarek::prelude::*;

#[kernel]
fn integers(x: &[i64], u: &[u64], y: &mut [f32], v: &mut [f32]) {
    let i = global_idx_x();
    y[i] = x[i] as f64 as f32;
    v[i] = u[i] as f64 as f32;
}

#[kernel]
fn doubles(x: &[i64], u: &[u64], y: &mut [f64], v: &mut [f64]) {
    let i = global_idx_x();
    y[i] = x[i] as f64;
    v[i] = u[i] as f64;
}

/// Integers of every size and their neighbours, including those for which rounding once and twice differ.
fn integers_of_all_sizes() -> Vec<u64> {
    let mut all = vec![u64::MAX, u64::MAX - 1023, u64::MAX - 1024, u64::MAX - 2048];
    for bit in 0..64 {
        let one = 1u64 << bit;
        for low in [
            0,
            1,
            3,
            1 << (bit / 2),
            1 << (bit * 5 / 8),
            one >> 24,
            one >> 25,
            one >> 53,
            one >> 54,
        ] {
            for x in [
                one | low,
                (one | low).wrapping_sub(1),
                (one | one >> 24 | low).wrapping_add(1),
            ] {
                all.extend([x, x | one >> 1]);
            }
        }
    }
    all
}

#[test]
fn integers_through_f64() {
    let u = integers_of_all_sizes();
    let x: Vec<i64> = u.iter().map(|u| *u as i64).collect();
    let n = u.len();
    let singles: (Vec<f32>, Vec<f32>) = x
        .iter()
        .zip(&u)
        .map(|(x, u)| (*x as f64 as f32, *u as f64 as f32))
        .unzip();
    let halfway: (Vec<f64>, Vec<f64>) = x
        .iter()
        .zip(&u)
        .map(|(x, u)| (*x as f64, *u as f64))
        .unzip();
    let (x, u) = (Vector::from_vec(x), Vector::from_vec(u));
    for device in super::devices() {
        let features = device.info().features;
        if !(features.f64 && features.i64) {
            println!("{device}: no f64 or no i64");
            continue;
        }
        let (mut y, mut v) = (Vector::zeros(n), Vector::zeros(n));
        integers(&x, &u, &mut y, &mut v)
            .over(n)
            .run_on(&device)
            .expect("it runs");
        assert_eq!(y.to_vec().expect("it ran"), singles.0, "{device}");
        assert_eq!(v.to_vec().expect("it ran"), singles.1, "{device}");
        let (mut y, mut v) = (Vector::zeros(n), Vector::zeros(n));
        doubles(&x, &u, &mut y, &mut v)
            .over(n)
            .run_on(&device)
            .expect("it runs");
        assert_eq!(y.to_vec().expect("it ran"), halfway.0, "{device}");
        assert_eq!(v.to_vec().expect("it ran"), halfway.1, "{device}");
    }
}

#[kernel]
fn to_f16(x: &[f64], y: &mut [f32]) {
    let i = global_idx_x();
    y[i] = f16::from_f64(x[i]).to_f32();
}

#[kernel]
fn to_bf16(x: &[f64], y: &mut [f32]) {
    let i = global_idx_x();
    y[i] = bf16::from_f64(x[i]).to_f32();
}

#[kernel]
fn by_f32(x: &[f64], y: &mut [f32]) {
    let i = global_idx_x();
    y[i] = f16::from_f32(x[i] as f32).to_f32();
}

/// Numbers at and near the rounding ties of both 16-bit formats.
fn near_ties() -> Vec<f64> {
    let mut all = vec![0.0, -0.0, 1e300, -1e300, 65519.99, 65520.0, 1e-320];
    for k in 0..3000 {
        let size = 2f64.powi(k % 60 - 30);
        let tie = 1.0 + f64::from(k) / 2048.0;
        for x in [
            tie,
            tie + 2f64.powi(-(k % 50)) / 2048.0,
            tie.next_up(),
            tie.next_down(),
            tie + 1e-8,
        ] {
            all.extend([x * size, -x * size]);
        }
    }
    all
}

/// A kernel that converts `f64` to a narrower type.
type Narrow = for<'a> fn(&'a Vector<f64>, &'a mut Vector<f32>) -> sarek::Launch<'a>;

#[test]
fn halves_of_doubles() {
    let x = near_ties();
    let n = x.len();
    let twice = |x: &f64| f16::from_f32(*x as f32).to_f32();
    let cases: [(Narrow, Vec<f32>); 3] = [
        (|x, y| to_f16(x, y), x.iter().map(twice).collect()),
        (|x, y| by_f32(x, y), x.iter().map(twice).collect()),
        (
            |x, y| to_bf16(x, y),
            x.iter().map(|x| bf16::from_f64(*x).to_f32()).collect(),
        ),
    ];
    let x = Vector::from_vec(x);
    for device in super::devices()
        .into_iter()
        .filter(|d| d.info().features.f64)
    {
        for (narrow, expected) in &cases {
            let mut y = Vector::zeros(n);
            narrow(&x, &mut y).over(n).run_on(&device).expect("it runs");
            let found = y.to_vec().expect("it ran");
            for at in 0..n {
                let x = x.get(at).expect("on the host");
                assert_eq!(
                    found[at].to_bits(),
                    expected[at].to_bits(),
                    "{device}: {x:e}: {} for {}",
                    found[at],
                    expected[at]
                );
            }
        }
    }
}
