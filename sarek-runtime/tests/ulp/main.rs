//! Tests that the errors of [`Elementary`] are at most those that `book/src/ulp.md` states.
//!
//! ```sh
//! cargo test -p sarek-runtime --release --test ulp -- --ignored --nocapture   # every f32
//! ```
//!
//! `ULP_FUNCTIONS=exp,ln` selects functions.
//!
//! The reference of `f32` is std in `f64`. That of `f64` is std too, and the tolerance includes its
//! own error on this platform (glibc's `libm`). The figures in `book/src/ulp.md` were measured with 113
//! bits.

mod measure;

use measure::{Worst, edges, random};
use sarek_runtime::host::Elementary;

/// A function of one argument: this crate's and std's, and the stated maximal error in ulps.
struct Function<T> {
    name: &'static str,
    ours: fn(T) -> T,
    reference: fn(f64) -> f64,
    ulps: f64,
}

macro_rules! functions {
    ($t:ident: $($name:ident $ulps:literal;)*) => {
        [$(Function::<$t> {
            name: stringify!($name),
            ours: |x| Elementary::$name(x),
            reference: |x| f64::$name(x),
            ulps: $ulps,
        }),*]
    };
}

const F32: [Function<f32>; 17] = functions! { f32:
    exp 1.0; exp2 1.1; exp_m1 0.501; ln 0.9; ln_1p 0.501; log2 1.2; log10 1.0;
    sin 0.51; cos 0.51; tan 0.51; asin 0.501; acos 0.501; atan 0.501;
    sinh 0.501; cosh 0.501; tanh 0.501; cbrt 0.501;
};

/// The bounds include std's own error: 2.2 for the hyperbolic functions and `log10`, 1 for others.
const F64: [Function<f64>; 17] = functions! { f64:
    exp 2.0; exp2 2.1; exp_m1 2.1; ln 1.9; ln_1p 1.9; log2 1.9; log10 3.1;
    sin 0.0; cos 0.0; tan 0.0; asin 2.7; acos 2.2; atan 2.9;
    sinh 4.0; cosh 3.9; tanh 3.3; cbrt 1.7;
};

/// Measures every `step`th `f32` from `first`, in chunks, so that the function is vectorised as in
/// a kernel.
fn measure_f32(function: &Function<f32>, first: u32, step: u32) -> Worst {
    const CHUNK: usize = 1024;
    let mut worst = Worst::default();
    let mut numbers = (first..=u32::MAX)
        .step_by(step as usize)
        .map(f32::from_bits);
    let (mut arguments, mut results) = ([0.0f32; CHUNK], [0.0f32; CHUNK]);
    loop {
        let count = arguments
            .iter_mut()
            .zip(&mut numbers)
            .map(|(a, x)| *a = x)
            .count();
        for (result, x) in results.iter_mut().zip(&arguments) {
            *result = (function.ours)(*x);
        }
        for (x, result) in arguments.iter().zip(results).take(count) {
            worst.f32((*x).into(), result, (function.reference)((*x).into()));
        }
        if count < CHUNK {
            return worst;
        }
    }
}

#[test]
fn f32_is_as_stated() {
    for function in &F32 {
        measure_f32(function, 0, 4099).at_most(function.ulps, function.name);
    }
}

#[test]
#[ignore = "takes minutes"]
fn every_f32_is_as_stated() {
    let only = std::env::var("ULP_FUNCTIONS").ok();
    let chosen = |f: &&Function<f32>| only.iter().all(|o| o.split(',').any(|o| o == f.name));
    for function in F32.iter().filter(chosen) {
        let mut worst = Worst::default();
        std::thread::scope(|scope| {
            let part = |first| scope.spawn(move || measure_f32(function, first, 2));
            for part in [part(0), part(1)] {
                worst.merge(&part.join().unwrap());
            }
        });
        println!(
            "{} f32: {:.4} ulp at {:e}",
            function.name, worst.ulps, worst.at
        );
        worst.at_most(function.ulps, function.name);
    }
}

#[test]
fn f64_is_as_stated() {
    for function in &F64 {
        let mut worst = Worst::default();
        for x in edges().into_iter().chain(random(1, 200_000)) {
            worst.f64(x, (function.ours)(x), (function.reference)(x));
        }
        worst.at_most(function.ulps, function.name);
    }
}

/// A function of two arguments: this crate's for both types, std's in `f64`, and the stated errors
/// of both.
struct Pair {
    name: &'static str,
    narrow: fn(f32, f32) -> f32,
    wide: fn(f64, f64) -> f64,
    reference: fn(f64, f64) -> f64,
    ulps: (f64, f64),
}

macro_rules! pairs {
    ($($name:ident $narrow:literal $wide:literal;)*) => {
        [$(Pair {
            name: stringify!($name),
            narrow: |x, y| Elementary::$name(x, y),
            wide: |x, y| Elementary::$name(x, y),
            reference: |x, y| f64::$name(x, y),
            ulps: ($narrow, $wide),
        }),*]
    };
}

#[test]
fn pairs_are_as_stated() {
    let pairs: [Pair; 3] = pairs! { atan2 0.501 2.6; hypot 0.501 2.1; powf 0.51 0.0; };
    let edges = edges();
    let all = || {
        edges
            .iter()
            .flat_map(|x| edges.iter().map(move |y| (*x, *y)))
    };
    for pair in &pairs {
        let (mut narrow, mut wide) = (Worst::default(), Worst::default());
        for (x, y) in all().chain(random(2, 200_000).zip(random(3, 200_000))) {
            wide.f64(x, (pair.wide)(x, y), (pair.reference)(x, y));
            let (x, y) = (x as f32, y as f32);
            let due = (pair.reference)(x.into(), y.into());
            narrow.f32(x.into(), (pair.narrow)(x, y), due);
        }
        narrow.at_most(pair.ulps.0, pair.name);
        wide.at_most(pair.ulps.1, pair.name);
    }
}
