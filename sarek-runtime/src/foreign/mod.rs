//! Foreign kernels, written in a device's own language: CUDA C, OpenCL C, WGSL, PTX.
//!
//! A [`ForeignKernel`] has the name of an entry point, its parameters, and one text for each
//! language. A launch uses the text that its device compiles. A device without one is not eligible,
//! and the error names the available languages. Everything else works as with `#[kernel]`: vectors
//! are brought where they are needed, `&` and `&mut` declare reads and writes, streams wait for
//! each other, and programs are cached.
//!
//! ```no_run
//! use sarek_runtime::foreign::{ForeignKernel, Text};
//! # use sarek_runtime::Vector;
//! let saxpy = ForeignKernel::new("saxpy")
//!     .text(Text::cuda("extern \"C\" __global__ void saxpy(float a, const float* x, float* y) { … }"))
//!     .text(Text::opencl("kernel void saxpy(float a, global const float* x, global float* y) { … }"))
//!     .text(Text::file("kernels/saxpy.wgsl")?)
//!     .scalar::<f32>("a")
//!     .input::<f32>("x")
//!     .output::<f32>("y")
//!     .build()?;
//! # let (x, mut y) = (Vector::filled(1024, 1.0f32), Vector::filled(1024, 1.0f32));
//! // SAFETY: each thread of these blocks has an element of its own, and `x` is not written.
//! unsafe { saxpy.call((3.0f32, &x, &mut y)) }.grid(4).block(256).run()?;
//! # Ok::<(), sarek_runtime::Error>(())
//! ```
//!
//! # Argument passing
//!
//! | | Scalars | Vectors |
//! |---|---|---|
//! | CUDA C, PTX | parameters, in order | pointers, in order. The entry point is `extern "C"` |
//! | OpenCL C | parameters, in order | `global` pointers, in order |
//! | WGSL | variables, or fields of one structure, of their names in `var<uniform>` | `var<storage>` of their names, in `@group(0)` |
//!
//! Pass lengths as scalars if a text needs them. A text runs in whole blocks: with
//! `.grid(g).block(b)`, or with `.cover(n)`, whose excess threads should do nothing. In WGSL,
//! `SRK_BLOCK_X`, `SRK_BLOCK_Y` and `SRK_BLOCK_Z` are the block's size, if declared with
//! `override`.
//!
//! Some drivers report the parameters of an entry point: OpenCL C compiled from text, WGSL, and
//! CUDA from 12.4 on. There they are compared with the declared ones, and a difference is
//! [`Error::Signature`](crate::Error::Signature).

mod args;

use std::any::TypeId;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

pub use args::{IntoArgs, Plain};

pub use crate::kernel::Text;
pub use crate::launch::Arg;
pub use crate::plugin::backend::{Parameter, Passed};

use crate::kernel::foreign::Definition;
use crate::launch::{self, FreeBlock, IntoDims, Launch, Prepared};
use crate::plugin::backend::Parts;
use crate::plugin::tag::{Language, Tag};
use crate::sync::lock;
use crate::{Element, Result};

/// A kernel whose text is in devices' own languages; see the [module](self). Cheap to clone.
#[derive(Clone)]
pub struct ForeignKernel(Arc<Prepared>);

/// A builder for a [`ForeignKernel`]: the parameters of an entry point, and its texts.
#[derive(Clone, Debug)]
#[must_use = "a kernel is made by `.build()?`"]
pub struct Builder(Definition);

impl ForeignKernel {
    /// Starts a kernel with this entry point, which holds for every text that sets no other. Add
    /// its parameters in order.
    #[allow(clippy::new_ret_no_self)]
    pub fn new(entry: impl Into<String>) -> Builder {
        Builder(Definition {
            entry: entry.into(),
            texts: Vec::new(),
            units: Vec::new(),
            parameters: Vec::new(),
            block: None,
            parts: Parts::new(),
        })
    }

    /// Returns a launch with these arguments: a tuple of scalars, `&Vector`s and `&mut Vector`s in
    /// the order of the parameters. Arguments that do not match are an error when the launch runs.
    ///
    /// # Safety
    /// With these arguments and in the blocks of the launch, the text does what its declaration
    /// says. It takes the declared parameters, stays within the vectors, writes no vector that is
    /// declared as input, has no data races, and terminates. This holds with the kernel's own
    /// parts, and with any numbers that a launch or an environment defines ([`Parts::define`]). If
    /// the launch is recorded, it holds for every replay, whatever the vectors hold then.
    pub unsafe fn call<'a>(&self, args: impl IntoArgs<'a>) -> Launch<'a, FreeBlock> {
        Launch::prepared(self.0.clone(), args.into_args())
    }

    /// The name of the entry point.
    pub fn name(&self) -> &str {
        self.0.name()
    }

    /// The languages for which there is a text.
    pub fn languages(&self) -> Vec<Tag<Language>> {
        let texts = self.0.foreign().into_iter().flat_map(|def| &def.texts);
        texts.map(|text| text.language().clone()).collect()
    }
}

impl std::fmt::Debug for ForeignKernel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ForeignKernel({})", self.name())
    }
}

impl Builder {
    /// Adds a text, in a language that has none yet.
    pub fn text(mut self, text: Text) -> Builder {
        self.0.texts.push(text);
        self
    }

    /// Adds a text that is compiled on its own, with its own options ([`Text::with_option`]), and
    /// linked with the text of a device that takes its language. There may be several.
    pub fn unit(mut self, text: Text) -> Builder {
        self.0.units.push(text);
        self
    }

    /// Adds a scalar parameter.
    pub fn scalar<T: Plain>(self, name: &str) -> Builder {
        self.parameter(name, Passed::Scalar(T::SCALAR))
    }

    /// Adds a vector parameter that the text reads; the argument is a `&Vector<T>`.
    pub fn input<T: Element>(self, name: &str) -> Builder {
        self.vector::<T>(name, false)
    }

    /// Adds a vector parameter that the text reads and writes; the argument is a `&mut Vector<T>`.
    pub fn output<T: Element>(self, name: &str) -> Builder {
        self.vector::<T>(name, true)
    }

    fn vector<T: Element>(self, name: &str, mutable: bool) -> Builder {
        let kind = Passed::Vector {
            unit: sarek_ir::link::unit(&T::TYPE).0,
            size: size_of::<T>(),
            mutable,
            element: std::any::type_name::<T>(),
            id: TypeId::of::<T>(),
        };
        self.parameter(name, kind)
    }

    fn parameter(mut self, name: &str, kind: Passed) -> Builder {
        let name = name.to_owned();
        self.0.parameters.push(Parameter { name, kind });
        self
    }

    /// Fixes the block size for which the text is written.
    pub fn block(mut self, block: impl IntoDims) -> Builder {
        let size = |n| u32::try_from(n).unwrap_or(u32::MAX);
        self.0.block = Some(block.into_dims().sizes().map(size));
        self
    }

    /// Sets the inputs with which the text is compiled: definitions, options, headers and further
    /// files. They are not checked, because the caller of the kernel vouches for its text.
    pub fn options(mut self, parts: Parts) -> Builder {
        self.0.parts = parts;
        self
    }

    /// Makes the kernel. It is compiled when it is first launched.
    ///
    /// # Errors
    /// [`Error::Foreign`](crate::Error::Foreign) if there is no text, if two texts have the same language, or if two
    /// parameters have the same name.
    pub fn build(self) -> Result<ForeignKernel> {
        static ALL: OnceLock<Mutex<HashMap<Definition, Arc<Prepared>>>> = OnceLock::new();
        let definition = self.0;
        definition.check()?;
        // Equal definitions are one kernel, so that building it in a loop compiles it once.
        let mut all = lock(ALL.get_or_init(Mutex::default));
        let make = || launch::foreign(definition.clone(), definition.signature());
        let prepared = match all.get(&definition) {
            Some(known) => known.clone(),
            None => {
                let made = make();
                all.insert(definition, made.clone());
                made
            }
        };
        Ok(ForeignKernel(prepared))
    }
}

#[cfg(test)]
mod tests;
