use crate::check::{Check, expect, sentinel_filled};
use crate::input::{Random, SIZES, block_sizes};
use crate::{Capability, Case};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("vector_add/f32", &[], over),
    Case::new("vector_add/blocks", &[], blocks),
    Case::new("vector_add/f64", &[Capability::F64], over_f64),
];

#[kernel]
fn vector_add(a: &[f32], b: &[f32], c: &mut [f32]) {
    let i = global_idx_x();
    if i < a.len() {
        c[i] = a[i] + b[i];
    }
}

#[kernel]
fn vector_add_f64(a: &[f64], b: &[f64], c: &mut [f64]) {
    let i = global_idx_x();
    if i < a.len() {
        c[i] = a[i] + b[i];
    }
}

fn inputs(n: usize) -> (Vec<f32>, Vec<f32>, Vec<f32>) {
    let mut random = Random::new(n as u64);
    let a = random.floats(n, -10.0, 10.0);
    let b = random.floats(n, -10.0, 10.0);
    // The sum of two `f32` is exact in `f64`, so this rounds once.
    let sum = a
        .iter()
        .zip(&b)
        .map(|(&a, &b)| (f64::from(a) + f64::from(b)) as f32)
        .collect();
    (a, b, sum)
}

fn over(device: &Device) -> Check {
    for n in SIZES {
        let (a, b, expected) = inputs(n);
        let mut c = sentinel_filled(n);
        vector_add(&Vector::from_vec(a), &Vector::from_vec(b), &mut c)
            .over(n)
            .run_on(device)?;
        expect(&format!("over({n})"), &c, &expected)?;
    }
    Ok(())
}

/// Runs whole blocks: the guard alone keeps threads from elements beyond the data.
fn blocks(device: &Device) -> Check {
    for block in block_sizes(device) {
        for n in [1, 33, 1000] {
            let (a, b, expected) = inputs(n);
            let (a, b) = (Vector::from_vec(a), Vector::from_vec(b));
            let grid = n.div_ceil(block) + 1;
            let mut c = sentinel_filled(n);
            vector_add(&a, &b, &mut c)
                .grid(grid)
                .block(block)
                .run_on(device)?;
            expect(
                &format!("grid({grid}).block({block}), n = {n}"),
                &c,
                &expected,
            )?;
        }
    }
    Ok(())
}

fn over_f64(device: &Device) -> Check {
    for n in SIZES {
        let (a, b, _) = inputs(n);
        let widen = |v: &[f32]| v.iter().map(|&x| f64::from(x)).collect::<Vec<f64>>();
        let (a, b) = (widen(&a), widen(&b));
        let expected: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a + b).collect();
        let mut c = sentinel_filled(n);
        vector_add_f64(&Vector::from_vec(a), &Vector::from_vec(b), &mut c)
            .over(n)
            .run_on(device)?;
        expect(&format!("over({n})"), &c, &expected)?;
    }
    Ok(())
}
