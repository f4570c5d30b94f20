//! The kernels of McCalpin's STREAM benchmark.

use crate::Case;
use crate::check::{Check, Expected, expect, expect_within, sentinel_filled};
use crate::input::{Random, SIZES};
use sarek::prelude::*;
use sarek::testing::tolerance::{EXACT, Format, Tolerance};

pub const CASES: &[Case] = &[Case::new("stream", &[], run)];

#[kernel]
fn copy(a: &[f32], c: &mut [f32]) {
    let i = global_idx_x();
    c[i] = a[i];
}

#[kernel]
fn mul(s: f32, c: &[f32], b: &mut [f32]) {
    let i = global_idx_x();
    b[i] = s * c[i];
}

#[kernel]
fn add(a: &[f32], b: &[f32], c: &mut [f32]) {
    let i = global_idx_x();
    c[i] = a[i] + b[i];
}

#[kernel]
fn triad(s: f32, b: &[f32], c: &[f32], a: &mut [f32]) {
    let i = global_idx_x();
    a[i] = b[i] + s * c[i];
}

fn run(device: &Device) -> Check {
    for n in SIZES {
        let s = 0.4f32;
        let a = Random::new(n as u64 + 2).floats(n, -2.0, 2.0);
        let wide = |x: f32| f64::from(x);

        let va = Vector::from_slice(&a);
        let (mut vc, mut vb) = (sentinel_filled::<f32>(n), sentinel_filled::<f32>(n));
        copy(&va, &mut vc).over(n).run_on(device)?;
        expect("copy", &vc, &a)?;

        mul(s, &vc, &mut vb).over(n).run_on(device)?;
        let b: Vec<f32> = a.iter().map(|&x| (wide(s) * wide(x)) as f32).collect();
        expect("mul", &vb, &b)?;

        add(&va, &vb, &mut vc).over(n).run_on(device)?;
        let c: Vec<f32> = a
            .iter()
            .zip(&b)
            .map(|(&a, &b)| (wide(a) + wide(b)) as f32)
            .collect();
        expect("add", &vc, &c)?;

        let mut out = sentinel_filled::<f32>(n);
        triad(s, &vb, &vc, &mut out).over(n).run_on(device)?;
        let expected: Vec<Expected<f32>> = b
            .iter()
            .zip(&c)
            .map(|(&b, &c)| {
                let product = wide(s) * wide(c);
                let absolute = Format::F32.ulp(product) / 2.0;
                Expected::Near(wide(b) + product, Tolerance { absolute, ..EXACT })
            })
            .collect();
        expect_within("triad", &out, &expected, &|_| String::new())?;
    }
    Ok(())
}
