use crate::Case;
use crate::check::{Check, Expected, expect_within, sentinel_filled};
use crate::input::Random;
use sarek::prelude::*;
use sarek::testing::tolerance::{EXACT, Tolerance};

pub const CASES: &[Case] = &[Case::new("nbody", &[], run)];

const SOFTENING: f32 = 0.01;

/// Accelerations of `n` bodies; a body is x, y, z, mass.
#[kernel]
fn accelerations(bodies: &[f32], result: &mut [f32]) {
    let i = global_idx_x();
    let n = bodies.len() / 4;
    if i < n {
        let x = bodies[4 * i];
        let y = bodies[4 * i + 1];
        let z = bodies[4 * i + 2];
        let mut ax = 0.0;
        let mut ay = 0.0;
        let mut az = 0.0;
        for j in 0..n {
            let dx = bodies[4 * j] - x;
            let dy = bodies[4 * j + 1] - y;
            let dz = bodies[4 * j + 2] - z;
            let inverse = (dx * dx + dy * dy + dz * dz + SOFTENING).rsqrt();
            let scale = bodies[4 * j + 3] * inverse * inverse * inverse;
            ax += dx * scale;
            ay += dy * scale;
            az += dz * scale;
        }
        result[3 * i] = ax;
        result[3 * i + 1] = ay;
        result[3 * i + 2] = az;
    }
}

fn reference(bodies: &[f32]) -> Vec<Expected<f32>> {
    let bodies: Vec<[f64; 4]> = bodies
        .chunks(4)
        .map(|b| [b[0], b[1], b[2], b[3]].map(f64::from))
        .collect();
    let mut expected = vec![];
    for a in &bodies {
        for axis in 0..3 {
            let terms = bodies.iter().map(|b| {
                let square: f64 = (0..3).map(|k| (b[k] - a[k]).powi(2)).sum();
                b[3] * (b[axis] - a[axis]) / (square + f64::from(SOFTENING)).powf(1.5)
            });
            let magnitude: f64 = terms.clone().map(f64::abs).sum();
            let absolute = (bodies.len() + 16) as f64 * f64::from(f32::EPSILON) * magnitude;
            expected.push(Expected::Near(terms.sum(), Tolerance { absolute, ..EXACT }));
        }
    }
    expected
}

fn run(device: &Device) -> Check {
    for n in [1, 3, 33, 100] {
        let bodies = Random::new(n as u64).floats(4 * n, -1.0, 1.0);
        let expected = reference(&bodies);
        let mut result = sentinel_filled(3 * n);
        accelerations(&Vector::from_vec(bodies), &mut result)
            .over(n)
            .run_on(device)?;
        expect_within(&format!("{n} bodies"), &result, &expected, &|_| {
            String::new()
        })?;
    }
    Ok(())
}
