//! Valid code in strict kernels that seems forbidden.

use sarek::prelude::*;

#[device]
fn smaller(a: f32, b: f32) -> f32 {
    if a < b { a } else { b }
}

#[device]
fn mean<const N: usize>(x: [f32; N]) -> f32 {
    let mut sum = 0.0;
    for k in 0..N {
        sum += x[k];
    }
    sum / N as f32
}

#[kernel(strict, block = (8, 8), requires(n > 0))]
fn accepted(n: u32, x: &[f32], counts: &[Atomic<u32>], out: &mut [f32]) {
    let i = global_thread_id();
    if i < out.len() && i < x.len() {
        let v = f32x3::new(x[i], 1.0, 2.0);
        // Integers have no order problem: the smaller of two is unique, and a count does not depend on the order of additions.
        counts[0].fetch_add(n.min(3));
        out[i] = smaller(mean([x[i], 2.0, 3.0]), v.length()).clamp(0.0, 9.0).mul_add(2.0, v.dot(v)) % 5.0;
    }
}

fn main() {
    let x = Vector::from_vec(vec![1.0f32; 64]);
    let (mut counts, mut out) = (Vector::zeros(1), Vector::zeros(64));
    accepted(5, &x, &mut counts, &mut out).grid((1, 1)).run().unwrap();
    assert_eq!(counts.to_vec().unwrap(), [3 * 64]);
}
