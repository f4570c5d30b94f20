//! Builds `usize` arithmetic. Each expression that a function takes becomes a part of the result.

use crate::{
    Axis, BinaryOp, Builtin, DivideOp, Expr, ExprId, Intrinsic, Kernel, Loc, Local, LocalId,
    Memory, Scalar, Stmt, StmtId, Value,
};

use super::super::lane::{self, binary, number, sum};

/// A kernel with the location of new nodes.
pub(in super::super) struct Code<'k> {
    pub kernel: &'k mut Kernel,
    pub loc: Loc,
}

impl Code<'_> {
    pub fn n(&mut self, value: u32) -> ExprId {
        number(self.kernel, value.into(), self.loc)
    }

    pub fn id(&mut self, builtin: Builtin) -> ExprId {
        lane::id(self.kernel, builtin, self.loc)
    }

    pub fn read(&mut self, local: LocalId) -> ExprId {
        self.kernel.push_local_read(local, self.loc)
    }

    /// A copy of an expression.
    pub fn again(&mut self, id: ExprId) -> ExprId {
        self.kernel.copy_expr(id)
    }

    pub fn add(&mut self, lhs: ExprId, rhs: ExprId) -> ExprId {
        sum(self.kernel, BinaryOp::Add, lhs, rhs, self.loc)
    }

    pub fn plus(&mut self, lhs: ExprId, rhs: u32) -> ExprId {
        let rhs = self.n(rhs);
        self.add(lhs, rhs)
    }

    pub fn sub(&mut self, lhs: ExprId, rhs: ExprId) -> ExprId {
        sum(self.kernel, BinaryOp::Sub, lhs, rhs, self.loc)
    }

    pub fn mul(&mut self, lhs: ExprId, rhs: u32) -> ExprId {
        if rhs == 1 {
            return lhs;
        }
        if let Some(Value::Usize(lhs)) = self.kernel.literal(lhs) {
            return number(self.kernel, lhs * u64::from(rhs), self.loc);
        }
        let rhs = self.n(rhs);
        binary(self.kernel, BinaryOp::Mul, lhs, rhs, self.loc)
    }

    pub fn lt(&mut self, lhs: ExprId, rhs: ExprId) -> ExprId {
        binary(self.kernel, BinaryOp::Lt, lhs, rhs, self.loc)
    }

    pub fn div(&mut self, lhs: ExprId, rhs: u32) -> ExprId {
        match rhs {
            1 => lhs,
            _ => self.divide(DivideOp::Div, lhs, rhs),
        }
    }

    pub fn rem(&mut self, lhs: ExprId, rhs: u32) -> ExprId {
        match rhs {
            1 => self.n(0),
            _ => self.divide(DivideOp::Rem, lhs, rhs),
        }
    }

    /// The other one of the numbers 0 and 1.
    pub fn other(&mut self, local: LocalId) -> ExprId {
        let (lhs, rhs) = (self.read(local), self.n(1));
        binary(self.kernel, BinaryOp::BitXor, lhs, rhs, self.loc)
    }

    fn divide(&mut self, op: DivideOp, lhs: ExprId, rhs: u32) -> ExprId {
        let divide = Expr::Divide {
            op,
            lhs,
            rhs: self.n(rhs),
            site: None,
        };
        self.kernel.push_expr(divide, Scalar::Usize, self.loc)
    }

    pub fn min(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.call(Intrinsic::Min, a, b)
    }

    pub fn max(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.call(Intrinsic::Max, a, b)
    }

    fn call(&mut self, intrinsic: Intrinsic, a: ExprId, b: ExprId) -> ExprId {
        let args = self.kernel.push_list(&[a, b]);
        let call = Expr::Call { intrinsic, args };
        self.kernel.push_expr(call, Scalar::Usize, self.loc)
    }

    /// The number of the last group of `size` threads within the user's extent.
    pub fn last(&mut self, axis: Axis, missing: u32, size: u32) -> ExprId {
        let all = self.id(Builtin::GlobalDim(axis));
        let less = self.n(match size {
            1 => missing + 1,
            _ => missing,
        });
        let extent = self.sub(all, less);
        if size == 1 {
            return extent;
        }
        let groups = self.div(extent, size);
        let one = self.n(1);
        self.sub(groups, one)
    }

    pub fn load(&mut self, memory: Memory, index: ExprId) -> ExprId {
        let load = Expr::Load {
            memory,
            index,
            site: None,
        };
        let ty = self.kernel.element(memory);
        self.kernel.push_expr(load, ty, self.loc)
    }

    pub fn stmt(&mut self, stmt: Stmt) -> StmtId {
        self.kernel.push_stmt(stmt, self.loc)
    }

    pub fn store(&mut self, memory: Memory, index: ExprId, value: ExprId) -> StmtId {
        self.stmt(Stmt::Store {
            memory,
            index,
            value,
            site: None,
        })
    }

    /// Declares a local with a value.
    pub fn bind(&mut self, name: &'static str, init: ExprId, out: &mut Vec<StmtId>) -> LocalId {
        self.declare((name, false), init, out)
    }

    /// Declares a local that is assigned again if the flag is true.
    pub fn declare(
        &mut self,
        (name, mutable): (&'static str, bool),
        init: ExprId,
        out: &mut Vec<StmtId>,
    ) -> LocalId {
        let local = self.kernel.push_local(Local {
            name: name.into(),
            ty: self.kernel.type_of(init),
            mutable,
        });
        let init = Some(init);
        out.push(self.stmt(Stmt::Let { local, init }));
        local
    }

    /// `if cond { then }`
    pub fn branch(&mut self, cond: ExprId, then: &[StmtId]) -> StmtId {
        let then = self.kernel.push_block(then);
        self.stmt(Stmt::If {
            cond,
            then,
            otherwise: crate::Block::EMPTY,
        })
    }

    /// A loop over `local`, whose body is complete.
    pub fn count(&mut self, local: LocalId, end: ExprId, body: &[StmtId]) -> StmtId {
        let start = self.n(0);
        let body = self.kernel.push_block(body);
        let label = self.kernel.fresh_label();
        self.stmt(Stmt::For {
            label,
            local,
            start,
            end,
            body,
        })
    }
}
