//! Routines of compiled code.

use std::cell::{Ref, RefMut};
use std::collections::BTreeMap;

use super::{AnyVector, Bound, Context, Routine, Uses};
use crate::launch::{CodeVector, Lent};
use crate::{Code, Error, Result};

impl Context {
    /// Links compiled code: the routine runs the kernel with vectors of this context in the place of
    /// those that the code was specialized with, and with the same scalars and threads.
    ///
    /// `names` says which vector of the context a parameter takes; a parameter without an entry takes
    /// the vector of its own name. A vector that the kernel writes and that the context lacks is
    /// allocated now, filled with zeros, in the routine's context ([`Routine::context`]). Code can be
    /// linked into several contexts of its device.
    ///
    /// ```
    /// # use sarek_runtime::{Code, context::Context};
    /// # fn link(code: &Code, first: &Context, second: &Context) -> sarek_runtime::Result<()> {
    /// // `fn scale(x: &[f32], y: &mut [f32])`; `y` is new in both contexts.
    /// let routine = first.link_code(code, &[("x", "weights")])?;
    /// let other = second.link_code(code, &[("x", "bias")])?;
    /// routine.run()?;
    /// other.run()?;
    /// routine.context().to_host::<f32>("y")?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::NotInContext`] for a vector that the kernel reads and the context lacks;
    /// [`Error::Context`] if a vector has another length or type than the code takes, if two
    /// parameters take one vector and one of them writes it, or if the kernel is an `unsafe fn`;
    /// [`Error::Device`] if the code is for another device.
    pub fn link_code(&self, code: &Code, names: &[(&str, &str)]) -> Result<Routine> {
        if code.is_vouched() {
            let problem = "its kernel is an `unsafe fn`, whose caller vouches for the arguments; use \
                           `link_code_unchecked`, which is `unsafe`, too";
            return Err(self.error(&code.name, problem.to_owned()));
        }
        // SAFETY: the kernel is safe to call with any arguments.
        unsafe { self.link_code_unchecked(code, names) }
    }

    /// The same as [`Context::link_code`] for a kernel that is an `unsafe fn`.
    ///
    /// # Safety
    /// Whenever the routine runs, the kernel may be called with the vectors of this context, whatever
    /// they hold then.
    ///
    /// # Errors
    /// Those of [`Context::link_code`].
    pub unsafe fn link_code_unchecked(
        &self,
        code: &Code,
        names: &[(&str, &str)],
    ) -> Result<Routine> {
        if code.device() != self.device() {
            return Err(Error::Device {
                device: self.device().to_string(),
                message: format!("was given code for {}", code.device()),
            });
        }
        let known = |name: &str| code.vectors().any(|vector| vector.name == name);
        if let Some((unknown, _)) = names.iter().find(|(parameter, _)| !known(parameter)) {
            let problem = format!("`{}` has no vector parameter of this name", code.kernel);
            return Err(self.error(unknown, problem));
        }
        let mut uses = Uses::new();
        let mut bound: Vec<(String, bool)> = vec![];
        for vector in code.vectors() {
            let given = names
                .iter()
                .find(|(parameter, _)| *parameter == vector.name);
            let name = given.map_or(vector.name, |(_, name)| name);
            if let Some((_, written)) = bound.iter().find(|(other, _)| other == name)
                && (*written || vector.written)
            {
                let problem = format!(
                    "two parameters of `{}` take it, and one writes it",
                    code.kernel
                );
                return Err(self.error(name, problem));
            }
            bound.push((name.to_owned(), vector.written));
            uses = match (self.contains(name), vector.written) {
                (true, written) => {
                    self.fits(name, &vector)?;
                    match written {
                        true => uses.writes(name),
                        false => uses.reads(name),
                    }
                }
                (false, true) => self.creates(uses, name, &vector)?,
                // Linking reports it.
                (false, false) => uses.reads(name),
            };
        }
        let code = code.clone();
        self.link(uses, move |vectors| run(&code, vectors, &bound))
    }

    /// Checks the type and the length of a vector.
    fn fits(&self, name: &str, wanted: &CodeVector<'_>) -> Result<()> {
        let cell = self.opened(name, self.find(name)?)?;
        let vector = cell.erased();
        let ((element, found), len) = (vector.element(), vector.len());
        let (want, wanted_name) = wanted.element;
        if element != want {
            let problem = format!("its elements are {found}, and the code takes {wanted_name}");
            return Err(self.error(name, problem));
        }
        if len != wanted.len {
            let problem = format!("it has {len} elements, and the code takes {}", wanted.len);
            return Err(self.error(name, problem));
        }
        Ok(())
    }

    /// Adds a vector to allocate; numbers only.
    fn creates(&self, uses: Uses, name: &str, wanted: &CodeVector<'_>) -> Result<Uses> {
        macro_rules! number {
            ($($t:ty)*) => {
                $(if wanted.element.0 == std::any::TypeId::of::<$t>() {
                    return Ok(uses.creates::<$t>(name, wanted.len));
                })*
            };
        }
        number!(f32 f64 i8 i16 i32 i64 u8 u16 u32 u64 bool half::f16 half::bf16);
        let problem = format!(
            "the context lacks it, and linking allocates numbers, not {}; add it with `init_with`",
            wanted.element.1
        );
        Err(self.error(name, problem))
    }
}

/// Runs code with the vectors of these names, in the order of its parameters.
fn run(code: &Code, vectors: &Bound<'_>, bound: &[(String, bool)]) -> Result<()> {
    // Parameters that only read may share a vector.
    let mut reads: BTreeMap<&str, Ref<'_, dyn AnyVector>> = BTreeMap::new();
    let mut writes: BTreeMap<&str, RefMut<'_, dyn AnyVector>> = BTreeMap::new();
    for (name, written) in bound {
        match written {
            true => drop(writes.insert(name, vectors.erased_mut(name)?)),
            false => drop(reads.insert(name, vectors.erased(name)?)),
        }
    }
    let mut writes: BTreeMap<&str, &mut RefMut<'_, dyn AnyVector>> = writes
        .iter_mut()
        .map(|(name, vector)| (*name, vector))
        .collect();
    let lent = bound.iter().map(|(name, written)| match written {
        true => writes
            .remove(&**name)
            .map(|vector| Lent::Write(vector.erased_mut())),
        false => reads.get(&**name).map(|vector| Lent::Read(vector.erased())),
    });
    let lent = lent.map(|lent| lent.expect("each was borrowed above"));
    code.enqueue(vectors.stream(), lent.collect())
}
