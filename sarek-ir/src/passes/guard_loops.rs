use crate::analysis::spine::Spine;
use crate::analysis::termination;
use crate::{Block, Expr, Kernel, LocalId, Scalar, Stmt, StmtId, Value};

/// Ends a faulted thread at the head of each iteration of an unbounded loop. Such a thread continues with made-up
/// values, which need not make the loop's own condition false. A loop that halves or doubles its counter ends soon, whatever
/// the values are, and keeps its form.
///
/// In a kernel with barriers, other threads wait for the thread, so it only leaves the loop. The threads of a block
/// leave together the loops that they execute together: [`super::park_returns`](fn@super::park_returns) ensures that. A
/// variable that the loop would have assigned is zero then. Compilers treat a read of an uninitialized variable as
/// proof that the thread did not fault, and remove the test.
pub fn guard_loops(kernel: &mut Kernel) {
    let spine = Spine::of(kernel);
    super::rewrite(kernel, &mut |kernel, id, out| {
        if let Stmt::Let { local, init: None } = kernel.stmt(id)
            && !spine.is_empty()
        {
            begin_with_zero(kernel, id, local);
        }
        if let Stmt::Loop { label, cond, body } = kernel.stmt(id)
            && !spine.has(id)
            && !termination::ends_soon(kernel, id)
        {
            let loc = kernel.stmt_locs[id.index()];
            let faulted = kernel.push_expr(Expr::Faulted, Scalar::Bool, loc);
            let stop = if spine.is_empty() {
                Stmt::Return
            } else {
                Stmt::Break { label }
            };
            let stop = kernel.push_stmt(stop, loc);
            let guard = Stmt::If {
                cond: faulted,
                then: kernel.push_block(&[stop]),
                otherwise: Block::EMPTY,
            };
            let mut stmts = vec![kernel.push_stmt(guard, loc)];
            stmts.extend(kernel.block(body));
            let body = kernel.push_block(&stmts);
            kernel.stmts.to_mut()[id.index()] = Stmt::Loop { label, cond, body };
        }
        out.push(id);
    });
}

/// Initializes a scalar whose assignment comes later.
fn begin_with_zero(kernel: &mut Kernel, id: StmtId, local: LocalId) {
    let Some(ty) = kernel.locals[local.index()].ty.as_scalar() else {
        return;
    };
    let zero = kernel.push_literal(Value::zero(ty), kernel.stmt_locs[id.index()]);
    let init = Some(zero);
    kernel.stmts.to_mut()[id.index()] = Stmt::Let { local, init };
    kernel.locals.to_mut()[local.index()].mutable = true;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sketch::Sketch;
    use crate::{LabelId, Loc};

    /// The declaration of the only local.
    fn declaration(with_barrier: bool) -> Stmt {
        let s = Sketch::new("k");
        let value = s.let_uninit("value", Scalar::F32);
        s.loop_(|label| {
            s.set(value, s.f32(1.0));
            s.break_(label);
        });
        if with_barrier {
            s.barrier();
        }
        let mut kernel = s.finish();
        guard_loops(&mut kernel);
        let first = kernel.block(kernel.body).next().expect("the declaration");
        kernel.stmt(first)
    }

    #[test]
    fn what_a_left_loop_would_have_assigned_is_zero() {
        assert!(matches!(declaration(true), Stmt::Let { init: Some(_), .. }));
        assert!(matches!(declaration(false), Stmt::Let { init: None, .. }));
    }

    #[test]
    fn loops_that_end_soon_keep_their_form() {
        let is_kept = |half: bool| {
            let s = Sketch::new("k");
            let left = s.let_mut("left", s.u32(9));
            s.while_(left.get().gt(s.u32(0)), |_| {
                let next = if half {
                    left.get() >> s.u32(1)
                } else {
                    left.get() - s.u32(1)
                };
                s.set(left, next);
            });
            let kernel = s.finish();
            let mut guarded = kernel.clone();
            guard_loops(&mut guarded);
            guarded == kernel
        };
        assert!(is_kept(true));
        assert!(!is_kept(false));
    }

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
        guard_loops(&mut k);
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
}
