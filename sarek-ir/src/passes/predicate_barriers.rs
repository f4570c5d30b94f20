//! If-conversion around barriers: moves them out of branches, for compilers that mishandle them there.
//!
//! PoCL 3.1 turns the code between two barriers into a loop over threads. If a barrier is in a branch, or a jump skips
//! one, such a stretch has several entries or exits, and PoCL may run the alternative that no thread took.
//!
//! Either all threads of a block take such a branch, or none does. So its condition can be held in a *predicate*: a
//! local that guards each stretch separately. Threads for which the predicate is false reach the barriers as well.
//! The pass only moves barriers; it adds none.
//!
//! `if c { A; barrier(); B } else { C }` becomes
//!
//! ```text
//! let taken = c;
//! let other = !taken;
//! if taken { A }
//! barrier();
//! if taken { B }
//! if other { C }
//! ```
//!
//! A loop that contains a barrier runs no iteration if its predicate is false, and then evaluates neither its condition
//! nor its bounds. A jump clears the predicates of all scopes that it leaves, up to its target. A loop left by a jump
//! stops at the flag `going`.
//!
//! PoCL's compiler must not see how predicates relate to each other, or it turns them back into branches. So the pass
//! returns the locals that are predicates.

use std::collections::BTreeSet;

use super::hoist_decls::hoist;
use crate::facts::Flow;
use crate::{
    Block, Expr, ExprId, Kernel, LabelId, Loc, Local, LocalId, Scalar, Stmt, StmtId, UnaryOp, Value,
};

/// Moves barriers out of branches, and replaces jumps that skip them. Returns the predicates. Runs after
/// [`super::park_returns`](fn@super::park_returns), which ensures that all threads of a block take such jumps together.
pub fn predicate_barriers(kernel: &mut Kernel) -> BTreeSet<LocalId> {
    let body = kernel.body;
    let mut precedes = vec![false; kernel.stmts.len()];
    if !mark(kernel, body, false, &mut precedes) {
        return BTreeSet::new();
    }
    let mut pass = Pass {
        kernel,
        precedes,
        around: vec![],
        flags: BTreeSet::new(),
    };
    let (body, scope) = pass.within(Scope::new(Kind::Body, None), body);
    let running = scope
        .predicate
        .map(|p| pass.declare(p, None, Loc::default()));
    let stmts: Vec<StmtId> = running.into_iter().chain(body).collect();
    let Pass { kernel, flags, .. } = pass;
    kernel.body = kernel.push_block(&stmts);
    flags
}

/// Marks the statements that precede barriers; `follows` is true if a barrier follows the block. Returns true if a
/// barrier follows the block's beginning.
fn mark(kernel: &Kernel, block: Block, mut follows: bool, precedes: &mut [bool]) -> bool {
    for id in kernel.block(block).rev() {
        precedes[id.index()] = follows;
        let stmt = kernel.stmt(id);
        let blocks = kernel.blocks_of(id);
        // Another iteration may follow each iteration.
        let repeats = stmt.loop_label().is_some();
        follows |= stmt.waits_for_block() || repeats && super::holds_barrier(kernel, blocks[0]);
        for inner in blocks.into_iter().rev() {
            follows = mark(kernel, inner, follows, precedes);
        }
    }
    follows
}

struct Pass<'a> {
    kernel: &'a mut Kernel,
    /// For each statement, true if a barrier may follow once alternatives are placed one after the other.
    precedes: Vec<bool>,
    /// The scopes around the current statement, innermost last.
    around: Vec<Scope>,
    flags: BTreeSet<LocalId>,
}

/// A block that contains barriers, or jumps that skip barriers.
struct Scope {
    kind: Kind,
    /// False while the block's statements are skipped; `None` if they never are.
    predicate: Option<LocalId>,
}

enum Kind {
    /// The kernel's body.
    Body,
    Branch,
    /// A loop's body. Jumps that leave the loop clear `going`.
    Loop {
        label: LabelId,
        going: Option<LocalId>,
        continues: bool,
    },
}

impl Scope {
    fn new(kind: Kind, predicate: Option<LocalId>) -> Scope {
        Scope { kind, predicate }
    }
}

impl Pass<'_> {
    /// Transforms a block within `scope`. Returns the statements, without barriers in branches, and the final scope.
    fn within(&mut self, scope: Scope, block: Block) -> (Vec<StmtId>, Scope) {
        self.around.push(scope);
        let stmts = self.block(block);
        let scope = self.around.pop();
        (stmts, scope.unwrap_or_else(|| unreachable!("pushed above")))
    }

    fn block(&mut self, block: Block) -> Vec<StmtId> {
        let stmts: Vec<StmtId> = self.kernel.block(block).collect();
        let (mut out, mut stretch) = (vec![], vec![]);
        for (i, &id) in stmts.iter().enumerate() {
            if !self.holds(id) {
                stretch.push(id);
                continue;
            }
            let loc = self.kernel.stmt_locs[id.index()];
            let stmt = self.kernel.stmt(id);
            if stmt.facts().flow.is_jump() {
                self.jump(stmt, loc, &mut stretch);
                self.close(&mut stretch, &[], &mut out);
                return out;
            }
            self.close(&mut stretch, &stmts[i..], &mut out);
            match stmt {
                Stmt::If {
                    cond,
                    then,
                    otherwise,
                } => self.branch(cond, [then, otherwise], loc, &mut out),
                Stmt::Loop { .. } | Stmt::For { .. } => self.repeat(id, loc, &mut out),
                _ => out.push(id),
            }
        }
        self.close(&mut stretch, &[], &mut out);
        out
    }

    /// True for a barrier, for a jump that skips one, and for a statement that contains either.
    fn holds(&self, id: StmtId) -> bool {
        let mut inner = self.kernel.stmts_in([id]);
        inner.any(|id| {
            let stmt = self.kernel.stmt(id);
            match stmt.facts().flow {
                Flow::Return => self.precedes[id.index()],
                Flow::Break(label) | Flow::Continue(label) => self
                    .around
                    .iter()
                    .any(|scope| matches!(scope.kind, Kind::Loop { label: of, .. } if of == label)),
                Flow::Next | Flow::Branch | Flow::Loop(_) | Flow::Panic => stmt.waits_for_block(),
            }
        })
    }

    /// Guards a stretch by the predicate.
    fn close(&mut self, stretch: &mut Vec<StmtId>, later: &[StmtId], out: &mut Vec<StmtId>) {
        let stretch = std::mem::take(stretch);
        let (Some(predicate), Some(&first)) = (self.predicate(), stretch.first()) else {
            return out.extend(stretch);
        };
        let loc = self.kernel.stmt_locs[first.index()];
        let kept = stretch.into_iter();
        let kept: Vec<StmtId> = kept
            .filter_map(|id| hoist(self.kernel, id, later, out))
            .collect();
        if !kept.is_empty() {
            let cond = self.kernel.push_local_read(predicate, loc);
            out.push(self.only_if(cond, &kept, loc));
        }
    }

    fn branch(&mut self, cond: ExprId, blocks: [Block; 2], loc: Loc, out: &mut Vec<StmtId>) {
        let outer = self.predicate();
        let taken = self.flag("taken");
        let cond = self.and(outer, cond, loc);
        out.push(self.declare(taken, Some(cond), loc));
        let other = (!blocks[1].is_empty()).then(|| self.flag("other"));
        if let Some(other) = other {
            let not = self.not(taken, loc);
            let cond = self.and(outer, not, loc);
            out.push(self.declare(other, Some(cond), loc));
        }
        for (predicate, block) in [Some(taken), other].into_iter().zip(blocks) {
            if predicate.is_some() {
                out.extend(self.within(Scope::new(Kind::Branch, predicate), block).0);
            }
        }
    }

    fn repeat(&mut self, id: StmtId, loc: Loc, out: &mut Vec<StmtId>) {
        let outer = self.predicate();
        let mut stmt = self.kernel.stmt(id);
        let (Stmt::Loop { label, body, .. } | Stmt::For { label, body, .. }) = stmt else {
            unreachable!("only loops repeat")
        };
        let kind = Kind::Loop {
            label,
            going: None,
            continues: continues(self.kernel, body, label),
        };
        let (inner, Scope { kind, predicate }) = self.within(Scope::new(kind, None), body);
        let Kind::Loop { going, .. } = kind else {
            unreachable!("the scope is a loop's")
        };
        let mut stmts = vec![];
        match &mut stmt {
            Stmt::For { start, end, .. } => {
                if let Some(outer) = outer {
                    [*start, *end] = self.range(outer, [*start, *end], loc, out);
                }
                if let Some(going) = going {
                    out.push(self.declare(going, None, loc));
                    let over = self.not(going, loc);
                    let leave = self.kernel.push_stmt(Stmt::Break { label }, loc);
                    stmts.push(self.only_if(over, &[leave], loc));
                }
            }
            Stmt::Loop { cond, .. } => {
                if let Some(going) = going {
                    let init = outer.map(|outer| self.kernel.push_local_read(outer, loc));
                    out.push(self.declare(going, init, loc));
                }
                if let Some(flag) = going.or(outer) {
                    *cond = Some(match *cond {
                        Some(cond) => self.and(Some(flag), cond, loc),
                        None => self.kernel.push_local_read(flag, loc),
                    });
                }
            }
            _ => unreachable!("only loops repeat"),
        }
        let own = predicate.filter(|_| predicate != going);
        stmts.extend(own.map(|own| self.declare(own, None, loc)));
        stmts.extend(inner);
        let new = self.kernel.push_block(&stmts);
        if let Stmt::Loop { body, .. } | Stmt::For { body, .. } = &mut stmt {
            *body = new;
        }
        self.kernel.stmts.to_mut()[id.index()] = stmt;
        out.push(id);
    }

    /// Makes a range that is empty, and not evaluated, if the predicate is false.
    fn range(
        &mut self,
        predicate: LocalId,
        range: [ExprId; 2],
        loc: Loc,
        out: &mut Vec<StmtId>,
    ) -> [ExprId; 2] {
        let ty = self.kernel.scalar_of(range[0]);
        let mut assigns = vec![];
        let reads = [("start", range[0]), ("end", range[1])].map(|(name, value)| {
            let local = self.local(name, ty);
            let zero = self.kernel.push_literal(Value::zero(ty), loc);
            out.push(self.declare(local, Some(zero), loc));
            assigns.push(self.assign(local, value, loc));
            self.kernel.push_local_read(local, loc)
        });
        let cond = self.kernel.push_local_read(predicate, loc);
        out.push(self.only_if(cond, &assigns, loc));
        reads
    }

    /// Clears the predicates of the scopes that a jump leaves.
    fn jump(&mut self, jump: Stmt, loc: Loc, out: &mut Vec<StmtId>) {
        let mut around = std::mem::take(&mut self.around);
        let mut cleared = vec![];
        for (depth, scope) in around.iter_mut().rev().enumerate() {
            let mut is_target = false;
            match &mut scope.kind {
                Kind::Body => {
                    scope.predicate.get_or_insert_with(|| self.flag("running"));
                }
                // Nothing follows a jump in its own block.
                Kind::Branch if depth == 0 => continue,
                Kind::Branch => {}
                Kind::Loop {
                    label,
                    going,
                    continues,
                } => {
                    is_target = matches!(jump, Stmt::Break { label: to } | Stmt::Continue { label: to } if to == *label);
                    let goes_on = is_target && matches!(jump, Stmt::Continue { .. });
                    if !goes_on {
                        cleared.push(*going.get_or_insert_with(|| self.flag("going")));
                    }
                    let own = going.filter(|_| !*continues);
                    scope
                        .predicate
                        .get_or_insert_with(|| own.unwrap_or_else(|| self.flag("staying")));
                }
            }
            cleared.extend(scope.predicate);
            if is_target {
                break;
            }
        }
        self.around = around;
        cleared.dedup();
        for flag in cleared {
            let value = self.kernel.push_literal(Value::Bool(false), loc);
            out.push(self.assign(flag, value, loc));
        }
    }

    fn predicate(&self) -> Option<LocalId> {
        self.around.last().and_then(|scope| scope.predicate)
    }

    fn local(&mut self, name: &'static str, ty: Scalar) -> LocalId {
        self.kernel.push_local(Local {
            name: name.into(),
            ty: ty.into(),
            mutable: false,
        })
    }

    fn flag(&mut self, name: &'static str) -> LocalId {
        let flag = self.local(name, Scalar::Bool);
        self.flags.insert(flag);
        flag
    }

    /// Declares a local, initialized to true by default.
    fn declare(&mut self, local: LocalId, init: Option<ExprId>, loc: Loc) -> StmtId {
        let init = init.unwrap_or_else(|| self.kernel.push_literal(Value::Bool(true), loc));
        let init = Some(init);
        self.kernel.push_stmt(Stmt::Let { local, init }, loc)
    }

    fn assign(&mut self, local: LocalId, value: ExprId, loc: Loc) -> StmtId {
        self.kernel.locals.to_mut()[local.index()].mutable = true;
        self.kernel.push_stmt(Stmt::Assign { local, value }, loc)
    }

    fn only_if(&mut self, cond: ExprId, then: &[StmtId], loc: Loc) -> StmtId {
        let branch = Stmt::If {
            cond,
            then: self.kernel.push_block(then),
            otherwise: Block::EMPTY,
        };
        self.kernel.push_stmt(branch, loc)
    }

    fn not(&mut self, flag: LocalId, loc: Loc) -> ExprId {
        let arg = self.kernel.push_local_read(flag, loc);
        let op = UnaryOp::Not;
        self.kernel
            .push_expr(Expr::Unary { op, arg }, Scalar::Bool, loc)
    }

    /// `flag && cond`
    fn and(&mut self, flag: Option<LocalId>, cond: ExprId, loc: Loc) -> ExprId {
        let Some(flag) = flag else {
            return cond;
        };
        let lhs = self.kernel.push_local_read(flag, loc);
        let both = Expr::And { lhs, rhs: cond };
        self.kernel.push_expr(both, Scalar::Bool, loc)
    }
}

/// True if the block contains a `continue` of the loop.
fn continues(kernel: &Kernel, block: Block, label: LabelId) -> bool {
    let mut inner = kernel.stmts_in(kernel.block(block));
    inner.any(|id| kernel.stmt(id) == Stmt::Continue { label })
}

#[cfg(test)]
mod tests;
