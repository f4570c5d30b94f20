//! The error bounds of functions of floats.
//!
//! | Targets | Source of the bounds |
//! |---|---|
//! | the host | measured, `book/src/ulp.md` |
//! | CUDA | CUDA C++ Programming Guide, "Mathematical Functions" |
//! | OpenCL | OpenCL C, "Relative Error as ULPs" |
//! | WebGPU | WGSL, "Floating Point Accuracy" |

use crate::Scalar;

/// The largest errors of a function on the classes of targets, in units in the last place (ulp) of the exact result.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// On the host: native and interpreter.
    pub host: f64,
    /// In CUDA C.
    pub cuda: f64,
    /// In OpenCL C.
    pub opencl: f64,
    /// In WGSL.
    pub wgsl: Wgsl,
    /// True for arguments for which OpenCL has a bound.
    pub opencl_if: fn(f64) -> bool,
    /// True for arguments for which WGSL has a bound.
    pub wgsl_if: fn(f64) -> bool,
}

/// A bound in WGSL.
#[derive(Clone, Copy, Debug)]
pub enum Wgsl {
    /// In units in the last place.
    Ulps(f64),
    /// The specification's formula of the absolute error, from the type, the arguments and the exact result.
    Formula(fn(on: Scalar, arguments: (f64, f64), result: f64) -> f64),
}

impl Bounds {
    /// Bounds for all arguments.
    pub const fn new(host: f64, cuda: f64, opencl: f64, wgsl: Wgsl) -> Bounds {
        Bounds {
            host,
            cuda,
            opencl,
            wgsl,
            opencl_if: |_| true,
            wgsl_if: |_| true,
        }
    }

    /// True if the host rounds each result correctly.
    pub fn is_correctly_rounded(&self) -> bool {
        self.host <= 0.5
    }
}

/// The bounds of `x / y`, by the divisor. For large ones, a quotient in WGSL may be 0 or NaN.
pub const DIVISION: Bounds = Bounds {
    wgsl_if: |y| y == 0.0 || !y.is_finite() || y.abs() <= MOST_DIVISOR,
    ..Bounds::new(0.5, 0.5, 2.5, Wgsl::Ulps(2.5))
};

/// The bounds of `x % y`.
pub const REMAINDER: Bounds = Bounds::new(0.5, 0.5, 0.5, Wgsl::Ulps(0.5));

/// 2^126
const MOST_DIVISOR: f64 = 85070591730234615865843651857942052864.0;

/// The unit in the last place of a number of a float type.
pub fn ulp_of(on: Scalar, x: f64) -> f64 {
    let (exponents, digits) = match on {
        Scalar::F16 => (-14..=15, 10),
        Scalar::Bf16 => (-126..=127, 7),
        Scalar::F64 => (-1022..=1023, 52),
        _ => (-126..=127, 23),
    };
    let exponent = ((x.to_bits() >> 52) & 0x7ff) as i32 - 1023;
    2f64.powi(exponent.clamp(*exponents.start(), *exponents.end()) - digits)
}

/// The unit in the last place of an `f32`.
pub(super) fn ulp(x: f64) -> f64 {
    ulp_of(Scalar::F32, x)
}

pub(super) const SIN_ERROR: f64 = 1.0 / 2048.0;

pub(super) fn exp_ulps(x: f64) -> f64 {
    3.0 + 2.0 * x.abs()
}

pub(super) fn log_error(x: f64, result: f64) -> f64 {
    if (0.5..=2.0).contains(&x) {
        2f64.powi(-21)
    } else {
        3.0 * ulp(result)
    }
}

pub(super) fn hyperbolic_error(x: f64) -> f64 {
    (exp_ulps(x) + 3.0) * ulp(x.abs().exp())
}

pub(super) fn power_error((x, y): (f64, f64), result: f64) -> f64 {
    let log = x.log2();
    let exponent = y * log;
    let of_exponent = y.abs() * log_error(x, log) + ulp(exponent);
    let relative = (of_exponent * std::f64::consts::LN_2).exp_m1();
    result.abs() * relative + (exp_ulps(exponent) + 1.0) * ulp(result)
}
