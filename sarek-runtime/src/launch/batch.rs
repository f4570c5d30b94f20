//! Ahead-of-time compilation of kernels: one, or a batch at once.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use sarek_ir::write::Variant;

use super::plan::Plan;
use super::prepare::Prepared;
use super::programs::{self, Jitted};
use super::relaunch::CallTemplate;
use super::{Ready, compile, dispatch, eligible};
use crate::kernel::foreign::Definition;
use crate::plugin::backend::Pipeline;
use crate::{Device, Error, Result};

/// A kernel specialized for a device: the kernel, and all facts of a launch and a device that
/// select its program.
///
/// Made by [`Ready::specialize`]. Launches with equal facts run the same program, whatever their
/// vectors hold. `Display` lists the facts.
#[derive(Clone)]
pub struct Specialized {
    device: Device,
    kernel: Arc<Prepared>,
    plan: Arc<Plan>,
    /// For a device that compiles source text.
    variant: Option<Variant>,
    environments: Arc<[String]>,
    /// The name that its user gave it.
    name: Option<Arc<str>>,
    /// The call, which can be repeated with other vectors.
    template: Arc<CallTemplate>,
}

/// A program that was compiled and loaded.
#[derive(Clone, Debug)]
pub struct Code {
    /// The name: the one given by [`Specialized::named`], or the kernel's.
    pub name: String,
    /// The kernel's name.
    pub kernel: String,
    /// The language of the text; `rust` for code that was compiled with the host program.
    pub target: String,
    /// The text; empty for code that was compiled with the host program.
    pub text: String,
    /// The compiler's messages; empty if the artifact was cached by an earlier run.
    pub log: String,
    /// The entry points of the artifact, if the compiler lists them. Code that was compiled with
    /// the host program has the kernel alone.
    pub entries: Vec<String>,
    pub(super) program: Specialized,
}

impl Ready<'_> {
    /// Specializes this launch's kernel for a device; `None` if the launch has no threads.
    ///
    /// # Errors
    /// Those errors of [`Ready::run_on`] that are known before anything is compiled.
    pub fn specialize(&self, device: &Device) -> Result<Option<Specialized>> {
        crate::sync::fork::check()?;
        self.check()?;
        dispatch::check(device, self)?;
        eligible::check(device, self)?;
        if self.shape.is_empty() {
            return Ok(None);
        }
        let plan = self.plan(device)?;
        self.require(&plan)?;
        let (kernel, environments) = (&self.call.kernel, self.call.environments());
        let variant = match (device.pipeline(), kernel.foreign()) {
            (Pipeline::Direct | Pipeline::Interpret, _) => None,
            (Pipeline::Jit(..), Some(_)) => Some(Definition::variant()),
            (Pipeline::Jit(renderer, _), None) => {
                Some(plan.variant(&kernel.kernel, renderer.target()))
            }
        };
        Ok(Some(Specialized {
            device: device.clone(),
            kernel: kernel.clone(),
            plan: Arc::new(plan),
            variant,
            environments: environments.clone(),
            name: None,
            template: Arc::new(CallTemplate::of(self)),
        }))
    }
}

impl Specialized {
    /// The kernel's name.
    pub fn kernel(&self) -> &str {
        self.kernel.name()
    }

    /// Names the program, for [`Code::name`], for [`Device::debug_info`], and for the list of the cache
    /// on disk ([`cache::stored`](crate::cache::stored)). The name is no part of the program: equal
    /// programs with several names are compiled once.
    #[must_use]
    pub fn named(mut self, name: &str) -> Specialized {
        self.name = Some(name.into());
        self
    }

    pub(super) fn template(&self) -> &CallTemplate {
        &self.template
    }

    /// The name of the program: the one given by [`Specialized::named`], or the kernel's.
    pub fn name(&self) -> &str {
        self.name.as_deref().unwrap_or(self.kernel())
    }

    /// The device that runs the program.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The block size in threads along x, y and z.
    pub fn block(&self) -> [u32; 3] {
        self.plan.space.block
    }

    /// The names of the environments that the text needs.
    pub fn environments(&self) -> &[String] {
        &self.environments
    }

    /// The loaded program, from the cache or compiled now; `None` on a device that does not
    /// compile.
    fn jitted(&self, variant: &Variant) -> Result<Option<Jitted>> {
        let Pipeline::Jit(renderer, compiler) = self.device.pipeline() else {
            return Ok(None);
        };
        let (kernel, environments) = (&self.kernel, &self.environments);
        let codegen = (renderer, compiler);
        programs::jitted(
            &self.device,
            codegen,
            (kernel, self.name.as_deref()),
            variant,
            &self.plan,
            environments,
        )
        .map(Some)
    }

    /// Compiles and loads the program.
    fn code(&self) -> Result<Code> {
        let kernel = self.kernel().to_owned();
        let jitted = match &self.variant {
            Some(variant) => self.jitted(variant)?,
            None => None,
        };
        let name = self.name().to_owned();
        if let (Some(jitted), Some(name)) = (&jitted, &self.name) {
            jitted.name(name);
        }
        let Some(jitted) = jitted else {
            programs::body(&self.device, &self.kernel)?;
            return Ok(Code {
                name,
                entries: vec![kernel.clone()],
                kernel,
                target: "rust".to_owned(),
                text: String::new(),
                log: String::new(),
                program: self.clone(),
            });
        };
        let target = match self.device.pipeline() {
            Pipeline::Jit(renderer, _) => renderer.target(),
            Pipeline::Direct | Pipeline::Interpret => "rust",
        };
        Ok(Code {
            name,
            kernel,
            target: target.to_owned(),
            text: jitted.source().text.clone(),
            log: jitted.log().to_owned(),
            entries: jitted.entries().to_vec(),
            program: self.clone(),
        })
    }
}

impl Device {
    /// Compiles a program ahead of the launches that run it. They find it in the cache.
    ///
    /// # Errors
    /// The compiler's error; [`Error::Device`] if the program is for another device.
    pub fn compile(&self, program: &Specialized) -> Result<Code> {
        self.owns(program)?;
        program.code()
    }

    /// Compiles several programs at once; `None` stays `None`. Each result is the one of
    /// [`Device::compile`]: failures do not affect the other programs.
    ///
    /// Claims on programs are asked with all kernels of the batch: if another backend claims them
    /// together, each result is that error.
    pub fn compile_batch(&self, batch: &[Option<Specialized>]) -> Vec<Option<Result<Code>>> {
        let own = batch
            .iter()
            .flatten()
            .filter(|program| program.device == *self);
        let kernels: Vec<&Prepared> = own.map(|program| &*program.kernel).collect();
        if let Err(error) = dispatch::check_program(self, &kernels) {
            let refused = |program: &Specialized| match self.owns(program) {
                Ok(()) => Err(error.clone()),
                Err(foreign) => Err(foreign),
            };
            return batch
                .iter()
                .map(|program| program.as_ref().map(refused))
                .collect();
        }
        let mut failed = self.compile_missing(batch);
        let one = |(at, program): (usize, &Option<Specialized>)| {
            let program = program.as_ref()?;
            Some(match failed.remove(&at) {
                Some(error) => Err(error),
                None => self.compile(program),
            })
        };
        batch.iter().enumerate().map(one).collect()
    }

    /// Compiles the texts of a batch that are not cached yet, and caches them. Returns the errors
    /// by position in the batch.
    fn compile_missing(&self, batch: &[Option<Specialized>]) -> HashMap<usize, Error> {
        let mut failed = HashMap::new();
        let Pipeline::Jit(renderer, compiler) = self.pipeline() else {
            return failed;
        };
        let (mut keys, mut units, mut users) = (vec![], vec![], vec![]);
        for (at, program) in batch.iter().enumerate() {
            let own = program.as_ref().filter(|program| program.device == *self);
            let Some((program, variant)) = own.and_then(|p| Some((p, p.variant.as_ref()?))) else {
                continue;
            };
            let (kernel, environments) = (&program.kernel, &program.environments);
            let codegen = (renderer, compiler);
            match programs::missing(
                self,
                codegen,
                (kernel, program.name.as_deref()),
                (variant, &program.plan),
                environments,
            ) {
                Ok(None) => {}
                Ok(Some((key, unit))) => match keys.iter().position(|known| *known == key) {
                    Some(known) => users.push((known, at)),
                    None => {
                        users.push((keys.len(), at));
                        keys.push(key);
                        units.push(unit);
                    }
                },
                Err(error) => {
                    failed.insert(at, error);
                }
            }
        }
        let compiled = compile::compile_all(compiler, &units);
        let made = keys.into_iter().zip(units).zip(compiled);
        for (i, ((key, unit), output)) in made.enumerate() {
            match output {
                Ok(output) => programs::keep(self, key, unit, output),
                Err(error) => {
                    let users = users.iter().filter(|(unit, _)| *unit == i);
                    failed.extend(users.map(|(_, at)| (*at, error.clone())));
                }
            }
        }
        failed
    }

    fn owns(&self, program: &Specialized) -> Result<()> {
        match program.device == *self {
            true => Ok(()),
            false => Err(Error::Device {
                device: self.to_string(),
                message: format!("was given a program for {}", program.device),
            }),
        }
    }
}

impl fmt::Display for Specialized {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.block();
        if let Some(name) = &self.name {
            write!(f, "{name}: ")?;
        }
        write!(
            f,
            "`{}` on {}: blocks of ({x}, {y}, {z})",
            self.kernel(),
            self.device
        )?;
        if let Some(variant) = self
            .variant
            .as_ref()
            .filter(|_| self.kernel.foreign().is_none())
        {
            let (dims, bits) = (variant.dims, variant.index.scalar().bits());
            write!(f, ", {dims} dimensions, indices of {bits} bits")?;
            write!(f, ", {} checks", variant.checked.len())?;
            if variant.folded {
                f.write_str(", a folded grid")?;
            }
            if !variant.dense {
                f.write_str(", views with gaps")?;
            }
        }
        if !self.plan.shared.is_empty() {
            write!(f, ", shared arrays of {:?} elements", self.plan.shared)?;
        }
        if let Some(tags) = &self.plan.tags {
            write!(f, ", {tags}")?;
        }
        match &*self.environments {
            [] => Ok(()),
            names => write!(f, ", environments {}", names.join(", ")),
        }
    }
}

impl fmt::Debug for Specialized {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Specialized({self})")
    }
}

#[cfg(test)]
mod tests;
