//! Test cases for barriers: kernels, each with the expected results of two blocks.

use super::{Machine, Stop};
use crate::interp::{Host, Ids, Like};
use crate::sketch::{Sketch, SketchExpr};
use crate::{AtomicOp, Axis, Builtin, ExprId, Kernel, ParamId, Scalar, StmtId, Value};

/// The numbers of threads with which every case runs.
pub(crate) const LANES: [u64; 7] = [1, 3, 32, 33, 255, 256, 1024];

/// A kernel with one parameter `v: &mut [u32]`, which has one element per thread and begins as zeros.
pub(crate) struct Case {
    pub name: &'static str,
    pub kernel: Kernel,
    /// The contents of `v` after two blocks with this number of threads.
    pub expected: fn(u64) -> Vec<u32>,
}

/// The number of evaluated expressions and barriers after which a launch counts as hanging.
pub(crate) const BUDGET: u64 = 3_000_000;

/// A host with a slice of `u32` for each parameter, and a count of the work so far.
pub(crate) struct Slices(pub Vec<Vec<u32>>, pub u64);

impl Slices {
    fn did(&mut self) {
        self.1 += 1;
        assert!(self.1 <= BUDGET, "the launch hangs");
    }
}

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

    fn evaluated(&mut self, _: ExprId, _: Value) {
        self.did();
    }

    fn opened(&mut self, _: StmtId) {
        self.did();
    }
}

/// The first thread of a launch of one row of blocks.
pub(crate) fn ids(block: u64, lanes: u64) -> Ids {
    Ids {
        thread_idx: [0; 3],
        block_idx: [block, 0, 0],
        block_dim: [lanes, 1, 1],
        grid_dim: [2, 1, 1],
        global_dim: [2 * lanes, 1, 1],
    }
}

/// Runs two blocks of `lanes` threads.
pub(crate) fn run(kernel: &Kernel, lanes: u64, like: Like) -> Result<Vec<u32>, Stop> {
    assert_eq!(crate::validate(kernel), Ok(()), "{kernel}");
    let mut host = Slices(vec![vec![0; 2 * lanes as usize]], 0);
    let mut machine = Machine::new(kernel);
    machine.like = like;
    for block in 0..2 {
        machine.run(&ids(block, lanes), [lanes, 1, 1], &mut host)?;
    }
    Ok(host.0.remove(0))
}

pub(crate) fn thread(s: &Sketch) -> SketchExpr<'_> {
    s.id(Builtin::ThreadIdx(Axis::X))
}

pub(crate) fn global(s: &Sketch) -> SketchExpr<'_> {
    s.id(Builtin::GlobalIdx(Axis::X))
}

pub(crate) fn lanes(s: &Sketch) -> SketchExpr<'_> {
    s.id(Builtin::BlockDim(Axis::X))
}

pub(crate) fn u32(s: &Sketch, v: u32) -> SketchExpr<'_> {
    s.lit(Value::U32(v))
}

fn case(
    name: &'static str,
    fill: impl FnOnce(&Sketch, ParamId),
    expected: fn(u64) -> Vec<u32>,
) -> Case {
    let s = Sketch::new(name);
    let v = s.slice_mut("v", Scalar::U32);
    fill(&s, v);
    let kernel = s.finish();
    Case {
        name,
        kernel,
        expected,
    }
}

/// The expected results of all threads, computed from a thread's index and its block.
fn each(n: u64, thread: impl Fn(u64, u64) -> u64) -> Vec<u32> {
    (0..2 * n).map(|i| thread(i % n, i / n) as u32).collect()
}

/// Barriers in all kinds of places.
pub(crate) fn cases() -> Vec<Case> {
    vec![
        case("reverse", reverse, |n| each(n, |t, b| b * n + n - 1 - t)),
        case("scan", scan, |n| {
            each(n, |t, _| (0..=t).map(|i| i * 7 % 31).sum())
        }),
        case("nested loops", nested, |n| {
            each(n, |t, _| (0..6).fold(t, |at, k| (at + k % 2 + 1) % n))
        }),
        case("returns in nested loops", leave, |n| {
            each(n, |t, _| {
                let left = |k: u64| n - k.min(n - 1);
                let rounds = (0..4).take_while(|&k| t == 0 || k < t);
                let counted = rounds.flat_map(|k| [left(k); 2]);
                counted.fold(0, |sum, left| (sum * 3 + left) % (1 << 32))
            })
        }),
        case("arrays of each thread", arrays, |n| each(n, |t, _| 3 * t)),
        case("return before barriers", early, |n| {
            each(n, |t, _| u64::from(t == 0))
        }),
        case("first, last and twice", edges, |n| each(n, |t, _| t + 1)),
        case("conditional barrier in a loop", conditional, |n| {
            each(n, |t, b| {
                (0..5 + b).filter(|k| k % 2 == 0).count() as u64 * ((t + 1) % n)
            })
        }),
        case("switch", switch, |n| each(n, |t, b| (t + 1 + b) % n)),
        case("two arrays", two_arrays, |n| {
            each(n, |t, _| {
                let from = (t + 1) % n;
                from * 2 + u64::from(from % 3 == 0)
            })
        }),
        case("one lane reads", one_lane, |n| {
            each(n, |t, _| if t == 0 { n * (n - 1) / 2 } else { 0 })
        }),
        case("all return from an endless loop", endless, |n| {
            each(n, |t, _| (t % 5 + 1) * 10)
        }),
        case("blocks that return at once", gone, |n| {
            each(n, |t, b| if b == 0 { (t + 1) % n + 1 } else { 0 })
        }),
        case("return before the rest of a branch", branch, |n| {
            each(n, |t, _| match (t % 2, t % 3) {
                (0, 0) => 0,
                (0, _) => 6,
                (_, _) => 1,
            })
        }),
        case("return in a loop of one thread", inner_return, |n| {
            let gone = (0..n).filter(|t| t % 4 < 3).count() as u64;
            each(n, |t, _| if t % 4 < 3 { t % 4 } else { 100 + gone })
        }),
    ]
}

/// Moves each element through a shared array to the opposite thread.
fn reverse(s: &Sketch, v: ParamId) {
    let tile = s.shared_slice("tile", Scalar::U32, lanes(s));
    s.store(tile, thread(s), global(s).cast(Scalar::U32));
    s.barrier();
    let opposite = lanes(s) - s.n(1) - thread(s);
    s.store(v, global(s), s.load(tile, opposite));
}

/// A scan in steps of 1, 2, 4, …, with two barriers per step, and the sum in a local.
fn scan(s: &Sketch, v: ParamId) {
    let tile = s.shared("tile", Scalar::U32, 1024);
    let first = (thread(s) * s.n(7)) % s.n(31);
    let sum = s.let_mut("sum", first.cast(Scalar::U32));
    let step = s.let_mut("step", s.n(1));
    s.while_(step.get().lt(lanes(s)), |_| {
        s.store(tile, thread(s), sum.get());
        s.barrier();
        s.if_(thread(s).ge(step.get()), || {
            s.set(sum, sum.get() + s.load(tile, thread(s) - step.get()));
        });
        s.barrier();
        s.set(step, step.get() << s.n(1));
    });
    s.store(v, global(s), sum.get());
}

/// Follows a chain of neighbours; loop counters live across barriers.
fn nested(s: &Sketch, v: ParamId) {
    let tile = s.shared_slice("tile", Scalar::U32, lanes(s));
    let at = s.let_mut("at", thread(s).cast(Scalar::U32));
    let bound = s.let_("bound", s.id(Builtin::GridDim(Axis::X)) + s.n(1));
    s.for_("k", s.n(0), bound.get(), |_, _| {
        s.for_("j", s.n(0), s.n(2), |j, _| {
            s.barrier();
            s.store(tile, thread(s), at.get());
            s.barrier();
            let from = (thread(s) + j.get() + s.n(1)) % lanes(s);
            s.set(at, s.load(tile, from));
        });
    });
    s.store(v, global(s), at.get());
}

/// Thread t returns in outer iteration t - 1, and the remaining threads count those that are left.
fn leave(s: &Sketch, v: ParamId) {
    let here = s.shared_atomics("here", Scalar::U32, 8);
    s.for_("k", s.n(0), s.n(4), |k, _| {
        s.for_("j", s.n(0), s.n(2), |j, _| {
            let slot = || k.get() * s.n(2) + j.get();
            s.if_(thread(s).eq(s.n(0)), || {
                s.atomic(AtomicOp::Store, here, slot(), &[u32(s, 0)]);
            });
            s.barrier();
            s.atomic(AtomicOp::Add, here, slot(), &[u32(s, 1)]);
            s.barrier();
            let count = s.atomic(AtomicOp::Load, here, slot(), &[]);
            let sum = s.load(v, global(s)) * u32(s, 3) + count.get();
            s.store(v, global(s), sum);
        });
        s.if_(thread(s).eq(k.get() + s.n(1)), || s.return_());
    });
}

fn arrays(s: &Sketch, v: ParamId) {
    let array = s.array("array", Scalar::U32, 3);
    s.for_("k", s.n(0), s.len(array), |k, _| {
        s.store(array, k.get(), (thread(s) * k.get()).cast(Scalar::U32));
    });
    s.barrier();
    let sum = s.let_mut("sum", u32(s, 0));
    s.for_("k", s.n(0), s.n(3), |k, _| {
        s.set(sum, sum.get() + s.load(array, k.get()));
    });
    s.store(v, global(s), sum.get());
}

fn early(s: &Sketch, v: ParamId) {
    s.if_(thread(s).ge(s.n(2)), || s.return_());
    s.barrier();
    s.if_(thread(s).ge(s.n(1)), || s.return_());
    s.barrier();
    s.store(v, global(s), u32(s, 1));
    s.barrier();
    s.return_();
}

fn edges(s: &Sketch, v: ParamId) {
    s.barrier();
    s.barrier();
    s.if_(thread(s).lt(s.n(0)), || {});
    s.barrier();
    s.store(v, global(s), (thread(s) + s.n(1)).cast(Scalar::U32));
    s.barrier();
}

/// The block's index decides the number of iterations.
fn conditional(s: &Sketch, v: ParamId) {
    let tile = s.shared_slice("tile", Scalar::U32, lanes(s));
    let end = s.id(Builtin::BlockIdx(Axis::X)) + s.n(5);
    s.for_("k", s.n(0), end, |k, _| {
        s.if_((k.get() % s.n(2)).eq(s.n(0)), || {
            s.store(tile, thread(s), thread(s).cast(Scalar::U32));
            s.barrier();
            let next = s.load(tile, (thread(s) + s.n(1)) % lanes(s));
            s.store(v, global(s), s.load(v, global(s)) + next);
            s.barrier();
        });
    });
}

fn switch(s: &Sketch, v: ParamId) {
    let tile = s.shared_slice("tile", Scalar::U32, lanes(s));
    s.store(tile, thread(s), thread(s).cast(Scalar::U32));
    let get = |by: u64| {
        s.barrier();
        let from = (thread(s) + s.n(by)) % lanes(s);
        s.store(v, global(s), s.load(tile, from));
    };
    let block = || s.id(Builtin::BlockIdx(Axis::X));
    s.if_else(
        block().eq(s.n(0)),
        || get(1),
        || s.if_else(block().eq(s.n(1)), || get(2), || s.return_()),
    );
}

fn two_arrays(s: &Sketch, v: ParamId) {
    let numbers = s.shared_slice("numbers", Scalar::U32, lanes(s));
    let flags = s.shared_slice("flags", Scalar::Bool, lanes(s));
    s.store(numbers, thread(s), (thread(s) * s.n(2)).cast(Scalar::U32));
    s.store(flags, thread(s), (thread(s) % s.n(3)).eq(s.n(0)));
    s.barrier();
    let from = || (thread(s) + s.n(1)) % lanes(s);
    let flag = s.load(flags, from()).cast(Scalar::U32);
    s.store(v, global(s), s.load(numbers, from()) + flag);
}

fn one_lane(s: &Sketch, v: ParamId) {
    let tile = s.shared("tile", Scalar::U32, 1024);
    s.store(tile, thread(s), thread(s).cast(Scalar::U32));
    s.barrier();
    s.if_(thread(s).ne(s.n(0)), || s.return_());
    let sum = s.let_mut("sum", u32(s, 0));
    s.for_("k", s.n(0), lanes(s), |k, _| {
        s.set(sum, sum.get() + s.load(tile, k.get()));
    });
    s.store(v, global(s), sum.get());
}

/// A loop without a condition.
fn endless(s: &Sketch, v: ParamId) {
    let round = s.let_mut("round", s.n(0));
    s.loop_(|_| {
        s.store(v, global(s), s.load(v, global(s)) + u32(s, 10));
        s.if_(round.get().eq(thread(s) % s.n(5)), || s.return_());
        s.barrier();
        s.set(round, round.get() + s.n(1));
    });
}

/// All threads of the second block return, and code after that would compute senseless numbers there.
fn gone(s: &Sketch, v: ParamId) {
    let tile = s.shared_slice("tile", Scalar::U32, lanes(s));
    let block = || s.id(Builtin::BlockIdx(Axis::X));
    s.if_(global(s).ge(lanes(s)), || s.return_());
    let rounds = s.let_("rounds", s.n(1) - block() * s.n(2));
    s.for_("k", s.n(0), rounds.get(), |_, _| {
        s.store(tile, thread(s), thread(s).cast(Scalar::U32));
        s.barrier();
        let next = s.load(tile, (thread(s) + s.n(1)) % lanes(s));
        s.store(v, global(s), next + u32(s, 1));
    });
}

fn branch(s: &Sketch, v: ParamId) {
    s.if_((thread(s) % s.n(2)).eq(s.n(0)), || {
        s.if_((thread(s) % s.n(3)).eq(s.n(0)), || s.return_());
        s.store(v, global(s), u32(s, 5));
    });
    s.barrier();
    s.store(v, global(s), s.load(v, global(s)) + u32(s, 1));
}

/// Every fourth thread continues after a loop in which the other threads return.
fn inner_return(s: &Sketch, v: ParamId) {
    let returned = s.shared_atomics("returned", Scalar::U32, 1);
    s.if_(thread(s).eq(s.n(0)), || {
        s.atomic(AtomicOp::Store, returned, s.n(0), &[u32(s, 0)]);
    });
    s.barrier();
    s.for_("k", s.n(0), s.n(2), |k, _| {
        s.for_("j", s.n(0), s.n(2), |j, _| {
            let number = || k.get() * s.n(2) + j.get();
            s.if_(number().ge(s.n(3)), || {
                s.store(v, global(s), u32(s, 100));
            });
            s.if_(
                (thread(s) % s.n(4)).eq(number()).and(number().lt(s.n(3))),
                || {
                    s.store(v, global(s), number().cast(Scalar::U32));
                    s.atomic(AtomicOp::Add, returned, s.n(0), &[u32(s, 1)]);
                    s.return_();
                },
            );
        });
    });
    s.barrier();
    let count = s.atomic(AtomicOp::Load, returned, s.n(0), &[]);
    s.store(v, global(s), s.load(v, global(s)) + count.get());
}
