//! Errors of results, and the largest of them.

use sarek::testing::tolerance::{Class, Format, Function as Promise, tolerance};

use crate::exact::{self, Exact};
use crate::functions::Function;

/// The largest error so far.
#[derive(Clone, Copy, Debug)]
pub struct Worst {
    /// In units in the last place; infinite if a NaN, infinity or zero was expected and the result is another value.
    pub ulps: f64,
    /// The arguments.
    pub at: [f64; 3],
    /// Arguments whose result violates the promised accuracy, if any.
    pub broken: Option<[f64; 3]>,
}

impl Default for Worst {
    fn default() -> Worst {
        Worst {
            ulps: 0.0,
            at: [0.0; 3],
            broken: None,
        }
    }
}

impl Worst {
    /// The larger of two errors.
    pub fn and(self, other: Worst) -> Worst {
        let worst = if other.ulps > self.ulps { other } else { self };
        Worst {
            broken: self.broken.or(other.broken),
            ..worst
        }
    }

    /// The error of one result.
    pub fn of(judge: &Judge<'_>, args: [f64; 3], got: f64, due: f64, error: f64) -> Worst {
        let broken = error > 0.5 && !judge.is_promised(args, got, due, error);
        Worst {
            ulps: error,
            at: args,
            broken: broken.then_some(args),
        }
    }
}

/// The requirements on a function on a device.
pub struct Judge<'a> {
    /// The function.
    pub function: &'a Function,
    /// The device's class.
    pub class: Class,
    /// The type.
    pub format: Format,
    /// The promised accuracy.
    pub promise: Promise,
}

impl Judge<'_> {
    /// True if any accuracy is promised for these arguments.
    pub fn counts(&self, args: [f64; 3], due: f64) -> bool {
        let of_divisor = if self.function.name == "/" {
            args[1]
        } else {
            args[0]
        };
        let subnormal = |x: f64| x != 0.0 && x.abs() < self.least_normal();
        let taken = &args[..self.function.arity];
        let flushed = taken.iter().copied().any(subnormal) || subnormal(due);
        self.class.promises(self.promise, of_divisor)
            && !self.overflows_on_the_way(args)
            && (self.class.keeps_subnormals() || !flushed)
            // WGSL does not specify infinities and NaN.
            && (self.class != Class::Wgsl || taken.iter().all(|x| x.is_finite()) && self.fits(due))
    }

    /// True for a power with a negative exponent whose reciprocal exceeds the type's range.
    fn overflows_on_the_way(&self, [x, y, _]: [f64; 3]) -> bool {
        let exponent = y as i32 % 20;
        let is_power = self.function.name == "powi" && exponent < 0 && x.is_finite();
        let positive = x.abs().powi(-exponent);
        is_power && (!self.fits(positive) || positive < self.least_normal())
    }

    fn least_normal(&self) -> f64 {
        match self.format {
            Format::F16 | Format::Bf16 | Format::F32 => f32::MIN_POSITIVE.into(),
            Format::F64 => f64::MIN_POSITIVE,
        }
    }

    fn fits(&self, due: f64) -> bool {
        match self.format {
            Format::F16 | Format::Bf16 | Format::F32 => due.abs() <= f32::MAX.into(),
            Format::F64 => due.is_finite(),
        }
    }

    fn is_promised(&self, args: [f64; 3], got: f64, due: f64, error: f64) -> bool {
        let pair = (args[0], args[1]);
        let allowed = tolerance(self.class, self.promise, self.format, pair, due);
        let beyond = error > allowed.ulps;
        !beyond || allowed.absolute > 0.0 && allowed.accepts(got, due, self.format)
    }

    /// The error of an `f32`, where `due` is nearly exact.
    pub fn narrow(&self, args: [f64; 3], got: f32) -> Worst {
        let due = (self.function.std)(args);
        if !self.counts(args, due) {
            return Worst::default();
        }
        let top = 2f64.powi(128);
        let got = f64::from(got);
        let error = self.special(got, due).unwrap_or_else(|| {
            let bounded = |x: f64| x.clamp(-top, top);
            (bounded(got) - bounded(due)).abs() / Format::F32.ulp(due)
        });
        Worst::of(self, args, got, due, error)
    }

    /// The error of an `f64`.
    pub fn wide(&self, exact: &mut Exact, args: [f64; 3], got: f64) -> Worst {
        let due = (self.function.std)(args);
        if !self.counts(args, due) {
            return Worst::default();
        }
        let finite = args[..self.function.arity].iter().all(|x| x.is_finite());
        let error = match self.special(got, due) {
            // A result near the largest number may be an infinity.
            Some(error) if !finite || due.is_nan() || got.is_nan() || got == due => error,
            None if !finite => (got - due).abs() / Format::F64.ulp(due),
            Some(_) | None => exact::ulps(got, &(self.function.exact)(exact, args)),
        };
        Worst::of(self, args, got, due, error)
    }

    /// The error if the result or the expected value is a NaN, an infinity or zero.
    fn special(&self, got: f64, due: f64) -> Option<f64> {
        // WGSL allows zeros to lose their sign.
        let signs = got.is_sign_negative() == due.is_sign_negative() || self.class == Class::Wgsl;
        if got.is_nan() || due.is_nan() {
            let same = got.is_nan() == due.is_nan();
            return Some(if same { 0.0 } else { f64::INFINITY });
        }
        if due.is_infinite() {
            return Some(if got == due { 0.0 } else { f64::INFINITY });
        }
        if got == 0.0 && due == 0.0 {
            return Some(if signs { 0.0 } else { f64::INFINITY });
        }
        None
    }
}
