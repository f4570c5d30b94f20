//! Arguments of calls: values, `&mut` references, slices, and callable arguments.

use sarek_ir::{
    Argument, CallableArg, CallableId, ExprId, FunctionId, LocalId, Memory, ParamId, Stmt,
};

use super::callee::Typed;
use crate::lower::memory::array::peeled;
use crate::lower::memory::array_values::LentRow;
use crate::lower::memory::length::Dim;
use crate::lower::memory::place::Place;
use crate::lower::{Binding, Known, Lowerer, Ty};
use crate::tokens::range::{Ranged, SourceRange};

/// The arguments of a call, evaluated.
#[derive(Default)]
pub(in crate::lower) struct Arguments {
    pub args: Vec<Argument>,
    /// The temporaries that are written back after the call.
    pub back: Vec<Back>,
    /// Arrays passed as slices, and the locals that they are written back to, before the
    /// temporaries.
    pub lent: Vec<(Memory, LocalId, SourceRange)>,
    /// The rows of arrays that are passed as copies.
    pub rows: Vec<LentRow>,
    /// The callable arguments.
    pub callable_args: Vec<CallableArg>,
    pub(in crate::lower) typed: Vec<Typed>,
}

/// An argument of a call before its value is lowered.
enum Evaluated<'a> {
    Value(&'a syn::Expr),
    /// `&value`
    Borrowed(&'a syn::Expr),
    /// `name` of a `&T`, passed on.
    Shared(LocalId),
    Memory(Memory),
    View(ParamId),
    /// `&mut name`
    Local(LocalId),
    /// `&mut m[i]` of an array of arrays.
    Row(Memory, Vec<&'a syn::Expr>),
    /// `&mut place`: a temporary, written back after the call.
    Place(&'a syn::Expr),
}

/// A temporary that a call changes: the place it stands for, the temporary, and the source span.
pub(in crate::lower) type Back = (Place, LocalId, SourceRange);

impl Lowerer<'_> {
    pub(in crate::lower) fn temporary(&mut self, value: ExprId, span: SourceRange) -> LocalId {
        let ty = self.ty(value);
        let local = self.local("t", ty, true);
        let init = Some(value);
        self.push(Stmt::Let { local, init }, span);
        local
    }

    /// Evaluates arguments in order. `None` if an argument is invalid, which is reported.
    pub(in crate::lower) fn arguments(
        &mut self,
        function: Option<FunctionId>,
        exprs: &[&syn::Expr],
    ) -> Option<Arguments> {
        let mut all = Arguments::default();
        let Arguments {
            args,
            back,
            lent,
            rows,
            callable_args: callables,
            typed,
        } = &mut all;
        let mut is_whole = true;
        for expr in exprs {
            let mark = self.mark();
            if let Some(function) = function
                && let Some(passed) = self.passed(expr)
            {
                let to = (function, CallableId(callables.len() as u32));
                match self.give(passed, to, expr.range()) {
                    Some((given, of)) => {
                        callables.push(given);
                        typed.push(of);
                    }
                    None => is_whole = false,
                }
                continue;
            }
            let Some(given) = self.given(expr, function.is_some()) else {
                is_whole = false;
                continue;
            };
            let arg = match given {
                Evaluated::Value(expr) => Argument::Value(self.scalar(expr)),
                Evaluated::Borrowed(expr) => {
                    let value = self.scalar(expr);
                    match self.lent_value(value, expr.range()) {
                        Some(array) => Argument::Memory(array),
                        None => {
                            match self.types.look(self.ty(value)) {
                                Known::Compound | Known::Foreign | Known::Nothing => {
                                    self.borrowed.insert(value);
                                }
                                Known::Scalar(_) | Known::Int | Known::Float | Known::Parameter => {
                                }
                            }
                            Argument::Value(value)
                        }
                    }
                }
                Evaluated::Shared(local) => Argument::Value(self.read(local, expr.range())),
                Evaluated::Memory(memory) => Argument::Memory(memory),
                Evaluated::View(view) => {
                    args.extend(self.view_arguments(view, expr.range()));
                    continue;
                }
                Evaluated::Local(local) => {
                    self.lent_local(local, function.is_some(), lent, expr.range())
                }
                Evaluated::Row(memory, indices) => {
                    let row = self.lend_row(memory, &indices, expr.range());
                    self.may_change(row.copy);
                    rows.push(row);
                    Argument::Memory(rows[rows.len() - 1].copy)
                }
                Evaluated::Place(expr) => match self.place(expr) {
                    Some(place) => {
                        let (place, value) = self.read_place(place, expr.range());
                        let local = self.temporary(value, expr.range());
                        back.push((place, local, expr.range()));
                        self.lent_local(local, function.is_some(), lent, expr.range())
                    }
                    None => {
                        is_whole = false;
                        continue;
                    }
                },
            };
            self.settle_arguments(args, mark);
            args.push(arg);
        }
        is_whole.then_some(all)
    }

    /// Evaluates earlier arguments before the statements of a later one, if there are any.
    pub(in crate::lower) fn settle_arguments(&mut self, args: &mut [Argument], mark: usize) {
        if self.mark() == mark {
            return;
        }
        let mut at = mark;
        for arg in args {
            if let Argument::Value(id) = arg
                && !self.kernel.is_fixed_leaf(*id)
            {
                let spilled = self.spill_at(at, *id);
                if self.borrowed.remove(id) {
                    self.borrowed.insert(spilled);
                }
                *id = spilled;
                at += 1;
            }
        }
    }

    /// Classifies an argument. A function (`is_to_function`) takes arrays as slices; a callable
    /// takes only values.
    fn given<'a>(
        &mut self,
        argument: &'a syn::Expr,
        is_to_function: bool,
    ) -> Option<Evaluated<'a>> {
        if let Some(view) = self.given_view(argument) {
            return Some(Evaluated::View(view));
        }
        if let Some((memory, _)) = self.find_memory(argument) {
            return Some(match memory {
                Memory::Local(_) => Evaluated::Value(argument),
                Memory::Slice(_) | Memory::Shared(_) | Memory::Table(_) => {
                    Evaluated::Memory(memory)
                }
            });
        }
        let reference = match peeled(argument) {
            syn::Expr::Reference(reference) => reference,
            other => {
                return Some(match self.referent(other) {
                    Some(local) if self.kernel.locals[local.index()].mutable => {
                        Evaluated::Local(local)
                    }
                    Some(local) => Evaluated::Shared(local),
                    None => Evaluated::Value(argument),
                });
            }
        };
        let is_mutable = reference.mutability.is_some();
        if let Some((memory, _)) = self.find_memory(&reference.expr) {
            if is_mutable {
                self.may_change(memory);
            }
            return Some(Evaluated::Memory(memory));
        }
        if is_to_function
            && let syn::Expr::Array(_) | syn::Expr::Repeat(_) = peeled(&reference.expr)
        {
            let memory = self.lent_array(&reference.expr)?;
            if is_mutable {
                self.may_change(memory);
            }
            return Some(Evaluated::Memory(memory));
        }
        if !is_mutable {
            return Some(match is_to_function {
                true => Evaluated::Borrowed(&reference.expr),
                false => Evaluated::Value(&reference.expr),
            });
        }
        let inner = match peeled(&reference.expr) {
            syn::Expr::Unary(e) if matches!(e.op, syn::UnOp::Deref(_)) => &e.expr,
            other => other,
        };
        if let Some(local) = self.referent(inner) {
            return Some(Evaluated::Local(local));
        }
        if let syn::Expr::Path(path) = inner
            && let Some(name) = path.path.get_ident()
            && let Some(Binding::Local(local)) = self.find(name)
        {
            self.kernel.locals.to_mut()[local.index()].mutable = true;
            return Some(Evaluated::Local(local));
        }
        if is_to_function && let Some((memory, indices)) = self.lent_row(inner) {
            return Some(Evaluated::Row(memory, indices));
        }
        Some(Evaluated::Place(&reference.expr))
    }

    /// Records that a call may change a local array.
    pub(in crate::lower) fn may_change(&mut self, memory: Memory) {
        if let Memory::Local(local) = memory {
            self.lent_mutably.insert(local);
        }
    }

    /// The element type of the slice that a function receives; for an array of arrays, the row
    /// type.
    fn lent_type(&mut self, memory: Memory) -> Ty {
        let elem = self.element_type(memory);
        let dims = self.shape(memory).unwrap_or_default().to_vec();
        let of = |elem, dim: &Dim| self.types.array(elem, dim.clone());
        dims.iter().skip(1).rev().fold(elem, of)
    }

    /// Records the argument types from which rustc infers a generic function's instance.
    pub(in crate::lower) fn tell_types(&mut self, function: FunctionId, arguments: &Arguments) {
        let args = arguments.args.iter();
        let typed = args.map(|arg| match *arg {
            Argument::Value(id) => match self.types.look(self.ty(id)) {
                Known::Int if self.is_literal(id) => Typed::Int(self.ty(id)),
                Known::Float if self.is_literal(id) => Typed::Float(self.ty(id)),
                _ => Typed::By(self.ty(id)),
            },
            Argument::Local(local) => Typed::By(self.local_types[local.index()]),
            Argument::Memory(memory) => Typed::By(self.lent_type(memory)),
        });
        let typed: Vec<Typed> = typed.chain(arguments.typed.iter().cloned()).collect();
        self.callees[function.index()].given = typed;
    }

    fn is_literal(&self, id: ExprId) -> bool {
        self.literals.iter().any(|pending| pending.expr == id)
    }

    /// Unifies the type of each argument with that of the parameter, which determines the types of
    /// literals.
    pub(in crate::lower) fn unify_arguments(&mut self, function: FunctionId, args: &[Argument]) {
        for (index, arg) in (0..).zip(args) {
            let wanted = self.types.parameter(function, index);
            let (found, span) = match *arg {
                Argument::Value(id) => (self.ty(id), self.span(id)),
                Argument::Local(local) => (
                    self.local_types[local.index()],
                    self.callees[function.index()].span.into(),
                ),
                Argument::Memory(memory) => (
                    self.lent_type(memory),
                    self.callees[function.index()].span.into(),
                ),
            };
            self.unify(wanted, found, span);
        }
    }
}
