//! Statements that run, as far as conditions are known.

use sarek_ir::{Expr, ExprId, Stmt, StmtId};

use super::Writer;

impl Writer<'_> {
    /// The statements that every lane reaches, up to a `return`: the given ones, and those under
    /// conditions that are known.
    pub fn straight(&self, stmts: &[StmtId]) -> Vec<StmtId> {
        let mut all = vec![];
        for &stmt in stmts {
            all.push(stmt);
            let inner = self.branch_taken(stmt);
            if let Some(inner) = &inner {
                all.extend(self.straight(inner));
            }
            if self.returns(inner.as_deref().unwrap_or(&[stmt])) {
                break;
            }
        }
        all
    }

    /// The statements without branches that are never taken.
    pub fn live(&self, stmts: &[StmtId]) -> Vec<StmtId> {
        let each = stmts
            .iter()
            .flat_map(|stmt| match self.branch_taken(*stmt) {
                Some(taken) => self.live(&taken),
                None => vec![*stmt],
            });
        each.collect()
    }

    /// The statements that run instead of an `if` whose condition is known.
    fn branch_taken(&self, stmt: StmtId) -> Option<Vec<StmtId>> {
        let Stmt::If {
            cond,
            then,
            otherwise,
        } = self.kernel.stmt(stmt)
        else {
            return None;
        };
        let taken = match self.decided(cond)? {
            true => then,
            false => otherwise,
        };
        Some(self.kernel.block(taken).collect())
    }

    /// The value of a condition that follows from the known ones.
    fn decided(&self, cond: ExprId) -> Option<bool> {
        if let Some(known) = self.known.get(&cond) {
            return Some(*known);
        }
        let (lhs, rhs, short) = if let Expr::And { lhs, rhs } = self.kernel.expr(cond) {
            (lhs, rhs, false)
        } else if let Expr::Or { lhs, rhs } = self.kernel.expr(cond) {
            (lhs, rhs, true)
        } else {
            return None;
        };
        // The right side counts only if the left side does not decide.
        match self.decided(lhs)? == short {
            true => Some(short),
            false => self.decided(rhs),
        }
    }
}
