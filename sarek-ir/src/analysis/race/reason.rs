//! The result of a failed check: two accesses that may race, and the reason.

use std::collections::BTreeSet;
use std::fmt;

use super::{Counterexample, Missing};
use crate::analysis::access::Place;
use crate::analysis::linear::{Affine, Atom, Poly, Symbol};
use crate::{Axis, Builtin, Expr, ExprId, Kernel, Loc, LocalId, Memory, Root, Stmt};

/// Two accesses by which two threads may access the same element.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Race {
    /// The slice or shared array.
    pub memory: Memory,
    /// The access to report.
    pub first: (Place, Loc),
    /// The access with which it may collide in another thread, often the same one.
    pub second: (Place, Loc),
    /// The reason why they may collide.
    pub reason: Reason,
    /// Two threads that collide, if a small launch shows them. See [`Counterexample`].
    pub counterexample: Option<Box<Counterexample>>,
    /// A fact under which they do not collide, if a usual one suffices.
    pub missing: Option<Missing>,
}

/// The reason why two threads may access the same element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reason {
    /// The index has no affine form.
    Opaque,
    /// The index is the same for all threads.
    Shared,
    /// The index depends on a value that each thread computes, and two threads may compute the same one.
    Values,
    /// The index contains an id that repeats from block to block.
    BlockLocal(Builtin),
    /// The index contains an id that repeats from subgroup to subgroup.
    OfSubgroup(Builtin),
    /// The index mixes `global_thread_id()` with other ids.
    Mixed,
    /// Two accesses depend on the ids in different ways.
    Different,
    /// Different ids may give the same index: guards and extents do not make the ids digits of a mixed-radix
    /// number.
    Overlapping,
    /// The offset added to the ids may reach the element of the next thread.
    Neighbour,
    /// Threads that differ along this axis alone access the same element.
    Axis(Axis),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Opaque => f.write_str(
                "this index is not a formula of the thread's ids, so any two threads may meet",
            ),
            Reason::Shared => f.write_str("all threads access the same element"),
            Reason::Values => f.write_str(
                "this index is a value that each thread computes, and two threads may have the same one",
            ),
            Reason::BlockLocal(id) => write!(
                f,
                "`{}()` repeats from block to block; use a global id",
                id.name()
            ),
            Reason::OfSubgroup(id) => write!(
                f,
                "`{}()` does not tell the threads of different subgroups apart; use a global id",
                id.name()
            ),
            Reason::Mixed => f.write_str(
                "`global_thread_id()` together with another id does not tell threads apart",
            ),
            Reason::Different => {
                f.write_str("two accesses depend on the thread's ids in different ways")
            }
            Reason::Overlapping => f.write_str(
                "different ids may give the same index; a guard such as `col < width` around \
                 `row * width + col` keeps them apart",
            ),
            Reason::Neighbour => f.write_str("this index may reach the element of another thread"),
            Reason::Axis(axis) => write!(
                f,
                "threads that differ in `thread_idx_{}()` alone access the same element",
                axis.name()
            ),
        }
    }
}

impl Race {
    /// The reason, with the value that hides the index from the proof if that is the reason.
    pub fn explanation(&self, kernel: &Kernel) -> String {
        let hidden = match self.reason {
            Reason::Opaque => {
                index_of(kernel, self.first.0).and_then(|at| hidden_in(kernel, at, 8))
            }
            Reason::Shared
            | Reason::Values
            | Reason::BlockLocal(_)
            | Reason::OfSubgroup(_)
            | Reason::Mixed
            | Reason::Different
            | Reason::Overlapping
            | Reason::Neighbour
            | Reason::Axis(_) => None,
        };
        match hidden {
            Some(hidden) => format!("{}; it reads {hidden}", self.reason),
            None => self.reason.to_string(),
        }
    }
}

/// The index of an access.
fn index_of(kernel: &Kernel, place: Place) -> Option<ExprId> {
    match place {
        Place::Load(id) => match kernel.expr(id) {
            Expr::Load { index, .. } => Some(index),
            _ => None,
        },
        Place::Store(id) => match kernel.stmt(id) {
            Stmt::Store { index, .. } => Some(index),
            Stmt::Update { place, .. } => match kernel.places[place.index()].root {
                Root::Element { index, .. } => Some(index),
                Root::Local(_) | Root::Param(_) => None,
            },
            _ => None,
        },
    }
}

/// A value in an expression that is no formula of ids. Initialisers of locals are followed `depth` times.
fn hidden_in(kernel: &Kernel, expr: ExprId, depth: u32) -> Option<String> {
    let is_assigned = |wanted: LocalId| {
        let assigns = |stmt: &Stmt| matches!(stmt, Stmt::Assign { local, .. } if *local == wanted);
        kernel.stmts.iter().any(assigns)
    };
    kernel
        .exprs_in([expr])
        .find_map(|id| match kernel.expr(id) {
            Expr::Load { memory, .. } => {
                Some(format!("an element of `{}`", kernel.memory_name(memory)))
            }
            Expr::Local(local) if is_assigned(local) => {
                let name = &kernel.locals[local.index()].name;
                Some(format!("`{name}`, whose value changes"))
            }
            Expr::Local(local) => kernel.stmts.iter().find_map(|stmt| match *stmt {
                Stmt::Let { local: of, init } if of == local => {
                    let init = init.filter(|_| depth > 0)?;
                    hidden_in(kernel, init, depth - 1)
                }
                Stmt::Call { call } if kernel.calls[call.index()].result == Some(local) => {
                    Some("the result of a function".to_string())
                }
                _ => None,
            }),
            _ => None,
        })
}

/// The reason why an index whose form has no ids may be the same in two threads.
pub(super) fn same_for_all(kernel: &Kernel, affine: Option<&Affine>, index: ExprId) -> Reason {
    let counts =
        |stmt: &Stmt, wanted: LocalId| matches!(stmt, Stmt::For { local, .. } if *local == wanted);
    let is_counter = |wanted: LocalId| kernel.stmts.iter().any(|stmt| counts(stmt, wanted));
    let is_value = |(atom, _): &(Atom, Poly)| match atom {
        Atom::Local(local) => !is_counter(*local),
        Atom::Param(_) => true,
        Atom::Id(_) | Atom::Exchange(..) | Atom::Quotient(_) | Atom::Term(..) => false,
    };
    let computed = affine.is_some_and(|affine| affine.form.terms().iter().any(is_value));
    // Ids that cancel out leave a value that all threads have in common.
    let in_common = affine.is_some_and(|affine| affine.form.uniform().is_some());
    match computed || !in_common && depends_on_ids(kernel, index, &mut BTreeSet::new()) {
        true => Reason::Values,
        false => Reason::Shared,
    }
}

/// True if an expression reads an id, also in the values of locals and the ranges of counters.
fn depends_on_ids(kernel: &Kernel, expr: ExprId, seen: &mut BTreeSet<LocalId>) -> bool {
    kernel.exprs_in([expr]).any(|id| match kernel.expr(id) {
        Expr::Builtin(builtin) => Symbol::of_builtin(builtin).is_none(),
        Expr::Local(wanted) if seen.insert(wanted) => kernel.stmts.iter().any(|stmt| {
            let sources = match *stmt {
                Stmt::Let { local, init } if local == wanted => [init, None],
                Stmt::Assign { local, value } if local == wanted => [Some(value), None],
                Stmt::For {
                    local, start, end, ..
                } if local == wanted => [Some(start), Some(end)],
                _ => [None, None],
            };
            let mut sources = sources.into_iter().flatten();
            sources.any(|source| depends_on_ids(kernel, source, seen))
        }),
        _ => false,
    })
}
