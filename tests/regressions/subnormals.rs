//! Subnormal `f32` values. `native`, `interpreter` and `cuda` preserve them in `+ - * /`, casts and square roots; others may flush them to zero.

use sarek::prelude::*;

#[kernel]
fn arithmetic(x: &[f32], y: &mut [f32]) {
    let i = global_idx_x();
    let x = x[i];
    y[i * 8] = x * 0.5;
    y[i * 8 + 1] = x + f32::from_bits(3);
    y[i * 8 + 2] = x - f32::from_bits(5);
    y[i * 8 + 3] = x / 3.0;
    y[i * 8 + 4] = x.sqrt();
    y[i * 8 + 5] = x.max(f32::from_bits(7));
    y[i * 8 + 6] = -x;
    y[i * 8 + 7] = (x as f64 * 2.0) as f32;
}

fn expected(x: f32) -> [f32; 8] {
    [
        x * 0.5,
        x + f32::from_bits(3),
        x - f32::from_bits(5),
        x / 3.0,
        x.sqrt(),
        x.max(f32::from_bits(7)),
        -x,
        (f64::from(x) * 2.0) as f32,
    ]
}

#[test]
fn subnormals_are_kept_where_documented() {
    let x: Vec<f32> = (0..1000).map(|k| f32::from_bits(k * 16_777)).collect();
    let all: Vec<u32> = x
        .iter()
        .flat_map(|x| expected(*x))
        .map(f32::to_bits)
        .collect();
    let x = Vector::from_vec(x);
    for device in super::devices()
        .into_iter()
        .filter(|d| d.info().features.f64)
    {
        let mut y = Vector::zeros(all.len());
        arithmetic(&x, &mut y)
            .over(1000)
            .run_on(&device)
            .expect("it runs");
        let found = y.to_vec().expect("it ran");
        let keeps = ["native", "interpreter", "cuda"].contains(&device.backend());
        for (at, found) in found.iter().enumerate() {
            let expected = f32::from_bits(all[at]);
            // The accuracy of other devices is in book/src/ulp.md.
            let near = !keeps && (found - expected).abs() <= expected.abs() * 1e-6;
            let flushed =
                near || !keeps && (found.abs() < 2.0 * f32::MIN_POSITIVE || !expected.is_normal());
            let place = format!("{device}: operation {} of {}", at % 8, at / 8);
            assert!(
                found.to_bits() == all[at] || flushed,
                "{place}: {found:e} for {expected:e}"
            );
        }
    }
}
