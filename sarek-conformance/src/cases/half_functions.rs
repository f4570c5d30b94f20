//! Functions of 16-bit floats: the functions of `f32`, rounded. They run on every device.

use crate::Case;
use crate::check::{Check, checked_output, ensure, sentinel_filled};
use crate::input::Random;
use sarek::prelude::*;
use sarek::testing::tolerance::Class;

pub const CASES: &[Case] = &[
    Case::new("half/functions", &[], halves),
    Case::new("half/bfloat_functions", &[], bfloats),
];

/// Number of results for each pair of numbers.
const EACH: usize = 25;

#[kernel]
fn functions<T: Float>(a: &[f32], b: &[f32], out: &mut [f32]) {
    let i = global_idx_x();
    let x = T::from_f32(a[i]);
    let y = T::from_f32(b[i]);
    // Lies in the domain of the inverse functions.
    let part = y / T::from_f32(4.0);
    out[25 * i] = x.exp().to_f32();
    out[25 * i + 1] = x.exp2().to_f32();
    out[25 * i + 2] = x.exp_m1().to_f32();
    out[25 * i + 3] = x.ln().to_f32();
    out[25 * i + 4] = x.ln_1p().to_f32();
    out[25 * i + 5] = x.log2().to_f32();
    out[25 * i + 6] = x.log10().to_f32();
    out[25 * i + 7] = y.sin().to_f32();
    out[25 * i + 8] = y.cos().to_f32();
    out[25 * i + 9] = part.tan().to_f32();
    out[25 * i + 10] = part.asin().to_f32();
    out[25 * i + 11] = part.acos().to_f32();
    out[25 * i + 12] = y.atan().to_f32();
    out[25 * i + 13] = y.atan2(x).to_f32();
    out[25 * i + 14] = y.sinh().to_f32();
    out[25 * i + 15] = y.cosh().to_f32();
    out[25 * i + 16] = y.tanh().to_f32();
    out[25 * i + 17] = x.powf(y).to_f32();
    out[25 * i + 18] = y.powi(3).to_f32();
    out[25 * i + 19] = x.hypot(y).to_f32();
    out[25 * i + 20] = y.cbrt().to_f32();
    out[25 * i + 21] = x.rsqrt().to_f32();
    out[25 * i + 22] = x.mul_add(y, part).to_f32();
    out[25 * i + 23] = (y % x).to_f32();
    out[25 * i + 24] = x.sqrt().to_f32();
}

/// The same functions in `f64`, for inputs that the type holds exactly.
fn exact(x: f64, y: f64, part: f64) -> [f64; EACH] {
    [
        x.exp(),
        x.exp2(),
        x.exp_m1(),
        x.ln(),
        x.ln_1p(),
        x.log2(),
        x.log10(),
        y.sin(),
        y.cos(),
        part.tan(),
        part.asin(),
        part.acos(),
        y.atan(),
        y.atan2(x),
        y.sinh(),
        y.cosh(),
        y.tanh(),
        x.powf(y),
        y * y * y,
        (x * x + y * y).sqrt(),
        y.cbrt(),
        1.0 / x.sqrt(),
        x * y + part,
        y % x,
        x.sqrt(),
    ]
}

fn halves(device: &Device) -> Check {
    check::<f16>(device, 11)
}

fn bfloats(device: &Device) -> Check {
    check::<bf16>(device, 8)
}

/// Results are rounded twice: they may be off by half a unit in the last of `digits` digits, and a little more.
fn check<T: Float>(device: &Device, digits: i32) -> Check {
    // WebGPU promises some functions only within an absolute error, and may flush subnormal numbers.
    let absolute = match Class::of(device) {
        Class::Wgsl => 1.5e-3,
        _ => 1e-6,
    };
    let near = 1.1 * 2f64.powi(-digits);
    let mut random = Random::new(111);
    let mut number = |lo: f64, hi: f64| T::from_f32(random.between(lo, hi) as f32).to_f32();
    let pairs: Vec<(f32, f32)> = (0..300)
        .map(|_| (number(0.1, 6.0), number(-3.9, 3.9)))
        .collect();
    let (a, b): (Vec<f32>, Vec<f32>) = pairs.iter().copied().unzip();
    let mut out = sentinel_filled(EACH * pairs.len());
    functions::<T>(&Vector::from_vec(a), &Vector::from_vec(b), &mut out)
        .over(pairs.len())
        .run_on(device)?;
    for (i, got) in checked_output(&out)?.into_iter().enumerate() {
        let (x, y) = pairs[i / EACH];
        let part = (T::from_f32(y) / T::from_f32(4.0)).to_f32();
        let expected = exact(x.into(), y.into(), part.into())[i % EACH];
        let off = (f64::from(got) - expected).abs();
        ensure(off <= near * expected.abs() + absolute, || {
            format!(
                "function {} of {x} and {y} is {got}, not {expected}",
                i % EACH
            )
        })?;
    }
    Ok(())
}
