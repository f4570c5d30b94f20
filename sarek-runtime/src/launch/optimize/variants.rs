//! The footprint of a kernel, and its transformed kernels of earlier launches. With these, a launch of a new shape is
//! planned without another look at the kernel, unless its plan is new, too.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

use sarek_ir::Kernel;
use sarek_ir::optimize::{Footprint, Optimization, Refusal};

use crate::sync::lock;

/// The transformed kernels that are kept. Each is a few hundred kilobytes at most.
const KEPT: usize = 64;

/// The footprint and the transformed kernels of a kernel.
#[derive(Default)]
pub(in crate::launch) struct Variants {
    footprint: OnceLock<Footprint>,
    known: Mutex<HashMap<Optimization, Variant>>,
}

/// A transformed kernel.
#[derive(Clone)]
pub(super) struct Variant {
    /// See [`Optimization::registers`].
    pub(super) registers: u64,
    pub(super) kernel: Result<Arc<Kernel>, Refusal>,
}

impl Variants {
    /// The footprint of `kernel`, which is always the same.
    pub(in crate::launch) fn footprint(&self, kernel: &Kernel) -> &Footprint {
        self.footprint.get_or_init(|| Footprint::of(kernel))
    }

    /// Transforms `kernel`, which is always the same.
    pub(super) fn get(&self, kernel: &Kernel, optimization: &Optimization) -> Variant {
        if let Some(known) = lock(&self.known).get(optimization) {
            return known.clone();
        }
        // Two threads may make the same kernel; that is cheaper than one waiting for the other.
        let made = Variant {
            registers: optimization.registers(kernel),
            kernel: optimization.apply(kernel).map(Arc::new),
        };
        let mut known = lock(&self.known);
        if known.len() >= KEPT {
            known.clear();
        }
        known.insert(optimization.clone(), made.clone());
        made
    }
}
