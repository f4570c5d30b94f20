use crate::facts::Work;
use crate::{ExprId, Kernel, Local, Stmt, StmtId};

/// Spills the value and the index of each checked store to locals, in this order: the check uses the index twice, and
/// the value is evaluated first. Does the same to the operands and the index of each atomic operation, which may become
/// several statements on a target.
pub fn spill_stores(kernel: &mut Kernel) {
    super::rewrite(kernel, &mut |kernel, id, out| {
        if let Stmt::Store {
            memory,
            index,
            value,
            site: site @ Some(_),
        } = kernel.stmt(id)
        {
            let value = spill(kernel, value, "value", out);
            let index = spill(kernel, index, "index", out);
            kernel.stmts.to_mut()[id.index()] = Stmt::Store {
                memory,
                index,
                value,
                site,
            };
        }
        if let Stmt::Atomic {
            op,
            memory,
            index,
            args,
            result,
            site,
        } = kernel.stmt(id)
        {
            let args: Vec<ExprId> = kernel.list(args).collect();
            let args: Vec<ExprId> = args
                .into_iter()
                .map(|arg| spill(kernel, arg, "value", out))
                .collect();
            let args = kernel.push_list(&args);
            let index = spill(kernel, index, "index", out);
            kernel.stmts.to_mut()[id.index()] = Stmt::Atomic {
                op,
                memory,
                index,
                args,
                result,
                site,
            };
        }
        out.push(id);
    });
}

fn spill(kernel: &mut Kernel, id: ExprId, name: &'static str, out: &mut Vec<StmtId>) -> ExprId {
    if kernel.expr(id).facts().work == Work::Leaf {
        return id;
    }
    let loc = kernel.expr_locs[id.index()];
    let local = kernel.push_local(Local {
        name: name.into(),
        ty: kernel.type_of(id),
        mutable: false,
    });
    let init = Some(id);
    out.push(kernel.push_stmt(Stmt::Let { local, init }, loc));
    kernel.push_local_read(local, loc)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BinaryOp, Expr, Loc, Memory, ParamId, Scalar, SiteId, Value};

    fn store(site: Option<SiteId>) -> Kernel {
        let mut k = Kernel::new("k");
        let loc = Loc::default();
        let sum = |k: &mut Kernel, v: Value| {
            let (lhs, rhs) = (k.push_literal(v, loc), k.push_literal(v, loc));
            let op = BinaryOp::Add;
            k.push_expr(Expr::Binary { op, lhs, rhs }, v.scalar(), loc)
        };
        let store = Stmt::Store {
            memory: Memory::Slice(ParamId(0)),
            index: sum(&mut k, Value::Usize(1)),
            value: sum(&mut k, Value::f32(1.0)),
            site,
        };
        let store = k.push_stmt(store, loc);
        k.body = k.push_block(&[store]);
        spill_stores(&mut k);
        k
    }

    #[test]
    fn a_checked_store_spills_its_value_first() {
        let k = store(Some(SiteId(0)));
        let types: Vec<Scalar> = k.locals.iter().map(|l| l.ty.scalar()).collect();
        assert_eq!(types, [Scalar::F32, Scalar::Usize]);
        assert_eq!(k.block(k.body).count(), 3);
    }

    #[test]
    fn an_unchecked_store_stays() {
        assert_eq!(store(None).locals.len(), 0);
    }
}
