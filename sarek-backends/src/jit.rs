//! Common parts of the backends that compile source. They destructure the framework's objects, and report those that
//! belong to another backend.

#[cfg(any(feature = "cuda", feature = "opencl", feature = "wgpu"))]
#[cfg(any(feature = "opencl", feature = "wgpu"))]
pub(crate) mod burst;
pub(crate) mod files;
#[cfg(any(feature = "cuda", feature = "opencl", feature = "wgpu"))]
pub(crate) mod linked;

use std::any::Any;
#[cfg(any(feature = "cuda", feature = "opencl"))]
use std::borrow::Cow;
#[cfg(any(feature = "cuda", feature = "opencl"))]
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use sarek_ir::Kernel;
use sarek_ir::write::{Dialect, Slot, SlotKind, Source, Variant, render};
#[cfg(any(feature = "opencl", feature = "wgpu"))]
use sarek_runtime::backend::Passed;
use sarek_runtime::backend::{
    Arg, Args, Artifact, Launch, Origin, Parameter, Parts, Program, Slice,
};
#[cfg(any(feature = "cuda", feature = "opencl"))]
use sarek_runtime::tag::{StorageKind, Tag};
use sarek_runtime::{Error, Result};

#[cfg(any(feature = "cuda", feature = "opencl"))]
use files::{Lines, expanded};

/// A program to load, destructured.
pub(crate) struct Binary<'a> {
    pub artifact: &'a Artifact,
    /// The entry point to load.
    pub entry: &'a str,
    pub source: &'a Source,
    pub kernel: &'a str,
    pub block: [u32; 3],
    /// The lengths of the kernel's shared arrays.
    #[cfg_attr(not(feature = "wgpu"), allow(dead_code))]
    pub shared: &'a [u64],
    /// The settings of the environments with which it was compiled.
    #[cfg_attr(not(feature = "opencl"), allow(dead_code))]
    pub parts: &'a Parts,
    /// The declared parameters, if the text is the user's own.
    pub foreign: Option<&'a [Parameter]>,
}

impl<'a> Binary<'a> {
    pub fn of(device: &str, program: &Program<'a>) -> Result<Binary<'a>> {
        match *program {
            Program::Binary {
                artifact,
                entry,
                source,
                kernel,
                block,
                shared,
                parts,
                origin,
            } => Ok(Binary {
                artifact,
                entry,
                source,
                kernel,
                block,
                shared,
                parts,
                foreign: match origin {
                    Origin::Rendered(_) => None,
                    Origin::Foreign(parameters) => Some(parameters),
                },
            }),
            Program::Direct(_) | Program::Ir(_) => {
                Err(foreign(device, "a program that it did not compile"))
            }
        }
    }

    /// The number of threads of a block.
    #[cfg(any(feature = "cuda", feature = "opencl"))]
    pub fn threads(&self) -> usize {
        self.block.iter().map(|n| *n as usize).product()
    }

    /// Checks the block size: a kernel that needs many registers may only run in blocks of at most `most` threads,
    /// fewer than the device's maximum.
    #[cfg(any(feature = "cuda", feature = "opencl"))]
    pub fn check_block(&self, device: &str, most: usize) -> Result<()> {
        let threads = self.threads();
        if threads <= most {
            return Ok(());
        }
        Err(Error::Launch {
            kernel: self.kernel.into(),
            problem: format!(
                "{device} runs this kernel in blocks of at most {most} threads; {threads} were \
                 asked for"
            ),
        })
    }
}

/// Prepends the headers that environments request to a text, and expands the `#include`s of these files. For languages
/// with the C preprocessor.
#[cfg(any(feature = "cuda", feature = "opencl"))]
pub(crate) fn with_headers<'a>(
    kernel: &str,
    text: &'a str,
    parts: &Parts,
    files: &BTreeMap<String, String>,
) -> Cow<'a, str> {
    if parts.headers().next().is_none() && files.is_empty() {
        return text.into();
    }
    let include = |header: &str| match header.starts_with('<') {
        true => format!("#include {header}\n"),
        false => format!("#include \"{header}\"\n"),
    };
    let mut includes: String = parts.headers().map(include).collect();
    if !includes.is_empty() {
        // Keeps the line numbers of the text itself.
        includes += "#line 1\n";
    }
    expanded(kernel, &(includes + text), files, Lines::Numbered).into()
}

/// The compiler's options for the settings of environments.
#[cfg(any(feature = "cuda", feature = "opencl"))]
pub(crate) fn options(parts: &Parts) -> Vec<String> {
    let definitions = parts.definitions();
    let options = parts
        .include_dirs()
        .map(|folder| format!("-I{}", folder.display()))
        .chain(definitions.map(|(name, value)| format!("-D{name}={value}")))
        .chain(parts.flags().map(str::to_owned));
    options.collect()
}

/// Renders with one of the built-in dialects.
pub(crate) fn render_with(
    dialect: &dyn Dialect,
    kernel: &Kernel,
    variant: &Variant,
) -> Result<Source> {
    render(kernel, dialect, variant).map_err(|lacking| Error::Unsupported {
        backend: dialect.name().into(),
        what: lacking.to_string(),
    })
}

/// The backend's own program in a launch.
pub(crate) fn program<'a, P: 'static>(device: &str, launch: &Launch<'a>) -> Result<&'a P> {
    let program: &dyn Any = launch.program;
    program
        .downcast_ref()
        .ok_or_else(|| foreign(device, "a program of another backend"))
}

/// The arguments of a launch, checked against those for which the program was rendered.
pub(crate) fn arguments<'a>(
    device: &str,
    launch: &Launch<'a>,
    slots: &[Slot],
) -> Result<&'a [Arg]> {
    let Args::Device(args) = launch.args else {
        return Err(foreign(device, "arguments in host memory"));
    };
    let fits = |(arg, slot): (&Arg, &Slot)| match arg {
        Arg::Buffer(_) => is_buffer(slot),
        Arg::Scalar(scalar) => is_scalar(slot) && scalar.size() == scalar_size(slot),
        Arg::Shared { .. } => matches!(slot.kind, SlotKind::Shared(_)),
    };
    if args.len() != slots.len() || !args.iter().zip(slots).all(fits) {
        return Err(foreign(device, "arguments of another program"));
    }
    Ok(args)
}

/// True if it is passed as device memory.
pub(crate) fn is_buffer(slot: &Slot) -> bool {
    match slot.kind {
        SlotKind::Buffer { .. } | SlotKind::Output(_) | SlotKind::Faults => true,
        SlotKind::Len(_)
        | SlotKind::Scalar(_)
        | SlotKind::Extent(_)
        | SlotKind::Grid(_)
        | SlotKind::Shared(_) => false,
    }
}

/// True if it is passed by value.
pub(crate) fn is_scalar(slot: &Slot) -> bool {
    match slot.kind {
        SlotKind::Len(_) | SlotKind::Scalar(_) | SlotKind::Extent(_) | SlotKind::Grid(_) => true,
        SlotKind::Buffer { .. } | SlotKind::Output(_) | SlotKind::Faults | SlotKind::Shared(_) => {
            false
        }
    }
}

/// The size of a scalar argument: `bool` is passed as a `u32`.
pub(crate) fn scalar_size(slot: &Slot) -> usize {
    slot.ty.size().max(4)
}

/// The backend's own memory of a slice.
pub(crate) fn memory<'a, M: 'static>(device: &str, slice: &'a Slice) -> Result<&'a M> {
    let memory: &dyn Any = &*slice.mem;
    memory
        .downcast_ref()
        .ok_or_else(|| foreign(device, "memory of another backend"))
}

/// The error for an entry point that does not take the declared parameters.
pub(crate) fn signature(kernel: &str, target: &str, problem: String) -> Error {
    Error::Signature {
        kernel: kernel.into(),
        target: target.into(),
        problem,
    }
}

/// The declaration of a parameter, for messages.
#[cfg(any(feature = "opencl", feature = "wgpu"))]
pub(crate) fn declared(parameter: &Parameter) -> String {
    match &parameter.kind {
        Passed::Scalar(scalar) => format!("`{}` is declared as {scalar}", parameter.name),
        Passed::Vector {
            element, mutable, ..
        } => {
            let access = if *mutable { "output" } else { "input" };
            let name = &parameter.name;
            format!("`{name}` is declared as an {access} of {element}")
        }
    }
}

/// The error for an object of another backend.
pub(crate) fn foreign(device: &str, what: &str) -> Error {
    Error::Device {
        device: device.into(),
        message: format!("was given {what}"),
    }
}

/// The error for a storage kind that the device lacks.
#[cfg(any(feature = "cuda", feature = "opencl"))]
pub(crate) fn no_storage(device: &str, storage: &Tag<StorageKind>) -> Error {
    Error::Unsupported {
        backend: device.into(),
        what: format!("vectors in the storage `{storage}`"),
    }
}

/// Locks a mutex, and ignores poisoning: the data behind these locks is valid at every point.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
