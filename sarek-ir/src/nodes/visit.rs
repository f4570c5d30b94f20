//! The parts of each node: its direct operands and blocks. Every walk over a kernel uses these lists.
//!
//! [`Kernel::exprs_in`] and [`Kernel::stmts_in`] walk over nodes and all nodes inside of them. [`Kernel::with_operands`] and
//! [`Kernel::map_blocks`] replace parts.

use crate::facts::Reads;
use crate::{
    Argument, Block, CallId, CallableArg, Closure, Compound, CompoundId, Expr, ExprId, Kernel,
    Memory, PlaceId, Root, Step, Stmt, StmtId,
};

impl Expr {
    /// Calls `f` for each operand that the node itself holds, in order of evaluation. [`Kernel::lists`] holds those of a
    /// method, and [`Kernel::compounds`] those of an operation on compound values.
    pub fn each_operand(&mut self, f: &mut dyn FnMut(&mut ExprId)) {
        match self {
            Expr::Literal(_)
            | Expr::Link(_)
            | Expr::Local(_)
            | Expr::Param(_)
            | Expr::Len(_)
            | Expr::Builtin(_)
            | Expr::Faulted
            | Expr::Call { .. }
            | Expr::Compound(_) => {}
            Expr::Load { index: arg, .. } | Expr::Unary { arg, .. } | Expr::Cast { arg } => f(arg),
            Expr::Bounded {
                index: lhs,
                len: rhs,
                ..
            }
            | Expr::Binary { lhs, rhs, .. }
            | Expr::Divide { lhs, rhs, .. }
            | Expr::And { lhs, rhs }
            | Expr::Or { lhs, rhs } => {
                f(lhs);
                f(rhs);
            }
        }
    }
}

impl Kernel {
    /// The operands of an operation on compound values.
    pub fn compound_operands(&self, id: CompoundId) -> Vec<ExprId> {
        match &self.compounds[id.index()] {
            Compound::Field { base, .. } => vec![*base],
            Compound::Index { base, index, .. } => vec![*base, *index],
            Compound::IsVariant { value, .. } | Compound::Payload { value, .. } => vec![*value],
            Compound::Construct { fields, rest, .. } => {
                fields.iter().map(|(_, e)| *e).chain(*rest).collect()
            }
            Compound::Array { items } | Compound::At { indices: items, .. } => {
                self.list(*items).collect()
            }
            Compound::Repeat { value } => vec![*value],
            Compound::Len { base } => vec![*base],
        }
    }

    /// The operands of a place, in order of evaluation.
    pub fn place_operands(&self, id: PlaceId) -> Vec<ExprId> {
        let place = &self.places[id.index()];
        let root = match place.root {
            Root::Local(_) | Root::Param(_) => None,
            Root::Element { index, .. } => Some(index),
        };
        let steps = place.steps.iter().filter_map(|step| match step {
            Step::Field(_) => None,
            Step::Index { index, .. } => Some(*index),
        });
        root.into_iter().chain(steps).collect()
    }

    /// The value arguments of a call.
    pub fn call_operands(&self, id: CallId) -> Vec<ExprId> {
        let args = self.calls[id.index()].args.iter();
        args.filter_map(|arg| match arg {
            Argument::Value(e) => Some(*e),
            Argument::Memory(_) | Argument::Local(_) => None,
        })
        .collect()
    }

    /// The closures that a call passes.
    pub fn closures_of(&self, id: CallId) -> impl Iterator<Item = &Closure> {
        self.calls[id.index()]
            .callable_args
            .iter()
            .filter_map(|arg| match arg {
                CallableArg::Closure(closure) => Some(&self.closures[closure.index()]),
                CallableArg::Function(_) | CallableArg::Callable(_) => None,
            })
    }

    /// The direct operands of an expression, in order of evaluation.
    pub fn operands(&self, id: ExprId) -> Vec<ExprId> {
        let mut expr = self.expr(id);
        if let Expr::Call { args, .. } = expr {
            return self.list(args).collect();
        }
        if let Expr::Compound(compound) = expr {
            return self.compound_operands(compound);
        }
        let mut operands = vec![];
        expr.each_operand(&mut |operand| operands.push(*operand));
        operands
    }

    /// These expressions and their operands at any depth, each before its operands.
    pub fn exprs_in(
        &self,
        exprs: impl IntoIterator<Item = ExprId>,
    ) -> impl Iterator<Item = ExprId> + '_ {
        let mut open: Vec<ExprId> = exprs.into_iter().collect();
        open.reverse();
        std::iter::from_fn(move || {
            let next = open.pop()?;
            open.extend(self.operands(next).into_iter().rev());
            Some(next)
        })
    }

    /// All expressions that the body evaluates.
    pub fn used_exprs(&self) -> impl Iterator<Item = ExprId> + '_ {
        let stmts = self.stmts_in(self.block(self.body));
        stmts.flat_map(|id| self.exprs_in(self.operands_of(id)))
    }

    /// True if the expression, or an operand at any depth, loads from a memory.
    pub fn loads(&self, id: ExprId, from: Memory) -> bool {
        let mut all = self.exprs_in([id]);
        all.any(|e| self.expr(e).facts().reads == Reads::Memory(from))
    }

    /// A copy of an expression and its operands, since an expression has one user.
    pub fn copy_expr(&mut self, id: ExprId) -> ExprId {
        let operands = self.operands(id);
        let operands: Vec<ExprId> = operands.into_iter().map(|e| self.copy_expr(e)).collect();
        let copy = self.with_operands(self.expr(id), &operands);
        self.push_expr(copy, self.type_of(id), self.expr_locs[id.index()])
    }

    /// The expression with other operands, in the order of [`Kernel::operands`].
    ///
    /// # Panics
    /// For an operation on compound values, which linking removes.
    pub fn with_operands(&mut self, mut expr: Expr, operands: &[ExprId]) -> Expr {
        let mut rest = operands.iter();
        expr.each_operand(&mut |operand| {
            *operand = *rest.next().expect("there is one for each operand");
        });
        if let Expr::Call { args, .. } = &mut expr {
            *args = self.push_list(operands);
        }
        assert!(
            !matches!(expr, Expr::Compound(_)),
            "linking leaves no compound"
        );
        expr
    }

    /// The direct operands of a statement, in order of evaluation, and its blocks. An index that the statement itself
    /// checks is the last operand.
    pub fn children(&self, stmt: Stmt) -> (Vec<ExprId>, Vec<Block>) {
        match stmt {
            Stmt::Let { init, .. } => (init.into_iter().collect(), vec![]),
            Stmt::Assign { value, .. } => (vec![value], vec![]),
            Stmt::Store { index, value, .. } => (vec![value, index], vec![]),
            Stmt::Assert { cond, .. } => (vec![cond], vec![]),
            Stmt::Print { print } => {
                let args = self.prints[print.index()].args;
                (self.list(args).collect(), vec![])
            }
            Stmt::Panic { .. } => (vec![], vec![]),
            Stmt::If {
                cond,
                then,
                otherwise,
            } => (vec![cond], vec![then, otherwise]),
            Stmt::Loop { cond, body, .. } => (cond.into_iter().collect(), vec![body]),
            Stmt::For {
                start, end, body, ..
            } => (vec![start, end], vec![body]),
            Stmt::Atomic { index, args, .. } => (self.list(args).chain([index]).collect(), vec![]),
            Stmt::Subgroup { args, .. } => (self.list(args).collect(), vec![]),
            Stmt::Update { place, value } => {
                let place = self.place_operands(place);
                ([value].into_iter().chain(place).collect(), vec![])
            }
            Stmt::Call { call } => {
                let bodies = self.closures_of(call).map(|closure| closure.body);
                (self.call_operands(call), bodies.collect())
            }
            Stmt::Break { .. }
            | Stmt::Continue { .. }
            | Stmt::Return
            | Stmt::Barrier
            | Stmt::Fence { .. } => (vec![], vec![]),
            Stmt::Native { native } => {
                let fallback = self.natives[native.index()].fallback;
                (vec![], fallback.into_iter().collect())
            }
        }
    }

    /// These statements and all statements inside of them, in source order.
    pub fn stmts_in(
        &self,
        stmts: impl IntoIterator<Item = StmtId>,
    ) -> impl Iterator<Item = StmtId> + '_ {
        let mut open: Vec<StmtId> = stmts.into_iter().collect();
        open.reverse();
        std::iter::from_fn(move || {
            let next = open.pop()?;
            for block in self.blocks_of(next).into_iter().rev() {
                open.extend(self.block(block).rev());
            }
            Some(next)
        })
    }

    /// The expressions that a statement itself evaluates, in order.
    pub fn operands_of(&self, id: StmtId) -> Vec<ExprId> {
        self.children(self.stmt(id)).0
    }

    /// The blocks directly inside of a statement: branches, a body, the bodies of closures, or a fallback.
    pub fn blocks_of(&self, id: StmtId) -> Vec<Block> {
        self.children(self.stmt(id)).1
    }

    /// Replaces the blocks of a statement of a linked kernel.
    pub(crate) fn map_blocks(
        &mut self,
        id: StmtId,
        f: &mut dyn FnMut(&mut Kernel, Block) -> Block,
    ) {
        let mut stmt = self.stmt(id);
        match &mut stmt {
            Stmt::If {
                then, otherwise, ..
            } => {
                *then = f(self, *then);
                *otherwise = f(self, *otherwise);
            }
            Stmt::Loop { body, .. } | Stmt::For { body, .. } => *body = f(self, *body),
            Stmt::Native { native } => {
                if let Some(block) = self.natives[native.index()].fallback {
                    let new = f(self, block);
                    self.natives.to_mut()[native.index()].fallback = Some(new);
                }
            }
            Stmt::Let { .. }
            | Stmt::Assign { .. }
            | Stmt::Store { .. }
            | Stmt::Assert { .. }
            | Stmt::Break { .. }
            | Stmt::Continue { .. }
            | Stmt::Return
            | Stmt::Barrier
            | Stmt::Fence { .. }
            | Stmt::Panic { .. }
            | Stmt::Print { .. }
            | Stmt::Atomic { .. }
            | Stmt::Subgroup { .. }
            | Stmt::Update { .. }
            | Stmt::Call { .. } => {}
        }
        if self.stmt(id) != stmt {
            self.stmts.to_mut()[id.index()] = stmt;
        }
    }
}
