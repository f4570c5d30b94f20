use std::borrow::Cow;

use crate::{Expr, Kernel, LabelId, Loc, Local, LocalId, Scalar, Stmt, StmtId, Value};

/// Turns returns into a flag: a return in a loop sets the flag and leaves the loop, and what follows the loop runs only
/// if the flag is not set. So a loop is left in one way, as strips of lanes ask for.
///
/// Only for bodies without barriers, as the code behind the loop diverges.
pub fn flag_returns(kernel: &mut Kernel) {
    let stmts: Vec<StmtId> = kernel.block(kernel.body).collect();
    if !returns(kernel, &stmts) {
        return;
    }
    let flag = kernel.push_local(Local {
        name: Cow::Borrowed("returned"),
        ty: Scalar::Bool.into(),
        mutable: true,
    });
    let init = kernel.push_expr(
        Expr::Literal(Value::Bool(false)),
        Scalar::Bool,
        Loc::default(),
    );
    let init = Some(init);
    let declared = kernel.push_stmt(Stmt::Let { local: flag, init }, Loc::default());
    let rest = Flag(flag).without(kernel, &stmts, None);
    let all: Vec<StmtId> = [declared].into_iter().chain(rest).collect();
    kernel.body = kernel.push_block(&all);
}

/// True if one of the statements returns.
fn returns(kernel: &Kernel, stmts: &[StmtId]) -> bool {
    let mut inner = kernel.stmts_in(stmts.iter().copied());
    inner.any(|id| kernel.stmt(id) == Stmt::Return)
}

/// The local that is true once the thread has returned.
#[derive(Clone, Copy)]
struct Flag(LocalId);

impl Flag {
    /// The statements without returns. `label` is the loop around them.
    fn without(self, kernel: &mut Kernel, stmts: &[StmtId], label: Option<LabelId>) -> Vec<StmtId> {
        let mut out = vec![];
        for (i, &id) in stmts.iter().enumerate() {
            if !returns(kernel, &[id]) {
                out.push(id);
                continue;
            }
            let loc = kernel.stmt_locs[id.index()];
            if kernel.stmt(id) == Stmt::Return {
                let on = kernel.push_expr(Expr::Literal(Value::Bool(true)), Scalar::Bool, loc);
                let (local, value) = (self.0, on);
                out.push(kernel.push_stmt(Stmt::Assign { local, value }, loc));
                out.extend(label.map(|label| kernel.push_stmt(Stmt::Break { label }, loc)));
                return out;
            }
            let own = kernel.stmt(id).loop_label();
            kernel.map_blocks(id, &mut |kernel, block| {
                let inner: Vec<StmtId> = kernel.block(block).collect();
                let inner = self.without(kernel, &inner, own.or(label));
                kernel.push_block(&inner)
            });
            out.push(id);
            match (label, own) {
                // The branch that returned has left the loop.
                (Some(_), None) => {}
                (Some(label), Some(_)) => {
                    let leave = kernel.push_stmt(Stmt::Break { label }, loc);
                    out.push(self.test(kernel, &[leave], &[], loc));
                }
                (None, _) => {
                    let rest = self.without(kernel, &stmts[i + 1..], None);
                    if !rest.is_empty() {
                        out.push(self.test(kernel, &[], &rest, loc));
                    }
                    return out;
                }
            }
        }
        out
    }

    /// Statements for threads that have returned, and for others.
    fn test(self, kernel: &mut Kernel, then: &[StmtId], otherwise: &[StmtId], loc: Loc) -> StmtId {
        let cond = kernel.push_local_read(self.0, loc);
        let (then, otherwise) = (kernel.push_block(then), kernel.push_block(otherwise));
        let branch = Stmt::If {
            cond,
            then,
            otherwise,
        };
        kernel.push_stmt(branch, loc)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::random::blocks::{self, Launch};
    use crate::interp::Like;
    use crate::sketch::Sketch;

    #[test]
    fn a_loop_is_left_in_one_way() {
        let s = Sketch::new("k");
        let v = s.slice_mut("v", Scalar::U32);
        let n = s.scalar("n", Scalar::Usize);
        s.for_("i", s.n(0), s.arg(n), |i, _| {
            s.for_("j", s.n(0), s.arg(n), |j, _| {
                s.if_(i.get().eq(j.get()), || s.return_());
            });
            s.if_(i.get().eq(s.n(2)), || s.return_());
        });
        s.store(v, s.n(0), s.lit(Value::U32(1)));
        let mut kernel = s.finish();
        flag_returns(&mut kernel);
        assert_eq!(crate::validate(&kernel), Ok(()), "{kernel}");
        let text: String = kernel.to_string().split_whitespace().collect();
        assert!(!text.contains("return;"), "{text}");
        // Out of the inner loop, out of the outer one, and past the store.
        assert_eq!(text.matches("=true;break").count(), 2, "{text}");
        assert_eq!(text.matches("ifreturned").count(), 2, "{text}");
        assert!(text.contains("ifreturned{}else{v[0usize]"), "{text}");
    }

    #[test]
    fn random_kernels_compute_the_same() {
        let mut tried = 0;
        for seed in 0..400 {
            let kernel = blocks::kernel(seed);
            let mut inner = kernel.stmts_in(kernel.block(kernel.body));
            let returned = inner.any(|id| kernel.stmt(id) == Stmt::Return);
            if !returned || super::super::holds_barrier(&kernel, kernel.body) {
                continue;
            }
            let mut flagged = kernel.clone();
            flag_returns(&mut flagged);
            assert_eq!(crate::validate(&flagged), Ok(()), "{kernel}\n{flagged}");
            let launch = Launch::new(seed, &[1, 3, 8]);
            let [before, after] = [&kernel, &flagged].map(|k| launch.run(k, Like::Host));
            assert_eq!(before, after, "seed {seed} in\n{kernel}\n{flagged}");
            tried += 1;
        }
        assert!(tried >= 10, "{tried}");
    }
}
