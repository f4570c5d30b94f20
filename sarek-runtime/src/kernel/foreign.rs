//! The definition of a foreign kernel: its entry point, its parameters, and its texts.

use std::borrow::Cow;

use sarek_ir::write::{IndexWidth, Slot, SlotKind, Source, Sourced, Variant};
use sarek_ir::{Access, Kernel, Origin, Param, ParamId, ParamKind};

use super::Text;
use crate::plugin::backend::{Compiler, Parameter, Parts, Passed, Renderer};
use crate::{Error, Result};

/// The definition of a foreign kernel.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Definition {
    pub(crate) entry: String,
    pub(crate) texts: Vec<Text>,
    /// Texts to link with those of devices that take their languages.
    pub(crate) units: Vec<Text>,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) block: Option<[u32; 3]>,
    pub(crate) parts: Parts,
}

impl Definition {
    fn error(&self, problem: String) -> Error {
        Error::Foreign {
            kernel: self.entry.clone(),
            problem,
        }
    }

    pub(crate) fn check(&self) -> Result<()> {
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
    pub(crate) fn signature(&self) -> Kernel {
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
    pub(crate) fn source(
        &self,
        text: &Text,
        renderer: &dyn Renderer,
        compiler: &dyn Compiler,
    ) -> Source {
        let others = compiler.languages();
        let takes = |unit: &&Text| {
            unit.language().name() == renderer.target() || others.contains(unit.language())
        };
        let units = self.units.iter().filter(takes);
        let units = (1..)
            .zip(units)
            .map(|(number, unit)| unit.unit(&self.entry, number));
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
            sourced: vec![Sourced {
                // Compilers report the end of a text as the line after the last one.
                lines: 1..lines + 2,
                origin: Origin {
                    file: Cow::Owned(text.place(&self.entry)),
                    line: 1,
                    by_line: true,
                },
            }],
            files: units.collect(),
            ..Source::default()
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
}
