use super::cases::{LANES, Slices, cases, global, ids, lanes, run, thread, u32};
use super::{Machine, Stop};
use crate::interp::{Fault, Like};
use crate::sketch::{Sketch, SketchExpr};
use crate::{AtomicOp, Builtin, Scalar, SiteId, SubgroupOp, Value, interp};

#[test]
fn every_case_computes_what_it_should() {
    for case in cases() {
        for n in LANES {
            let got = run(&case.kernel, n, Like::Host);
            assert_eq!(got, Ok((case.expected)(n)), "{} with {n} lanes", case.name);
        }
    }
}

#[test]
fn atomics_yield_what_was_there_in_the_order_of_threads() {
    let s = Sketch::new("tickets");
    let v = s.slice_mut("v", Scalar::U32);
    let next = s.shared_atomics("next", Scalar::U32, 1);
    s.if_(thread(&s).eq(s.n(0)), || {
        s.atomic(AtomicOp::Store, next, s.n(0), &[u32(&s, 5)]);
    });
    s.barrier();
    let ticket = s.atomic(AtomicOp::Add, next, s.n(0), &[u32(&s, 2)]);
    s.store(v, global(&s), ticket.get());
    let kernel = s.finish();
    for n in LANES {
        let expected: Vec<u32> = (0..2 * n as u32).map(|i| 5 + 2 * (i % n as u32)).collect();
        assert_eq!(run(&kernel, n, Like::Host), Ok(expected));
    }
}

#[test]
fn every_atomic_operation() {
    let u = Value::U32;
    let all = |op, old, args: &[u32]| {
        let args: Vec<Value> = args.iter().copied().map(u).collect();
        interp::atomic(op, u(old), &args)
    };
    assert_eq!(all(AtomicOp::Load, 6, &[]), u(6));
    assert_eq!(all(AtomicOp::Store, 6, &[3]), u(3));
    assert_eq!(all(AtomicOp::Add, 6, &[u32::MAX]), u(5));
    assert_eq!(all(AtomicOp::Sub, 6, &[7]), u(u32::MAX));
    assert_eq!(all(AtomicOp::Min, 6, &[3]), u(3));
    assert_eq!(all(AtomicOp::Max, 6, &[3]), u(6));
    assert_eq!(all(AtomicOp::And, 6, &[3]), u(2));
    assert_eq!(all(AtomicOp::Or, 6, &[3]), u(7));
    assert_eq!(all(AtomicOp::Xor, 6, &[3]), u(5));
    assert_eq!(all(AtomicOp::Swap, 6, &[3]), u(3));
    assert_eq!(all(AtomicOp::CompareExchange, 6, &[6, 9]), u(9));
    assert_eq!(all(AtomicOp::CompareExchange, 6, &[5, 9]), u(6));
    // The comparison is by bits: a NaN equals itself, and the zeros differ.
    let (nan, zero) = (Value::f32(f32::NAN), Value::f32(0.0));
    let exchange = |old, a, b| interp::atomic(AtomicOp::CompareExchange, old, &[a, b]);
    assert_eq!(exchange(nan, nan, zero), zero);
    assert_eq!(exchange(zero, Value::f32(-0.0), nan), zero);
}

/// Performs a subgroup operation on `value` and `other`, and stores each thread's result.
fn joined(
    op: SubgroupOp,
    value: impl Fn(&Sketch) -> SketchExpr<'_>,
    other: impl Fn(&Sketch) -> Option<SketchExpr<'_>>,
) -> Vec<u32> {
    let s = Sketch::new("joined");
    let v = s.slice_mut("v", Scalar::U32);
    // Threads 2, 5, 8, … take no part.
    s.if_((thread(&s) % s.n(3)).ne(s.n(2)), || {
        let args: Vec<SketchExpr<'_>> = [value(&s)].into_iter().chain(other(&s)).collect();
        let result = s.subgroup(op, &args);
        s.store(v, global(&s), result.get().cast(Scalar::U32));
    });
    let after = s.subgroup(SubgroupOp::Sum, &[u32(&s, 1)]);
    s.assert(
        after.get().eq(lanes(&s).cast(Scalar::U32)),
        "all are together again",
    );
    let kernel = s.finish();
    run(&kernel, 8, Like::Host).expect("nothing fails")[8..].to_vec()
}

#[test]
fn every_subgroup_operation() {
    fn number(s: &Sketch) -> SketchExpr<'_> {
        (thread(s) + s.n(10)).cast(Scalar::U32)
    }
    let of = |op, other: u64| joined(op, number, move |s| Some(s.n(other)));
    assert_eq!(of(SubgroupOp::Shuffle, 4), [14, 14, 0, 14, 14, 0, 14, 14]);
    // Lane 5 takes no part, so each thread gets its own value.
    assert_eq!(of(SubgroupOp::Shuffle, 5), [10, 11, 0, 13, 14, 0, 16, 17]);
    assert_eq!(of(SubgroupOp::ShuffleUp, 1), [10, 10, 0, 13, 13, 0, 16, 16]);
    assert_eq!(
        of(SubgroupOp::ShuffleDown, 1),
        [11, 11, 0, 14, 14, 0, 17, 17]
    );
    assert_eq!(
        of(SubgroupOp::ShuffleXor, 7),
        [17, 16, 0, 14, 13, 0, 11, 10]
    );
    assert_eq!(of(SubgroupOp::Broadcast, 3), [13, 13, 0, 13, 13, 0, 13, 13]);
    assert_eq!(of(SubgroupOp::Broadcast, 2), [10, 11, 0, 13, 14, 0, 16, 17]);
    let fold = |op| joined(op, number, |_| None);
    assert_eq!(fold(SubgroupOp::Sum), [81, 81, 0, 81, 81, 0, 81, 81]);
    assert_eq!(fold(SubgroupOp::Product)[0], 10 * 11 * 13 * 14 * 16 * 17);
    assert_eq!(fold(SubgroupOp::Min), [10, 10, 0, 10, 10, 0, 10, 10]);
    assert_eq!(fold(SubgroupOp::Max), [17, 17, 0, 17, 17, 0, 17, 17]);
    assert_eq!(
        fold(SubgroupOp::InclusiveSum),
        [10, 21, 0, 34, 48, 0, 64, 81]
    );
    assert_eq!(
        fold(SubgroupOp::ExclusiveSum),
        [0, 10, 0, 21, 34, 0, 48, 64]
    );
    let says = |op, from: u64| joined(op, move |s| thread(s).ge(s.n(from)), |_| None)[0];
    assert_eq!([0, 1, 9].map(|n| says(SubgroupOp::All, n)), [1, 0, 0]);
    assert_eq!([0, 1, 9].map(|n| says(SubgroupOp::Any, n)), [1, 1, 0]);
    assert_eq!(
        [0, 1, 9].map(|n| says(SubgroupOp::Ballot, n)),
        [0xdb, 0xda, 0]
    );
}

#[test]
fn subgroups_are_32_consecutive_threads() {
    let s = Sketch::new("groups");
    let v = s.slice_mut("v", Scalar::U32);
    let sum = s.subgroup(SubgroupOp::Sum, &[u32(&s, 1)]);
    let lane = s.id(Builtin::SubgroupLane) + s.id(Builtin::SubgroupSize) * s.n(1000);
    s.store(
        v,
        global(&s),
        sum.get() * u32(&s, 100) + lane.cast(Scalar::U32),
    );
    let kernel = s.finish();
    for n in LANES {
        let thread = |t: u64| 32000 + 100 * (n - t / 32 * 32).min(32) + t % 32;
        let expected: Vec<u32> = (0..2 * n).map(|i| thread(i % n) as u32).collect();
        assert_eq!(run(&kernel, n, Like::Host), Ok(expected));
    }
}

/// Expects a divergence at a barrier, between these threads.
fn diverges(n: u64, waits: u64, absent: u64, fill: impl FnOnce(&Sketch)) {
    let s = Sketch::new("diverges");
    s.slice_mut("v", Scalar::U32);
    fill(&s);
    let kernel = s.finish();
    let Err(Stop::Divergence {
        barrier,
        waits: w,
        absent: a,
    }) = run(&kernel, n, Like::Host)
    else {
        panic!("no divergence in\n{kernel}")
    };
    assert_eq!(kernel.stmt(barrier), crate::Stmt::Barrier);
    assert_eq!((w[0], a[0]), (waits, absent));
}

#[test]
fn barriers_that_some_threads_miss() {
    diverges(32, 0, 16, |s| s.if_(thread(s).lt(s.n(16)), || s.barrier()));
    // Thread 1 returns at a later point than the barrier where thread 0 waits.
    diverges(2, 0, 1, |s| {
        s.if_else(thread(s).lt(s.n(1)), || s.barrier(), || s.return_());
    });
    // Thread 2 leaves a loop before the others.
    diverges(3, 0, 2, |s| {
        s.for_("k", s.n(0), s.n(4), |k, l| {
            s.if_((thread(s) + k.get()).eq(s.n(3)), || s.break_(l));
            s.barrier();
        });
        s.barrier();
    });
    // Both wait, but at different barriers.
    diverges(2, 0, 1, |s| {
        s.if_else(thread(s).lt(s.n(1)), || s.barrier(), || s.barrier());
    });
}

#[test]
fn a_fault_stops_the_block_where_it_stands() {
    // The store of thread 2 fails. Threads 0 and 1 have stored, and thread 3 has not begun.
    let s = Sketch::new("fault");
    let v = s.slice_mut("v", Scalar::U32);
    let far = s.let_mut("far", thread(&s));
    s.if_(thread(&s).eq(s.n(2)), || s.set(far, s.n(1000)));
    s.store(v, far.get(), u32(&s, 1));
    s.barrier();
    s.store(v, far.get(), u32(&s, 2));
    let kernel = s.finish();
    let mut host = Slices(vec![vec![0; 4]], 0);
    let mut machine = Machine::new(&kernel);
    let stop = machine.run(&ids(0, 4), [4, 1, 1], &mut host);
    let fault = Fault {
        site: SiteId(0),
        detail: 1000,
    };
    let thread = [2, 0, 0];
    assert_eq!(stop, Err(Stop::Fault { fault, thread }));
    assert_eq!(host.0[0], [1, 1, 0, 0]);
    // An accelerator continues.
    machine.like = Like::Accelerator;
    let stop = machine.run(&ids(0, 4), [4, 1, 1], &mut host);
    assert_eq!(stop, Err(Stop::Fault { fault, thread }));
    assert_eq!(host.0[0], [2, 2, 0, 2]);
}
