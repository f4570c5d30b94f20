//! Generates calls of `#[device]` functions and their arguments.

use sarek_ir::Scalar;

use super::array::Array;
use super::control::of_variable;
use super::items::Struct;
use super::{Form, Gen, Role, make};
use crate::tree::{Expr, Node};

/// A `#[device]` function.
#[derive(Clone, Debug)]
pub(super) struct Callee {
    pub(super) name: String,
    pub(super) takes: Vec<Scalar>,
    pub(super) takes_struct: Option<Struct>,
    /// The kind of `self`, for a method.
    pub(super) receiver: Option<Receiver>,
    /// The element type of its slice parameter, and true if the function writes to it.
    pub(super) takes_slice: Option<(Scalar, bool)>,
    /// The argument and result types of its closure parameter.
    pub(super) takes_closure: Option<(Scalar, Scalar)>,
    pub(super) yields: Scalar,
    /// The number of its statements and of those in its callees: inlining a call adds all of them.
    pub(super) size: usize,
}

/// The kind of `self` parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Receiver {
    /// `self`
    Value,
    /// `&self`
    Shared,
    /// `&mut self`
    Mutable,
}

impl Receiver {
    pub(super) fn borrow(self) -> &'static str {
        match self {
            Receiver::Value => "",
            Receiver::Shared => "&",
            Receiver::Mutable => "&mut ",
        }
    }
}

/// The minimum length of an array passed as a slice.
pub(super) const MIN_SLICE_LEN: usize = 2;

impl Callee {
    /// True if it writes through a mutable reference.
    pub(super) fn changes(&self) -> bool {
        self.takes_slice.is_some_and(|(_, changes)| changes)
            || self.receiver == Some(Receiver::Mutable)
    }

    /// True if it can be called as `value.name(…)`. A method with generic arguments, or of a trait, is called by its path.
    fn has_plain_name(&self) -> bool {
        !self.name.ends_with('>') && !self.name.starts_with('<')
    }

    /// True if this struct is a valid argument. A method on `&mut self` needs a mutable variable: on a field, rustc would report that it works
    /// on a copy.
    fn takes(&self, (name, strukt, is_mutable): &(String, Struct, bool)) -> bool {
        let same = self
            .takes_struct
            .as_ref()
            .is_some_and(|s| s.name == strukt.name);
        let changeable = *is_mutable && !name.contains('.');
        same && (changeable || self.receiver != Some(Receiver::Mutable))
    }

    pub(super) fn is_callable(&self, g: &Gen) -> bool {
        let has_array = |elem| !arrays(g, elem).is_empty();
        let has_struct = g.records.iter().any(|r| self.takes(r));
        let is_small = self.size + g.called <= if g.in_function { 12 } else { 60 };
        is_small
            && (has_struct || self.receiver != Some(Receiver::Mutable))
            && (self.takes_closure.is_none() || !g.in_closure)
            && self
                .takes_slice
                .is_none_or(|(elem, changes)| !changes || has_array(elem))
    }
}

/// The arguments for a parameter of type `&mut [elem]`.
fn arrays(g: &Gen, elem: Scalar) -> Vec<String> {
    let fits =
        |a: &&Array| a.mutable && a.elem == elem && a.dims.len() == 1 && a.dims[0] >= MIN_SLICE_LEN;
    let arrays = g.arrays.iter().filter(fits);
    arrays
        .map(|a| match a.borrowed {
            true => a.name.clone(),
            false => format!("&mut {}", a.name),
        })
        .collect()
}

impl Gen {
    /// A call of a function: the statements before it, its text, and the expressions for the holes of both.
    fn callee(&mut self, callee: &Callee) -> (&'static str, String, Vec<Expr>) {
        let (mut before, mut exprs, mut borrowed) = ("", vec![], None);
        if let Some((elem, changes)) = callee.takes_slice {
            let known = match changes {
                true => arrays(self, elem),
                false => self.readable(elem),
            };
            borrowed = Some(if known.is_empty() {
                before = "let borrowed = [@, @]; ";
                exprs.extend([self.settled(elem), self.settled(elem)]);
                String::from("&borrowed")
            } else {
                self.pick(&known).clone()
            });
        }
        let mut parts = vec!["@".to_string(); callee.takes.len()];
        let alike = self.records.iter().filter(|r| callee.takes(r));
        let alike: Vec<_> = alike.map(|r| r.0.clone()).collect();
        let known = (!alike.is_empty()).then(|| self.pick(&alike).clone());
        let values =
            |g: &mut Gen| -> Vec<_> { callee.takes.iter().map(|ty| g.settled(*ty)).collect() };
        exprs.extend(match (&known, callee.receiver) {
            (Some(known), Some(Receiver::Shared | Receiver::Mutable)) => {
                self.without_changing(known, values)
            }
            _ => values(self),
        });
        let mut on = None;
        if let Some(strukt) = &callee.takes_struct {
            match (callee.receiver, known) {
                (None, Some(known)) => parts.push(known),
                (None, None) => parts.push(self.record(strukt, None, &mut exprs)),
                // With method syntax, arguments may still read a mutably borrowed struct (two-phase borrows).
                (Some(Receiver::Mutable), Some(known)) => on = Some(known),
                (Some(_), Some(known)) if callee.has_plain_name() && self.once_in(2) => {
                    on = Some(known)
                }
                (Some(receiver), known) => {
                    let mut before = vec![];
                    let given = known.unwrap_or_else(|| self.record(strukt, None, &mut before));
                    exprs.splice(0..0, before);
                    parts.insert(0, format!("{}{given}", receiver.borrow()));
                }
            }
        }
        parts.extend(borrowed);
        if let Some((takes, yields)) = callee.takes_closure {
            let (text, value) = self.closure(takes, yields);
            exprs.push(value);
            parts.push(text);
        }
        self.called += callee.size;
        let (name, parts) = (&callee.name, parts.join(", "));
        let call = match on {
            Some(on) => format!(
                "{on}.{}({parts})",
                name.rsplit("::").next().unwrap_or_default()
            ),
            None => format!("{name}({parts})"),
        };
        (before, call, exprs)
    }

    /// Runs `make` with a variable immutable, since it is borrowed.
    pub(super) fn without_changing<T>(
        &mut self,
        name: &str,
        make: impl FnOnce(&mut Gen) -> T,
    ) -> T {
        let outer = (
            self.scope.clone(),
            self.enum_locals.clone(),
            self.records.clone(),
        );
        let vectors = self.vectors.clone();
        let is_of = |other: &str| {
            let rest = other.strip_prefix(name);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        for var in self.scope.iter_mut().filter(|v| is_of(&v.name)) {
            var.mutable = false;
        }
        for (_, _, mutable) in self.records.iter_mut().filter(|r| is_of(&r.0)) {
            *mutable = false;
        }
        for local in self.enum_locals.iter_mut().filter(|s| is_of(&s.name)) {
            local.mutable = false;
        }
        for vector in self.vectors.iter_mut().filter(|v| is_of(&v.name)) {
            vector.mutable = false;
        }
        let made = make(self);
        (self.scope, self.enum_locals, self.records) = outer;
        self.vectors = vectors;
        made
    }

    /// The arguments for a parameter of type `&[elem]`.
    fn readable(&self, elem: Scalar) -> Vec<String> {
        let inputs = self.slices.iter().filter(|s| s.elem == elem);
        let inputs = inputs.filter(|s| matches!(s.role, Role::In { .. }) && s.form == Form::Slice);
        let arrays = self
            .arrays
            .iter()
            .filter(|a| a.elem == elem && a.dims.len() == 1);
        let borrowed = |a: &Array| {
            if a.borrowed {
                a.name.clone()
            } else {
                format!("&{}", a.name)
            }
        };
        inputs
            .map(|s| s.name.clone())
            .chain(arrays.map(borrowed))
            .collect()
    }
}

pub(super) fn call(g: &mut Gen, ty: Scalar) -> Expr {
    let fits = |c: &&Callee| c.yields == ty && !c.changes() && c.is_callable(g);
    let callees: Vec<_> = g.callees.iter().filter(fits).cloned().collect();
    let callee = g.pick(&callees).clone();
    let (before, text, exprs) = g.callee(&callee);
    // Only rustc knows the result type of a call, so the text states it.
    let text = format!("({{ {before}let it: {ty} = {text}; it }})");
    make(ty, of_variable(ty), text, exprs)
}

/// A call that writes to an argument, as a statement.
pub(super) fn call_with_array(g: &mut Gen, _: Scalar) -> Node {
    let fits = |c: &&Callee| c.changes() && c.is_callable(g);
    let callees: Vec<_> = g.callees.iter().filter(fits).cloned().collect();
    let callee = g.pick(&callees).clone();
    let (_, text, exprs) = g.callee(&callee);
    let (name, ty) = (g.name(), callee.yields);
    g.bind(&name, ty, of_variable(ty), false);
    Node::new(format!("let {name}: {ty} = {text};"), exprs, vec![])
}
