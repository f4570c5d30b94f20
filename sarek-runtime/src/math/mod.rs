//! Elementary functions without branches, tables or calls, so that loops over threads that use them
//! are vectorised.
//!
//! They use only sums and products, without fused multiply-add, which is a call on instruction sets
//! that lack it. So the results have the same bits on every instruction set. Case distinctions are
//! selects: both values are computed. `book/src/ulp.md` lists the errors.
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
pub(crate) mod of_rows;
mod parts;
mod pow;
mod root;
mod trig;

use half::{bf16, f16};

pub use arithmetic::{Divide, Half, clamp, narrow, wide};

use of_rows::{by_f32, rows};

/// A function that goes through std's of `f64`.
macro_rules! by_std {
    ($of:ident {$($doc:tt)*} $name:ident($($arg:ident: $ty:ty),*) -> $out:ty) => {
        $($doc)*
        #[inline(always)]
        fn $name(self, $($arg: $ty),*) -> $out {
            Self::__by_f64([self, $($arg),*], |[x, $($arg),*]| f64::$name(x, $($arg),*))
        }
    };
}

/// The elementary functions, with std's names. Each computes the same function as std's, within the
/// stated error.
pub trait Elementary: Copy {
    #[doc(hidden)]
    fn __by_f64<const N: usize>(args: [Self; N], function: impl Fn([f64; N]) -> f64) -> Self;

    sarek_ir::intrinsic_rows! { rows [by_std Elementary] }
}

/// The functions of this module. The others are those of [`by_std`].
macro_rules! elementary {
    ($t:ident: $($name:ident($x:ident $(, $y:ident)?) = $value:expr;)*) => {
        impl Elementary for $t {
            #[inline(always)]
            fn __by_f64<const N: usize>(args: [$t; N], function: impl Fn([f64; N]) -> f64) -> $t {
                function(args.map(|x| x as f64)) as $t
            }

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
    asin(x) = inverse::asin_f64(x);
    acos(x) = inverse::acos_f64(x);
    atan(x) = inverse::atan_f64(x);
    atan2(y, x) = inverse::atan2_f64(y, x);
    sinh(x) = hyperbolic::sinh_f64(x);
    cosh(x) = hyperbolic::cosh_f64(x);
    tanh(x) = hyperbolic::tanh_f64(x);
    cbrt(x) = root::cbrt_f64(x);
    hypot(x, y) = root::hypot_f64(x, y);
}

macro_rules! halves {
    ($($t:ident)*) => {$(
        impl Elementary for $t {
            #[inline(always)]
            fn __by_f64<const N: usize>(args: [$t; N], function: impl Fn([f64; N]) -> f64) -> $t {
                $t::narrow_f64(function(args.map(|x| wide(x).into())))
            }

            sarek_ir::intrinsic_rows! { rows [by_f32 Elementary] }
        }
    )*};
}

halves!(f16 bf16);
