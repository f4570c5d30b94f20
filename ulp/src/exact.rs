//! Computes functions of finite arguments to 192 bits.

use astro_float_num::{BigFloat, Consts, RoundingMode};

/// The bits of a result. Intermediate results that may cancel have more.
const BITS: usize = 192;
const ROUND: RoundingMode = RoundingMode::ToEven;

/// The arithmetic, with cached constants such as π.
pub struct Exact(Consts);

impl Default for Exact {
    fn default() -> Exact {
        Exact(Consts::new().expect("there is memory for constants"))
    }
}

/// Functions that the library has directly.
macro_rules! plain {
    ($($name:ident)*) => {$(
        #[doc = concat!("`", stringify!($name), "` of the first.")]
        pub fn $name(&mut self, [x, ..]: [f64; 3]) -> BigFloat {
            Exact::float(x).$name(BITS, ROUND, &mut self.0)
        }
    )*};
}

impl Exact {
    plain!(exp ln log2 log10 sin cos tan asin acos atan sinh cosh tanh);

    /// The number.
    pub fn float(x: f64) -> BigFloat {
        if !x.is_subnormal() {
            return BigFloat::from_f64(x, BITS);
        }
        // astro-float-num 0.3 halves subnormal numbers.
        let mut normal = BigFloat::from_f64(x * 2f64.powi(200), BITS);
        let exponent = normal.exponent().expect("it is finite");
        normal.set_exponent(exponent - 200);
        normal
    }

    /// `x / y`
    pub fn quotient(&mut self, [x, y, _]: [f64; 3]) -> BigFloat {
        Exact::float(x).div(&Exact::float(y), BITS, ROUND)
    }

    /// `x * y + z`
    pub fn mul_add(&mut self, [x, y, z]: [f64; 3]) -> BigFloat {
        let product = Exact::float(x).mul_full_prec(&Exact::float(y));
        product.add(&Exact::float(z), 4096, ROUND)
    }

    /// Square root.
    pub fn sqrt(&mut self, [x, ..]: [f64; 3]) -> BigFloat {
        Exact::float(x).sqrt(BITS, ROUND)
    }

    /// Reciprocal square root.
    pub fn rsqrt(&mut self, args: [f64; 3]) -> BigFloat {
        self.sqrt(args).reciprocal(BITS, ROUND)
    }

    /// Cube root.
    pub fn cbrt(&mut self, [x, ..]: [f64; 3]) -> BigFloat {
        Exact::float(x).cbrt(BITS, ROUND)
    }

    /// `sqrt(x² + y²)`
    pub fn hypot(&mut self, [x, y, _]: [f64; 3]) -> BigFloat {
        let [x, y] = [x, y].map(|v| Exact::float(v).mul_full_prec(&Exact::float(v)));
        x.add(&y, 4096, ROUND).sqrt(BITS, ROUND)
    }

    /// `e^x - 1`. Near zero by its series, since the difference would cancel.
    pub fn exp_m1(&mut self, args: [f64; 3]) -> BigFloat {
        match args[0].abs() < SMALL {
            true => series(args[0], [1.0, 1.0 / 2.0]),
            false => self.exp(args).sub(&Exact::float(1.0), BITS, ROUND),
        }
    }

    /// `ln(1 + x)`. Near zero by its series, too.
    pub fn ln_1p(&mut self, [x, ..]: [f64; 3]) -> BigFloat {
        if x.abs() < SMALL {
            return series(x, [1.0, -1.0 / 2.0]);
        }
        let sum = Exact::float(x).add(&Exact::float(1.0), 1200, ROUND);
        sum.ln(BITS, ROUND, &mut self.0)
    }

    /// `x^y`; a negative `x` needs an integer `y`. Computed by logarithm and exponential: the library's own power loops
    /// forever when it rounds an exact result.
    pub fn power(&mut self, [x, y, _]: [f64; 3]) -> BigFloat {
        if x == 0.0 || y == 0.0 {
            return Exact::float(x.powf(y));
        }
        let size = Exact::float(x.abs());
        let exponent = size
            .ln(2 * BITS, ROUND, &mut self.0)
            .mul(&Exact::float(y), 2 * BITS, ROUND);
        let mut power = exponent.exp(BITS, ROUND, &mut self.0);
        if x < 0.0 && y % 2.0 != 0.0 {
            power.inv_sign();
        }
        power
    }

    /// `x^(y as i32 % 20)`
    pub fn integer_power(&mut self, [x, y, _]: [f64; 3]) -> BigFloat {
        let exponent = y as i32 % 20;
        let power = Exact::float(x).powi(exponent.unsigned_abs() as usize, 4096, ROUND);
        match exponent < 0 {
            true => power.reciprocal(BITS, ROUND),
            false => power,
        }
    }

    /// The angle of the point `(x, y)`.
    pub fn atan2(&mut self, [y, x, _]: [f64; 3]) -> BigFloat {
        let pi = self.0.pi(BITS, ROUND);
        let half = pi.div(&Exact::float(2.0), BITS, ROUND);
        if x == 0.0 {
            return match (y == 0.0, y.is_sign_negative()) {
                (true, _) if x.is_sign_negative() => signed(pi, y),
                (true, _) => Exact::float(0.0),
                (false, negative) => {
                    if negative {
                        half.neg()
                    } else {
                        half
                    }
                }
            };
        }
        let angle =
            Exact::float(y)
                .div(&Exact::float(x), BITS, ROUND)
                .atan(BITS, ROUND, &mut self.0);
        match x < 0.0 {
            true => angle.add(&signed(pi, y), BITS, ROUND),
            false => angle,
        }
    }

    /// `x * 180 / π`
    pub fn degrees(&mut self, [x, ..]: [f64; 3]) -> BigFloat {
        let pi = self.0.pi(BITS, ROUND);
        let product = Exact::float(x).mul(&Exact::float(180.0), BITS, ROUND);
        product.div(&pi, BITS, ROUND)
    }

    /// `x * π / 180`
    pub fn radians(&mut self, [x, ..]: [f64; 3]) -> BigFloat {
        let pi = self.0.pi(BITS, ROUND);
        let product = Exact::float(x).mul(&pi, BITS, ROUND);
        product.div(&Exact::float(180.0), BITS, ROUND)
    }
}

/// Below this bound, `x³` is less than 2⁻¹²⁰ `x`.
const SMALL: f64 = 1.0 / (1u64 << 60) as f64;

/// `a x + b x²`
fn series(x: f64, [a, b]: [f64; 2]) -> BigFloat {
    let x = Exact::float(x);
    let square = x.mul(&x, BITS, ROUND).mul(&Exact::float(b), BITS, ROUND);
    x.mul(&Exact::float(a), BITS, ROUND)
        .add(&square, BITS, ROUND)
}

fn signed(x: BigFloat, sign: f64) -> BigFloat {
    if sign.is_sign_negative() { x.neg() } else { x }
}

/// `|got - exact|` in units in the last place of the exact `f64`. An infinity counts as the number after the largest.
pub fn ulps(got: f64, exact: &BigFloat) -> f64 {
    let finite = |x: f64| match x.is_infinite() {
        true => {
            let mut top = Exact::float(1.0f64.copysign(x));
            top.set_exponent(1025);
            top
        }
        false => Exact::float(x),
    };
    // The exponent refers to a mantissa below one.
    let least = -1021;
    let exponent = match (exact.is_inf(), exact.exponent()) {
        (true, _) | (_, None) => {
            return if got.is_infinite() {
                0.0
            } else {
                f64::INFINITY
            };
        }
        (false, Some(_)) if exact.is_zero() => least,
        (false, Some(exponent)) => exponent.clamp(least, 1024),
    };
    let mut due = exact.clone();
    if due.exponent() > Some(1024) {
        due = finite(if exact.is_negative() {
            f64::NEG_INFINITY
        } else {
            f64::INFINITY
        });
    }
    let error = finite(got).sub(&due, BITS, ROUND);
    let Some((words, _, _, of_error, _)) = error.as_raw_parts().filter(|_| !error.is_zero()) else {
        return 0.0;
    };
    let top = words.last().copied().unwrap_or(0) as f64 / 2f64.powi(Word::BITS as i32);
    top * 2f64.powi((of_error - (exponent - 53)).clamp(-1000, 1000))
}

type Word = astro_float_num::Word;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_stds_up_to_its_error() {
        let mut exact = Exact::default();
        for x in [1e-300f64, 1e-17, 0.1, 0.7, 1.0, 3.5, 50.0, 700.0] {
            let args = [x, 1.5, -2.0];
            for (std, exact) in [
                (x.exp(), exact.exp(args)),
                (x.exp_m1(), exact.exp_m1(args)),
                (x.ln_1p(), exact.ln_1p(args)),
                (x.sin(), exact.sin(args)),
                (x.cbrt(), exact.cbrt(args)),
                (x.hypot(1.5), exact.hypot(args)),
                (x.powf(1.5), exact.power(args)),
                (x.atan2(1.5), exact.atan2(args)),
                (x.atan2(-1.5), exact.atan2([x, -1.5, 0.0])),
                ((-x).atan2(-1.5), exact.atan2([-x, -1.5, 0.0])),
                (x.to_degrees(), exact.degrees(args)),
                (x.mul_add(1.5, -2.0), exact.mul_add(args)),
                (x.powi(1), exact.integer_power(args)),
            ] {
                let error = ulps(std, &exact);
                assert!(error <= 1.6, "{std:e} of {x:e}: {error}");
            }
        }
    }

    #[test]
    fn ulps_are_those_of_the_format() {
        let near = |x: f64, ulp: f64| ulps(x + ulp, &Exact::float(x));
        assert_eq!(near(1.0, f64::EPSILON), 1.0);
        assert_eq!(near(0.75, f64::EPSILON), 2.0);
        assert_eq!(near(1e-310, 5e-324), 1.0);
        assert_eq!(ulps(f64::INFINITY, &Exact::float(f64::MAX)), 1.0);
        assert_eq!(ulps(1.0, &Exact::float(1.0)), 0.0);
        assert_eq!(ulps(0.0, &Exact::float(5e-324)), 1.0);
    }
}
