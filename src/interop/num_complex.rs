//! Complex numbers of `num_complex` in kernels.
//!
//! `Complex<f32>` and `Complex<f64>` are elements of vectors, parameters and fields. The methods of
//! `num_complex`, such as `z.norm_sqr()`, are those of the trait in [`methods`]. Its operators are not
//! marked for kernels, so other arithmetic is by the functions here. They compute what the operators
//! of `num_complex` do on the host.

pub mod methods;

use ::num_complex::Complex;
use sarek_macros::device;

use crate::Float;

/// The sum `a + b`.
#[device]
pub fn add<T: Float>(a: Complex<T>, b: Complex<T>) -> Complex<T> {
    Complex {
        re: a.re + b.re,
        im: a.im + b.im,
    }
}

/// The difference `a - b`.
#[device]
pub fn sub<T: Float>(a: Complex<T>, b: Complex<T>) -> Complex<T> {
    Complex {
        re: a.re - b.re,
        im: a.im - b.im,
    }
}

/// The product `a * b`.
#[device]
pub fn mul<T: Float>(a: Complex<T>, b: Complex<T>) -> Complex<T> {
    Complex {
        re: a.re * b.re - a.im * b.im,
        im: a.re * b.im + a.im * b.re,
    }
}

/// The quotient `a / b`.
#[device]
pub fn div<T: Float>(a: Complex<T>, b: Complex<T>) -> Complex<T> {
    let square = b.re * b.re + b.im * b.im;
    Complex {
        re: (a.re * b.re + a.im * b.im) / square,
        im: (a.im * b.re - a.re * b.im) / square,
    }
}

/// The negative `-a`.
#[device]
pub fn neg<T: Float>(a: Complex<T>) -> Complex<T> {
    Complex {
        re: -a.re,
        im: -a.im,
    }
}

/// The product with a real number.
#[device]
pub fn scale<T: Float>(a: Complex<T>, by: T) -> Complex<T> {
    Complex {
        re: a.re * by,
        im: a.im * by,
    }
}

/// The complex conjugate.
#[device]
pub fn conj<T: Float>(a: Complex<T>) -> Complex<T> {
    Complex {
        re: a.re,
        im: -a.im,
    }
}

/// The inverse `1 / a`.
#[device]
pub fn inv<T: Float>(a: Complex<T>) -> Complex<T> {
    let square = a.re * a.re + a.im * a.im;
    Complex {
        re: a.re / square,
        im: -a.im / square,
    }
}

/// The square of the absolute value.
#[device]
pub fn norm_sqr<T: Float>(a: Complex<T>) -> T {
    a.re * a.re + a.im * a.im
}

/// The absolute value. Unlike on the host, its square must not overflow.
#[device]
pub fn norm<T: Float>(a: Complex<T>) -> T {
    let square = a.re * a.re + a.im * a.im;
    square.sqrt()
}

/// `e^(i * angle)`
#[device]
pub fn cis<T: Float>(angle: T) -> Complex<T> {
    Complex {
        re: angle.cos(),
        im: angle.sin(),
    }
}
