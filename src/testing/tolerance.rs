//! The accuracy of floats: the bounds that sarek promises, which its tests check.
//!
//! A bound is in units in the last place (ulp) of the exact result, or absolute. Half an ulp means
//! correctly rounded. The bounds stand in the rows of the methods ([`sarek_ir::numeric`]). All other
//! operations are exact: `+ - *`, negation,
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
//! On `opencl` nothing is promised for `exp` of `f64` from 709.7827 on. `wgpu` has no functions on
//! `f64`, and promises nothing for `sin`, `cos` and `tan` outside of -π to π. An external backend
//! has the bounds of `wgpu`.

use crate::ir::Scalar;
use sarek_ir::numeric::{self, Bounds, DIVISION, REMAINDER, Wgsl, ulp_of};

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
        match self {
            Class::Host | Class::Cuda => true,
            Class::OpenCl => (function.0.opencl_if)(x),
            Class::Wgsl => (function.0.wgsl_if)(x),
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
        ulp_of(self.scalar(), x)
    }

    fn scalar(self) -> Scalar {
        match self {
            Format::F16 => Scalar::F16,
            Format::Bf16 => Scalar::Bf16,
            Format::F32 => Scalar::F32,
            Format::F64 => Scalar::F64,
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

/// A floating-point operation that is not correctly rounded everywhere.
#[derive(Clone, Copy, Debug)]
pub struct Function(Bounds);

impl Function {
    /// `x / y`
    pub const DIV: Function = Function(DIVISION);
    /// `x % y`
    pub const REM: Function = Function(REMAINDER);

    /// A method of `f32` and `f64`, by its name. `None` if its results are exact, or follow from
    /// the methods of which it is made.
    pub fn method(name: &str) -> Option<Function> {
        numeric::method(name, Scalar::F32)?.bounds.map(Function)
    }

    /// The bound in ulps of the exact result; `None` if it is a formula of the arguments, as in
    /// WGSL.
    pub fn ulps(self, class: Class, format: Format) -> Option<f64> {
        let formula = class == Class::Wgsl && matches!(self.0.wgsl, Wgsl::Formula(_));
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
    let bounds = function.0;
    // References in f64 come from a libm, which has its own error where it does not round
    // correctly: one more ulp.
    let own = match format {
        Format::F64 if !bounds.is_correctly_rounded() => 1.0,
        Format::F16 | Format::Bf16 | Format::F32 | Format::F64 => 0.0,
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
        (Class::Wgsl, Wgsl::Ulps(ulps)) => (ulps, 0.0),
        (Class::Wgsl, Wgsl::Formula(absolute)) => {
            (0.5, absolute(format.scalar(), arguments, result))
        }
    };
    Tolerance {
        ulps,
        absolute,
        flush: !class.keeps_subnormals(),
    }
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
    fn methods_have_the_bounds_of_their_rows() {
        let ulps = |name, class, format| Function::method(name)?.ulps(class, format);
        assert_eq!(ulps("sin", Class::Cuda, Format::F32), Some(2.5));
        assert_eq!(ulps("sqrt", Class::OpenCl, Format::F64), Some(0.5));
        assert_eq!(ulps("log2", Class::Host, Format::F64), Some(2.2));
        assert_eq!(ulps("sin", Class::Wgsl, Format::F32), None);
        assert!(Function::method("floor").is_none());
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
