//! A trial: one run of a test with its inputs, launches and comparisons.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeBounds;

use super::sample::{Random, Sample};
use super::tolerance::{Class, Tolerance};
use super::within::{Within, ends};
use crate::{Device, Error, Ready, Vector};

/// The tolerances of a test.
#[derive(Clone, Default, Debug)]
pub(super) struct Tolerances {
    pub ulps: Option<f64>,
    pub ulps_on: BTreeMap<String, f64>,
    pub absolute: f64,
    pub absolute_on: BTreeMap<String, f64>,
}

impl Tolerances {
    fn on(&self, device: &Device, strict: bool) -> Tolerance {
        let class = Class::of(device);
        let usual = if strict { 0.0 } else { class.usual_ulps() };
        let of_backend = |map: &BTreeMap<String, f64>| map.get(device.backend()).copied();
        Tolerance {
            ulps: of_backend(&self.ulps_on).or(self.ulps).unwrap_or(usual),
            absolute: of_backend(&self.absolute_on).unwrap_or(self.absolute),
            flush: !strict && !class.keeps_subnormals(),
        }
    }
}

/// A trial of a [`Check`](super::Check), on one device and with one size. It generates inputs,
/// launches kernels and compares their results.
pub struct Trial<'a> {
    name: &'a str,
    device: &'a Device,
    size: usize,
    seed: u64,
    tolerances: &'a Tolerances,
    /// True if all kernels launched so far are strict; `None` before the first launch.
    strict: Cell<Option<bool>>,
    inputs: Vec<Input>,
}

/// A generated input: its name, and a function that formats its value at an index.
struct Input {
    name: String,
    at: Box<dyn Fn(usize) -> Option<String>>,
}

impl fmt::Debug for Trial<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trial")
            .field("device", &self.device.to_string())
            .field("size", &self.size)
            .field("seed", &self.seed)
            .finish_non_exhaustive()
    }
}

impl<'a> Trial<'a> {
    pub(super) fn new(
        name: &'a str,
        device: &'a Device,
        size: usize,
        seed: u64,
        tolerances: &'a Tolerances,
    ) -> Trial<'a> {
        Trial {
            name,
            device,
            size,
            seed,
            tolerances,
            strict: Cell::new(None),
            inputs: vec![],
        }
    }

    /// The device under test.
    pub fn device(&self) -> &Device {
        self.device
    }

    /// The size of the trial: usually the number of threads and elements. At least 1, unless
    /// [`Check::sizes`](super::Check::sizes) contains 0.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Generates a value from the whole range of the type. Failure messages list it by name.
    pub fn value<T: Sample>(&mut self, name: &str) -> T {
        self.one(name, any)
    }

    /// Generates a number in a range.
    pub fn value_within<T: Within + 'static>(
        &mut self,
        name: &str,
        range: impl RangeBounds<T::Bound>,
    ) -> T {
        let ends = ends(&range);
        self.one(name, move |random| inside(random, ends))
    }

    /// Generates `count` values from the whole range of the type, including NaN, infinities, zeros of
    /// both signs and the bounds of integers, but no subnormal `f32` or `f64`. A shorter list is a
    /// prefix of a longer one.
    pub fn values<T: Sample>(&mut self, name: &str, count: usize) -> Vec<T> {
        self.many(name, count, any)
    }

    /// Generates `count` numbers in a range, including its ends and zero.
    pub fn values_within<T: Within + 'static>(
        &mut self,
        name: &str,
        count: usize,
        range: impl RangeBounds<T::Bound>,
    ) -> Vec<T> {
        let ends = ends(&range);
        self.many(name, count, move |random| inside(random, ends))
    }

    /// Queues a launch on the device.
    ///
    /// # Errors
    /// Those of [`Ready::run_on`].
    pub fn run(&self, launch: Ready<'_>) -> crate::Result<()> {
        let before = self.strict.get().unwrap_or(true);
        self.strict.set(Some(before && launch.is_strict()));
        launch.run_on(self.device)
    }

    /// Compares the elements of a vector with the expected ones. `what` is the vector's name in
    /// messages.
    ///
    /// # Errors
    /// [`Failure`] if they differ by more than the tolerance, or if the vector cannot be read.
    pub fn expect<T: Sample>(
        &self,
        what: &str,
        got: &Vector<T>,
        expected: &[T],
    ) -> Result<(), Failure> {
        let got = got.to_vec()?;
        let strict = self.strict.get().unwrap_or(false);
        let tolerance = self.tolerances.on(self.device, strict);
        let pairs = got.iter().zip(expected).enumerate();
        let mut wrong = pairs.filter(|(_, (got, want))| !got.agrees(**want, tolerance));
        let Some((index, (first, want))) = wrong.next() else {
            return match got.len() == expected.len() {
                true => Ok(()),
                false => Err(Failure::Mismatch(Mismatch {
                    index: got.len().min(expected.len()),
                    text: format!(
                        "`{what}` has {} elements, and {} are expected",
                        got.len(),
                        expected.len()
                    ),
                })),
            };
        };
        let count = 1 + wrong.count();
        let mut text = format!("`{what}[{index}]` is {first:?}, and {want:?} is expected");
        if let Some(ulps) = first.ulps_from(*want) {
            text += &format!(
                ": {} ulps apart, where {} are allowed",
                short(ulps),
                short(tolerance.ulps)
            );
            if tolerance.absolute > 0.0 {
                text += &format!(" and {:e} besides", tolerance.absolute);
            }
        }
        text += &format!("; {count} of {} elements are wrong", got.len());
        let inputs = self.inputs.iter().filter_map(|input| {
            let value = (input.at)(index)?;
            Some(format!("{} = {value}", input.name))
        });
        let inputs: Vec<String> = inputs.collect();
        if !inputs.is_empty() {
            text += &format!("\n  inputs there: {}", inputs.join(", "));
        }
        Err(Failure::Mismatch(Mismatch { index, text }))
    }

    fn one<T: Copy + fmt::Debug + 'static>(
        &mut self,
        name: &str,
        mut make: impl FnMut(&mut Random) -> T,
    ) -> T {
        let value = make(&mut self.random());
        self.inputs.push(Input {
            name: name.into(),
            at: Box::new(move |_| Some(format!("{value:?}"))),
        });
        value
    }

    fn many<T: Copy + fmt::Debug + 'static>(
        &mut self,
        name: &str,
        count: usize,
        mut make: impl FnMut(&mut Random) -> T,
    ) -> Vec<T> {
        let mut random = self.random();
        let values: Vec<T> = (0..count).map(|_| make(&mut random)).collect();
        let kept = values.clone();
        self.inputs.push(Input {
            name: name.into(),
            at: Box::new(move |i| Some(format!("{:?}", kept.get(i)?))),
        });
        values
    }

    /// Makes a generator for the next input, so the length of one input does not affect the others.
    fn random(&self) -> Random {
        let stream = 1 + self.inputs.len() as u64;
        Random::new(self.seed ^ stream.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }
}

/// Prints the seed if the computation of the expected results panics.
impl Drop for Trial<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!(
                "{}: panicked in a trial of size {} with seed {}, on {}",
                self.name, self.size, self.seed, self.device
            );
        }
    }
}

/// Generates a value; every eighth is an edge case on average.
fn any<T: Sample>(random: &mut Random) -> T {
    match random.below(8) {
        0 => pick(random, &T::edges()),
        _ => T::random(random),
    }
}

fn inside<T: Within>(random: &mut Random, (low, high): (T, T)) -> T {
    match random.below(8) {
        0 => {
            let zero = T::zero_between(low, high);
            let edges: Vec<T> = [low, high].into_iter().chain(zero).collect();
            pick(random, &edges)
        }
        _ => T::between(random, low, high),
    }
}

fn pick<T: Copy>(random: &mut Random, from: &[T]) -> T {
    from[random.below(from.len() as u64) as usize]
}

/// Formats a number of ulps with few digits.
fn short(ulps: f64) -> String {
    match ulps {
        0.0..1e6 => format!("{:.1}", ulps).trim_end_matches(".0").to_owned(),
        _ => format!("{ulps:.1e}"),
    }
}

/// The reason why a trial fails.
#[derive(Debug)]
#[non_exhaustive]
pub enum Failure {
    /// A result differs from the expected one.
    Mismatch(Mismatch),
    /// A launch or a read failed. After [`Error::NotEligible`] the device is skipped.
    Error(Error),
}

/// A result that differs from the expected one.
#[derive(Debug)]
pub struct Mismatch {
    /// The index of the first wrong element.
    pub(super) index: usize,
    text: String,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Error(error)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Mismatch(mismatch) => f.write_str(&mismatch.text),
            Failure::Error(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Failure {}
