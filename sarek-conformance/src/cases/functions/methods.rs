//! Methods, associated functions and associated constants of a type.

use crate::Case;
use crate::check::{Check, ensure};
use sarek::prelude::*;

pub const CASES: &[Case] = &[Case::new("functions/methods", &[], methods)];

#[derive(Clone, Copy, Debug, PartialEq, KernelType)]
#[repr(C)]
struct Complex {
    re: i32,
    im: i32,
}

#[device]
impl Complex {
    const I: Complex = Complex { re: 0, im: 1 };

    fn new(re: i32, im: i32) -> Self {
        Complex { re, im }
    }

    fn times(self, other: Complex) -> Complex {
        Complex::new(
            self.re * other.re - self.im * other.im,
            self.re * other.im + self.im * other.re,
        )
    }

    fn norm(&self) -> i32 {
        self.re * self.re + self.im * self.im
    }

    /// Turns the number by a quarter, unless it is small; returns true if it turned.
    fn turn(&mut self) -> bool {
        if self.norm() < 10 {
            return false;
        }
        *self = self.times(Self::I);
        true
    }
}

#[kernel]
fn turns(x: &[Complex], y: &mut [Complex], n: &mut [i32]) {
    let i = global_idx_x();
    if i < x.len() {
        let mut z: Complex = x[i];
        let mut count = 0;
        if z.turn() {
            count += 1;
        }
        y[i] = Complex::new(count, Complex::norm(&x[i]));
        y[i].turn();
        let last = Complex::times(z, y[i]);
        n[i] = Complex::norm(&last) + last.re;
    }
}

fn methods(device: &Device) -> Check {
    let n = 100;
    let x: Vec<Complex> = (0..n)
        .map(|i| Complex {
            re: i % 11 - 5,
            im: i % 7 - 3,
        })
        .collect();
    let mut y = Vector::from_vec(vec![Complex { re: 0, im: 0 }; n as usize]);
    let mut norms = Vector::zeros(n as usize);
    turns(&Vector::from_slice(&x), &mut y, &mut norms)
        .over(n as usize)
        .run_on(device)?;
    let (y, norms) = (y.to_vec()?, norms.to_vec()?);
    for (i, x) in x.into_iter().enumerate() {
        let norm = |(re, im): (i32, i32)| re * re + im * im;
        let turned = |z: (i32, i32)| if norm(z) < 10 { z } else { (-z.1, z.0) };
        let z = turned((x.re, x.im));
        let count = i32::from(norm((x.re, x.im)) >= 10);
        let expected = turned((count, norm((x.re, x.im))));
        let product = (
            z.0 * expected.0 - z.1 * expected.1,
            z.0 * expected.1 + z.1 * expected.0,
        );
        ensure((y[i].re, y[i].im) == expected, || {
            format!("[{i}]: {:?} instead of {expected:?}", y[i])
        })?;
        let expected = norm(product) + product.0;
        ensure(norms[i] == expected, || {
            format!("[{i}]: {} instead of {expected}", norms[i])
        })?;
    }
    Ok(())
}
