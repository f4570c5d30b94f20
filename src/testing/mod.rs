//! Tests for kernels, which compare each available device with plain Rust.
//!
//! [`#[kernel_test]`](crate::kernel_test) turns a function that computes the expected results into
//! a test:
//!
//! ```
//! use sarek::prelude::*;
//!
//! #[kernel]
//! fn saxpy(a: f32, x: &[f32], y: &mut [f32]) {
//!     let i = global_idx_x();
//!     y[i] = a * x[i] + y[i];
//! }
//!
//! #[kernel_test(saxpy, absolute = 1e-5)]
//! fn saxpy_is_right(#[within(-2.0..2.0)] a: f32, #[within(-1.0..1.0)] x: &[f32], #[within(-1.0..1.0)] y: &mut [f32]) {
//!     for (x, y) in x.iter().zip(y) {
//!         *y = a * x + *y;
//!     }
//! }
//! ```
//!
//! It expands to a [`Check`], which you can use directly for other kinds of tests:
//!
//! ```
//! use sarek::prelude::*;
//! use sarek::testing::Check;
//!
//! #[kernel(block = 64)]
//! fn reversed(x: &[u32], out: &mut [u32]) {
//!     let tile = shared_array::<u32, 64>();
//!     let (t, i) = (thread_idx_x(), global_idx_x());
//!     tile[t] = x[i];
//!     barrier();
//!     out[i] = tile[63 - t];
//! }
//!
//! Check::new("blocks_are_reversed").sizes([1, 2, 7]).run(|trial| {
//!     let blocks = trial.size();
//!     let x = trial.values::<u32>("x", 64 * blocks);
//!     let mut out = Vector::zeros(64 * blocks);
//!     trial.run(reversed(&Vector::from_slice(&x), &mut out).grid(blocks))?;
//!     let expected: Vec<u32> = x.chunks(64).flat_map(|block| block.iter().rev().copied()).collect();
//!     trial.expect("out", &out, &expected)
//! });
//! ```
//!
//! The chapter `book/src/testing-kernels.md` explains more.

mod sample;
pub mod tolerance;
mod trial;
mod within;

use std::collections::BTreeMap;

use crate::{Device, Error};
pub use sample::{Random, Sample};
#[cfg(feature = "reference")]
#[doc(hidden)]
pub use sarek_backends::reference::panic_text;
#[cfg(feature = "reference")]
pub use sarek_backends::reference::reference;
use trial::Tolerances;
pub use trial::{Failure, Mismatch, Trial};
pub use within::Within;

/// The default sizes: around those of vector registers, subgroups and blocks, and a large one.
const SIZES: [usize; 10] = [1, 2, 31, 32, 33, 255, 256, 257, 1000, 4099];

/// A test of a kernel on all devices: the sizes and devices to run, and the tolerances of results.
///
/// The inputs follow from a seed, and the seed from the name, so all runs have the same inputs.
/// `SAREK_TEST_SEED=7` in the environment selects another seed, for example to repeat a failure.
#[derive(Clone, Debug)]
#[must_use = "nothing is tested until `.run(…)`"]
pub struct Check {
    name: String,
    seed: Option<u64>,
    sizes: Vec<usize>,
    rounds: u64,
    backends: Option<Vec<String>>,
    tolerances: Tolerances,
}

impl Check {
    /// Makes a test with this name, which failure messages contain.
    pub fn new(name: &str) -> Check {
        Check {
            name: name.into(),
            seed: None,
            sizes: SIZES.to_vec(),
            rounds: 1,
            backends: None,
            tolerances: Tolerances::default(),
        }
    }

    /// Sets the tolerance of floats, in units in the last place of the expected value. 0 requires
    /// the same bits, except for NaN. The default is 0 for strict kernels, and
    /// [`tolerance::Class::usual_ulps`] for others.
    pub fn ulps(mut self, ulps: f64) -> Check {
        self.tolerances.ulps = Some(ulps);
        self
    }

    /// Sets the tolerance in ulps for one backend.
    pub fn ulps_on(mut self, backend: &str, ulps: f64) -> Check {
        self.tolerances.ulps_on.insert(backend.into(), ulps);
        self
    }

    /// Sets an additional absolute tolerance of floats. It is needed where numbers cancel: an error
    /// that is small next to them is many ulps of the result.
    pub fn absolute(mut self, absolute: f64) -> Check {
        self.tolerances.absolute = absolute;
        self
    }

    /// Sets the absolute tolerance for one backend.
    pub fn absolute_on(mut self, backend: &str, absolute: f64) -> Check {
        self.tolerances.absolute_on.insert(backend.into(), absolute);
        self
    }

    /// Sets the sizes that [`Trial::size`] takes, instead of the default ten from 1 to 4099.
    pub fn sizes(mut self, sizes: impl IntoIterator<Item = usize>) -> Check {
        self.sizes = sizes.into_iter().collect();
        self
    }

    /// Sets the seed of the inputs, unless the environment variable sets another one.
    pub fn seed(mut self, seed: u64) -> Check {
        self.seed = Some(seed);
        self
    }

    /// Sets the number of trials for each size, each with other inputs; the default is 1.
    pub fn rounds(mut self, rounds: u64) -> Check {
        self.rounds = rounds;
        self
    }

    /// Restricts the test to devices of these backends.
    pub fn on<'a>(mut self, backends: impl IntoIterator<Item = &'a str>) -> Check {
        self.backends = Some(backends.into_iter().map(str::to_owned).collect());
        self
    }

    /// Runs `trial` with every size on every device that can run the kernels. Devices that are not
    /// eligible are reported on stderr.
    ///
    /// # Panics
    /// If a trial fails. The message contains the device, the difference and its place, and how to
    /// repeat it, for the smallest failing size. Also panics if no device could run the trial.
    #[track_caller]
    pub fn run(self, mut trial: impl FnMut(&mut Trial<'_>) -> Result<(), Failure>) {
        let devices = Device::all().into_iter();
        let devices: Vec<Device> = devices.filter(|device| self.wants(device)).collect();
        let seed = self.first_seed();
        let mut left_out = BTreeMap::new();
        for device in &devices {
            match self.run_on(device, seed, &mut trial) {
                Ok(()) => {}
                Err(Stop::Refused(why)) => {
                    eprintln!("{}: left out {device}: {why}", self.name);
                    left_out.insert(device.to_string(), why);
                }
                Err(Stop::Failed(text)) => panic!("{text}"),
            }
        }
        assert!(
            left_out.len() < devices.len(),
            "{}: no device could run this: {left_out:?}",
            self.name
        );
    }

    fn wants(&self, device: &Device) -> bool {
        let mut named = self.backends.iter().flatten();
        self.backends.is_none() || named.any(|name| name == device.backend())
    }

    fn first_seed(&self) -> u64 {
        let told = std::env::var("SAREK_TEST_SEED").ok();
        let told = told.map(|text| match text.parse() {
            Ok(seed) => seed,
            Err(_) => panic!("SAREK_TEST_SEED is a number, not `{text}`"),
        });
        // The FNV-1a hash, which is the same in each build.
        let of_name = || {
            self.name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
            }) % 100_000
        };
        told.or(self.seed).unwrap_or_else(of_name)
    }

    fn run_on(
        &self,
        device: &Device,
        seed: u64,
        trial: &mut impl FnMut(&mut Trial<'_>) -> Result<(), Failure>,
    ) -> Result<(), Stop> {
        for round in 0..self.rounds {
            for &size in &self.sizes {
                let seed = seed + round;
                let mut attempt = |size| {
                    let mut one = Trial::new(&self.name, device, size, seed, &self.tolerances);
                    trial(&mut one)
                };
                match attempt(size) {
                    Ok(()) => {}
                    Err(Failure::Error(error @ Error::NotEligible { .. })) => {
                        return Err(Stop::Refused(error.to_string()));
                    }
                    Err(failure) => {
                        let (least, failure) = shrunk(size, failure, &mut attempt);
                        let text = self.told(device, (size, least), seed, &failure);
                        return Err(Stop::Failed(text));
                    }
                }
            }
        }
        Ok(())
    }

    fn told(
        &self,
        device: &Device,
        (found, least): (usize, usize),
        seed: u64,
        failure: &Failure,
    ) -> String {
        let name = self.name.rsplit("::").next().unwrap_or_default();
        let at = match found == least {
            true => format!("size {least}"),
            false => format!("size {least}, found at {found}"),
        };
        format!(
            "{} fails on backend `{}`, {device}\n  {failure}\n  seed {seed}, {at}; again: SAREK_TEST_SEED={seed} cargo test {name}",
            self.name,
            device.backend(),
        )
    }
}

/// The reason for ending the trials on a device.
enum Stop {
    Refused(String),
    Failed(String),
}

/// Finds a small size that fails, with a few attempts. The values of a smaller size are a prefix of
/// those of a larger one.
fn shrunk(
    size: usize,
    failure: Failure,
    attempt: &mut impl FnMut(usize) -> Result<(), Failure>,
) -> (usize, Failure) {
    let mut best = (size, failure);
    for _ in 0..24 {
        let (size, failure) = &best;
        let first_wrong = match failure {
            Failure::Mismatch(Mismatch { index, .. }) => Some(index + 1),
            Failure::Error(_) => None,
        };
        let smaller = first_wrong
            .into_iter()
            .chain([size / 2, size.saturating_sub(1)]);
        let mut smaller = smaller.filter(|n| *n > 0 && n < size);
        let found = smaller.find_map(|n| Some((n, attempt(n).err()?)));
        match found {
            Some(found) => best = found,
            None => break,
        }
    }
    best
}
