//! Generates closures, bound to a variable or passed to a function. They capture only immutable variables.

use sarek_ir::Scalar;

use super::control::of_variable;
use super::uniform::ASSIGNABLE;
use super::{Gen, Role, Rule, make};
use crate::tree::{Expr, Node};

/// A closure in scope, or a parameter of type `impl Fn`.
#[derive(Clone, Debug)]
pub(super) struct Closure {
    pub(super) name: String,
    pub(super) takes: Scalar,
    pub(super) yields: Scalar,
}

pub(super) const RULES: &[Rule<Expr>] = &[Rule {
    weight: 10,
    fits: |g, ty| !g.uniform && g.closures.iter().any(|c| c.yields == ty),
    make: call,
}];

pub(super) const STATEMENTS: &[Rule<Node>] = &[Rule {
    weight: 4,
    fits: |g, _| !g.in_closure && g.closures.len() < 3,
    make: declare,
}];

impl Gen {
    /// A closure expression with one hole for its body, and that body.
    pub(super) fn closure(&mut self, takes: Scalar, yields: Scalar) -> (String, Expr) {
        let outer = (
            self.scope.clone(),
            self.arrays.clone(),
            self.vectors.clone(),
            self.records.clone(),
            self.slices.clone(),
        );
        let taken = (
            std::mem::take(&mut self.enum_locals),
            std::mem::take(&mut self.closures),
            std::mem::take(&mut self.shared_arrays),
            std::mem::take(&mut self.loops),
        );
        let flags = (self.in_function, self.in_closure, self.converged);
        (self.in_function, self.in_closure, self.converged) = (true, true, false);
        self.scope
            .retain(|v| !v.mutable && !v.name.starts_with(ASSIGNABLE));
        self.arrays.retain(|a| !a.mutable);
        self.vectors.retain(|v| !v.mutable);
        self.records.retain(|(_, _, mutable)| !mutable);
        self.slices
            .retain(|s| matches!(s.role, Role::In { .. } | Role::AnyFloat));
        let name = self.name();
        self.bind(&name, takes, of_variable(takes), false);
        let value = self.settled(yields);
        (
            self.scope,
            self.arrays,
            self.vectors,
            self.records,
            self.slices,
        ) = outer;
        (
            self.enum_locals,
            self.closures,
            self.shared_arrays,
            self.loops,
        ) = taken;
        (self.in_function, self.in_closure, self.converged) = flags;
        (format!("|{name}: {takes}| @"), value)
    }
}

fn declare(g: &mut Gen, _: Scalar) -> Node {
    let (takes, yields) = (g.ty(|_| true), g.ty(|_| true));
    let (text, value) = g.closure(takes, yields);
    let name = g.name().replacen('v', "f", 1);
    let node = Node::new(format!("let {name} = {text};"), vec![value], vec![]);
    g.closures.push(Closure {
        name,
        takes,
        yields,
    });
    node
}

fn call(g: &mut Gen, ty: Scalar) -> Expr {
    let fitting: Vec<_> = g
        .closures
        .iter()
        .filter(|c| c.yields == ty)
        .cloned()
        .collect();
    let closure = g.pick(&fitting).clone();
    let argument = g.settled(closure.takes);
    make(
        ty,
        of_variable(ty),
        format!("{}(@)", closure.name),
        vec![argument],
    )
}
