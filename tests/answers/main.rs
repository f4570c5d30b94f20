//! Programs whose answers once differed between backends or from rustc's: each on every device of this machine.
//!
//! One executable, so that it can be carried to a machine with a GPU. A case says in its head what went wrong.

mod overflow;

use sarek::prelude::*;

mod branches;
mod cover;
// Lines and columns are what it tests; not every form of a construct uses all values.
#[allow(unused_variables)]
#[rustfmt::skip]
mod lines;
mod literals;
mod loops;
mod paths;
mod requires;
mod rounding;
mod settings;
mod subnormals;
mod zero_sized;

/// The devices of this machine; those that every machine has are among them.
fn devices() -> Vec<Device> {
    let all = Device::all();
    for name in ["native", "interpreter"] {
        assert!(all.iter().any(|device| device.backend() == name), "{name}");
    }
    all
}

#[test]
fn every_required_backend_is_here() {
    let required = std::env::var("SAREK_REQUIRE").unwrap_or_default();
    let here = devices();
    for name in required
        .split(',')
        .filter(|name| ["opencl", "wgpu", "cuda"].contains(name))
    {
        assert!(
            here.iter().any(|device| device.backend() == name),
            "{name} is required"
        );
    }
}
