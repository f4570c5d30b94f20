//! Regression tests: programs whose results once differed between backends, or from those of rustc. Each runs on every device of this machine.
//!
//! They form one executable, so it can be copied to a machine with a GPU. The head of each module describes the former bug.

mod overflow;

use sarek::prelude::*;

mod branches;
mod cover;
// It tests line numbers, so it must not be reformatted. Some forms of a construct do not use all values.
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

/// All devices of this machine. Checks that `native` and `interpreter` are among them.
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
