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

/// The book's chapter about other libraries: its programs are compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../book/src/interop.md")]
pub struct Chapter;
