//! The trait of kernels, which `#[kernel]` implements.

use super::{explain_kernel, prepared, source};
use crate::device::registry;
use crate::host::{Direct, DirectArg, DirectKernel, IndexSpace, isa};
use crate::{KernelDef, Result};

/// The trait that `#[kernel]` implements, for a struct next to the function.
///
/// # Safety
/// The compiled body of [`Kernel::DEF`] does what its IR says, and takes arguments that match the
/// IR's parameters. Launches rely on the IR for the body's argument types, and for the checks that
/// may be left out.
pub unsafe trait Kernel {
    /// The kernel's definition.
    const DEF: KernelDef;

    /// Runs the function as the user wrote it, one thread after the other (x fastest) on the
    /// calling thread. rustc compiles it without any of this crate's lowering, so tests use it as
    /// the oracle.
    ///
    /// # Safety
    /// The arguments match the kernel's parameters in number and type, and stay borrowed for the
    /// call.
    unsafe fn reference(args: &[DirectArg], space: &IndexSpace);

    /// The kernel's IR, possibly with open links.
    fn ir() -> &'static sarek_ir::Kernel {
        Self::DEF.ir
    }

    /// Returns the kernel's text for a target: `cuda`, `opencl`, `wgsl`, or that of a registered
    /// backend.
    fn source(target: &str) -> Result<String> {
        let kernel = prepared(const { &Self::DEF });
        source(registry::global(), &kernel, target)
    }

    /// Describes the kernel's requirements; for each device, states whether it can run the kernel,
    /// and the reason if not.
    fn explain() -> String {
        let kernel = prepared(const { &Self::DEF });
        explain_kernel(registry::global(), &kernel)
    }
}

impl Direct {
    /// The compiled body of a kernel.
    pub const fn of<K: DirectKernel + Kernel>() -> Direct {
        Direct {
            run: isa::run::<K>,
            #[cfg(feature = "reference")]
            reference: K::reference,
            cost: K::COST,
            row_wise: K::ROW_WISE,
            any_block: K::ANY_BLOCK,
            tall: K::TALL,
            arrays: 0,
            constants: 0,
        }
    }

    /// The same, compiled for one instruction set only, see [`Isa`](crate::host::Isa); unless `PROVED` is set, always
    /// with checks. It is for tests, and spares rustc compiling copies that they do not run.
    ///
    /// # Safety
    /// The processor has the set wherever the body runs.
    #[cfg(feature = "reference")]
    pub const unsafe fn one<K: DirectKernel + Kernel, const ISA: u8, const PROVED: bool>() -> Direct
    {
        Direct {
            run: isa::run_one::<K, ISA, PROVED>,
            reference: K::reference,
            cost: K::COST,
            row_wise: K::ROW_WISE,
            any_block: K::ANY_BLOCK,
            tall: K::TALL,
            arrays: 0,
            constants: 0,
        }
    }
}
