use super::{Machine, Stop};
use crate::eval::{Fault, Host, Ids, OnFault};
use crate::sketch::{E, Sketch};
use crate::{AtomicOp, Axis, Builtin, Kernel, ParamId, Scalar, SiteId, SubgroupOp, Value, eval};

/// The counts of threads that every case runs with.
const LANES: [u64; 7] = [1, 3, 32, 33, 255, 256, 1024];

/// One slice of `u32` for each parameter.
struct Slices(Vec<Vec<u32>>);

impl Host for Slices {
    fn scalar(&self, _: ParamId) -> Value {
        unreachable!("these kernels take slices")
    }

    fn len(&self, slice: ParamId) -> u64 {
        self.0[slice.index()].len() as u64
    }

    fn load(&mut self, slice: ParamId, index: u64) -> Value {
        Value::U32(self.0[slice.index()][index as usize])
    }

    fn store(&mut self, slice: ParamId, index: u64, value: Value) {
        let Value::U32(value) = value else {
            panic!("{value:?} in a slice of `u32`")
        };
        self.0[slice.index()][index as usize] = value;
    }
}

/// The first thread of a launch of one row of blocks.
fn ids(block: u64, lanes: u64) -> Ids {
    Ids {
        thread_idx: [0; 3],
        block_idx: [block, 0, 0],
        block_dim: [lanes, 1, 1],
        grid_dim: [2, 1, 1],
        global_dim: [2 * lanes, 1, 1],
    }
}

/// Runs two blocks of `lanes` threads over one slice.
fn run(kernel: &Kernel, lanes: u64, input: Vec<u32>) -> Result<Vec<u32>, Stop> {
    assert_eq!(crate::validate(kernel), Ok(()), "{kernel}");
    let mut host = Slices(vec![input]);
    let mut machine = Machine::new(kernel);
    for block in 0..2 {
        machine.run(&ids(block, lanes), [lanes, 1, 1], &mut host)?;
    }
    Ok(host.0.remove(0))
}

fn thread(s: &Sketch) -> E<'_> {
    s.id(Builtin::ThreadIdx(Axis::X))
}

fn global(s: &Sketch) -> E<'_> {
    s.id(Builtin::GlobalIdx(Axis::X))
}

fn lanes(s: &Sketch) -> E<'_> {
    s.id(Builtin::BlockDim(Axis::X))
}

fn u32(s: &Sketch, v: u32) -> E<'_> {
    s.lit(Value::U32(v))
}

/// Each element goes through a shared array to the thread opposite.
fn reverse() -> Kernel {
    let s = Sketch::new("reverse");
    let v = s.slice_mut("v", Scalar::U32);
    let tile = s.shared_slice("tile", Scalar::U32, s.id(Builtin::BlockDim(Axis::X)));
    s.store(tile, thread(&s), s.load(v, global(&s)));
    s.barrier();
    let opposite = lanes(&s) - s.n(1) - thread(&s);
    s.store(v, global(&s), s.load(tile, opposite));
    s.finish()
}

#[test]
fn what_a_thread_wrote_all_see_behind_a_barrier() {
    for n in LANES {
        let input: Vec<u32> = (0..2 * n as u32).collect();
        let (a, b) = input.split_at(n as usize);
        let expected: Vec<u32> = a.iter().rev().chain(b.iter().rev()).copied().collect();
        assert_eq!(run(&reverse(), n, input.clone()), Ok(expected), "{n} lanes");
    }
}

/// A scan in steps of 1, 2, 4, …, two barriers in each, the sum carried in a local.
fn scan() -> Kernel {
    let s = Sketch::new("scan");
    let v = s.slice_mut("v", Scalar::U32);
    let tile = s.shared("tile", Scalar::U32, 1024);
    let sum = s.let_mut("sum", s.load(v, global(&s)));
    let step = s.let_mut("step", s.n(1));
    s.while_(step.get().lt(lanes(&s)), |_| {
        s.store(tile, thread(&s), sum.get());
        s.barrier();
        s.if_(thread(&s).ge(step.get()), || {
            s.set(sum, sum.get() + s.load(tile, thread(&s) - step.get()));
        });
        s.barrier();
        s.set(step, step.get() << s.n(1));
    });
    s.store(v, global(&s), sum.get());
    s.finish()
}

#[test]
fn locals_live_across_barriers_and_iterations() {
    for n in LANES {
        let input: Vec<u32> = (0..2 * n as u32).map(|i| i * 7 % 31).collect();
        let expected: Vec<u32> = input
            .chunks(n as usize)
            .flat_map(|block| {
                block.iter().scan(0, |sum, v| {
                    *sum += v;
                    Some(*sum)
                })
            })
            .collect();
        assert_eq!(run(&scan(), n, input.clone()), Ok(expected), "{n} lanes");
    }
}

#[test]
fn nested_loops_with_returns_on_the_way() {
    // Thread t returns in outer iteration t; those that stay count who is left.
    let s = Sketch::new("leave");
    let v = s.slice_mut("v", Scalar::U32);
    let here = s.shared_atomics("here", Scalar::U32, 64);
    s.for_("k", s.n(0), s.n(4), |k, _| {
        s.for_("j", s.n(0), s.n(2), |j, _| {
            let slot = || k.get() * s.n(2) + j.get();
            s.if_(thread(&s).eq(s.n(0)), || {
                s.atomic(AtomicOp::Store, here, slot(), &[u32(&s, 0)]);
            });
            s.barrier();
            s.atomic(AtomicOp::Add, here, slot(), &[u32(&s, 1)]);
            s.barrier();
            let count = s.atomic(AtomicOp::Load, here, slot(), &[]);
            let sum = s.load(v, global(&s)) * u32(&s, 3) + count.get();
            s.store(v, global(&s), sum);
        });
        s.if_(thread(&s).eq(k.get() + s.n(1)), || s.return_());
    });
    let kernel = s.finish();
    for n in LANES {
        let thread = |t: u64| {
            let mut sum = 0u32;
            for k in 0..4u64 {
                // Threads 1 to k have returned.
                let left = n - k.min(n - 1);
                for _ in 0..2 {
                    sum = sum.wrapping_mul(3).wrapping_add(left as u32);
                }
                if t == k + 1 {
                    break;
                }
            }
            sum
        };
        let expected: Vec<u32> = (0..2 * n).map(|i| thread(i % n)).collect();
        let got = run(&kernel, n, vec![0; 2 * n as usize]);
        assert_eq!(got, Ok(expected), "{n} lanes");
    }
}

#[test]
fn each_thread_has_its_own_array() {
    let s = Sketch::new("arrays");
    let v = s.slice_mut("v", Scalar::U32);
    let array = s.array("array", Scalar::U32, 3);
    s.for_("k", s.n(0), s.len(array), |k, _| {
        s.store(array, k.get(), (thread(&s) * k.get()).cast(Scalar::U32));
    });
    s.barrier();
    let sum = s.let_mut("sum", u32(&s, 0));
    s.for_("k", s.n(0), s.n(3), |k, _| {
        s.set(sum, sum.get() + s.load(array, k.get()));
    });
    s.store(v, global(&s), sum.get());
    let kernel = s.finish();
    for n in LANES {
        let expected: Vec<u32> = (0..2 * n).map(|i| 3 * (i % n) as u32).collect();
        assert_eq!(run(&kernel, n, vec![0; 2 * n as usize]), Ok(expected));
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
        assert_eq!(run(&kernel, n, vec![0; 2 * n as usize]), Ok(expected));
    }
}

#[test]
fn every_atomic_operation() {
    let u = Value::U32;
    let all = |op, old, args: &[u32]| {
        let args: Vec<Value> = args.iter().copied().map(u).collect();
        eval::atomic(op, u(old), &args)
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
    // By bits: no NaN differs from itself, and the zeros differ.
    let (nan, zero) = (Value::f32(f32::NAN), Value::f32(0.0));
    let exchange = |old, a, b| eval::atomic(AtomicOp::CompareExchange, old, &[a, b]);
    assert_eq!(exchange(nan, nan, zero), zero);
    assert_eq!(exchange(zero, Value::f32(-0.0), nan), zero);
}

/// Each thread brings `value` and `other`; what it gets is stored.
fn joined(
    op: SubgroupOp,
    value: impl Fn(&Sketch) -> E<'_>,
    other: impl Fn(&Sketch) -> Option<E<'_>>,
) -> Vec<u32> {
    let s = Sketch::new("joined");
    let v = s.slice_mut("v", Scalar::U32);
    // Threads 2, 5, 8, … take no part.
    s.if_((thread(&s) % s.n(3)).ne(s.n(2)), || {
        let args: Vec<E<'_>> = [value(&s)].into_iter().chain(other(&s)).collect();
        let result = s.subgroup(op, &args);
        s.store(v, global(&s), result.get().cast(Scalar::U32));
    });
    let after = s.subgroup(SubgroupOp::Sum, &[u32(&s, 1)]);
    s.assert(
        after.get().eq(lanes(&s).cast(Scalar::U32)),
        "all are together again",
    );
    let kernel = s.finish();
    run(&kernel, 8, vec![99; 16]).expect("nothing fails")[8..].to_vec()
}

#[test]
fn every_subgroup_operation() {
    fn number(s: &Sketch) -> E<'_> {
        (thread(s) + s.n(10)).cast(Scalar::U32)
    }
    let of = |op, other: u64| joined(op, number, move |s| Some(s.n(other)));
    assert_eq!(of(SubgroupOp::Shuffle, 4), [14, 14, 99, 14, 14, 99, 14, 14]);
    // Lane 5 takes no part, so that each has its own value.
    assert_eq!(of(SubgroupOp::Shuffle, 5), [10, 11, 99, 13, 14, 99, 16, 17]);
    assert_eq!(
        of(SubgroupOp::ShuffleUp, 1),
        [10, 10, 99, 13, 13, 99, 16, 16]
    );
    assert_eq!(
        of(SubgroupOp::ShuffleDown, 1),
        [11, 11, 99, 14, 14, 99, 17, 17]
    );
    assert_eq!(
        of(SubgroupOp::ShuffleXor, 7),
        [17, 16, 99, 14, 13, 99, 11, 10]
    );
    assert_eq!(
        of(SubgroupOp::Broadcast, 3),
        [13, 13, 99, 13, 13, 99, 13, 13]
    );
    assert_eq!(
        of(SubgroupOp::Broadcast, 2),
        [10, 10, 99, 10, 10, 99, 10, 10]
    );
    let fold = |op| joined(op, number, |_| None);
    assert_eq!(fold(SubgroupOp::Sum), [81, 81, 99, 81, 81, 99, 81, 81]);
    assert_eq!(fold(SubgroupOp::Product)[0], 10 * 11 * 13 * 14 * 16 * 17);
    assert_eq!(fold(SubgroupOp::Min), [10, 10, 99, 10, 10, 99, 10, 10]);
    assert_eq!(fold(SubgroupOp::Max), [17, 17, 99, 17, 17, 99, 17, 17]);
    assert_eq!(
        fold(SubgroupOp::InclusiveSum),
        [10, 21, 99, 34, 48, 99, 64, 81]
    );
    assert_eq!(
        fold(SubgroupOp::ExclusiveSum),
        [0, 10, 99, 21, 34, 99, 48, 64]
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
        assert_eq!(run(&kernel, n, vec![0; 2 * n as usize]), Ok(expected));
    }
}

/// A divergence at the barrier, between these threads.
fn diverges(n: u64, waits: u64, absent: u64, fill: impl FnOnce(&Sketch)) {
    let s = Sketch::new("diverges");
    s.slice_mut("v", Scalar::U32);
    fill(&s);
    let kernel = s.finish();
    let Err(Stop::Divergence {
        barrier,
        waits: w,
        absent: a,
    }) = run(&kernel, n, vec![])
    else {
        panic!("no divergence in\n{kernel}")
    };
    assert_eq!(kernel.stmt(barrier), crate::Stmt::Barrier);
    assert_eq!((w[0], a[0]), (waits, absent));
}

#[test]
fn barriers_that_some_threads_miss() {
    diverges(32, 0, 16, |s| s.if_(thread(s).lt(s.n(16)), || s.barrier()));
    // Thread 1 returns behind a barrier at which thread 0 never was.
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
fn barriers_that_returned_threads_miss() {
    let s = Sketch::new("returned");
    let v = s.slice_mut("v", Scalar::U32);
    s.if_(thread(&s).ge(s.n(2)), || s.return_());
    s.barrier();
    s.if_(thread(&s).ge(s.n(1)), || s.return_());
    s.barrier();
    s.store(v, global(&s), u32(&s, 1));
    let kernel = s.finish();
    for n in LANES {
        let expected: Vec<u32> = (0..2 * n).map(|i| (i % n == 0).into()).collect();
        assert_eq!(run(&kernel, n, vec![0; 2 * n as usize]), Ok(expected));
    }
}

#[test]
fn a_fault_stops_the_block_where_it_stands() {
    // Thread 2 cannot store; 0 and 1 have, 3 has not begun.
    let s = Sketch::new("fault");
    let v = s.slice_mut("v", Scalar::U32);
    let far = s.let_mut("far", thread(&s));
    s.if_(thread(&s).eq(s.n(2)), || s.set(far, s.n(1000)));
    s.store(v, far.get(), u32(&s, 1));
    s.barrier();
    s.store(v, far.get(), u32(&s, 2));
    let kernel = s.finish();
    let mut host = Slices(vec![vec![0; 4]]);
    let mut machine = Machine::new(&kernel);
    let stop = machine.run(&ids(0, 4), [4, 1, 1], &mut host);
    let fault = Fault {
        site: SiteId(0),
        detail: 1000,
    };
    let thread = [2, 0, 0];
    assert_eq!(stop, Err(Stop::Fault { fault, thread }));
    assert_eq!(host.0[0], [1, 1, 0, 0]);
    // An accelerator goes on.
    machine.on_fault = OnFault::GoOn;
    let stop = machine.run(&ids(0, 4), [4, 1, 1], &mut host);
    assert_eq!(stop, Err(Stop::Fault { fault, thread }));
    assert_eq!(host.0[0], [2, 2, 0, 2]);
}
