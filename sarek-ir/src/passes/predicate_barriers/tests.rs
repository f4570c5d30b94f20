use super::predicate_barriers;
use crate::analysis::random::blocks::{self, Launch};
use crate::interp::{Like, Stop, cases};
use crate::passes::{cut_after_exits, guard_loops, holds_barrier, lower_labels, park_returns};
use crate::sketch::Sketch;
use crate::{Axis, Block, Builtin, Kernel, Scalar, Stmt, Value};

/// The kernel as an accelerator runs it.
fn lowered(kernel: &Kernel) -> Kernel {
    let mut lowered = kernel.clone();
    cut_after_exits(&mut lowered);
    park_returns(&mut lowered);
    predicate_barriers(&mut lowered);
    assert_eq!(crate::validate(&lowered), Ok(()), "{kernel}\n{lowered}");
    assert!(!branches(&lowered, lowered.body), "{kernel}\n{lowered}");
    lower_labels(&mut lowered);
    guard_loops(&mut lowered);
    assert_eq!(crate::validate(&lowered), Ok(()), "{kernel}\n{lowered}");
    lowered
}

/// True if a barrier is in a branch.
fn branches(kernel: &Kernel, block: Block) -> bool {
    kernel.block(block).any(|id| {
        let stmt = kernel.stmt(id);
        let mut inner = kernel.children(stmt).1.into_iter();
        match stmt {
            Stmt::If { .. } => inner.any(|b| holds_barrier(kernel, b)),
            _ => inner.any(|b| branches(kernel, b)),
        }
    })
}

#[test]
fn random_kernels_compute_the_same() {
    let (mut sound, mut changed) = (0, 0);
    for seed in 0..1500 {
        let kernel = blocks::kernel(seed);
        let launch = Launch::new(seed, &[1, 3, 5, 32, 33]);
        let (memory, ends) = launch.run(&kernel, Like::Host);
        let lowered = lowered(&kernel);
        let (got, got_ends) = launch.run(&lowered, Like::Accelerator);
        for (end, got) in ends.iter().zip(&got_ends) {
            let divergence = matches!(got, Err(Stop::Divergence { .. }));
            let same = end.is_ok() == got.is_ok();
            assert!(
                same && !divergence,
                "{got:?} {launch:?}\n{kernel}\n{lowered}"
            );
        }
        if ends.iter().all(Result::is_ok) {
            sound += 1;
            assert_eq!(got, memory, "{launch:?}\n{kernel}\n{lowered}");
        }
        changed += u32::from(lowered.locals.iter().any(|l| l.name == "taken"));
    }
    assert!(sound > 500 && changed > 500, "{sound} {changed}");
}

#[test]
fn every_case_computes_what_it_should() {
    for case in cases::cases() {
        let kernel = lowered(&case.kernel);
        for n in cases::LANES {
            let got = cases::run(&kernel, n, Like::Accelerator);
            let expected = Ok((case.expected)(n));
            assert_eq!(got, expected, "{} with {n} lanes\n{kernel}", case.name);
        }
    }
}

/// The body after the pass, without white space.
fn text_of(build: impl FnOnce(&Sketch)) -> String {
    let s = Sketch::new("k");
    build(&s);
    let mut kernel = s.finish();
    predicate_barriers(&mut kernel);
    assert_eq!(crate::validate(&kernel), Ok(()), "{kernel}");
    let text: String = kernel.to_string().split_whitespace().collect();
    text[text.find('{').unwrap_or(0)..].to_owned()
}

#[test]
fn each_stretch_stands_under_the_predicate() {
    let text = text_of(|s| {
        let n = s.scalar("n", Scalar::Usize);
        s.if_else(
            s.arg(n).eq(s.n(1)),
            || {
                let x = s.let_("x", s.n(2));
                s.let_("y", s.n(3));
                s.barrier();
                s.let_("z", x.get());
            },
            || {
                s.let_("w", s.n(4));
            },
        );
    });
    assert_eq!(
        text,
        "{lettaken:bool=n==1usize;letother:bool=!taken;letmutx:usize;iftaken{x=2usize;lety:usize=3usize;}barrier();iftaken{letz:usize=x;}ifother{letw:usize=4usize;}}"
    );
}

#[test]
fn a_jump_clears_the_predicates_of_what_it_leaves() {
    let text = text_of(|s| {
        let n = s.scalar("n", Scalar::Usize);
        s.for_("i", s.n(0), s.n(9), |i, label| {
            s.barrier();
            s.if_(i.get().eq(s.arg(n)), || s.break_(label));
            s.let_("x", s.n(1));
        });
        s.let_("y", s.n(2));
    });
    assert_eq!(
        text,
        "{letmutgoing:bool=true;'l0:fori:usizein0usize..9usize{if!going{break'l0;}barrier();lettaken:bool=i==n;iftaken{going=false;}ifgoing{letx:usize=1usize;}}lety:usize=2usize;}"
    );
}

#[test]
fn a_return_ends_what_leads_to_a_barrier() {
    let text = text_of(|s| {
        let n = s.scalar("n", Scalar::Usize);
        s.if_(s.arg(n).eq(s.n(1)), || s.return_());
        s.barrier();
        s.if_(s.arg(n).eq(s.n(2)), || s.return_());
        s.let_("y", s.n(2));
    });
    assert_eq!(
        text,
        "{letmutrunning:bool=true;lettaken:bool=n==1usize;iftaken{running=false;}barrier();ifrunning{ifn==2usize{return;}lety:usize=2usize;}}"
    );
}

#[test]
fn a_loop_that_is_not_come_to_evaluates_nothing() {
    let text = text_of(|s| {
        let n = s.scalar("n", Scalar::Usize);
        s.if_(s.arg(n).eq(s.n(1)), || {
            s.for_("i", s.n(0), s.n(9) / s.arg(n), |_, _| s.barrier());
            s.while_((s.n(8) / s.arg(n)).gt(s.n(5)), |label| {
                s.barrier();
                s.if_(s.arg(n).eq(s.n(2)), || s.continue_(label));
                s.barrier();
            });
        });
    });
    assert_eq!(
        text,
        "{lettaken:bool=n==1usize;letmutstart:usize=0usize;letmutend:usize=0usize;iftaken{start=0usize;end=9usize/!0n;}fori:usizeinstart..end{barrier();}'l1:whiletaken&&8usize/!1n>5usize{letmutstaying:bool=true;barrier();lettaken.1:bool=n==2usize;iftaken.1{staying=false;}barrier();}}"
    );
}

#[test]
fn branches_of_single_threads_stay() {
    let build = |s: &Sketch| {
        let v = s.slice_mut("v", Scalar::U32);
        let thread = || s.id(Builtin::ThreadIdx(Axis::X));
        s.for_("i", s.n(0), s.n(3), |_, _| {
            s.if_(thread().eq(s.n(1)), || {
                s.loop_(|inner| {
                    s.store(v, thread(), s.lit(Value::U32(1)));
                    s.break_(inner);
                });
            });
            s.barrier();
        });
        s.if_(thread().eq(s.n(2)), || s.return_());
        s.store(v, thread(), s.lit(Value::U32(2)));
    };
    let s = Sketch::new("k");
    build(&s);
    let text: String = s.finish().to_string().split_whitespace().collect();
    assert_eq!(text_of(build), text[text.find('{').unwrap_or(0)..]);
}
