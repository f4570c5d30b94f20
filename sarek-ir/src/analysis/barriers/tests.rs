use super::check;
use crate::analysis::uniformity::Apart;
use crate::sketch::{Sketch, SketchExpr};
use crate::{AtomicOp, Axis, Builtin, Kernel, Scalar, StmtId, SubgroupOp, Value};

fn kernel(fill: impl FnOnce(&Sketch)) -> Kernel {
    let s = Sketch::new("k");
    fill(&s);
    let kernel = s.finish();
    assert_eq!(crate::validate(&kernel), Ok(()), "{kernel}");
    kernel
}

fn legal(fill: impl FnOnce(&Sketch)) {
    let kernel = kernel(fill);
    assert_eq!(check(&kernel, false), Ok(()), "{kernel}");
}

/// The reported conditions, without suffixes, each with the kind of the reason: a branch, a loop or a jump.
fn blame(fill: impl FnOnce(&Sketch)) -> Vec<(&'static str, String)> {
    let kernel = kernel(fill);
    let Err(found) = check(&kernel, false) else {
        panic!("accepted:\n{kernel}")
    };
    let say = |why: Apart| {
        let kind = match why {
            Apart::Branch(_) => "if",
            Apart::Loop(_) => "loop",
            Apart::Jump(StmtId(_), _) => "jump",
            Apart::Closure(_) => "closure",
        };
        let text = kernel.expr_text(why.condition().expect("no closures"));
        (kind, text.replace("usize", "").replace("u32", ""))
    };
    found.into_iter().map(|d| say(d.why)).collect()
}

fn thread(s: &Sketch) -> SketchExpr<'_> {
    s.id(Builtin::ThreadIdx(Axis::X))
}

fn block(s: &Sketch) -> SketchExpr<'_> {
    s.id(Builtin::BlockIdx(Axis::X))
}

#[test]
fn first_last_twice_and_before_a_return() {
    legal(|s| {
        s.barrier();
        s.barrier();
        s.let_("x", thread(s));
        s.barrier();
        s.return_();
    });
}

#[test]
fn under_uniform_conditions_and_in_uniform_loops() {
    legal(|s| {
        let n = s.scalar("n", Scalar::Usize);
        let lens = s.slice("lens", Scalar::U32);
        // A `switch`.
        s.if_else(
            s.arg(n).eq(s.n(1)),
            || s.barrier(),
            || s.if_else(block(s).eq(s.n(2)), || s.barrier(), || {}),
        );
        // A bound from memory that the kernel never writes.
        let bound = s.let_("bound", s.load(lens, block(s)));
        s.for_("k", s.lit(Value::U32(0)), bound.get(), |k, outer| {
            s.barrier();
            s.for_("j", s.n(0), s.arg(n), |j, inner| {
                s.if_(j.get().eq(s.n(3)), || s.break_(inner));
                s.if_(k.get().eq(s.lit(Value::U32(5))), || s.continue_(outer));
                s.if_((j.get() % s.n(2)).eq(s.n(0)), || s.barrier());
                s.barrier();
            });
        });
        let step = s.let_mut("step", s.arg(n));
        s.while_(step.get().gt(s.n(0)), |_| {
            s.if_(thread(s).lt(step.get()), || {
                s.let_("x", step.get());
            });
            s.barrier();
            s.set(step, step.get() >> s.n(1));
        });
        s.loop_(|l| {
            s.set(step, step.get() + s.n(1));
            s.barrier();
            s.if_(step.get().gt(s.n(9)), || s.break_(l));
        });
    });
}

#[test]
fn behind_a_return_that_some_threads_take() {
    legal(|s| {
        let n = s.scalar("n", Scalar::Usize);
        s.if_(thread(s).ge(s.arg(n)), || s.return_());
        s.barrier();
        // Assignments after the `return` are uniform among the remaining threads.
        let k = s.let_mut("k", s.n(0));
        s.while_(k.get().lt(s.arg(n)), |_| {
            s.if_(thread(s).eq(k.get()), || s.return_());
            s.set(k, k.get() + s.n(1));
            s.barrier();
        });
    });
}

#[test]
fn behind_loops_that_threads_leave_one_by_one() {
    legal(|s| {
        let n = s.let_mut("n", s.n(0));
        s.loop_(|l| {
            s.if_(n.get().ge(thread(s)), || s.break_(l));
            s.set(n, n.get() + s.n(1));
        });
        s.barrier();
        s.for_("k", s.n(0), s.n(4), |_, l| {
            s.barrier();
            // The jump skips only the rest of the iteration.
            s.if_(thread(s).eq(s.n(1)), || s.continue_(l));
            s.set(n, s.n(7));
        });
        s.barrier();
    });
}

#[test]
fn under_a_condition_that_differs() {
    let found = blame(|s| {
        let t = s.let_("t", thread(s));
        s.if_(t.get().lt(s.n(16)), || s.barrier());
    });
    assert_eq!(found, [("if", "t < 16".into())]);
    // Of several conditions the outermost is reported, for the barriers of both branches.
    let found = blame(|s| {
        let t = s.let_("t", thread(s));
        s.if_(block(s).lt(s.n(3)), || {
            s.if_else(
                t.get().lt(s.n(16)),
                || s.barrier(),
                || s.if_(t.get().gt(s.n(99)), || s.barrier()),
            );
        });
    });
    let told = ("if", "t < 16".to_owned());
    assert_eq!(found, [told.clone(), told]);
}

#[test]
fn in_a_loop_that_threads_leave_one_by_one() {
    let found = blame(|s| {
        let k = s.let_mut("k", s.n(0));
        s.while_(k.get().lt(thread(s)), |_| {
            s.barrier();
            s.set(k, k.get() + s.n(1));
        });
        s.barrier();
    });
    assert_eq!(found, [("loop", "k < thread_idx_x()".into())]);
    let found = blame(|s| s.for_("k", s.n(0), thread(s), |_, _| s.barrier()));
    assert_eq!(found, [("loop", "thread_idx_x()".into())]);
}

#[test]
fn across_a_jump_that_some_threads_take() {
    // The barrier comes before the `break`, and in the next iteration after it.
    let found = blame(|s| {
        s.loop_(|l| {
            s.barrier();
            s.if_(thread(s).lt(s.n(3)), || s.break_(l));
        });
    });
    assert_eq!(found, [("jump", "thread_idx_x() < 3".into())]);
    let found = blame(|s| {
        s.for_("k", s.n(0), s.n(4), |k, l| {
            s.if_(thread(s).eq(k.get()), || s.continue_(l));
            s.barrier();
        });
    });
    assert_eq!(found, [("jump", "thread_idx_x() == k".into())]);
    let found = blame(|s| {
        s.for_("k", s.n(0), s.n(4), |_, outer| {
            s.for_("j", s.n(0), s.n(4), |_, _| {
                s.if_(thread(s).eq(s.n(1)), || s.continue_(outer));
            });
            s.barrier();
        });
    });
    assert_eq!(found, [("jump", "thread_idx_x() == 1".into())]);
}

#[test]
fn under_conditions_that_vary_in_hidden_ways() {
    // A variable that threads assign differently.
    let found = blame(|s| {
        let flag = s.let_mut("flag", s.n(0));
        s.if_(thread(s).lt(s.n(3)), || s.set(flag, s.n(1)));
        let copy = s.let_("copy", flag.get() + s.n(1));
        s.if_(copy.get().eq(s.n(1)), || s.barrier());
    });
    assert_eq!(found, [("if", "copy == 1".into())]);
    // A value that another thread may have written.
    let found = blame(|s| {
        let v = s.slice_mut("v", Scalar::U32);
        s.store(v, thread(s), s.lit(Value::U32(1)));
        let read = s.let_("read", s.load(v, s.n(0)));
        s.if_(read.get().eq(s.lit(Value::U32(1))), || s.barrier());
    });
    assert_eq!(found, [("if", "read == 1".into())]);
    // The result of an atomic operation, and of a subgroup operation.
    let found = blame(|s| {
        let tickets = s.shared_atomics("tickets", Scalar::U32, 1);
        let ticket = s.atomic(AtomicOp::Add, tickets, s.n(0), &[s.lit(Value::U32(1))]);
        s.if_(ticket.get().eq(s.lit(Value::U32(0))), || s.barrier());
        let any = s.subgroup(SubgroupOp::Any, &[thread(s).eq(s.n(40))]);
        s.if_(any.get(), || s.barrier());
    });
    let text = ["old == 0", "joined"].map(|t| ("if", t.to_owned()));
    assert_eq!(found, text);
    // A variable that a loop with a varying number of iterations assigns.
    let found = blame(|s| {
        let n = s.let_mut("n", s.n(0));
        s.while_(n.get().lt(thread(s)), |_| s.set(n, n.get() + s.n(1)));
        s.if_(n.get().gt(s.n(3)), || s.barrier());
    });
    assert_eq!(found, [("if", "n > 3".into())]);
}
