//! Elementary functions without branches, tables or calls, so that loops over threads that use them
//! are vectorised.
//!
//! They use only sums and products, without fused multiply-add, which is a call on instruction sets
//! that lack it. So the results have the same bits on every instruction set. Case distinctions are
//! selects: both values are computed. `docs/ulp.md` lists the errors.
//!
//! Less common functions of `f32` go through those of `f64`, with half as many lanes at a time.
//! They are correctly rounded except for one case in millions.

// Constants are written as they were computed.
#![allow(clippy::excessive_precision, clippy::approx_constant)]

mod arithmetic;
mod exp;
mod hyperbolic;
mod inverse;
mod log;
mod parts;
mod pow;
mod root;
mod trig;

use half::{bf16, f16};

pub use arithmetic::{Divide, Half, clamp, narrow, wide};

/// The functions, with std's names. Each computes the same function as std's, within the stated
/// error.
#[allow(missing_docs)]
pub trait Elementary: Copy {
    fn exp(self) -> Self;
    fn exp2(self) -> Self;
    fn exp_m1(self) -> Self;
    fn ln(self) -> Self;
    fn ln_1p(self) -> Self;
    fn log2(self) -> Self;
    fn log10(self) -> Self;
    fn sin(self) -> Self;
    fn cos(self) -> Self;
    fn tan(self) -> Self;
    fn asin(self) -> Self;
    fn acos(self) -> Self;
    fn atan(self) -> Self;
    fn atan2(self, x: Self) -> Self;
    fn sinh(self) -> Self;
    fn cosh(self) -> Self;
    fn tanh(self) -> Self;
    fn powf(self, y: Self) -> Self;
    fn cbrt(self) -> Self;
    fn hypot(self, y: Self) -> Self;
}

macro_rules! elementary {
    ($t:ident: $($name:ident($x:ident $(, $y:ident)?) = $value:expr;)*) => {
        impl Elementary for $t {
            $(
                #[inline(always)]
                fn $name(self $(, $y: $t)?) -> $t {
                    let $x = self;
                    $value
                }
            )*
        }
    };
}

elementary! { f32:
    exp(x) = exp::exp_f32(x);
    exp2(x) = exp::exp2_f32(x);
    exp_m1(x) = exp::exp_m1_f64(x.into()) as f32;
    ln(x) = log::ln_f32(x);
    ln_1p(x) = log::ln_1p_f64(x.into()) as f32;
    log2(x) = log::log2_f32(x);
    log10(x) = log::log10_f32(x);
    sin(x) = trig::sin_f32(x);
    cos(x) = trig::cos_f32(x);
    tan(x) = trig::tan_f32(x);
    asin(x) = inverse::asin_f64(x.into()) as f32;
    acos(x) = inverse::acos_f64(x.into()) as f32;
    atan(x) = inverse::atan_f64(x.into()) as f32;
    atan2(y, x) = inverse::atan2_f64(y.into(), x.into()) as f32;
    sinh(x) = hyperbolic::sinh_f64(x.into()) as f32;
    cosh(x) = hyperbolic::cosh_f64(x.into()) as f32;
    tanh(x) = hyperbolic::tanh_f64(x.into()) as f32;
    powf(x, y) = pow::powf_f32(x, y);
    cbrt(x) = root::cbrt_f64(x.into()) as f32;
    hypot(x, y) = root::hypot_f32(x, y);
}

elementary! { f64:
    exp(x) = exp::exp_f64(x);
    exp2(x) = exp::exp2_f64(x);
    exp_m1(x) = exp::exp_m1_f64(x);
    ln(x) = log::ln_f64(x);
    ln_1p(x) = log::ln_1p_f64(x);
    log2(x) = log::log2_f64(x);
    log10(x) = log::log10_f64(x);
    sin(x) = f64::sin(x);
    cos(x) = f64::cos(x);
    tan(x) = f64::tan(x);
    asin(x) = inverse::asin_f64(x);
    acos(x) = inverse::acos_f64(x);
    atan(x) = inverse::atan_f64(x);
    atan2(y, x) = inverse::atan2_f64(y, x);
    sinh(x) = hyperbolic::sinh_f64(x);
    cosh(x) = hyperbolic::cosh_f64(x);
    tanh(x) = hyperbolic::tanh_f64(x);
    powf(x, y) = f64::powf(x, y);
    cbrt(x) = root::cbrt_f64(x);
    hypot(x, y) = root::hypot_f64(x, y);
}

/// Computes in `f32` and rounds the result.
macro_rules! by_f32 {
    ($($t:ident)*) => {$(
        elementary! { $t:
            exp(x) = narrow(Elementary::exp(wide(x)));
            exp2(x) = narrow(Elementary::exp2(wide(x)));
            exp_m1(x) = narrow(Elementary::exp_m1(wide(x)));
            ln(x) = narrow(Elementary::ln(wide(x)));
            ln_1p(x) = narrow(Elementary::ln_1p(wide(x)));
            log2(x) = narrow(Elementary::log2(wide(x)));
            log10(x) = narrow(Elementary::log10(wide(x)));
            sin(x) = narrow(Elementary::sin(wide(x)));
            cos(x) = narrow(Elementary::cos(wide(x)));
            tan(x) = narrow(Elementary::tan(wide(x)));
            asin(x) = narrow(Elementary::asin(wide(x)));
            acos(x) = narrow(Elementary::acos(wide(x)));
            atan(x) = narrow(Elementary::atan(wide(x)));
            atan2(x, y) = narrow(Elementary::atan2(wide(x), wide(y)));
            sinh(x) = narrow(Elementary::sinh(wide(x)));
            cosh(x) = narrow(Elementary::cosh(wide(x)));
            tanh(x) = narrow(Elementary::tanh(wide(x)));
            powf(x, y) = narrow(Elementary::powf(wide(x), wide(y)));
            cbrt(x) = narrow(Elementary::cbrt(wide(x)));
            hypot(x, y) = narrow(Elementary::hypot(wide(x), wide(y)));
        }
    )*};
}

by_f32!(f16 bf16);
