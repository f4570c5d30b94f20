//! The accuracy of floats: the bounds that sarek promises, which its tests check.
//!
//! A bound is in units in the last place (ulp) of the exact result, or absolute. Half an ulp means
//! correctly rounded. All operations that [`Function`] does not list are exact: `+ - *`, negation,
//! comparisons, `abs`, `min`, `max`, `clamp`, `floor`, `ceil`, `round`, `trunc`, `fract`,
//! `copysign`, `signum`, conversions and bit casts.
//!
//! A whole kernel may deviate by more than the sum of its operations' bounds in two ways, which are
//! defaults of targets. `a * b + c` may be rounded once, and subnormal numbers may become zero (see
//! [`Class::keeps_subnormals`]).
//!
//! On `wgpu` a whole kernel may deviate further. WGSL lets a driver reorder sums and products,
//! cancel terms as in real arithmetic, and assume that there are no infinities and NaN
//! ("Reassociation and Fusion", "Floating Point Evaluation"). Mesa does: `(a + b) - b` becomes `a`,
//! `(a + 12582912.0) - 12582912.0` does not round, compensated sums (Kahan's) compensate nothing,
//! and `a - a` of an infinity is zero. Declare a kernel that relies on the rounding of single
//! operations `#[kernel(strict)]`; `wgpu` is not eligible for it.
//!
//! | | native, interpreter | cuda | opencl | wgpu (`f32`) |
//! |---|---|---|---|---|
//! | source | measured, `docs/ulp.md`; the platform's `libm` | CUDA C++ Programming Guide, "Mathematical Functions" | OpenCL C, "Relative Error as ULPs" | WGSL, "Floating Point Accuracy" |
//!
//! On `opencl` nothing is promised for `exp` of `f64` from 709.7827 on. `wgpu` has no functions on
//! `f64`, and promises nothing for `sin`, `cos` and `tan` outside of -π to π. An external backend
//! has the bounds of `wgpu`.

use std::f64::consts::PI;

use Wgsl::{Formula, Ulps};

/// A class of backends that share bounds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// Code that runs on the host: native and interpreter.
    Host,
    /// CUDA C.
    Cuda,
    /// OpenCL C.
    OpenCl,
    /// WGSL, and external backends.
    Wgsl,
}

impl Class {
    /// The class of a device.
    pub fn of(device: &crate::Device) -> Class {
        match device.backend() {
            "native" | "interpreter" | "reference" => Class::Host,
            "cuda" => Class::Cuda,
            "opencl" => Class::OpenCl,
            _ => Class::Wgsl,
        }
    }

    /// The default tolerance of a [`Check`](super::Check) in ulps: enough for a few operations that
    /// are fused or not correctly rounded.
    pub fn usual_ulps(self) -> f64 {
        match self {
            Class::Host => 4.0,
            Class::Cuda | Class::OpenCl => 8.0,
            Class::Wgsl => 16.0,
        }
    }

    /// True if subnormal numbers are kept; false if they may be treated as zero.
    pub fn keeps_subnormals(self) -> bool {
        match self {
            Class::Host | Class::Cuda => true,
            Class::OpenCl | Class::Wgsl => false,
        }
    }

    /// True if the function's result for this argument has a bound at all. For a division, `x` is
    /// the divisor.
    pub fn promises(self, function: Function, x: f64) -> bool {
        match function {
            Function::Sin | Function::Cos => self != Class::Wgsl || x.abs() <= PI,
            // Near its poles, the bound of WGSL (that of sin over that of cos) is useless.
            Function::Tan => self != Class::Wgsl || (x.abs() <= PI && x.cos().abs() > 0.05),
            // PoCL 3.1 overflows slightly early in `f64`, where the result is just below the
            // largest number.
            Function::Exp => self != Class::OpenCl || !(709.7827..709.783).contains(&x),
            // For larger divisors, a quotient may be 0 or NaN.
            Function::Div | Function::Recip => {
                let special = x == 0.0 || !x.is_finite();
                self != Class::Wgsl || special || x.abs() <= 2f64.powi(126)
            }
            _ => true,
        }
    }
}

/// A floating-point format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// `f16`
    F16,
    /// `bf16`
    Bf16,
    /// `f32`
    F32,
    /// `f64`
    F64,
}

impl Format {
    /// The unit in the last place of a number.
    pub fn ulp(self, x: f64) -> f64 {
        let (min_exponent, digits) = match self {
            Format::F16 => (-14, 10),
            Format::Bf16 => (-126, 7),
            Format::F32 => (-126, 23),
            Format::F64 => (-1022, 52),
        };
        let exponent = ((x.to_bits() >> 52) & 0x7ff) as i32 - 1023;
        2f64.powi(exponent.clamp(min_exponent, self.max_exponent()) - digits)
    }

    fn max_exponent(self) -> i32 {
        match self {
            Format::F16 => 15,
            Format::Bf16 | Format::F32 => 127,
            Format::F64 => 1023,
        }
    }

    fn max(self) -> f64 {
        match self {
            Format::F16 => half::f16::MAX.into(),
            Format::Bf16 => half::bf16::MAX.into(),
            Format::F32 => f32::MAX.into(),
            Format::F64 => f64::MAX,
        }
    }

    fn min_positive(self) -> f64 {
        match self {
            Format::F16 => half::f16::MIN_POSITIVE.into(),
            Format::Bf16 | Format::F32 => f32::MIN_POSITIVE.into(),
            Format::F64 => f64::MIN_POSITIVE,
        }
    }
}

/// The allowed distance of a result from the exact one: the sum of both parts.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Tolerance {
    /// The relative part, in units in the last place of the exact result.
    pub ulps: f64,
    /// The absolute part.
    pub absolute: f64,
    /// True if a subnormal result may be zero.
    pub flush: bool,
}

/// The tolerance of a correctly rounded result.
pub const EXACT: Tolerance = Tolerance {
    ulps: 0.5,
    absolute: 0.0,
    flush: false,
};

impl Tolerance {
    /// True if `got` is near enough to `want`.
    ///
    /// NaN matches only NaN. An infinite `got` matches a `want` of the same sign that exceeds the
    /// format's range, given the tolerance.
    pub fn accepts(self, got: f64, want: f64, format: Format) -> bool {
        if want.is_nan() || got.is_nan() {
            return want.is_nan() && got.is_nan();
        }
        if want.is_infinite() {
            return got == want;
        }
        let ulp = format.ulp(want);
        let flushed = if self.flush {
            format.min_positive()
        } else {
            0.0
        };
        let slack = self.ulps * ulp + self.absolute;
        if got.is_infinite() {
            return got.signum() == want.signum() && want.abs() + slack > format.max();
        }
        let error = (got - want).abs();
        error <= slack || (want.abs() < flushed && error <= flushed + slack)
    }
}

macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident $host:literal $cuda:literal $opencl:literal $wgsl:expr;)*) => {
        /// A floating-point operation that is not correctly rounded everywhere.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum Function {
            $($(#[$doc])* $name,)*
        }

        impl Function {
            fn bounds(self) -> Bounds {
                match self {
                    $(Function::$name => Bounds {
                        host: $host, cuda: $cuda, opencl: $opencl, wgsl: $wgsl,
                    },)*
                }
            }
        }
    };
}

struct Bounds {
    host: f64,
    cuda: f64,
    opencl: f64,
    wgsl: Wgsl,
}

enum Wgsl {
    /// A bound in units in the last place.
    Ulps(f64),
    /// A formula of the absolute error, from the arguments and the exact result.
    Formula(fn(Format, arguments: (f64, f64), result: f64) -> f64),
}

// The table. Columns: host, cuda, opencl in ulps; WGSL in ulps or as its specification's formula.
functions! {
    /// `x / y`
    Div 0.5 0.5 2.5 Ulps(2.5);
    /// `x.recip()`
    Recip 0.5 0.5 2.5 Ulps(2.5);
    /// `x % y`
    Rem 0.5 0.5 0.5 Ulps(0.5);
    /// `x.mul_add(y, z)`; the formula allows for an intermediate rounding.
    MulAdd 0.5 0.5 0.5 Formula(|format, (x, y), r| {
        0.5 * format.ulp(x * y) + 0.5 * format.ulp(r)
    });
    /// `x.sqrt()`; in WGSL `1 / inverseSqrt(x)`.
    Sqrt 0.5 0.5 3.0 Ulps(5.0);
    /// `x.rsqrt()`
    Rsqrt 1.5 2.0 2.0 Ulps(2.0);
    /// `x.cbrt()`
    Cbrt 1.0 1.0 2.0 Ulps(32.0);
    /// `x.exp()`
    Exp 1.0 2.0 3.0 Formula(|_, (x, _), r| exp_ulps(x) * ulp(r));
    /// `x.exp2()`
    Exp2 1.1 2.0 3.0 Formula(|_, (x, _), r| exp_ulps(x) * ulp(r));
    /// `x.exp_m1()`
    ExpM1 1.5 1.0 3.0 Formula(|_, (x, _), r| (32.0 + exp_ulps(x)) * ulp(r));
    /// `x.ln()`
    Ln 1.0 1.0 3.0 Formula(|_, (x, _), r| log_error(x, r));
    /// `x.ln_1p()`
    Ln1p 1.0 1.0 2.0 Ulps(32.0);
    /// `x.log2()`
    Log2 1.2 1.0 3.0 Formula(|_, (x, _), r| log_error(x, r));
    /// `x.log10()`
    Log10 2.0 2.0 3.0 Formula(|_, (x, _), r| log_error(x, r) + 2.0 * ulp(r));
    /// `x.sin()`
    Sin 1.0 2.0 4.0 Formula(|_, _, _| SIN_ERROR);
    /// `x.cos()`
    Cos 1.0 2.0 4.0 Formula(|_, _, _| SIN_ERROR);
    /// `x.tan()`; in WGSL `sin(x) / cos(x)`.
    Tan 1.0 4.0 5.0 Formula(|_, (x, _), r| {
        1.1 * SIN_ERROR * (1.0 + r.abs()) / x.cos().abs() + 3.0 * ulp(r)
    });
    /// `x.asin()`
    Asin 1.7 2.0 4.0 Formula(|_, _, r| 6.81e-5 + 4100.0 * ulp(r));
    /// `x.acos()`
    Acos 1.2 2.0 4.0 Formula(|_, _, r| 6.77e-5 + 4100.0 * ulp(r));
    /// `x.atan()`
    Atan 1.9 2.0 5.0 Ulps(4096.0);
    /// `x.atan2(y)`
    Atan2 1.8 3.0 6.0 Ulps(4096.0);
    /// `x.sinh()`; in WGSL `(exp(x) - exp(-x)) / 2`.
    Sinh 2.0 3.0 4.0 Formula(|_, (x, _), _| hyperbolic_error(x));
    /// `x.cosh()`; in WGSL `(exp(x) + exp(-x)) / 2`.
    Cosh 2.0 2.0 4.0 Formula(|_, (x, _), _| hyperbolic_error(x));
    /// `x.tanh()`
    Tanh 2.0 2.0 5.0 Formula(|_, _, _| 1e-5);
    /// `x.powf(y)`; in WGSL `exp2(y * log2(x))`.
    Powf 1.0 4.0 16.0 Formula(|_, (x, y), r| power_error((x.abs(), y), r));
    /// `x.powi(n)`: each of the multiplications rounds. A negative `n` gives the reciprocal of the
    /// positive power; nothing is promised if that power exceeds the type's range.
    Powi 32.0 32.0 32.0 Formula(|_, (x, n), r| power_error((x.abs(), n), r).max(32.0 * ulp(r)));
    /// `x.hypot(y)`
    Hypot 1.2 3.0 4.0 Ulps(8.0);
    /// `x.to_degrees()`, `x.to_radians()`: a product with a rounded constant.
    Angle 2.0 2.0 2.0 Ulps(2.0);
}

impl Function {
    /// The bound in ulps of the exact result; `None` if it is a formula of the arguments, as in
    /// WGSL.
    pub fn ulps(self, class: Class, format: Format) -> Option<f64> {
        let formula = class == Class::Wgsl && matches!(self.bounds().wgsl, Formula(_));
        // The other bounds do not depend on the arguments.
        (!formula).then(|| tolerance(class, self, format, (1.0, 1.0), 1.0).ulps)
    }
}

/// The bound of a function on a class of devices, for an exact `result`.
pub fn tolerance(
    class: Class,
    function: Function,
    format: Format,
    arguments: (f64, f64),
    result: f64,
) -> Tolerance {
    let bounds = function.bounds();
    // References in f64 come from a libm, which has its own error: one more ulp.
    let own = match (format, function) {
        (Format::F16 | Format::Bf16 | Format::F32, _)
        | (_, Function::Div | Function::Recip | Function::Rem) => 0.0,
        (Format::F64, Function::Sqrt | Function::MulAdd) => 0.0,
        (Format::F64, _) => 1.0,
    };
    let (ulps, absolute) = match (class, bounds.wgsl) {
        (Class::Host, _) => (bounds.host + own, 0.0),
        // CUDA's manual counts from the correctly rounded result, which is half an ulp from the
        // exact one.
        (Class::Cuda, _) if bounds.cuda > 0.5 => (bounds.cuda + 0.5 + own, 0.0),
        (Class::Cuda, _) => (bounds.cuda + own, 0.0),
        // OpenCL rounds f64 division and square root correctly.
        (Class::OpenCl, _) if format == Format::F64 && own == 0.0 => (0.5, 0.0),
        (Class::OpenCl, _) => (bounds.opencl + own, 0.0),
        // WGSL's bounds of f32 also hold for the f64 extension: division and square root.
        (Class::Wgsl, Ulps(ulps)) => (ulps, 0.0),
        (Class::Wgsl, Formula(absolute)) => (0.5, absolute(format, arguments, result)),
    };
    Tolerance {
        ulps,
        absolute,
        flush: !class.keeps_subnormals(),
    }
}

const SIN_ERROR: f64 = 1.0 / 2048.0;

fn ulp(x: f64) -> f64 {
    Format::F32.ulp(x)
}

fn exp_ulps(x: f64) -> f64 {
    3.0 + 2.0 * x.abs()
}

fn log_error(x: f64, result: f64) -> f64 {
    if (0.5..=2.0).contains(&x) {
        2f64.powi(-21)
    } else {
        3.0 * ulp(result)
    }
}

fn hyperbolic_error(x: f64) -> f64 {
    (exp_ulps(x) + 3.0) * ulp(x.abs().exp())
}

fn power_error((x, y): (f64, f64), result: f64) -> f64 {
    let log = x.log2();
    let exponent = y * log;
    let of_exponent = y.abs() * log_error(x, log) + ulp(exponent);
    let relative = (of_exponent * std::f64::consts::LN_2).exp_m1();
    result.abs() * relative + (exp_ulps(exponent) + 1.0) * ulp(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ulps_are_those_of_the_formats() {
        assert_eq!(Format::F32.ulp(1.0), f64::from(f32::EPSILON));
        assert_eq!(Format::F32.ulp(-1.5), f64::from(f32::EPSILON));
        assert_eq!(Format::F32.ulp(0.0), 2f64.powi(-149));
        assert_eq!(Format::F64.ulp(1.0), f64::EPSILON);
    }

    #[test]
    fn exact_is_exact() {
        let third = 1.0 / 3.0;
        assert!(EXACT.accepts(f64::from(third as f32), third, Format::F32));
        let next = f32::from_bits((third as f32).to_bits() + 1);
        assert!(!EXACT.accepts(next.into(), third, Format::F32));
    }

    #[test]
    fn overflow_gives_an_infinity_of_the_right_sign() {
        let tolerance = Tolerance { ulps: 2.0, ..EXACT };
        assert!(tolerance.accepts(f64::INFINITY, 1e39, Format::F32));
        assert!(!tolerance.accepts(f64::NEG_INFINITY, 1e39, Format::F32));
        assert!(!tolerance.accepts(f64::INFINITY, 1e38, Format::F32));
        assert!(!tolerance.accepts(f64::from(f32::MAX), 1e39, Format::F32));
    }

    #[test]
    fn subnormal_results_may_vanish_only_where_that_is_said() {
        let tiny = 1e-40;
        assert!(!EXACT.accepts(0.0, tiny, Format::F32));
        assert!(
            Tolerance {
                flush: true,
                ..EXACT
            }
            .accepts(0.0, tiny, Format::F32)
        );
    }

    #[test]
    fn nan_answers_nan_only() {
        let wide = Tolerance {
            ulps: 1e9,
            absolute: 1e9,
            flush: true,
        };
        assert!(wide.accepts(f64::NAN, f64::NAN, Format::F32));
        assert!(!wide.accepts(0.0, f64::NAN, Format::F32));
        assert!(!wide.accepts(f64::NAN, 0.0, Format::F32));
    }
}
