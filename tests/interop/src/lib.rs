//! Common parts of the tests of `sarek::interop`.

use sarek::{Device, Error};

/// Runs a check on every device. A device that cannot run it must return `NotEligible`.
pub fn on_every_device(check: impl Fn(&Device) -> sarek::Result<()>) {
    let mut ran = vec![];
    for device in Device::all() {
        match check(&device) {
            Ok(()) => ran.push(device.backend().to_string()),
            Err(Error::NotEligible { reasons, .. }) => eprintln!("{device}: {reasons:?}"),
            Err(error) => panic!("{device}: {error}"),
        }
    }
    for host in ["native", "interpreter"] {
        assert!(ran.iter().any(|name| name == host), "{ran:?}");
    }
}

/// The number of elements of the vectors in tests of kernels.
pub const N: usize = 67;

/// Numbers between -4 and 4, none of them 0.
pub fn numbers<const M: usize>(i: usize) -> [f32; M] {
    std::array::from_fn(|k| (((M * i + k) * 37 + 11) % 64) as f32 / 8.0 - 3.9375)
}

/// Asserts that numbers are equal up to rounding.
///
/// # Panics
///
/// If they are not.
#[track_caller]
pub fn near<T: Copy + Into<f64>>(found: &[T], expected: &[T], device: &Device) {
    let relative = if size_of::<T>() == 8 { 1e-12 } else { 1e-5 };
    assert_eq!(found.len(), expected.len());
    for (k, (found, expected)) in found.iter().zip(expected).enumerate() {
        let (found, expected): (f64, f64) = ((*found).into(), (*expected).into());
        assert!(
            (found - expected).abs() <= relative * (1.0 + expected.abs()),
            "{k}: {found}, not {expected}, on {device}"
        );
    }
}

/// The book's chapter about other libraries: its programs are compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../book/src/interop.md")]
pub struct Chapter;
