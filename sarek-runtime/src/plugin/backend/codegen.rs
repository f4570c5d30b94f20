//! The ways in which devices turn kernels into programs.

use sarek_ir::write::{IndexWidth, Slot, SlotKind, Source, SourceFile, Variant};
use sarek_ir::{Access, Kernel, Memory, ParamId, ParamKind, Scalar};

use super::{Artifact, Compiler, Parts, Renderer};
use crate::{Error, Result};

/// The way a device turns kernels into programs.
pub enum Codegen<'a> {
    /// Calls the compiled Rust body.
    Direct,
    /// Interprets the linked IR.
    Interpret,
    /// Renders source text and compiles it.
    Jit(&'a dyn Renderer, &'a dyn Compiler),
    /// Translates the linked IR in a way of its own, without text.
    Custom(&'a Custom),
}

/// Translates kernels to programs in a way of its own: to the code of a machine, to tables of a
/// fixed-function device, or by another compiler.
///
/// # Safety
/// The program does what the kernel does, including the checks of [`Variant::checked`], and takes
/// the arguments of [`Translation::slots`]. The framework loads and launches it without further
/// checks.
pub unsafe trait Translator: Send + Sync {
    /// The target's name, as used by `native!`, [`crate::intrinsic::register`] and in messages.
    fn target(&self) -> &'static str;

    /// Translates a closed kernel.
    ///
    /// # Errors
    /// An error, such as [`Error::Unsupported`], if the kernel has something that the device cannot
    /// do.
    fn translate(&self, kernel: &Kernel, variant: &Variant) -> Result<Translation>;
}

/// A kernel as a program of the device.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Translation {
    /// The program, in a form that only its backend understands. It becomes
    /// [`Artifact::bytes`](super::Artifact::bytes).
    pub program: Vec<u8>,
    /// The arguments that the program takes, in order.
    pub slots: Vec<Slot>,
    /// The names of environments that the target adds, besides those of the kernel and of the
    /// launch.
    pub environments: Vec<String>,
}

impl Translation {
    /// A program that takes, for each parameter of the kernel in order, the scalar, or the memory
    /// and the number of elements.
    ///
    /// # Panics
    /// If the kernel is not closed, as those that [`Translator::translate`] gets are.
    pub fn new(kernel: &Kernel, variant: &Variant, program: impl Into<Vec<u8>>) -> Translation {
        let index = variant.index.scalar();
        let mut slots = Vec::new();
        for (i, param) in kernel.params.iter().enumerate() {
            let id = ParamId(i as u32);
            match param.kind {
                ParamKind::Scalar(ty) => {
                    slots.push((SlotKind::Scalar(id), passed(ty, variant.index)))
                }
                ParamKind::Slice { elem, access } => {
                    let (param, mutable) = (id, access != Access::Read);
                    slots.push((SlotKind::Buffer { param, mutable }, elem.scalar()));
                    slots.push((SlotKind::Len(Memory::Slice(id)), index));
                }
                ParamKind::Value(_) | ParamKind::Reference(_) => {
                    unreachable!("linking leaves no compound")
                }
            }
        }
        let slot = |(kind, ty)| Slot { kind, ty };
        Translation {
            program: program.into(),
            slots: slots.into_iter().map(slot).collect(),
            environments: Vec::new(),
        }
    }
}

/// The type in which a scalar of this type is passed.
fn passed(ty: Scalar, index: IndexWidth) -> Scalar {
    match ty {
        Scalar::I8 | Scalar::I16 => Scalar::I32,
        Scalar::U8 | Scalar::U16 => Scalar::U32,
        Scalar::F16 | Scalar::Bf16 => Scalar::F32,
        Scalar::Usize => index.scalar(),
        Scalar::Bool
        | Scalar::I32
        | Scalar::U32
        | Scalar::I64
        | Scalar::U64
        | Scalar::F32
        | Scalar::F64 => ty,
    }
}

/// A device's [`Translator`], for [`Codegen::Custom`].
pub struct Custom(Box<dyn Translator>);

impl Custom {
    /// Launches translate kernels by this translator.
    pub fn new(translator: impl Translator + 'static) -> Custom {
        Custom(Box::new(translator))
    }
}

// SAFETY: the translator promises the same. The text is for people.
unsafe impl Renderer for Custom {
    fn target(&self) -> &'static str {
        self.0.target()
    }

    fn render(&self, kernel: &Kernel, variant: &Variant) -> Result<Source> {
        let translation = self.0.translate(kernel, variant)?;
        let program = SourceFile::unit(&*kernel.name, self.0.target(), translation.program);
        Ok(Source {
            text: kernel.to_string(),
            entry: kernel.name.to_string(),
            slots: translation.slots,
            environments: translation.environments,
            files: vec![program],
            ..Source::default()
        })
    }
}

// SAFETY: the artifact is the translation, and there are no options.
unsafe impl Compiler for Custom {
    fn fingerprint(&self) -> String {
        self.0.target().to_owned()
    }

    fn keeps_artifacts(&self) -> bool {
        false // the translation is a part of the source already
    }

    unsafe fn compile(&self, kernel: &str, source: &Source, parts: &Parts) -> Result<Artifact> {
        if !parts.is_empty() {
            return Err(Error::Unsupported {
                backend: self.0.target().to_owned(),
                what: format!(
                    "environments that change texts, as those of `{kernel}` do: it translates \
                     kernels without a text. States of environments reach its launches"
                ),
            });
        }
        match &source.files[..] {
            [program] => Ok(Artifact::new(&*program.contents).with_entries([&source.entry])),
            _ => unreachable!("a translation is one program"),
        }
    }
}

/// The steps of a launch: those of [`Codegen`], of which a translation is rendered and compiled like
/// a text.
pub(crate) enum Pipeline<'a> {
    Direct,
    Interpret,
    Jit(&'a dyn Renderer, &'a dyn Compiler),
}

impl<'a> From<Codegen<'a>> for Pipeline<'a> {
    fn from(codegen: Codegen<'a>) -> Pipeline<'a> {
        match codegen {
            Codegen::Direct => Pipeline::Direct,
            Codegen::Interpret => Pipeline::Interpret,
            Codegen::Jit(renderer, compiler) => Pipeline::Jit(renderer, compiler),
            Codegen::Custom(custom) => Pipeline::Jit(custom, custom),
        }
    }
}
