use crate::{
    AtomicOp, Axis, BinaryOp, Block, Builtin, Expr, ExprId, Kernel, Length, Loc, Local, Memory,
    Scalar, SharedArray, SharedId, Stmt, StmtId, Value,
};

/// Ends the thread at the head of each iteration of an unbounded loop once it has faulted: it goes
/// on with made-up values, which need not make the loop's own condition false. `index` is the type that stands for `usize`.
///
/// A loop that holds a barrier is left by all threads of the block together, once one of them has
/// faulted: the others would wait for it, and what it did not store may be what they wait to see.
/// They tell each other through a shared word.
pub fn guard_loops(kernel: &mut Kernel, index: Scalar) {
    let mut stopped = None;
    super::rewrite(kernel, &mut |kernel, id, out| {
        if let Stmt::Loop { label, cond, body } = kernel.stmt(id) {
            let waits = has_barrier(kernel, body);
            let loc = kernel.stmt_locs[id.index()];
            let mut guard = Guard { kernel, index, loc };
            let mut stmts = match waits {
                false => guard.alone(),
                true => {
                    let word = *stopped.get_or_insert_with(|| guard.word());
                    guard.together(word)
                }
            };
            stmts.extend(kernel.block(body));
            let body = kernel.push_block(&stmts);
            kernel.stmts.to_mut()[id.index()] = Stmt::Loop { label, cond, body };
        }
        out.push(id);
    });
    if let Some(word) = stopped {
        let loc = Loc::default();
        let mut guard = Guard { kernel, index, loc };
        let mut stmts = guard.clear(word);
        stmts.extend(kernel.block(kernel.body));
        kernel.body = kernel.push_block(&stmts);
    }
}

/// Do threads wait for each other in it?
fn has_barrier(kernel: &mut Kernel, block: Block) -> bool {
    let mut found = false;
    super::rewrite_block(kernel, block, &mut |kernel, id, out| {
        found |= kernel.stmt(id) == Stmt::Barrier;
        out.push(id);
    });
    found
}

struct Guard<'a> {
    kernel: &'a mut Kernel,
    index: Scalar,
    loc: Loc,
}

impl Guard<'_> {
    /// `if faulted { return }`
    fn alone(&mut self) -> Vec<StmtId> {
        let faulted = self.expr(Expr::Faulted, Scalar::Bool);
        vec![self.when(faulted, Stmt::Return)]
    }

    /// `if faulted { word.store(1) } barrier; let stop = word.load(); barrier; if stop != 0 { return }`
    fn together(&mut self, word: SharedId) -> Vec<StmtId> {
        let faulted = self.expr(Expr::Faulted, Scalar::Bool);
        let tell = self.access(word, AtomicOp::Store, Some(1), None);
        let tell = self.when(faulted, tell);
        let stop = self.kernel.push_local(Local {
            name: "stop".into(),
            ty: Scalar::U32.into(),
            mutable: true,
        });
        let declared = Stmt::Let {
            local: stop,
            init: None,
        };
        let load = self.access(word, AtomicOp::Load, None, Some(stop));
        let [before, declared, load, after] =
            [Stmt::Barrier, declared, load, Stmt::Barrier].map(|stmt| self.stmt(stmt));
        let lhs = self.kernel.push_local_read(stop, self.loc);
        let is_set = self.compare(BinaryOp::Ne, lhs, Value::U32(0));
        let leave = self.when(is_set, Stmt::Return);
        vec![tell, before, declared, load, after, leave]
    }

    /// `if thread_idx == 0 { word.store(0) } barrier`
    fn clear(&mut self, word: SharedId) -> Vec<StmtId> {
        let zero = Value::int(self.index, 0).expect("an index is an integer");
        let [x, y, z] = Axis::ALL.map(|axis| {
            let id = self.expr(Expr::Builtin(Builtin::ThreadIdx(axis)), self.index);
            self.compare(BinaryOp::Eq, id, zero)
        });
        let (lhs, rhs) = (x, y);
        let lhs = self.expr(Expr::And { lhs, rhs }, Scalar::Bool);
        let first = self.expr(Expr::And { lhs, rhs: z }, Scalar::Bool);
        let clear = self.access(word, AtomicOp::Store, Some(0), None);
        vec![self.when(first, clear), self.stmt(Stmt::Barrier)]
    }

    /// A shared word that is not zero once a thread of the block has faulted.
    fn word(&mut self) -> SharedId {
        self.kernel.shared.to_mut().push(SharedArray {
            name: "stopped".into(),
            elem: Scalar::U32.into(),
            len: Length::Fixed(1),
            atomic: true,
        });
        SharedId(self.kernel.shared.len() as u32 - 1)
    }

    fn access(
        &mut self,
        word: SharedId,
        op: AtomicOp,
        arg: Option<u32>,
        result: Option<crate::LocalId>,
    ) -> Stmt {
        let args: Vec<ExprId> = arg
            .map(|n| self.kernel.push_literal(Value::U32(n), self.loc))
            .into_iter()
            .collect();
        let zero = Value::int(self.index, 0).expect("an index is an integer");
        Stmt::Atomic {
            op,
            memory: Memory::Shared(word),
            index: self.kernel.push_literal(zero, self.loc),
            args: self.kernel.push_list(&args),
            result,
            site: None,
        }
    }

    fn compare(&mut self, op: BinaryOp, lhs: ExprId, rhs: Value) -> ExprId {
        let rhs = self.kernel.push_literal(rhs, self.loc);
        self.expr(Expr::Binary { op, lhs, rhs }, Scalar::Bool)
    }

    fn when(&mut self, cond: ExprId, then: Stmt) -> StmtId {
        let then = self.stmt(then);
        let then = self.kernel.push_block(&[then]);
        self.stmt(Stmt::If {
            cond,
            then,
            otherwise: Block::EMPTY,
        })
    }

    fn expr(&mut self, expr: Expr, ty: Scalar) -> ExprId {
        self.kernel.push_expr(expr, ty, self.loc)
    }

    fn stmt(&mut self, stmt: Stmt) -> StmtId {
        self.kernel.push_stmt(stmt, self.loc)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LabelId;

    #[test]
    fn nested_loops_are_both_guarded() {
        let mut k = Kernel::new("k");
        let loc = Loc::default();
        let endless = |k: &mut Kernel, label, body: &[StmtId]| {
            let body = k.push_block(body);
            let label = LabelId(label);
            k.push_stmt(
                Stmt::Loop {
                    label,
                    cond: None,
                    body,
                },
                loc,
            )
        };
        let inner = endless(&mut k, 1, &[]);
        let outer = endless(&mut k, 0, &[inner]);
        k.body = k.push_block(&[outer]);
        guard_loops(&mut k, Scalar::U32);
        for id in [outer, inner] {
            let Stmt::Loop { body, .. } = k.stmt(id) else {
                panic!("still a loop")
            };
            let head = k.block(body).next().expect("a guard");
            let Stmt::If { cond, then, .. } = k.stmt(head) else {
                panic!("the guard is an if")
            };
            assert_eq!(k.expr(cond), Expr::Faulted);
            let stop = k.block(then).next().expect("a return");
            assert_eq!(k.stmt(stop), Stmt::Return);
        }
    }

    #[test]
    fn a_loop_with_a_barrier_is_left_by_all() {
        let mut k = Kernel::new("k");
        let loc = Loc::default();
        let wait = k.push_stmt(Stmt::Barrier, loc);
        let body = k.push_block(&[wait]);
        let (label, cond) = (LabelId(0), None);
        let endless = k.push_stmt(Stmt::Loop { label, cond, body }, loc);
        k.body = k.push_block(&[endless]);
        guard_loops(&mut k, Scalar::U32);
        assert_eq!(k.shared.len(), 1);
        let Stmt::Loop { body, .. } = k.stmt(endless) else {
            panic!("still a loop")
        };
        let barriers = |k: &Kernel, block| {
            let all = k.block(block).map(|id| k.stmt(id));
            all.filter(|s| *s == Stmt::Barrier).count()
        };
        assert_eq!(barriers(&k, body), 3, "two around the load, and its own");
        assert_eq!(barriers(&k, k.body), 1, "after the word is cleared");
    }
}
