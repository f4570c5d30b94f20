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
//! [`Error::Signature`].

mod args;
mod text;

use std::any::TypeId;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

use sarek_ir::write::{IndexWidth, Slot, SlotKind, Source, Sourced, Variant};
use sarek_ir::{Access, Kernel, Origin, Param, ParamId, ParamKind, Scalar};

pub use args::{IntoArgs, Plain};
pub use text::Text;

pub use crate::launch::Arg;

use crate::launch::{self, FreeBlock, IntoDims, Launch, Prepared};
use crate::plugin::backend::{Compiler, Parts, Renderer};
use crate::plugin::tag::{Language, Tag};
use crate::sync::lock;
use crate::{Element, Error, Result};

/// A kernel whose text is in devices' own languages; see the [module](self). Cheap to clone.
#[derive(Clone)]
pub struct ForeignKernel(Arc<Prepared>);

/// A builder for a [`ForeignKernel`]: the parameters of an entry point, and its texts.
#[derive(Clone, Debug)]
#[must_use = "a kernel is made by `.build()?`"]
pub struct Builder(Definition);

/// The definition of a foreign kernel.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Definition {
    entry: String,
    texts: Vec<Text>,
    parameters: Vec<Parameter>,
    block: Option<[u32; 3]>,
    parts: Parts,
}

/// A parameter of an entry point.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Parameter {
    /// The name, for messages and in WGSL.
    pub name: String,
    /// The kind of parameter.
    pub kind: Passed,
}

/// The way an argument is passed.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Passed {
    /// By value.
    Scalar(Scalar),
    /// As memory of elements.
    Vector {
        /// The scalar type of which elements consist.
        unit: Scalar,
        /// The size of an element in bytes.
        size: usize,
        /// True if the text may write it.
        mutable: bool,
        /// The element's type in Rust, for messages.
        element: &'static str,
        /// The element's type, for comparisons.
        id: TypeId,
    },
}

impl ForeignKernel {
    /// Starts a kernel with this entry point, which holds for every text that sets no other. Add
    /// its parameters in order.
    #[allow(clippy::new_ret_no_self)]
    pub fn new(entry: impl Into<String>) -> Builder {
        Builder(Definition {
            entry: entry.into(),
            texts: Vec::new(),
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
    /// [`Error::Foreign`] if there is no text, if two texts have the same language, or if two
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

impl Definition {
    fn error(&self, problem: String) -> Error {
        Error::Foreign {
            kernel: self.entry.clone(),
            problem,
        }
    }

    fn check(&self) -> Result<()> {
        if self.texts.is_empty() {
            return Err(self.error("it has no text; give it one with `.text(…)`".into()));
        }
        for (at, text) in self.texts.iter().enumerate() {
            let language = text.language();
            if self.texts[..at].iter().any(|t| t.language() == language) {
                return Err(self.error(format!("it has two texts in {language}")));
            }
        }
        for (at, parameter) in self.parameters.iter().enumerate() {
            let mut others = self.parameters[..at].iter();
            if others.any(|other| other.name == parameter.name) {
                return Err(self.error(format!("two parameters are called `{}`", parameter.name)));
            }
        }
        match self.block {
            Some(block) if block.contains(&0) => Err(self.error("its block has no threads".into())),
            Some(_) | None => Ok(()),
        }
    }

    /// The kernel for launches: its parameters, without a body.
    fn signature(&self) -> Kernel {
        let param = |parameter: &Parameter| Param {
            name: Cow::Owned(parameter.name.clone()),
            kind: match parameter.kind {
                Passed::Scalar(scalar) => ParamKind::Scalar(scalar),
                Passed::Vector { unit, mutable, .. } => ParamKind::Slice {
                    elem: unit.into(),
                    access: if mutable { Access::Write } else { Access::Read },
                },
            },
            align: 0,
        };
        Kernel {
            name: Cow::Owned(self.entry.clone()),
            block: self.block,
            params: self.parameters.iter().map(param).collect(),
            ..Kernel::EMPTY
        }
    }

    /// The parameters.
    pub(crate) fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// The inputs with which the text is compiled.
    pub(crate) fn parts(&self) -> &Parts {
        &self.parts
    }

    /// The text that a device compiles.
    pub(crate) fn text_for(
        &self,
        renderer: &dyn Renderer,
        compiler: &dyn Compiler,
    ) -> Option<&Text> {
        let target = |text: &&Text| text.language().name() == renderer.target();
        let own = self.texts.iter().find(target);
        own.or_else(|| {
            let others = compiler.languages();
            self.texts.iter().find(|t| others.contains(t.language()))
        })
    }

    /// The reason why a device with this target, or with none, cannot run it.
    pub(crate) fn no_text(&self, target: Option<&str>) -> String {
        let known: Vec<_> = self.texts.iter().map(|t| t.language().name()).collect();
        let known = known.join(", ");
        match target {
            Some(target) => {
                format!("it takes text in {target}, and the kernel has text in {known}")
            }
            None => format!("it takes no text, and the kernel has nothing but text in {known}"),
        }
    }

    /// The source that a compiler gets for a text.
    pub(crate) fn source(&self, text: &Text) -> Source {
        let slots = self.parameters.iter().zip((0..).map(ParamId));
        let slot = |(parameter, param): (&Parameter, ParamId)| match parameter.kind {
            Passed::Scalar(ty) => Slot {
                kind: SlotKind::Scalar(param),
                ty,
            },
            Passed::Vector { unit, mutable, .. } => Slot {
                kind: SlotKind::Buffer { param, mutable },
                ty: unit,
            },
        };
        let lines = text.text().lines().count() as u32;
        Source {
            text: text.text().to_owned(),
            entry: text.entry().unwrap_or(&self.entry).to_owned(),
            slots: slots.map(slot).collect(),
            tables: vec![],
            sourced: vec![Sourced {
                // Compilers report the end of a text as the line after the last one.
                lines: 1..lines + 2,
                origin: Origin {
                    file: Cow::Owned(text.place(&self.entry)),
                    line: 1,
                    by_line: true,
                },
            }],
        }
    }

    /// The only variant of a foreign kernel.
    pub(crate) fn variant() -> Variant {
        Variant {
            dims: 3,
            folded: false,
            strided: false,
            index: IndexWidth::Bits64,
            checked: Default::default(),
            dense: true,
        }
    }

    /// Returns an error unless the vectors' element types are the declared ones. Their scalar types
    /// were checked before.
    pub(crate) fn check_elements(&self, args: &[Arg<'_>]) -> Result<()> {
        for (parameter, arg) in self.parameters.iter().zip(args) {
            if let (Passed::Vector { element, id, .. }, Some(vector)) =
                (&parameter.kind, arg.vector())
                && vector.element().0 != *id
            {
                let (name, have) = (&parameter.name, vector.element().1);
                return Err(Error::Launch {
                    kernel: self.entry.clone(),
                    problem: format!("`{name}` takes elements {element}, not {have}"),
                });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
