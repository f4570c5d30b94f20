//! Loops in which lanes take strides: `while i < n { …; i += global_dim_x() }`.
//!
//! Lanes next to each other touch elements next to each other in each turn, and a lane's own elements lie
//! far apart: a strip takes the turns together. Only the last one is not all lanes'.

use sarek_ir::analysis::touch::{self, Touch};
use sarek_ir::analysis::uniformity::Uniformity;
use sarek_ir::{BinaryOp, Block, Expr, ExprId, LocalId, Stmt, StmtId};

use super::Writer;

impl Writer<'_> {
    /// Is it such a loop, which all lanes enter and none leaves but by its condition?
    pub fn has_stride(&self, among: &Uniformity, stmt: StmtId) -> bool {
        let Stmt::Loop {
            cond: Some(cond),
            body,
            ..
        } = self.kernel.stmt(stmt)
        else {
            return false;
        };
        let counter = self.below(among, cond);
        among.control(stmt)
            && !self.has_jumps(body)
            && counter.is_some_and(|counter| self.strides(among, body, counter))
    }

    /// The local that a condition holds to be below a value that all lanes agree on.
    fn below(&self, among: &Uniformity, cond: ExprId) -> Option<LocalId> {
        let Expr::Binary {
            op: BinaryOp::Lt,
            lhs,
            rhs,
        } = self.kernel.expr(cond)
        else {
            return None;
        };
        if let Expr::Local(local) = self.kernel.expr(lhs) {
            return Some(local).filter(|_| among.expr(rhs));
        }
        None
    }

    /// Is the local only ever advanced, at the end of the body, by more than a constant?
    fn strides(&self, among: &Uniformity, body: Block, counter: LocalId) -> bool {
        let mut writes = 0;
        for stmt in self.kernel.block(body) {
            touch::stmt(self.kernel, stmt, &mut |local, touch| {
                writes += (local == counter && touch != Touch::Read) as u32;
            });
        }
        let last = self.kernel.block(body).next_back();
        let Some(Stmt::Assign { local, value }) = last.map(|s| self.kernel.stmt(s)) else {
            return false;
        };
        let Expr::Binary {
            op: BinaryOp::Add,
            lhs,
            rhs: by,
        } = self.kernel.expr(value)
        else {
            return false;
        };
        let advances = self.kernel.expr(lhs) == Expr::Local(counter);
        writes == 1
            && advances
            && local == counter
            && among.expr(by)
            && self.kernel.literal(by).is_none()
    }

    fn has_jumps(&self, body: Block) -> bool {
        self.kernel.block(body).any(|stmt| {
            let jumps = matches!(
                self.kernel.stmt(stmt),
                Stmt::Break { .. } | Stmt::Continue { .. } | Stmt::Return
            );
            let mut inner = touch::blocks(self.kernel, stmt).into_iter();
            jumps || inner.any(|b| self.has_jumps(b))
        })
    }
}
