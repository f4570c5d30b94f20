//! The methods of `num_complex`, for kernels: `use sarek::interop::num_complex::methods::*;`.
//!
//! On the host, `z.norm_sqr()` is the method of `num_complex`, which Rust prefers to a trait's.

use ::num_complex::Complex;
use sarek_macros::device;

use crate::Float;

/// Methods of [`Complex`] for kernels.
#[device]
pub trait ComplexMethods<T> {
    /// The number with these parts.
    fn new(re: T, im: T) -> Self;
    /// `e^(i * phase)`
    fn cis(phase: T) -> Self;
    /// The number with this absolute value and this angle.
    fn from_polar(r: T, theta: T) -> Self;
    /// The square of the absolute value.
    fn norm_sqr(&self) -> T;
    /// The sum of the parts' absolute values.
    fn l1_norm(&self) -> T;
    /// The absolute value. Unlike on the host, its square must not overflow.
    fn norm(self) -> T;
    /// The angle.
    fn arg(self) -> T;
    /// The complex conjugate.
    fn conj(&self) -> Self;
    /// The inverse `1 / self`.
    fn inv(&self) -> Self;
    /// The product with a real number.
    fn scale(&self, t: T) -> Self;
    /// The quotient by a real number.
    fn unscale(&self, t: T) -> Self;
    /// `e^self`
    fn exp(self) -> Self;
}

#[device]
impl<T: Float> ComplexMethods<T> for Complex<T> {
    fn new(re: T, im: T) -> Self {
        Complex { re, im }
    }

    fn cis(phase: T) -> Self {
        Complex {
            re: phase.cos(),
            im: phase.sin(),
        }
    }

    fn from_polar(r: T, theta: T) -> Self {
        Complex {
            re: r * theta.cos(),
            im: r * theta.sin(),
        }
    }

    fn norm_sqr(&self) -> T {
        self.re * self.re + self.im * self.im
    }

    fn l1_norm(&self) -> T {
        let (re, im): (T, T) = (self.re, self.im);
        re.abs() + im.abs()
    }

    fn norm(self) -> T {
        let square = self.re * self.re + self.im * self.im;
        square.sqrt()
    }

    fn arg(self) -> T {
        let (re, im): (T, T) = (self.re, self.im);
        im.atan2(re)
    }

    fn conj(&self) -> Self {
        Complex {
            re: self.re,
            im: -self.im,
        }
    }

    fn inv(&self) -> Self {
        let square = self.re * self.re + self.im * self.im;
        Complex {
            re: self.re / square,
            im: -self.im / square,
        }
    }

    fn scale(&self, t: T) -> Self {
        Complex {
            re: self.re * t,
            im: self.im * t,
        }
    }

    fn unscale(&self, t: T) -> Self {
        Complex {
            re: self.re / t,
            im: self.im / t,
        }
    }

    fn exp(self) -> Self {
        let (re, im): (T, T) = (self.re, self.im);
        let r = re.exp();
        Complex {
            re: r * im.cos(),
            im: r * im.sin(),
        }
    }
}
