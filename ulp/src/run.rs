//! Runs the measurement: sends arguments to a device, reads results back, and finds the largest error.

use rayon::prelude::*;
use sarek::testing::tolerance::{Class, Format};
use sarek::{Device, Error, Vector};

use crate::arguments::tuples;
use crate::exact::Exact;
use crate::functions::{FUNCTIONS, Function, Launch};
use crate::measure::{Judge, Worst};

/// The amount of measurement.
#[derive(Clone, Debug)]
pub struct Effort {
    /// For functions of one `f32`: the step through all bit patterns.
    pub every: u32,
    /// For functions of several `f32`: the number of random arguments.
    pub pairs: usize,
    /// For functions of `f64`: the number of random arguments.
    pub wide: usize,
    /// The functions, by name; all if empty.
    pub only: Vec<String>,
}

/// The result for one function and type on one device.
#[derive(Clone, Debug)]
pub struct Found {
    /// The function.
    pub function: &'static Function,
    /// The type.
    pub format: Format,
    /// The choice of arguments, in words.
    pub how: String,
    /// The largest error.
    pub worst: Worst,
}

impl std::fmt::Debug for Function {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// The number of arguments sent to a device at once.
const CHUNK: usize = 1 << 20;

/// Measures every function on a device. Skips those for which the device is not eligible.
///
/// # Errors
/// Those of launches and reads.
pub fn device(
    device: &Device,
    effort: &Effort,
    mut each: impl FnMut(&Found),
) -> sarek::Result<Vec<Found>> {
    let mut all = vec![];
    let chosen = |f: &&Function| effort.only.is_empty() || effort.only.iter().any(|o| o == f.name);
    for function in FUNCTIONS.iter().filter(chosen) {
        for format in [Format::F32, Format::F64] {
            let judge = Judge {
                function,
                class: Class::of(device),
                format,
                promise: function.promise(),
            };
            let found = match format {
                Format::F32 => narrow(device, &judge, effort),
                Format::F16 | Format::Bf16 | Format::F64 => wide(device, &judge, effort),
            };
            let (how, worst) = match found {
                Err(Error::NotEligible { .. }) => continue,
                other => other?,
            };
            let found = Found {
                function,
                format,
                how,
                worst,
            };
            each(&found);
            all.push(found);
        }
    }
    Ok(all)
}

fn narrow(device: &Device, judge: &Judge<'_>, effort: &Effort) -> sarek::Result<(String, Worst)> {
    let compare = |args: &[[f64; 3]]| {
        let got = results(device, judge, args, |x| x as f32, judge.function.narrow)?;
        let pairs = args.par_iter().zip(got);
        let errors = pairs.map(|(args, got)| judge.narrow(args.map(|a| f64::from(a as f32)), got));
        Ok(errors.reduce(Worst::default, Worst::and))
    };
    if judge.function.arity > 1 {
        let args = tuples(judge.function.arity, effort.pairs, 11, true);
        let worst = chunked(&args, compare)?;
        return Ok((format!("{} random", args.len()), worst));
    }
    let mut worst = Worst::default();
    let step = u64::from(effort.every) * CHUNK as u64;
    for first in (0..1u64 << 32).step_by(step as usize) {
        let every = u64::from(effort.every);
        let count = ((first + step).min(1 << 32) - first).div_ceil(every);
        let float = |i: u64| f64::from(f32::from_bits((first + i * every) as u32));
        let args = (0..count).into_par_iter().map(|i| [float(i), 0.0, 0.0]);
        worst = worst.and(compare(&args.collect::<Vec<_>>())?);
    }
    let how = match effort.every {
        1 => "all".into(),
        n => format!("every {n}th"),
    };
    Ok((how, worst))
}

fn wide(device: &Device, judge: &Judge<'_>, effort: &Effort) -> sarek::Result<(String, Worst)> {
    let args = tuples(judge.function.arity, effort.wide, 12, false);
    let worst = chunked(&args, |args| {
        let got = results(device, judge, args, |x| x, judge.function.wide)?;
        let pairs = args.par_iter().zip(got);
        let errors = pairs.map_init(Exact::default, |exact, (args, got)| {
            judge.wide(exact, *args, got)
        });
        Ok(errors.reduce(Worst::default, Worst::and))
    })?;
    Ok((format!("{} random", args.len()), worst))
}

fn chunked(
    args: &[[f64; 3]],
    compare: impl Fn(&[[f64; 3]]) -> sarek::Result<Worst>,
) -> sarek::Result<Worst> {
    args.chunks(CHUNK)
        .try_fold(Worst::default(), |worst, chunk| {
            Ok(worst.and(compare(chunk)?))
        })
}

/// The kernel's results for the arguments.
fn results<T: sarek::Element + Default>(
    device: &Device,
    judge: &Judge<'_>,
    args: &[[f64; 3]],
    convert: impl Fn(f64) -> T + Sync,
    launch: Launch<T>,
) -> sarek::Result<Vec<T>> {
    let last = judge.function.arity - 1;
    let column = |k: usize| args.par_iter().map(|a| convert(a[k])).collect();
    let columns: Vec<Vector<T>> = (0..=last).map(|k| Vector::from_vec(column(k))).collect();
    // Arguments that the kernel does not read repeat the last one.
    let nth = |k: usize| &columns[k.min(last)];
    let mut out = Vector::filled(args.len(), T::default());
    launch(device, [nth(0), nth(1), nth(2)], &mut out)?;
    out.into_vec()
}
