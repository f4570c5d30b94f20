use crate::{Kernel, LabelId, Stmt, StmtId};

/// Removes `continue` from loops that contain a barrier: the statements after an `if` that continues move to its other
/// branch.
///
/// Such a loop has two back edges, over which PoCL 3.1 aborts the process. Runs after [`super::lower_labels`], so that
/// a `continue` names the innermost loop.
pub fn fold_continues(kernel: &mut Kernel) {
    super::rewrite(kernel, &mut |kernel, id, out| {
        if let Stmt::Loop { label, body, .. } | Stmt::For { label, body, .. } = kernel.stmt(id)
            && super::holds_barrier(kernel, body)
        {
            let stmts: Vec<StmtId> = kernel.block(body).collect();
            let folded = fold(kernel, &stmts, label);
            if folded != stmts {
                let body = kernel.push_block(&folded);
                kernel.map_blocks(id, &mut |_, _| body);
            }
        }
        out.push(id);
    });
}

/// Folds the statements at the end of a loop's body: drops a `continue` of the loop that skips nothing.
fn fold(kernel: &mut Kernel, stmts: &[StmtId], label: LabelId) -> Vec<StmtId> {
    let mut out = vec![];
    for (i, &id) in stmts.iter().enumerate() {
        let stmt = kernel.stmt(id);
        if stmt == (Stmt::Continue { label }) {
            return out;
        }
        out.push(id);
        let Stmt::If {
            cond,
            then,
            otherwise,
        } = stmt
        else {
            continue;
        };
        let rest = &stmts[i + 1..];
        let branches = [then, otherwise].map(|b| kernel.block(b).collect::<Vec<_>>());
        let ends = [&branches[0], &branches[1]].map(|b| continues(kernel, b, label));
        if !rest.is_empty() && !ends.contains(&true) {
            continue;
        }
        let [then, otherwise] = [0, 1].map(|b| {
            let mut all = branches[b].clone();
            if !ends[b] {
                all.extend(rest);
            }
            let folded = fold(kernel, &all, label);
            match folded == branches[b] {
                true => [then, otherwise][b],
                false => kernel.push_block(&folded),
            }
        });
        kernel.stmts.to_mut()[id.index()] = Stmt::If {
            cond,
            then,
            otherwise,
        };
        return out;
    }
    out
}

/// True if the last statement is the loop's `continue`.
fn continues(kernel: &Kernel, stmts: &[StmtId], label: LabelId) -> bool {
    let last = stmts.last().map(|id| kernel.stmt(*id));
    last == Some(Stmt::Continue { label })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sketch::Sketch;
    use crate::{Axis, Builtin, Scalar};

    #[test]
    fn what_follows_becomes_the_other_branch() {
        let s = Sketch::new("k");
        let v = s.slice_mut("v", Scalar::U32);
        let n = s.scalar("n", Scalar::Usize);
        s.for_("i", s.n(0), s.arg(n), |i, label| {
            s.if_(i.get().eq(s.n(2)), || s.continue_(label));
            s.barrier();
            s.if_else(
                i.get().eq(s.n(3)),
                || {
                    s.store(
                        v,
                        s.id(Builtin::ThreadIdx(Axis::X)),
                        s.lit(crate::Value::U32(1)),
                    );
                    s.continue_(label);
                },
                || s.barrier(),
            );
            s.barrier();
        });
        let mut kernel = s.finish();
        fold_continues(&mut kernel);
        assert_eq!(crate::validate(&kernel), Ok(()), "{kernel}");
        let text: String = kernel.to_string().split_whitespace().collect();
        assert!(!text.contains("continue"), "{text}");
        let due = "foriinnat{ifi==2usize{}else{barrier();ifi==3usize{v[thread_idx_x()]!0=1u32;}else{barrier();barrier();}}}";
        let due = due.replace("foriinnat", "fori:usizein0usize..n");
        assert!(text.contains(&due), "{text}");
    }

    #[test]
    fn loops_without_barriers_stay() {
        let s = Sketch::new("k");
        let n = s.scalar("n", Scalar::Usize);
        s.for_("i", s.n(0), s.arg(n), |i, label| {
            s.if_(i.get().eq(s.n(2)), || s.continue_(label));
            s.let_("x", i.get());
        });
        let mut kernel = s.finish();
        let before = kernel.clone();
        fold_continues(&mut kernel);
        assert_eq!(kernel, before);
    }
}
