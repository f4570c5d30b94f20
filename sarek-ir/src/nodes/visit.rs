//! Lists the direct operands and blocks of each node. Every walk over a kernel uses these lists.

use crate::{
    Argument, Block, CallId, Closure, Compound, CompoundId, Expr, ExprId, Given, Kernel, Memory,
    PlaceId, Root, Step, Stmt,
};

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
            .given
            .iter()
            .filter_map(|given| match given {
                Given::Closure(closure) => Some(&self.closures[closure.index()]),
                Given::Function(_) | Given::Callable(_) => None,
            })
    }

    /// The direct operands of an expression, in order of evaluation.
    pub fn operands(&self, id: ExprId) -> Vec<ExprId> {
        match self.expr(id) {
            Expr::Literal(_)
            | Expr::Link(_)
            | Expr::Local(_)
            | Expr::Param(_)
            | Expr::Len(_)
            | Expr::Builtin(_)
            | Expr::Faulted => vec![],
            Expr::Load { index, .. } => vec![index],
            Expr::Bounded { index, len, .. } => vec![index, len],
            Expr::Unary { arg, .. } | Expr::Cast { arg } => vec![arg],
            Expr::Binary { lhs, rhs, .. }
            | Expr::Divide { lhs, rhs, .. }
            | Expr::And { lhs, rhs }
            | Expr::Or { lhs, rhs } => vec![lhs, rhs],
            Expr::Call { args, .. } => self.list(args).collect(),
            Expr::Compound(compound) => self.compound_operands(compound),
        }
    }

    /// True if the expression, or an operand at any depth, loads from a memory.
    pub fn loads(&self, id: ExprId, from: Memory) -> bool {
        let itself = matches!(self.expr(id), Expr::Load { memory, .. } if memory == from);
        itself || self.operands(id).into_iter().any(|id| self.loads(id, from))
    }

    /// The direct operands of a statement, in order of evaluation, and its blocks.
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
}
