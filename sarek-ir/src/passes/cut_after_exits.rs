use crate::Kernel;

/// Removes the statements after a `break`, `continue` or `return` in its block; some targets reject them.
pub fn cut_after_exits(kernel: &mut Kernel) {
    super::rewrite(kernel, &mut |kernel, id, out| {
        if !out
            .last()
            .is_some_and(|&last| kernel.stmt(last).facts().flow.is_jump())
        {
            out.push(id);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Loc, LocalId, Stmt};

    #[test]
    fn the_rest_of_the_block_goes() {
        let mut k = Kernel::new("k");
        let push = |k: &mut Kernel, stmt| k.push_stmt(stmt, Loc::default());
        let declare = Stmt::Let {
            local: LocalId(0),
            init: None,
        };
        let stmts = [declare, Stmt::Return, declare, Stmt::Return].map(|s| push(&mut k, s));
        k.body = k.push_block(&stmts);
        cut_after_exits(&mut k);
        assert_eq!(k.block(k.body).collect::<Vec<_>>(), stmts[..2]);
    }
}
