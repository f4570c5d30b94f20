//! Lowers panics.

use crate::{Kernel, Scalar, SiteId, Stmt, StmtId, Value};

/// Replaces each panic by a failing assertion and a `return`. On accelerators a fault alone does not end its thread.
pub fn lower_panics(kernel: &mut Kernel) {
    super::rewrite(kernel, &mut |kernel, id, out| {
        if let Stmt::Panic { site } = kernel.stmt(id) {
            out.extend(panic(kernel, id, site));
        } else {
            out.push(id);
        }
    });
}

fn panic(kernel: &mut Kernel, id: StmtId, site: SiteId) -> [StmtId; 2] {
    let loc = kernel.stmt_locs[id.index()];
    let cond = kernel.push_literal(Value::Bool(false), loc);
    debug_assert_eq!(kernel.scalar_of(cond), Scalar::Bool);
    let fails = kernel.push_stmt(Stmt::Assert { cond, site }, loc);
    [fails, kernel.push_stmt(Stmt::Return, loc)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sketch::Sketch;

    #[test]
    fn a_panic_fails_and_returns() {
        let s = Sketch::new("k");
        s.panic("no");
        let mut kernel = s.finish();
        lower_panics(&mut kernel);
        let stmts: Vec<Stmt> = kernel.block(kernel.body).map(|s| kernel.stmt(s)).collect();
        assert!(
            matches!(stmts[..], [Stmt::Assert { .. }, Stmt::Return]),
            "{stmts:?}"
        );
    }
}
