//! The matrix unit as kernels and programs see it: its intrinsic and its environment.

use std::sync::atomic::{AtomicU64, Ordering};

use sarek::device;
use sarek::environment::{Environment, Parts};

/// The intrinsic's name.
pub(super) const MULTIPLY_ADD: &str = "mxu/multiply_add";

/// Its text: a call of the function that the unit's header declares.
pub(super) const SPELLING: &str = "mxu_multiply_add({0}, {1}, {2})";

/// The name of the unit's environment, and of its header.
pub(super) const ENVIRONMENT: &str = "mxu/unit";
const HEADER: &str = "mxu_unit.h";

/// Computes `a * b + c`; on an `mxu`, by the unit.
#[device(intrinsic = "mxu/multiply_add")]
pub fn multiply_add(a: f32, b: f32, c: f32) -> f32 {
    a * b + c
}

/// The state of the unit on a device.
#[derive(Default, Debug)]
pub struct Unit {
    products: AtomicU64,
}

impl Unit {
    /// The number of products that the unit has computed.
    pub fn products(&self) -> u64 {
        self.products.load(Ordering::Relaxed)
    }

    /// The unit's result.
    pub(super) fn multiply_add(&self, a: f32, b: f32, c: f32) -> f32 {
        self.products.fetch_add(1, Ordering::Relaxed);
        a * b + c
    }
}

/// The environment: the header for texts, and the unit's state on each device.
pub(super) fn environment() -> Environment {
    let parts = |target: &str| {
        let parts = Parts::new();
        match target {
            // SAFETY: the header declares one function, whose name begins with that of the target.
            super::NAME => Ok(unsafe {
                parts.header(HEADER).file(
                    HEADER,
                    "float mxu_multiply_add(float a, float b, float c);\n",
                )
            }),
            _ => Ok(parts),
        }
    };
    Environment::new(ENVIRONMENT, parts).init(|_| Ok(Box::new(Unit::default())))
}
