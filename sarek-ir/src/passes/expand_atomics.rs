use crate::{
    AtomicOp, BinaryOp, Block, Expr, ExprId, Intrinsic, Kernel, LabelId, Loc, Local, LocalId,
    Memory, Scalar, SiteId, Stmt, StmtId,
};

/// Expands each atomic operation for which `is_native` is false to a loop around a compare-exchange. For every type
/// with a native operation, loads and compare-exchanges must be native.
///
/// ```text
/// let seen = memory[index].load();
/// loop {
///     let found = memory[index].compare_exchange(seen, seen op arg);
///     if found has the bits of seen { break }
///     seen = found;
/// }
/// ```
///
/// Operands are locals or constants already ([`super::spill_stores`]). Out of bounds, load and exchange both yield
/// zero, which ends the loop. So the loop needs no guard against faults.
pub fn expand_atomics(kernel: &mut Kernel, is_native: &dyn Fn(AtomicOp, Scalar) -> bool) {
    super::rewrite(kernel, &mut |kernel, id, out| {
        let Stmt::Atomic {
            op,
            memory,
            index,
            args,
            result,
            site,
        } = kernel.stmt(id)
        else {
            return out.push(id);
        };
        let ty = kernel.element(memory);
        if is_native(op, ty) {
            return out.push(id);
        }
        let arg = kernel.list(args).next();
        let mut expand = Expand {
            loc: kernel.stmt_locs[id.index()],
            arg,
            kernel,
            op,
            place: (memory, index, site),
            ty,
        };
        expand.statements(result, out);
    });
}

struct Expand<'a> {
    kernel: &'a mut Kernel,
    op: AtomicOp,
    place: (Memory, ExprId, Option<SiteId>),
    arg: Option<ExprId>,
    ty: Scalar,
    loc: Loc,
}

impl Expand<'_> {
    fn statements(&mut self, result: Option<LocalId>, out: &mut Vec<StmtId>) {
        let seen = self.local("seen");
        out.push(self.stmt(Stmt::Let {
            local: seen,
            init: None,
        }));
        out.push(self.access(AtomicOp::Load, &[], seen));
        let label = self.kernel.fresh_label();
        let body = self.attempt(seen, label);
        out.push(self.stmt(Stmt::Loop {
            label,
            cond: None,
            body,
        }));
        if let Some(local) = result {
            let value = self.read(seen);
            out.push(self.stmt(Stmt::Assign { local, value }));
        }
    }

    /// One iteration of the loop.
    fn attempt(&mut self, seen: LocalId, label: LabelId) -> Block {
        let found = self.local("found");
        let declared = self.stmt(Stmt::Let {
            local: found,
            init: None,
        });
        let (expected, new) = (self.read(seen), self.joined(seen));
        let exchange = self.access(AtomicOp::CompareExchange, &[expected, new], found);
        let same = self.same_bits(found, seen);
        let exit = self.stmt(Stmt::Break { label });
        let then = self.block(&[exit]);
        let done = self.stmt(Stmt::If {
            cond: same,
            then,
            otherwise: Block::EMPTY,
        });
        let value = self.read(found);
        let again = self.stmt(Stmt::Assign { local: seen, value });
        self.block(&[declared, exchange, done, again])
    }

    /// The new value of the element.
    fn joined(&mut self, seen: LocalId) -> ExprId {
        let Some(arg) = self.arg else {
            unreachable!("every target loads by itself")
        };
        let arg = self.again(arg);
        let old = self.read(seen);
        let operator = match self.op {
            AtomicOp::Add => BinaryOp::Add,
            AtomicOp::Sub => BinaryOp::Sub,
            AtomicOp::And => BinaryOp::BitAnd,
            AtomicOp::Or => BinaryOp::BitOr,
            AtomicOp::Xor => BinaryOp::BitXor,
            AtomicOp::Min => return self.call(Intrinsic::Min, &[old, arg], self.ty),
            AtomicOp::Max => return self.call(Intrinsic::Max, &[old, arg], self.ty),
            AtomicOp::Swap | AtomicOp::Store => return arg,
            AtomicOp::Load | AtomicOp::CompareExchange => {
                unreachable!("every target has {}", self.op.name())
            }
        };
        self.binary(operator, old, arg, self.ty)
    }

    fn same_bits(&mut self, a: LocalId, b: LocalId) -> ExprId {
        let [a, b] = [a, b].map(|local| {
            let value = self.read(local);
            match self.ty.is_float() {
                true => {
                    let bits = Intrinsic::ToBits.result_type(self.ty);
                    self.call(Intrinsic::ToBits, &[value], bits)
                }
                false => value,
            }
        });
        self.binary(BinaryOp::Eq, a, b, Scalar::Bool)
    }

    fn access(&mut self, op: AtomicOp, args: &[ExprId], result: LocalId) -> StmtId {
        let (memory, index, site) = self.place;
        let index = self.again(index);
        let args = self.kernel.push_list(args);
        self.stmt(Stmt::Atomic {
            op,
            memory,
            index,
            args,
            result: Some(result),
            site,
        })
    }

    /// A second use of a local or constant.
    fn again(&mut self, id: ExprId) -> ExprId {
        let (expr, ty) = (self.kernel.expr(id), self.kernel.type_of(id));
        debug_assert!(self.kernel.operands(id).is_empty(), "operands were spilled");
        self.kernel.push_expr(expr, ty, self.loc)
    }

    fn local(&mut self, name: &'static str) -> LocalId {
        self.kernel.push_local(Local {
            name: name.into(),
            ty: self.ty.into(),
            mutable: true,
        })
    }

    fn read(&mut self, local: LocalId) -> ExprId {
        self.kernel.push_local_read(local, self.loc)
    }

    fn binary(&mut self, op: BinaryOp, lhs: ExprId, rhs: ExprId, ty: Scalar) -> ExprId {
        let binary = Expr::Binary { op, lhs, rhs };
        self.kernel.push_expr(binary, ty, self.loc)
    }

    fn call(&mut self, intrinsic: Intrinsic, args: &[ExprId], ty: Scalar) -> ExprId {
        let args = self.kernel.push_list(args);
        let call = Expr::Call { intrinsic, args };
        self.kernel.push_expr(call, ty, self.loc)
    }

    fn stmt(&mut self, stmt: Stmt) -> StmtId {
        self.kernel.push_stmt(stmt, self.loc)
    }

    fn block(&mut self, stmts: &[StmtId]) -> Block {
        self.kernel.push_block(stmts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sketch::Sketch;

    fn ops(native: bool) -> Vec<AtomicOp> {
        let s = Sketch::new("k");
        let v = s.atomics("v", Scalar::F32);
        s.atomic(AtomicOp::Add, v, s.n(1), &[s.f32(2.0)]);
        let mut k = s.finish();
        expand_atomics(&mut k, &|op, _| native || op != AtomicOp::Add);
        assert_eq!(crate::validate(&k), Ok(()));
        let mut ops = vec![];
        super::super::rewrite(&mut k, &mut |k, id, out| {
            if let Stmt::Atomic { op, .. } = k.stmt(id) {
                ops.push(op);
            }
            out.push(id);
        });
        ops
    }

    #[test]
    fn what_the_target_lacks_becomes_a_loop_of_exchanges() {
        assert_eq!(ops(false), [AtomicOp::Load, AtomicOp::CompareExchange]);
        assert_eq!(ops(true), [AtomicOp::Add]);
    }
}
