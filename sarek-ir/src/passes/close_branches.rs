use crate::analysis::spine::Spine;
use crate::{Block, Kernel, Loc, Stmt, StmtId};

/// Puts a barrier behind each branch of which a barrier, or an exit that all threads of the block take, is a part, and one at the
/// end of its alternative that holds it (of the first one, if both do).
///
/// PoCL 3.1 makes loops over threads of what stands between two barriers. Where what a branch leaves behind its last barrier and
/// what its other alternative does run on to the same barrier, it takes both for one such loop, and all threads for takers of the
/// alternative that none took. Only one alternative gets a barrier, since its compiler makes one of two that end both.
///
/// Runs before [`super::park_returns`], which sees to threads that are gone by then.
pub fn close_branches(kernel: &mut Kernel) {
    let spine = Spine::of(kernel);
    if spine.is_empty() {
        return;
    }
    super::rewrite(kernel, &mut |kernel, id, out| {
        out.push(id);
        let Stmt::If {
            cond,
            then,
            otherwise,
        } = kernel.stmt(id)
        else {
            return;
        };
        let holds = [then, otherwise].map(|b| holds(kernel, &spine, b));
        if !spine.has(id) || holds == [false, false] {
            return;
        }
        let loc = kernel.stmt_locs[id.index()];
        let (then, otherwise) = match holds[0] {
            true => (closed(kernel, then, loc), otherwise),
            false => (then, closed(kernel, otherwise, loc)),
        };
        kernel.stmts.to_mut()[id.index()] = Stmt::If {
            cond,
            then,
            otherwise,
        };
        out.push(kernel.push_stmt(Stmt::Barrier, loc));
    });
}

/// Is there a barrier, or an exit on the spine?
fn holds(kernel: &Kernel, spine: &Spine, block: Block) -> bool {
    kernel.block(block).any(|id| {
        let stmt = kernel.stmt(id);
        let inner = kernel.parts(stmt).1;
        stmt == Stmt::Barrier
            || is_exit(stmt) && spine.has(id)
            || inner.into_iter().any(|b| holds(kernel, spine, b))
    })
}

fn is_exit(stmt: Stmt) -> bool {
    matches!(
        stmt,
        Stmt::Break { .. } | Stmt::Continue { .. } | Stmt::Return
    )
}

/// The block with a barrier at its end, before the exit that stands there.
fn closed(kernel: &mut Kernel, block: Block, loc: Loc) -> Block {
    let mut stmts: Vec<StmtId> = kernel.block(block).collect();
    let exits = stmts.last().is_some_and(|id| is_exit(kernel.stmt(*id)));
    let barrier = kernel.push_stmt(Stmt::Barrier, loc);
    stmts.insert(stmts.len() - usize::from(exits), barrier);
    kernel.push_block(&stmts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sketch::Sketch;
    use crate::{Axis, Builtin, Scalar};

    fn text_of(build: impl FnOnce(&Sketch)) -> String {
        let s = Sketch::new("k");
        build(&s);
        let mut kernel = s.finish();
        close_branches(&mut kernel);
        assert_eq!(crate::validate(&kernel), Ok(()), "{kernel}");
        let text: String = kernel.to_string().split_whitespace().collect();
        text[text.find('{').unwrap_or(0)..].to_owned()
    }

    #[test]
    fn a_barrier_ends_one_alternative_and_stands_behind_both() {
        let text = text_of(|s| {
            let n = s.scalar("n", Scalar::Usize);
            s.if_else(
                s.arg(n).eq(s.n(1)),
                || {
                    s.let_("x", s.n(2));
                },
                || s.barrier(),
            );
        });
        assert_eq!(
            text,
            "{ifn==1usize{letx:usize=2usize;}else{barrier();barrier();}barrier();}"
        );
    }

    #[test]
    fn a_return_of_all_is_such_a_branch() {
        let text = text_of(|s| {
            let n = s.scalar("n", Scalar::Usize);
            s.if_(s.arg(n).eq(s.n(1)), || s.return_());
            s.barrier();
            s.if_(s.arg(n).eq(s.n(2)), || s.return_());
        });
        assert_eq!(
            text,
            "{ifn==1usize{barrier();return;}barrier();barrier();ifn==2usize{return;}}"
        );
    }

    #[test]
    fn branches_of_single_threads_stay() {
        let text = text_of(|s| {
            let thread = || s.id(Builtin::ThreadIdx(Axis::X));
            s.if_(thread().eq(s.n(1)), || s.return_());
            s.barrier();
        });
        assert_eq!(text, "{ifthread_idx_x()==1usize{return;}barrier();}");
    }
}
