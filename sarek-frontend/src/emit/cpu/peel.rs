//! Index-set splitting: separates the edges of a row from its inner part.
//!
//! In `if x > 0 && x + 1 < width && y > 0 && … { inner } else { edge }`, each lane tests a
//! condition that holds for one stretch of the row. The stretch is computed once per row. Its lanes
//! run a body in which the condition is known to be true. The lanes before and after it run a body
//! in which it is known to be false.

use std::collections::BTreeSet;

use proc_macro2::{Literal, Span, TokenStream};
use sarek_ir::analysis::linear::{Comparison, Guard, Relation};
use sarek_ir::analysis::local_uses;
use sarek_ir::facts::{Hazard, Reads, Work};
use sarek_ir::{
    Axis, BinaryOp, Builtin, Expr, ExprId, LocalId, Memory, Scalar, Stmt, StmtId, Value,
};

use super::tree::{each_lane, each_row};
use super::{Writer, mixed};

/// A condition that holds for one stretch of each row.
pub struct Peel {
    /// The condition.
    pub cond: ExprId,
    ends: Vec<End>,
    /// Terms that do not depend on the lane; all must hold for the row.
    row: Vec<ExprId>,
}

/// An end of the stretch: the first lane whose index plus `offset` is at least `value`, or, if
/// `past`, is above it.
struct End {
    begins: bool,
    past: bool,
    global: bool,
    offset: u64,
    value: ExprId,
}

/// The lanes of a group.
const GROUP: usize = 8;

/// The loop over the lanes of a stretch, in groups. They begin at multiples of their length, as the
/// vectors of other loops do: a load from two vectors that were just stored is slow.
pub fn in_groups(body: &TokenStream) -> TokenStream {
    let group = Literal::usize_unsuffixed(GROUP);
    let single = each_lane(&mixed!(__next..__stop), body.clone());
    mixed! {
        let mut __next = __from;
        while __next < __to {
            while __next % #group == 0 && __to - __next >= #group {
                for __w in 0..#group {
                    let __x = __next + __w;
                    let __thread = [__x, __y, __z];
                    let __lane = __row + __x;
                    #body
                }
                __next += #group;
            }
            let __stop = ::core::cmp::Ord::min(__to, __next / #group * #group + #group);
            #single
            __next = __stop;
        }
    }
}

impl Writer<'_> {
    /// The first condition of an `if` that can be peeled.
    pub fn peel(&self, stmts: &[StmtId]) -> Option<Peel> {
        if !self.shapes.peel {
            return None;
        }
        stmts.iter().find_map(|&stmt| {
            let Stmt::If {
                cond,
                then,
                otherwise,
            } = self.kernel.stmt(stmt)
            else {
                return None;
            };
            let inner = |block| {
                let stmts: Vec<StmtId> = self.kernel.block(block).collect();
                self.peel(&stmts)
            };
            let here = self.stretch(self.resolved(cond));
            // A vector's mask costs less than the edges of a short stretch, unless both branches
            // do something.
            let is_split = |peel: &Peel| !otherwise.is_empty() || !self.follows_turns(peel);
            let here = here.filter(is_split);
            here.or_else(|| inner(then)).or_else(|| inner(otherwise))
        })
    }

    /// True if the stretch depends on a value that changes from region to region.
    fn follows_turns(&self, peel: &Peel) -> bool {
        let values = peel.ends.iter().map(|end| end.value);
        let values: Vec<ExprId> = values.chain(peel.row.iter().copied()).collect();
        let mut parts = self.kernel.exprs_in(values);
        parts.any(|part| match self.kernel.expr(part).facts().reads {
            Reads::Local(local) => self.is_for_all(local),
            Reads::Operands
            | Reads::Constant
            | Reads::Param(_)
            | Reads::Len(_)
            | Reads::Id(_)
            | Reads::Memory(_)
            | Reads::Faults => false,
        })
    }

    /// The loop over the lanes of rows, peeled if a condition allows it. `body` writes the code of
    /// a lane.
    pub fn peeled_rows(
        &self,
        stmts: &[StmtId],
        body: &dyn Fn(&Writer<'_>) -> TokenStream,
    ) -> TokenStream {
        // The rows of split bodies are short, so loop versioning goes first.
        let inside = || self.rows_inside(stmts, body);
        if let Some(rows) = self.frame.and_then(|_| inside()) {
            return rows;
        }
        let Some(peel) = self.peel(stmts) else {
            if let Some(rows) = inside() {
                return rows;
            }
            return match self.are_columns(stmts) {
                true => super::columns::columns(body(self)),
                false => self.all_rows(body(self)),
            };
        };
        let part = |inner: bool| {
            let mut known = self.known.clone();
            known.insert(peel.cond, inner);
            body(&Writer {
                known: &known,
                ..*self
            })
        };
        let (inner, edge) = (part(true), part(false));
        let stretch = self.bounds_of(&peel);
        let range = mixed!(__from..__to);
        let edge = each_lane(&range, edge);
        // Rows of split bodies are short. What a vectorised loop leaves over would take as long as
        // the loop, so groups of a few lanes follow each other.
        let inner = match self.frame {
            Some(_) => in_groups(&inner),
            None => each_lane(&range, inner),
        };
        each_row(mixed! {
            let [__begin, __end] = { #stretch };
            for (__from, __to, __inner) in [
                (0, __begin, false),
                (__begin, __end, true),
                (__end, __lanes[0], false),
            ] {
                if __inner { #inner } else { #edge }
            }
        })
    }

    /// Computes the stretch of lanes for which the condition holds.
    fn bounds_of(&self, peel: &Peel) -> TokenStream {
        let ends = peel.ends.iter().map(|end| end.value);
        let values: Vec<ExprId> = ends.chain(peel.row.iter().copied()).collect();
        let lets = self.declared_again(&values);
        let ends = peel.ends.iter().map(|end| {
            let value = self.expr(end.value);
            let past = Literal::u64_unsuffixed(end.past as u64);
            let offset = Literal::u64_unsuffixed(end.offset);
            let index = mixed! {
                __usize::saturating_sub(
                    __usize::saturating_add(#value, #past),
                    #offset,
                )
            };
            let lane = if end.global {
                mixed!(__host::Block::lanes_below(__block, 0, __lanes[0], #index))
            } else {
                mixed!(::core::cmp::Ord::min(__lanes[0], #index))
            };
            if end.begins {
                mixed!(__begin = ::core::cmp::Ord::max(__begin, #lane);)
            } else {
                mixed!(__end = ::core::cmp::Ord::min(__end, #lane);)
            }
        });
        let row = peel.row.iter().map(|e| self.expr(*e));
        mixed! {
            let __thread = [0, __y, __z];
            #lets
            let mut __begin = 0;
            let mut __end = __lanes[0];
            #(#ends)*
            if __begin < __end #(&& #row)* {
                [__begin, __end]
            } else {
                [__lanes[0], __lanes[0]]
            }
        }
    }

    /// Declares the locals that the expressions depend on, for an evaluation before the place of
    /// their declaration.
    pub fn declared_again(&self, values: &[ExprId]) -> TokenStream {
        let mut needed = BTreeSet::new();
        for value in values {
            self.needs(*value, &mut needed);
        }
        let each = needed.into_iter();
        each.map(|local| self.declare(local, self.values.get(local), Span::mixed_site()))
            .collect()
    }

    /// Collects the locals that an expression depends on, except those that are declared once for
    /// all lanes.
    fn needs(&self, expr: ExprId, needed: &mut BTreeSet<LocalId>) {
        local_uses::expr(self.kernel, expr, &mut |local, _| {
            let is_declared = self.is_for_all(local);
            let value = self.values.get(local);
            let value = value.filter(|_| !is_declared && needed.insert(local));
            if let Some(value) = value {
                self.needs(value, needed);
            }
        });
    }

    fn stretch(&self, cond: ExprId) -> Option<Peel> {
        let mut peel = Peel {
            cond,
            ends: vec![],
            row: vec![],
        };
        (self.collect(cond, &mut peel) && !peel.ends.is_empty()).then_some(peel)
    }

    /// Splits a conjunction. Returns true if each term either depends only on the row, or is an end
    /// of the stretch.
    fn collect(&self, term: ExprId, peel: &mut Peel) -> bool {
        if self.known.contains_key(&term) {
            return false;
        }
        let end = match Guard::of(self.kernel, term, true) {
            Guard::Both { lhs, rhs } => {
                return self.collect(lhs, peel) && self.collect(rhs, peel);
            }
            Guard::Compare(comparison) => self
                .end(comparison)
                .or_else(|| self.end(comparison.swapped())),
            Guard::Either { .. } | Guard::Not(_) | Guard::Local(_) | Guard::Other => None,
        };
        if let Some(end) = end {
            peel.ends.push(end);
            return true;
        }
        let row = self.is_of_row(term);
        if row {
            peel.row.push(term);
        }
        row
    }

    /// The end of the stretch of lanes for which `index < value` holds, or another order.
    fn end(&self, comparison: Comparison) -> Option<End> {
        let (begins, past) = match comparison.relation {
            Relation::Lt => (false, false),
            Relation::Le => (false, true),
            Relation::Gt => (true, true),
            Relation::Ge => (true, false),
            Relation::Eq | Relation::Ne => return None,
        };
        let (global, offset) = self.index_along_x(comparison.lhs)?;
        let end = End {
            begins,
            past,
            global,
            offset,
            value: comparison.rhs,
        };
        self.is_of_row(comparison.rhs).then_some(end)
    }

    /// Decomposes the index along x, in the launch or in the block, plus a small constant, a sum that never
    /// overflows. Returns true for an index in the launch, and the constant.
    fn index_along_x(&self, expr: ExprId) -> Option<(bool, u64)> {
        let index = self.lane_index(expr, &|_| false)?;
        let [global, of_block] =
            [Builtin::GlobalIdx(Axis::X), Builtin::ThreadIdx(Axis::X)].map(|id| index.id == id);
        let offset = u32::try_from(index.offset.as_constant()?).ok()?;
        (global || of_block).then_some((global, offset.into()))
    }

    /// Decomposes an index plus a small constant, a sum that never overflows.
    fn index_plus(&self, expr: ExprId) -> Option<(ExprId, u64)> {
        let Expr::Binary {
            op: BinaryOp::Add,
            lhs,
            rhs,
        } = self.kernel.expr(expr)
        else {
            return None;
        };
        let index = self.resolved(lhs);
        let is_id = matches!(self.kernel.expr(index), Expr::Builtin(_));
        if let Some(Value::Usize(n)) = self.kernel.literal(rhs) {
            return (is_id && n <= u64::from(u32::MAX)).then_some((index, n));
        }
        None
    }

    /// The value of an immutable local; other expressions stay unchanged.
    pub fn resolved(&self, expr: ExprId) -> ExprId {
        if let Expr::Local(local) = self.kernel.expr(expr) {
            let fixed = !self.kernel.locals[local.index()].mutable;
            if let Some(value) = self.values.get(local).filter(|_| fixed) {
                return self.resolved(value);
            }
        }
        expr
    }

    /// True if the value is the same for all lanes of a row at any time, and its evaluation can
    /// neither fault nor panic.
    fn is_of_row(&self, id: ExprId) -> bool {
        let expr = self.kernel.expr(id);
        let facts = expr.facts();
        let is_same = match facts.reads {
            Reads::Len(memory) => matches!(memory, Memory::Slice(_)),
            Reads::Id(builtin) => builtin.is_of_row(),
            Reads::Local(local) => {
                let value = self.resolved(id);
                self.is_for_all(local) || value != id && self.is_of_row(value)
            }
            Reads::Memory(_) | Reads::Faults => false,
            Reads::Operands | Reads::Constant => true,
            Reads::Param(param) => self.is_param_of_all(param),
        };
        let is_simple = match facts.work {
            Work::Leaf | Work::ShortCircuit => true,
            Work::Operator => match expr {
                Expr::Binary { op, .. } => {
                    let ty = self.kernel.type_of(id).as_scalar();
                    let float = ty.is_some_and(Scalar::is_float);
                    float || op.is_comparison() || self.index_plus(id).is_some()
                }
                other => {
                    !matches!(other, Expr::Divide { .. }) && self.kernel.hazard(id) == Hazard::None
                }
            },
            Work::Load | Work::Call(_) | Work::Compound => false,
        };
        let mut operands = self.kernel.operands(id).into_iter();
        is_same && is_simple && operands.all(|e| self.is_of_row(e))
    }
}
