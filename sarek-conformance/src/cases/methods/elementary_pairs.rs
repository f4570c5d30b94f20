//! Functions of two floats, within [`sarek::testing::tolerance`].

use crate::check::{Check, Expected, binary};
use crate::input::Random;
use crate::{Capability, Case};
use sarek::prelude::*;
use sarek::testing::tolerance::{Class, Format, Function, tolerance};

pub const CASES: &[Case] = &[
    Case::new("methods/powf/f32", &[], f32_powf),
    Case::new("methods/powi/f32", &[], f32_powi),
    Case::new("methods/plane/f32", &[], f32_plane),
    Case::new(
        "methods/powf/f64",
        &[Capability::F64, Capability::F64Math],
        f64_powf,
    ),
    Case::new(
        "methods/powi/f64",
        &[Capability::F64, Capability::F64Math],
        f64_powi,
    ),
    Case::new(
        "methods/plane/f64",
        &[Capability::F64, Capability::F64Math],
        f64_plane,
    ),
];

fn expected<T>(
    class: Class,
    method: &str,
    format: Format,
    arguments: (f64, f64),
    exact: f64,
) -> Expected<T> {
    let function = Function::method(method).expect("the method has bounds");
    Expected::Near(exact, tolerance(class, function, format, arguments, exact))
}

macro_rules! kernels {
    ($t:ident $format:ident $powf:ident $powf_kernel:ident $powi:ident $powi_kernel:ident
     $plane:ident $plane_kernel:ident) => {
        #[kernel]
        fn $powf_kernel(a: &[$t], b: &[$t], out: &mut [$t]) {
            let i = global_idx_x();
            out[i] = a[i].powf(b[i]);
        }

        fn $powf(device: &Device) -> Check {
            let class = Class::of(device);
            let mut random = Random::new(70);
            let mut inputs = vec![
                (1.0, 5.0),
                (2.0, 10.0),
                (4.0, 0.5),
                (3.0, 0.0),
                (10.0, -2.0),
            ];
            inputs.extend((0..300).map(|_| {
                (
                    random.between(0.01, 20.0) as $t,
                    random.between(-12.0, 12.0) as $t,
                )
            }));
            binary(
                ["powf"],
                &inputs,
                |a, b, out, n| $powf_kernel(a, b, out).over(n).run_on(device),
                |a, b| {
                    let (x, y) = (f64::from(a), f64::from(b));
                    [expected(class, "powf", Format::$format, (x, y), x.powf(y))]
                },
            )
        }

        #[kernel]
        fn $powi_kernel(a: &[$t], b: &[i32], out: &mut [$t]) {
            let i = global_idx_x();
            out[2 * i] = a[i].powi(b[i]);
            out[2 * i + 1] = a[i].powi(2);
        }

        fn $powi(device: &Device) -> Check {
            let class = Class::of(device);
            let mut random = Random::new(71);
            let mut inputs: Vec<($t, i32)> = vec![];
            for exponent in -20..=20 {
                inputs.extend([1.0, -1.0, 2.0, -2.0, 0.5].map(|x| (x, exponent)));
                inputs.push((random.between(-10.0, 10.0) as $t, exponent));
            }
            binary(
                ["powi", "powi(2)"],
                &inputs,
                |a, b, out, n| $powi_kernel(a, b, out).over(n).run_on(device),
                |a, b| {
                    let x = f64::from(a);
                    let product: f64 = (0..b.abs()).map(|_| x).product();
                    let power = if b < 0 { 1.0 / product } else { product };
                    let arguments = (x, f64::from(b));
                    [
                        expected(class, "powi", Format::$format, arguments, power),
                        expected(class, "powi", Format::$format, (x, 2.0), x * x),
                    ]
                },
            )
        }

        #[kernel]
        fn $plane_kernel(a: &[$t], b: &[$t], out: &mut [$t]) {
            let i = global_idx_x();
            out[2 * i] = a[i].atan2(b[i]);
            out[2 * i + 1] = a[i].hypot(b[i]);
        }

        fn $plane(device: &Device) -> Check {
            let class = Class::of(device);
            let mut random = Random::new(72);
            let mut inputs: Vec<($t, $t)> = vec![];
            for a in [-2.0, -1.0, 1.0, 3.0] {
                inputs.extend([-4.0, -1.0, 1.0, 0.5].map(|b| (a, b)));
            }
            // The squares of these leave the range of an `f32`.
            inputs.extend([(3e25, 4e25), (-3e-25, 4e-25), (1e30, 1.0)]);
            inputs.extend((0..300).map(|_| {
                (
                    random.between(-50.0, 50.0) as $t,
                    random.between(-50.0, 50.0) as $t,
                )
            }));
            binary(
                ["atan2", "hypot"],
                &inputs,
                |a, b, out, n| $plane_kernel(a, b, out).over(n).run_on(device),
                |a, b| {
                    let (y, x) = (f64::from(a), f64::from(b));
                    let length = (x * x + y * y).sqrt();
                    [
                        expected(class, "atan2", Format::$format, (y, x), y.atan2(x)),
                        expected(class, "hypot", Format::$format, (y, x), length),
                    ]
                },
            )
        }
    };
}

kernels!(f32 F32 f32_powf powf_f32 f32_powi powi_f32 f32_plane plane_f32);
kernels!(f64 F64 f64_powf powf_f64 f64_powi powi_f64 f64_plane plane_f64);
