//! The values of locals at one point of the walk over a single block's code.
//!
//! A local that is the same for all threads of the block gets a new [`Symbol`] at each assignment. In a loop
//! without a barrier, threads may be in different iterations, so a local that changes there has no symbol. An
//! immutable local keeps the form that its initialiser had at the `let`.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use super::{Affine, Form, Poly, Symbol};
use crate::analysis::uniformity::{Among, Uniformity};
use crate::{Kernel, LocalId, NameId, Scalar};

/// The forms of locals, see the module's documentation.
#[derive(Clone)]
pub struct Values {
    /// In the analysis of a single block: the locals that its threads have in common.
    uniformity: Option<Rc<Uniformity>>,
    known: HashMap<LocalId, Affine>,
    /// The forms of the fields of tuples and structs, with their types.
    fields: BTreeMap<(LocalId, NameId), (Affine, Scalar)>,
    /// The number of symbols made so far.
    made: u32,
    /// The number of enclosing loops without a barrier.
    loops: u32,
}

impl Values {
    /// The values before the first statement.
    pub fn new(kernel: &Kernel, among: &Among) -> Values {
        Values {
            uniformity: Some(Rc::new(Uniformity::among(kernel, among))),
            ..Values::of_launch()
        }
    }

    /// The values before the first statement, in the analysis of a launch: threads have no assigned local in common.
    pub fn of_launch() -> Values {
        Values {
            uniformity: None,
            known: HashMap::new(),
            fields: BTreeMap::new(),
            made: 0,
            loops: 0,
        }
    }

    /// True in the analysis of a single block.
    pub fn are_of_block(&self) -> bool {
        self.uniformity.is_some()
    }

    /// True if the threads of the block have the value that the local gets here in common.
    pub fn are_in_common(&self, local: LocalId) -> bool {
        let uniformity = self.uniformity.as_ref();
        self.loops == 0 && uniformity.is_some_and(|uniformity| uniformity.local(local))
    }

    /// The form of a field of a tuple or struct.
    pub fn field(&self, local: LocalId, name: NameId) -> Option<Affine> {
        self.fields
            .get(&(local, name))
            .map(|(form, _)| form.clone())
    }

    /// The fields of a local that have a form, with their types.
    pub fn fields(&self, local: LocalId) -> Vec<(NameId, Affine, Scalar)> {
        let of_local = self
            .fields
            .range((local, NameId(0))..=(local, NameId(u32::MAX)));
        of_local
            .map(|((_, name), (form, ty))| (*name, form.clone(), *ty))
            .collect()
    }

    /// Records the form of a field.
    pub fn set_field(&mut self, local: LocalId, name: NameId, (form, ty): (Affine, Scalar)) {
        self.fields.insert((local, name), (form, ty));
    }

    /// Forgets the fields of a local.
    pub fn forget_fields(&mut self, local: LocalId) {
        self.fields.retain(|(of, _), _| *of != local);
    }

    /// The locals with fields that have a form.
    pub fn locals_with_fields(&self) -> impl Iterator<Item = LocalId> + '_ {
        self.fields.keys().map(|(local, _)| *local)
    }

    /// The locals that have a form.
    pub fn locals(&self) -> impl Iterator<Item = LocalId> + '_ {
        self.known.keys().copied()
    }

    /// The form of a local's value, if it has one.
    pub fn get(&self, local: LocalId) -> Option<Affine> {
        self.known.get(&local).cloned()
    }

    /// Records an assignment of a value with a form.
    pub fn set(&mut self, local: LocalId, form: Affine) {
        self.known.insert(local, form);
    }

    /// Forgets the value of a local.
    pub fn forget(&mut self, local: LocalId) {
        self.known.remove(&local);
    }

    /// Records an assignment of a value without a form.
    pub fn renew(&mut self, kernel: &Kernel, local: LocalId) {
        self.known.remove(&local);
        self.forget_fields(local);
        let ty = kernel.locals[local.index()].ty.as_scalar();
        // A condition is 0 or 1.
        let Some(ty) = ty.filter(|ty| ty.is_int() || *ty == Scalar::Bool) else {
            return;
        };
        if self.are_in_common(local) {
            self.made += 1;
            let symbol = Symbol::Local(local, self.made, !ty.is_signed());
            let form = Form::of(Poly::symbol(symbol));
            self.known.insert(local, Affine::of(form));
        }
    }

    /// Restores the values of another point. Symbols made since then are not made again.
    pub fn restore(&mut self, before: Values) {
        self.known = before.known;
        self.fields = before.fields;
    }

    /// Enters a loop without a barrier.
    pub fn enter_loop(&mut self) {
        self.loops += 1;
    }

    /// Leaves a loop without a barrier.
    pub fn leave_loop(&mut self) {
        self.loops -= 1;
    }
}
