//! Error measurement in units in the last place, and test arguments.

#![allow(clippy::excessive_precision, clippy::approx_constant)]

/// The largest error so far.
#[derive(Clone, Copy, Default, Debug)]
pub struct Worst {
    /// The error in units in the last place; infinite if a special value is wrong.
    pub ulps: f64,
    /// The argument, or the first of two.
    pub at: f64,
}

impl Worst {
    /// Records a result whose exact value is near `due`. Infinity counts as the number after the
    /// largest.
    pub fn f32(&mut self, x: f64, got: f32, due: f64) {
        let top = 2f64.powi(128);
        let (mut got, mut due) = (f64::from(got), due);
        if due.is_finite() {
            due = due.clamp(-top, top);
            got = if got.is_infinite() {
                top.copysign(got)
            } else {
                got
            };
        }
        self.take(x, got, due, ulp(due, -126, 127, 23));
    }

    /// The same as [`Worst::f32`] for `f64`.
    pub fn f64(&mut self, x: f64, got: f64, due: f64) {
        self.take(x, got, due, ulp(due, -1022, 1023, 52));
    }

    fn take(&mut self, x: f64, got: f64, due: f64, ulp: f64) {
        let same = got == due && (got != 0.0 || got.is_sign_negative() == due.is_sign_negative());
        let ulps = if same || (got.is_nan() && due.is_nan()) {
            0.0
        } else if got.is_finite() && due.is_finite() && got != due {
            (got - due).abs() / ulp
        } else {
            f64::INFINITY
        };
        if ulps > self.ulps {
            *self = Worst { ulps, at: x };
        }
    }

    /// Takes over another error if it is larger.
    pub fn merge(&mut self, other: &Worst) {
        if other.ulps > self.ulps {
            *self = *other;
        }
    }

    /// Panics if the error is larger than `ulps`.
    pub fn at_most(&self, ulps: f64, name: &str) {
        assert!(self.ulps <= ulps, "{name}: {self:?}, {ulps} stated");
    }
}

/// The unit in the last place of a number, from the format's exponents and fraction bits.
fn ulp(x: f64, least: i64, most: i64, fraction: i64) -> f64 {
    let exponent = ((x.to_bits() >> 52) & 0x7ff) as i64 - 1023;
    let exponent = exponent.clamp(least, most) - fraction;
    if exponent < -1022 {
        f64::from_bits(1 << (exponent + 1074))
    } else {
        f64::from_bits(((exponent + 1023) as u64) << 52)
    }
}

/// Arguments at which functions or formats change, with their neighbours and of both signs.
pub fn edges() -> Vec<f64> {
    let centres = [
        0.0,
        5e-324,
        1e-310,
        f64::MIN_POSITIVE,
        1e-300,
        1e-45,
        1e-40,
        1.17549435e-38,
        1e-20,
        1e-17,
        1e-9,
        0.1,
        0.25,
        0.41421356237309503,
        0.5,
        0.7071067811865476,
        0.75,
        0.7853981633974483,
        1.0,
        1.4142135623730951,
        1.5707963267948966,
        2.0,
        2.414213562373095,
        3.0,
        10.0,
        22.0,
        88.7,
        89.0,
        100.0,
        104.0,
        126.0,
        128.0,
        149.0,
        150.0,
        709.782712893384,
        710.4758600739439,
        745.1332191019411,
        1e3,
        8796093022208.0,
        1e10,
        16777217.0,
        7.737125245533627e25,
        1e100,
        1e150,
        1e300,
        f64::MAX,
        f32::MAX as f64,
    ];
    let mut values = vec![f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
    for centre in centres {
        for x in [centre.next_down(), centre, centre.next_up()] {
            values.extend([x, -x]);
        }
    }
    values
}

/// Numbers of all magnitudes, most of them moderate.
pub fn random(seed: u64, count: usize) -> impl Iterator<Item = f64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.wrapping_mul(0x2545_f491_4f6c_dd1d)
    };
    (0..count).map(move |i| {
        let unit = next() as f64 / 2f64.powi(63) - 1.0;
        match i % 6 {
            0 => unit,
            1 => 1.0 + unit / 64.0,
            2 => unit * 20.0,
            3 => unit * 800.0,
            4 => unit.abs() * 3.0,
            _ => f64::from_bits(next()),
        }
    })
}
