//! Kernels and device functions: the traits and definitions that macro expansions implement.

mod function;
mod links;
mod native;

pub use function::{DeviceFn, FunctionFacts, ParameterSet};
pub use links::{leaf, links};
pub use native::{NativeOperand, NativePrelude, native, no_fallback};

use half::{bf16, f16};
use sarek_ir::Value;
use sarek_ir::link::Links;

use crate::device::registry;
use crate::host::{Direct, DirectArg, IndexSpace, RawFault};
use crate::{Result, launch};

/// A scalar that is passed to a kernel by value. The trait is sealed, because proofs rely on
/// [`ScalarArg::value`] being the value that the body uses.
///
/// ```
/// fn take(_: impl sarek_runtime::ScalarArg) {}
/// take(1u32);
/// ```
///
/// ```compile_fail,E0277
/// #[derive(Clone, Copy)]
/// struct My(u32);
///
/// impl sarek_runtime::NativeOperand for My {}
///
/// impl sarek_runtime::ScalarArg for My {
///     fn value(self) -> sarek_ir::Value {
///         sarek_ir::Value::U32(self.0)
///     }
///
///     fn from_value(_: sarek_ir::Value) -> Option<My> {
///         None
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "SRK0314: `{Self}` is not a scalar",
    label = "not a scalar of the kernel language",
    note = "why: such a value is passed in one word, through a device's memory",
    note = "instead: pass its parts, each of bool, i8 to i64, u8 to u64, usize, f16, bf16, f32 or f64"
)]
pub trait ScalarArg: Copy + NativeOperand + sealed::Scalar + 'static {
    /// Returns the value itself. Expansions call it to make rustc check that the value is a scalar.
    #[doc(hidden)]
    fn __scalar(self) -> Self {
        self
    }

    /// The value in the IR.
    fn value(self) -> Value;

    /// Converts back from a value in the IR; `None` if its type differs.
    fn from_value(value: Value) -> Option<Self>;
}

pub(crate) mod sealed {
    /// The scalars of the kernel language.
    pub trait Scalar {}
}

macro_rules! scalars {
    ($($ty:ident $scalar:ident |$v:ident| $value:expr, $back:expr;)*) => {$(
        impl NativeOperand for $ty {}
        impl sealed::Scalar for $ty {}

        impl ScalarArg for $ty {
            fn value(self) -> Value {
                let $v = self;
                $value
            }

            #[inline(always)]
            fn from_value(value: Value) -> Option<$ty> {
                match value {
                    Value::$scalar($v) => Some($back),
                    _ => None,
                }
            }
        }
    )*};
}

scalars! {
    bool Bool |v| Value::Bool(v), v;
    i8 I8 |v| Value::I8(v), v;
    u8 U8 |v| Value::U8(v), v;
    i16 I16 |v| Value::I16(v), v;
    u16 U16 |v| Value::U16(v), v;
    i32 I32 |v| Value::I32(v), v;
    u32 U32 |v| Value::U32(v), v;
    i64 I64 |v| Value::I64(v), v;
    u64 U64 |v| Value::U64(v), v;
    f16 F16 |v| Value::F16(v.to_bits()), f16::from_bits(v);
    bf16 Bf16 |v| Value::Bf16(v.to_bits()), bf16::from_bits(v);
    f32 F32 |v| Value::f32(v), f32::from_bits(v);
    f64 F64 |v| Value::f64(v), f64::from_bits(v);
}

impl NativeOperand for usize {}
impl sealed::Scalar for usize {}

impl ScalarArg for usize {
    fn value(self) -> Value {
        Value::Usize(self as u64)
    }

    #[inline(always)]
    fn from_value(value: Value) -> Option<usize> {
        match value {
            Value::Usize(v) => Some(v as usize),
            _ => None,
        }
    }
}

/// A kernel's static definition, which `#[kernel]` generates.
#[derive(Clone, Copy)]
pub struct KernelDef {
    /// The kernel's IR, possibly with open links.
    pub ir: &'static sarek_ir::Packed,
    /// The items of the user's crate that the kernel refers to; each instance of a generic kernel
    /// has its own.
    pub links: fn() -> Links,
    /// For a closed kernel, pairs `(target, text)` with the default variant in each built-in
    /// dialect.
    pub sources: &'static [(&'static str, &'static str)],
    /// The compiled body.
    pub direct: Direct,
    /// The environments that its text needs: `#[kernel(env(…))]`.
    pub environments: &'static [&'static str],
}

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
        let kernel = launch::prepared(const { &Self::DEF });
        launch::source(registry::global(), &kernel, target)
    }

    /// Describes the kernel's requirements; for each device, states whether it can run the kernel,
    /// and the reason if not.
    fn explain() -> String {
        let kernel = launch::prepared(const { &Self::DEF });
        launch::explain_kernel(registry::global(), &kernel)
    }
}

impl KernelDef {
    /// The definition of a kernel with errors, whose compilation fails anyway.
    #[doc(hidden)]
    pub const BROKEN: KernelDef = KernelDef {
        ir: sarek_ir::Packed::EMPTY,
        links: Links::default,
        sources: &[],
        direct: Direct {
            run: broken,
            #[cfg(feature = "reference")]
            reference: no_reference,
            weight: 0,
            streams: false,
            arrays: 0,
            constants: 0,
        },
        environments: &[],
    };
}

/// # Safety
/// No requirement.
unsafe fn broken(
    _: &[DirectArg],
    _: &IndexSpace,
    _: std::ops::Range<u64>,
    _: bool,
) -> Result<(), RawFault> {
    Ok(())
}

/// # Safety
/// No requirement.
#[cfg(feature = "reference")]
unsafe fn no_reference(_: &[DirectArg], _: &IndexSpace) {}
