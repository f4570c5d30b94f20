//! References by a name: `let e = &mut y[i];`, `let v = &x[i];`.
//!
//! A `&mut` is another name for a place whose indices were evaluated once. What a `&` refers to does not change while it is
//! used, so it is a name for the value, except in memory that other threads change at barriers.

use sarek_ir::{ExprId, Root, Step, Stmt};

use super::array::peeled;
use super::place::Place;
use crate::lower::{Binding, Known, Lowerer, Value};
use crate::tokens::range::Ranged;

/// Methods whose result is, or holds, a reference to an element.
const LENDING: [&str; 11] = [
    "get", "first", "last", "iter", "max", "min", "next", "nth", "unwrap", "expect", "as_ref",
];

impl Lowerer<'_> {
    /// Lowers a `let` of a reference to a place. `None` for any other `let`.
    pub(in crate::lower) fn reference_let(&mut self, local: &syn::Local) -> Option<Value> {
        let init = local.init.as_ref()?;
        let syn::Pat::Ident(pat) = &local.pat else {
            return None;
        };
        if init.diverge.is_some() || pat.subpat.is_some() || pat.by_ref.is_some() {
            return None;
        }
        let reference = match peeled(&init.expr) {
            syn::Expr::Reference(reference) => reference,
            other => return self.renamed_reference(pat, other),
        };
        if self.part_let(pat, &init.expr) {
            return Some(Value::Unit);
        }
        let of = peeled(&reference.expr);
        if !matches!(
            of,
            syn::Expr::Index(_) | syn::Expr::Field(_) | syn::Expr::Path(_)
        ) {
            return None;
        }
        if reference.mutability.is_none() && !self.others_may_change(of) {
            let value = self.referred(of)?;
            if matches!(self.types.look(self.ty(value)), Known::Nothing) && self.errors.count() > 0
            {
                return Some(Value::Unit);
            }
            self.bind_referent(&pat.ident, value);
            return Some(Value::Unit);
        }
        if let Some(place) = self.place(of) {
            // Rust checks the indices where the reference is made.
            let (place, value) = self.read_place(place, of.range());
            if !matches!(place, Place::Local(_)) {
                self.discard(value);
            }
            self.bind_place(&pat.ident, place);
        }
        Some(Value::Unit)
    }

    /// `let f = e;`, where `e` is a reference.
    fn renamed_reference(&mut self, pat: &syn::PatIdent, init: &syn::Expr) -> Option<Value> {
        let syn::Expr::Path(of) = init else {
            return None;
        };
        let binding = self.find(of.path.get_ident()?)?;
        let is_one = match binding {
            Binding::Place(_) | Binding::SubSlice(_) => true,
            Binding::Reference(local) => self.lent.contains(&local),
            _ => false,
        };
        is_one.then(|| self.bind(&pat.ident, binding))?;
        Some(Value::Unit)
    }

    /// A name for `&value`.
    pub(in crate::lower) fn bind_referent(&mut self, name: &syn::Ident, value: ExprId) {
        let (ty, init) = (self.ty(value), Some(value));
        let local = self.local(&name.to_string(), ty, false);
        self.push(Stmt::Let { local, init }, name.range());
        self.lent.insert(local);
        self.bind(name, Binding::Reference(local));
    }

    /// A name for `&mut place`, whose indices are leaves.
    pub(in crate::lower) fn bind_place(&mut self, name: &syn::Ident, place: Place) {
        self.referred.push(place);
        self.bind(name, Binding::Place(self.referred.len() - 1));
    }

    /// The place that a reference refers to.
    pub(in crate::lower) fn referred_place(&mut self, index: usize) -> Place {
        match self.referred[index].clone() {
            place @ Place::Local(_) => place,
            Place::Element {
                memory,
                index,
                site,
                elem,
            } => Place::Element {
                memory,
                index: self.copy(index),
                site,
                elem,
            },
            Place::Part {
                mut root,
                mut steps,
                ty,
            } => {
                if let Root::Element { index, .. } = &mut root {
                    *index = self.copy(*index);
                }
                for step in &mut steps {
                    if let Step::Index { index, .. } = step {
                        *index = self.copy(*index);
                    }
                }
                Place::Part { root, steps, ty }
            }
        }
    }

    /// The place behind the name of a reference, as in `*name`.
    pub(in crate::lower) fn named_place(&mut self, expr: &syn::Expr) -> Option<Place> {
        let syn::Expr::Path(path) = peeled(expr) else {
            return None;
        };
        match self.find(path.path.get_ident()?)? {
            Binding::Place(index) => Some(self.referred_place(index)),
            _ => None,
        }
    }

    /// True for an expression that may be a reference in the source, although its value here is what it refers to. rustc
    /// checks in the user's function that it is one.
    pub(in crate::lower) fn may_be_reference(&mut self, expr: &syn::Expr) -> bool {
        match peeled(expr) {
            syn::Expr::Path(path) => {
                let name = path.path.get_ident().cloned();
                match name.and_then(|name| self.find(&name)) {
                    Some(Binding::Local(local)) => self.lent.contains(&local),
                    Some(Binding::Place(_)) => true,
                    _ => false,
                }
            }
            syn::Expr::Unary(e) if matches!(e.op, syn::UnOp::Deref(_)) => {
                self.may_be_reference(&e.expr)
            }
            syn::Expr::MethodCall(call) => {
                LENDING.iter().any(|name| call.method == name)
                    && self.comes_from_memory(&call.receiver)
            }
            syn::Expr::Try(e) => self.comes_from_memory(&e.expr),
            _ => false,
        }
    }

    /// True for a chain of methods on a slice or an array that yield references to elements.
    pub(in crate::lower) fn comes_from_memory(&mut self, expr: &syn::Expr) -> bool {
        match peeled(expr) {
            syn::Expr::MethodCall(call) => {
                let ends = ["copied", "cloned", "len", "sum", "product", "count", "fold"];
                !ends.iter().any(|name| call.method == name)
                    && self.comes_from_memory(&call.receiver)
            }
            syn::Expr::Index(e) => self.comes_from_memory(&e.expr),
            syn::Expr::Reference(e) => self.comes_from_memory(&e.expr),
            syn::Expr::Path(path) => {
                let name = path.path.get_ident().cloned();
                match name.and_then(|name| self.find(&name)) {
                    Some(Binding::Memory(_) | Binding::SubSlice(_)) => true,
                    Some(Binding::Local(local)) => self.lent.contains(&local),
                    _ => false,
                }
            }
            _ => false,
        }
    }
}
