//! Calls of `#[device]` functions, and what they are given.

use sarek_ir::Scalar;

use super::array::Array;
use super::control::of_variable;
use super::item::Struct;
use super::{Form, Gen, Role, make};
use crate::tree::{Expr, Node};

/// A `#[device]` function.
#[derive(Clone, Debug)]
pub(super) struct Callee {
    pub(super) name: String,
    pub(super) takes: Vec<Scalar>,
    pub(super) takes_struct: Option<Struct>,
    /// If it is a method, how it takes its struct.
    pub(super) receiver: Option<Receiver>,
    /// An array or slice, and whether it is changed.
    pub(super) takes_slice: Option<(Scalar, bool)>,
    /// What it is given to call takes and yields this.
    pub(super) takes_closure: Option<(Scalar, Scalar)>,
    pub(super) yields: Scalar,
    /// The number of its statements, with those of the functions that it calls: a call puts all of them in its place.
    pub(super) size: usize,
}

/// How a method takes its struct.
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

/// An array that is lent has so many elements at least.
pub(super) const LENT: usize = 2;

impl Callee {
    /// Does it change what it is lent?
    pub(super) fn changes(&self) -> bool {
        self.takes_slice.is_some_and(|(_, changes)| changes)
            || self.receiver == Some(Receiver::Mutable)
    }

    /// Can it be called on a value? Behind a name with generic arguments, and of a trait, its path is written.
    fn has_plain_name(&self) -> bool {
        !self.name.ends_with('>') && !self.name.starts_with('<')
    }

    /// May this struct be given? Where a method changes what is no variable, rustc tells that it has a copy.
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

/// The arrays that may be lent to be changed.
fn arrays(g: &Gen, elem: Scalar) -> Vec<String> {
    let fits = |a: &&Array| a.mutable && a.elem == elem && a.dims.len() == 1 && a.dims[0] >= LENT;
    let arrays = g.arrays.iter().filter(fits);
    arrays
        .map(|a| match a.lent {
            true => a.name.clone(),
            false => format!("&mut {}", a.name),
        })
        .collect()
}

impl Gen {
    /// What stands before a call of a function, the call, and what stands in the holes of both.
    fn callee(&mut self, callee: &Callee) -> (&'static str, String, Vec<Expr>) {
        let (mut before, mut exprs, mut lent) = ("", vec![], None);
        if let Some((elem, changes)) = callee.takes_slice {
            let known = match changes {
                true => arrays(self, elem),
                false => self.readable(elem),
            };
            lent = Some(if known.is_empty() {
                before = "let lent = [@, @]; ";
                exprs.extend([self.settled(elem), self.settled(elem)]);
                String::from("&lent")
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
                // What is borrowed to be changed may only so be read beside it.
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
        parts.extend(lent);
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

    /// What `make` does, which changes nothing of a variable: it is borrowed.
    pub(super) fn without_changing<T>(
        &mut self,
        name: &str,
        make: impl FnOnce(&mut Gen) -> T,
    ) -> T {
        let outer = (self.scope.clone(), self.sums.clone(), self.records.clone());
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
        for sum in self.sums.iter_mut().filter(|s| is_of(&s.name)) {
            sum.mutable = false;
        }
        for vector in self.vectors.iter_mut().filter(|v| is_of(&v.name)) {
            vector.mutable = false;
        }
        let made = make(self);
        (self.scope, self.sums, self.records) = outer;
        self.vectors = vectors;
        made
    }

    /// The slices and arrays that may be lent to be read.
    fn readable(&self, elem: Scalar) -> Vec<String> {
        let inputs = self.slices.iter().filter(|s| s.elem == elem);
        let inputs = inputs.filter(|s| matches!(s.role, Role::In { .. }) && s.form == Form::Slice);
        let arrays = self
            .arrays
            .iter()
            .filter(|a| a.elem == elem && a.dims.len() == 1);
        let lent = |a: &Array| {
            if a.lent {
                a.name.clone()
            } else {
                format!("&{}", a.name)
            }
        };
        inputs
            .map(|s| s.name.clone())
            .chain(arrays.map(lent))
            .collect()
    }
}

pub(super) fn call(g: &mut Gen, ty: Scalar) -> Expr {
    let fits = |c: &&Callee| c.yields == ty && !c.changes() && c.is_callable(g);
    let callees: Vec<_> = g.callees.iter().filter(fits).cloned().collect();
    let callee = g.pick(&callees).clone();
    let (before, text, exprs) = g.callee(&callee);
    // What it yields is known to rustc alone.
    let text = format!("({{ {before}let it: {ty} = {text}; it }})");
    make(ty, of_variable(ty), text, exprs)
}

/// A call that changes an array.
pub(super) fn call_with_array(g: &mut Gen, _: Scalar) -> Node {
    let fits = |c: &&Callee| c.changes() && c.is_callable(g);
    let callees: Vec<_> = g.callees.iter().filter(fits).cloned().collect();
    let callee = g.pick(&callees).clone();
    let (_, text, exprs) = g.callee(&callee);
    let (name, ty) = (g.name(), callee.yields);
    g.bind(&name, ty, of_variable(ty), false);
    Node::new(format!("let {name}: {ty} = {text};"), exprs, vec![])
}
