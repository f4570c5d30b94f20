//! Elementary functions of one float, within [`sarek::testing::tolerance`].

use crate::check::{Check, Expected, unary};
use crate::input::Random;
use crate::{Capability, Case};
use sarek::prelude::*;
use sarek::testing::tolerance::{Class, Format, Function, tolerance};

pub const CASES: &[Case] = &[
    Case::new("methods/roots/f32", &[], f32_roots),
    Case::new("methods/exponential/f32", &[], f32_exponential),
    Case::new("methods/logarithm/f32", &[], f32_logarithm),
    Case::new("methods/trigonometric/f32", &[], f32_trigonometric),
    Case::new("methods/inverse/f32", &[], f32_inverse),
    Case::new("methods/hyperbolic/f32", &[], f32_hyperbolic),
    Case::new("methods/angle/f32", &[], f32_angle),
    Case::new("methods/sqrt/f64", &[Capability::F64], f64_sqrt),
    Case::new(
        "methods/roots/f64",
        &[Capability::F64, Capability::F64Math],
        f64_roots,
    ),
    Case::new(
        "methods/exponential/f64",
        &[Capability::F64, Capability::F64Math],
        f64_exponential,
    ),
    Case::new(
        "methods/logarithm/f64",
        &[Capability::F64, Capability::F64Math],
        f64_logarithm,
    ),
    Case::new(
        "methods/trigonometric/f64",
        &[Capability::F64, Capability::F64Math],
        f64_trigonometric,
    ),
    Case::new(
        "methods/inverse/f64",
        &[Capability::F64, Capability::F64Math],
        f64_inverse,
    ),
    Case::new(
        "methods/hyperbolic/f64",
        &[Capability::F64, Capability::F64Math],
        f64_hyperbolic,
    ),
    Case::new("methods/angle/f64", &[Capability::F64], f64_angle),
];

/// Defines a kernel that applies the methods in turn, and its case.
macro_rules! family {
    ($case:ident $kernel:ident $t:ident $format:ident $inputs:expr; $count:literal: $($k:literal $method:ident $reference:expr;)*) => {
        #[kernel]
        fn $kernel(a: &[$t], out: &mut [$t]) {
            let i = global_idx_x();
            $(out[$count * i + $k] = a[i].$method();)*
        }

        fn $case(device: &Device) -> Check {
            let class = Class::of(device);
            let inputs: Vec<$t> = $inputs.into_iter().map(|x: f64| x as $t).collect();
            unary(
                [$(stringify!($method)),*],
                &inputs,
                |a, out, n| $kernel(a, out).over(n).run_on(device),
                |a| [$(expected::<$t>(class, stringify!($method), Format::$format, a.into(), $reference)),*],
            )
        }
    };
}

fn expected<T>(
    class: Class,
    method: &str,
    format: Format,
    x: f64,
    f: fn(f64) -> f64,
) -> Expected<T> {
    let function = Function::method(method).expect("the method has bounds");
    if !class.promises(function, x) {
        return Expected::Anything;
    }
    let exact = f(x);
    Expected::Near(exact, tolerance(class, function, format, (x, 0.0), exact))
}

macro_rules! families {
    ($t:ident $format:ident
     $roots:ident $roots_kernel:ident
     $exponential:ident $exponential_kernel:ident
     $logarithm:ident $logarithm_kernel:ident
     $trigonometric:ident $trigonometric_kernel:ident
     $inverse:ident $inverse_kernel:ident
     $hyperbolic:ident $hyperbolic_kernel:ident
     $angle:ident $angle_kernel:ident) => {
        family!($roots $roots_kernel $t $format positive(1e-30, 1e30); 4:
            0 sqrt f64::sqrt;
            1 rsqrt |x| 1.0 / x.sqrt();
            2 cbrt f64::cbrt;
            3 recip |x| 1.0 / x;
        );
        family!($exponential $exponential_kernel $t $format around(80.0); 3:
            0 exp f64::exp;
            1 exp2 f64::exp2;
            2 exp_m1 f64::exp_m1;
        );
        family!($logarithm $logarithm_kernel $t $format positive(1e-30, 1e30); 4:
            0 ln f64::ln;
            1 log2 f64::log2;
            2 log10 f64::log10;
            3 ln_1p f64::ln_1p;
        );
        family!($trigonometric $trigonometric_kernel $t $format around(1000.0); 3:
            0 sin f64::sin;
            1 cos f64::cos;
            2 tan f64::tan;
        );
        family!($inverse $inverse_kernel $t $format around(1.0); 3:
            0 asin f64::asin;
            1 acos f64::acos;
            2 atan f64::atan;
        );
        family!($hyperbolic $hyperbolic_kernel $t $format around(30.0); 3:
            0 sinh f64::sinh;
            1 cosh f64::cosh;
            2 tanh f64::tanh;
        );
        family!($angle $angle_kernel $t $format around(1000.0); 2:
            0 to_degrees f64::to_degrees;
            1 to_radians f64::to_radians;
        );
    };
}

families!(f32 F32
    f32_roots roots_f32
    f32_exponential exponential_f32
    f32_logarithm logarithm_f32
    f32_trigonometric trigonometric_f32
    f32_inverse inverse_f32
    f32_hyperbolic hyperbolic_f32
    f32_angle angle_f32
);
families!(f64 F64
    f64_roots roots_f64
    f64_exponential exponential_f64
    f64_logarithm logarithm_f64
    f64_trigonometric trigonometric_f64
    f64_inverse inverse_f64
    f64_hyperbolic hyperbolic_f64
    f64_angle angle_f64
);

family!(f64_sqrt sqrt_f64 f64 F64 positive(1e-300, 1e300); 1:
    0 sqrt f64::sqrt;
);

/// Numbers from `lo` to `hi`, spread evenly over their exponents, and numbers close to one.
fn positive(lo: f64, hi: f64) -> Vec<f64> {
    let mut random = Random::new(68);
    let mut values = vec![1.0, 0.5, 2.0, 4.0, 10.0, 1000.0, lo, hi];
    values.extend((0..300).map(|_| random.between(lo.ln(), hi.ln()).exp()));
    values.extend((0..200).map(|_| random.between(0.25, 4.0)));
    rounded(values)
}

/// Numbers of both signs up to `most`, most of them small, and zero.
fn around(most: f64) -> Vec<f64> {
    let mut random = Random::new(69);
    let mut values = vec![
        0.0,
        most,
        -most,
        1.0_f64.min(most),
        0.5_f64.min(most),
        1e-5,
        -1e-5,
    ];
    values.extend((0..300).map(|_| random.between(-most, most)));
    values.extend((0..300).map(|_| random.between(-3.0_f64.min(most), 3.0_f64.min(most))));
    rounded(values)
}

/// Rounds each number to the nearest `f32`, so that both formats get the same inputs.
fn rounded(values: Vec<f64>) -> Vec<f64> {
    values
        .into_iter()
        .map(|x| {
            if x.abs() < 1e37 && x.abs() > 1e-37 {
                f64::from(x as f32)
            } else {
                x
            }
        })
        .collect()
}
