//! The functions, each with a kernel for each type and its promised accuracy.

use astro_float_num::BigFloat;
use sarek::prelude::*;
use sarek::testing::tolerance::Function as Promise;

use crate::exact::Exact;

/// A kernel that computes the function for each element.
pub type Launch<T> = fn(&Device, [&Vector<T>; 3], &mut Vector<T>) -> sarek::Result<()>;

/// A function of one to three floats. It ignores arguments beyond its arity.
pub struct Function {
    /// The name in Rust.
    pub name: &'static str,
    /// The number of floats that it takes.
    pub arity: usize,
    /// Its kernel for `f32`.
    pub narrow: Launch<f32>,
    /// Its kernel for `f64`.
    pub wide: Launch<f64>,
    /// The function in std.
    pub std: fn([f64; 3]) -> f64,
    /// The nearly exact result, for finite arguments for which std's result is not NaN.
    pub exact: fn(&mut Exact, [f64; 3]) -> BigFloat,
}

impl Function {
    /// The promised accuracy.
    ///
    /// # Panics
    /// If the table of numeric methods has no bounds for the function.
    pub fn promise(&self) -> Promise {
        match self.name {
            "/" => Promise::DIV,
            "%" => Promise::REM,
            method => Promise::method(method).expect("the row of an inexact method has bounds"),
        }
    }
}

/// Defines the kernels and the table. `$body` is a kernel's expression on elements.
macro_rules! functions {
    ($($name:ident $text:literal $arity:literal |$a:ident, $b:ident, $c:ident, $i:ident| $body:expr;
        |$args:ident| $std:expr; $exact:expr;)*) => {
        $(#[allow(unused_variables)] // few functions take all three
        mod $name {
            use sarek::prelude::*;

            #[kernel]
            pub fn narrow($a: &[f32], $b: &[f32], $c: &[f32], out: &mut [f32]) {
                let $i = global_idx_x();
                if $i < out.len() {
                    out[$i] = $body;
                }
            }

            #[kernel]
            pub fn wide($a: &[f64], $b: &[f64], $c: &[f64], out: &mut [f64]) {
                let $i = global_idx_x();
                if $i < out.len() {
                    out[$i] = $body;
                }
            }
        })*

        /// Every function that is not exact by definition.
        pub const FUNCTIONS: &[Function] = &[$(Function {
            name: $text,
            arity: $arity,
            narrow: |device, [a, b, c], out| {
                let n = out.len();
                $name::narrow(a, b, c, out).over(n).run_on(device)
            },
            wide: |device, [a, b, c], out| {
                let n = out.len();
                $name::wide(a, b, c, out).over(n).run_on(device)
            },
            std: |$args| $std,
            exact: $exact,
        }),*];
    };
}

functions! {
    div "/" 2 |a, b, c, i| a[i] / b[i]; |v| v[0] / v[1]; Exact::quotient;
    rem "%" 2 |a, b, c, i| a[i] % b[i]; |v| v[0] % v[1]; |_, v| Exact::float(v[0] % v[1]);
    recip "recip" 1 |a, b, c, i| a[i].recip(); |v| v[0].recip(); |e, v| e.quotient([1.0, v[0], 0.0]);
    mul_add "mul_add" 3 |a, b, c, i| a[i].mul_add(b[i], c[i]); |v| v[0].mul_add(v[1], v[2]); Exact::mul_add;
    sqrt "sqrt" 1 |a, b, c, i| a[i].sqrt(); |v| v[0].sqrt(); Exact::sqrt;
    rsqrt "rsqrt" 1 |a, b, c, i| a[i].rsqrt(); |v| 1.0 / v[0].sqrt(); Exact::rsqrt;
    cbrt "cbrt" 1 |a, b, c, i| a[i].cbrt(); |v| v[0].cbrt(); Exact::cbrt;
    hypot "hypot" 2 |a, b, c, i| a[i].hypot(b[i]); |v| v[0].hypot(v[1]); Exact::hypot;
    exp "exp" 1 |a, b, c, i| a[i].exp(); |v| v[0].exp(); Exact::exp;
    exp2 "exp2" 1 |a, b, c, i| a[i].exp2(); |v| v[0].exp2(); |e, v| e.power([2.0, v[0], 0.0]);
    exp_m1 "exp_m1" 1 |a, b, c, i| a[i].exp_m1(); |v| v[0].exp_m1(); Exact::exp_m1;
    ln "ln" 1 |a, b, c, i| a[i].ln(); |v| v[0].ln(); Exact::ln;
    ln_1p "ln_1p" 1 |a, b, c, i| a[i].ln_1p(); |v| v[0].ln_1p(); Exact::ln_1p;
    log2 "log2" 1 |a, b, c, i| a[i].log2(); |v| v[0].log2(); Exact::log2;
    log10 "log10" 1 |a, b, c, i| a[i].log10(); |v| v[0].log10(); Exact::log10;
    powf "powf" 2 |a, b, c, i| a[i].powf(b[i]); |v| v[0].powf(v[1]); Exact::power;
    powi "powi" 2 |a, b, c, i| a[i].powi(b[i] as i32 % 20); |v| v[0].powi(v[1] as i32 % 20); Exact::integer_power;
    sin "sin" 1 |a, b, c, i| a[i].sin(); |v| v[0].sin(); Exact::sin;
    cos "cos" 1 |a, b, c, i| a[i].cos(); |v| v[0].cos(); Exact::cos;
    tan "tan" 1 |a, b, c, i| a[i].tan(); |v| v[0].tan(); Exact::tan;
    asin "asin" 1 |a, b, c, i| a[i].asin(); |v| v[0].asin(); Exact::asin;
    acos "acos" 1 |a, b, c, i| a[i].acos(); |v| v[0].acos(); Exact::acos;
    atan "atan" 1 |a, b, c, i| a[i].atan(); |v| v[0].atan(); Exact::atan;
    atan2 "atan2" 2 |a, b, c, i| a[i].atan2(b[i]); |v| v[0].atan2(v[1]); Exact::atan2;
    sinh "sinh" 1 |a, b, c, i| a[i].sinh(); |v| v[0].sinh(); Exact::sinh;
    cosh "cosh" 1 |a, b, c, i| a[i].cosh(); |v| v[0].cosh(); Exact::cosh;
    tanh "tanh" 1 |a, b, c, i| a[i].tanh(); |v| v[0].tanh(); Exact::tanh;
    to_degrees "to_degrees" 1 |a, b, c, i| a[i].to_degrees(); |v| v[0].to_degrees(); Exact::degrees;
    to_radians "to_radians" 1 |a, b, c, i| a[i].to_radians(); |v| v[0].to_radians(); Exact::radians;
}
