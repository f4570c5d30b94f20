//! Kernels whose threads cooperate in blocks; the backends' tests run them.
#![allow(dead_code)] // each user needs only a part

use sarek_ir::sketch::{Sketch, SketchExpr};
use sarek_ir::{AtomicOp, Axis, Builtin, Kernel, Memory, Scalar, SubgroupOp, Value};

fn tid(s: &Sketch) -> SketchExpr<'_> {
    s.id(Builtin::ThreadIdx(Axis::X))
}

fn global(s: &Sketch) -> SketchExpr<'_> {
    s.id(Builtin::GlobalIdx(Axis::X))
}

/// Blocks of up to 1024 threads add up their elements in a tree.
pub fn reduction() -> Kernel {
    let s = Sketch::new("reduction");
    let (x, sums) = (s.slice("x", Scalar::F32), s.slice_mut("sums", Scalar::F32));
    let tile = s.shared("tile", Scalar::F32, 1024);
    let value = s.let_mut("value", s.f32(0.0));
    s.if_(global(&s).lt(s.len(x)), || {
        s.assign(value.id, s.load(x, global(&s)));
    });
    s.store(tile, tid(&s), value.get());
    s.barrier();
    let stride = s.let_mut("stride", s.n(512));
    s.while_(stride.get().gt(s.n(0)), |_| {
        s.if_(
            tid(&s)
                .lt(stride.get())
                .and((tid(&s) + stride.get()).lt(s.id(Builtin::BlockDim(Axis::X)))),
            || {
                let other = s.load(tile, tid(&s) + stride.get());
                s.store(tile, tid(&s), s.load(tile, tid(&s)) + other);
            },
        );
        s.barrier();
        s.assign(stride.id, stride.get() >> s.lit(Value::U32(1)));
    });
    s.if_(tid(&s).eq(s.n(0)), || {
        s.store(sums, s.id(Builtin::BlockIdx(Axis::X)), s.load(tile, s.n(0)));
    });
    s.finish()
}

/// A transpose of 16 × 16 tiles, whose rows are padded: `let tile = shared_array::<[f32; 17], 16>();`
pub fn transpose() -> Kernel {
    let s = Sketch::new("transpose");
    let (w, h) = (s.scalar("w", Scalar::Usize), s.scalar("h", Scalar::Usize));
    let (x, y) = (s.slice("x", Scalar::F32), s.slice_mut("y", Scalar::F32));
    let tile = s.shared("tile", Scalar::F32, 16 * 17);
    let thread = |axis| s.id(Builtin::ThreadIdx(axis));
    let from = |axis| s.id(Builtin::BlockIdx(axis)) * s.n(16);
    let at = |row, column| {
        s.bounded(tile, 0, row, s.n(16)) * s.n(17) + s.bounded(tile, 1, column, s.n(17))
    };
    let column = s.let_("column", from(Axis::X) + thread(Axis::X));
    let row = s.let_("row", from(Axis::Y) + thread(Axis::Y));
    s.if_(
        column.get().lt(s.arg(w)).and(row.get().lt(s.arg(h))),
        || {
            let value = s.load(x, row.get() * s.arg(w) + column.get());
            s.store(tile, at(thread(Axis::Y), thread(Axis::X)), value);
        },
    );
    s.barrier();
    let column = s.let_("column", from(Axis::Y) + thread(Axis::X));
    let row = s.let_("row", from(Axis::X) + thread(Axis::Y));
    s.if_(
        column.get().lt(s.arg(h)).and(row.get().lt(s.arg(w))),
        || {
            let value = s.load(tile, at(thread(Axis::X), thread(Axis::Y)));
            s.store(y, row.get() * s.arg(h) + column.get(), value);
        },
    );
    s.finish()
}

/// A histogram of 64 bins, counted first in each block's own shared array.
pub fn histogram() -> Kernel {
    let s = Sketch::new("histogram");
    let (x, bins) = (s.slice("x", Scalar::U32), s.atomics("bins", Scalar::U32));
    let own = s.shared_atomics("own", Scalar::U32, 64);
    let one = || s.lit(Value::U32(1));
    let each_bin = |f: &dyn Fn(SketchExpr<'_>)| {
        let bin = s.let_mut("bin", tid(&s));
        s.while_(bin.get().lt(s.n(64)), |_| {
            f(bin.get());
            s.assign(bin.id, bin.get() + s.id(Builtin::BlockDim(Axis::X)));
        });
    };
    each_bin(&|bin| {
        s.atomic_discard(AtomicOp::Store, own, bin, &[s.lit(Value::U32(0))]);
    });
    s.barrier();
    s.if_(global(&s).lt(s.len(x)), || {
        s.atomic_discard(
            AtomicOp::Add,
            own,
            s.load(x, global(&s)).cast(Scalar::Usize),
            &[one()],
        );
    });
    s.barrier();
    let bin = s.let_mut("bin", tid(&s));
    s.while_(bin.get().lt(s.n(64)), |_| {
        let count = s.atomic(AtomicOp::Load, own, bin.get(), &[]);
        s.atomic_discard(AtomicOp::Add, bins, bin.get(), &[count.get()]);
        s.assign(bin.id, bin.get() + s.id(Builtin::BlockDim(Axis::X)));
    });
    s.finish()
}

/// Each block reverses its part of a vector, through two arrays as long as the block.
pub fn launch_sized() -> Kernel {
    let s = Sketch::new("launch_sized");
    let (x, flags) = (
        s.slice_mut("x", Scalar::F64),
        s.slice_mut("flags", Scalar::U32),
    );
    let dim = || s.id(Builtin::BlockDim(Axis::X));
    let odd = s.shared_slice("odd", Scalar::Bool, dim());
    let part = s.shared_slice("part", Scalar::F64, dim());
    let value = s.load(x, global(&s));
    s.store(odd, tid(&s), (tid(&s) & s.n(1)).eq(s.n(1)));
    s.store(part, tid(&s), value);
    s.barrier();
    let other = s.let_("other", s.len(part) - s.n(1) - tid(&s));
    s.store(x, global(&s), s.load(part, other.get()));
    s.store(
        flags,
        global(&s),
        s.load(odd, other.get()).cast(Scalar::U32),
    );
    s.finish()
}

/// The atomic operations on elements of a type.
pub fn operations(ty: Scalar) -> Vec<AtomicOp> {
    let is_bitwise = |op| matches!(op, AtomicOp::And | AtomicOp::Or | AtomicOp::Xor);
    let all = AtomicOp::ALL.into_iter().map(|(_, op)| op);
    all.filter(|op| ty.is_int() || !is_bitwise(*op)).collect()
}

/// Contended atomics. The threads of a block apply each of [`operations`] to one element with their elements of
/// `values`; the element starts as that of `first`. The results go to a row of `out`, and the final element to `end`.
/// The elements are those of `end` itself or of a shared array.
pub fn contended(ty: Scalar, shared: bool) -> Kernel {
    let s = Sketch::new("contended");
    let (first, values) = (s.slice("first", ty), s.slice("values", ty));
    let (out, end) = (s.slice_mut("out", ty), s.atomics("end", ty));
    let ops = operations(ty);
    let own = s.shared_atomics("own", ty, ops.len() as u64);
    let place: Memory = if shared { own.into() } else { end.into() };
    let n = ops.len() as u64;
    s.if_(tid(&s).eq(s.n(0)), || {
        s.for_("k", s.n(0), s.n(n), |k, _| {
            s.atomic_discard(AtomicOp::Store, place, k.get(), &[s.load(first, k.get())]);
        });
    });
    s.barrier();
    for (k, op) in (0..).zip(ops) {
        let value = s.load(values, tid(&s));
        let args = match op.arity() {
            0 => vec![],
            1 => vec![value],
            _ => vec![s.load(first, s.n(k)), value],
        };
        if op == AtomicOp::Store {
            s.atomic_discard(op, place, s.n(k), &args);
        } else {
            let old = s.atomic(op, place, s.n(k), &args);
            s.store(out, s.n(k) * s.len(values) + tid(&s), old.get());
        }
    }
    s.barrier();
    if shared {
        s.if_(tid(&s).eq(s.n(0)), || {
            s.for_("k", s.n(0), s.n(n), |k, _| {
                let last = s.atomic(AtomicOp::Load, own, k.get(), &[]);
                s.atomic_discard(AtomicOp::Store, end, k.get(), &[last.get()]);
            });
        });
    }
    s.finish()
}

/// `out[i] = op(x[i])`, or with `lane` as second operand. `lanes[i]` is the thread's lane, `sizes[i]` the subgroup's
/// size.
pub fn joined(op: SubgroupOp, ty: Scalar, lane: u64) -> Kernel {
    let s = Sketch::new("joined");
    let x = s.slice("x", ty);
    let result = op.result(ty).expect("an operation on this type");
    let out = s.slice_mut("out", result);
    let (lanes, sizes) = (
        s.slice_mut("lanes", Scalar::U32),
        s.slice_mut("sizes", Scalar::U32),
    );
    s.store(
        lanes,
        global(&s),
        s.id(Builtin::SubgroupLane).cast(Scalar::U32),
    );
    s.store(
        sizes,
        global(&s),
        s.id(Builtin::SubgroupSize).cast(Scalar::U32),
    );
    let value = s.load(x, global(&s));
    let joined = match op.takes_lane() {
        true => s.subgroup(op, &[value, s.n(lane)]),
        false => s.subgroup(op, &[value]),
    };
    s.store(out, global(&s), joined.get());
    s.finish()
}

/// Local arrays of every type: each adds `i + 1` over 4 elements, or reports that some are not zero.
pub fn local_arrays(types: &[Scalar]) -> Kernel {
    let s = Sketch::new("local_arrays");
    let out = s.slice_mut("out", Scalar::U32);
    let sum = s.let_mut("sum", s.lit(Value::U32(0)));
    for &ty in types {
        let own = s.array("own", ty, 4);
        s.for_("k", s.n(0), s.len(own), |k, _| match ty {
            Scalar::Bool => s.store(own, k.get(), k.get().eq(s.n(3))),
            _ => s.store(own, k.get(), (global(&s) + s.n(1)).cast(ty)),
        });
        s.for_("k", s.n(0), s.n(4), |k, _| {
            let element = s.load(own, k.get()).cast(Scalar::U32);
            s.assign(sum.id, sum.get() + element);
        });
    }
    s.store(out, global(&s), sum.get());
    s.finish()
}

/// A loop around a barrier that ends only by a value that a thread stores.
pub fn endless() -> Kernel {
    let s = Sketch::new("endless");
    let (at, x) = (s.slice("at", Scalar::U32), s.slice_mut("x", Scalar::U32));
    let done = s.shared_atomics("done", Scalar::U32, 1);
    s.atomic_discard(AtomicOp::Store, done, s.n(0), &[s.lit(Value::U32(0))]);
    s.barrier();
    s.loop_(|label| {
        s.if_(tid(&s).eq(s.n(0)), || {
            let index = s.load(at, s.n(0)).cast(Scalar::Usize);
            s.atomic_discard(AtomicOp::Store, done, index, &[s.lit(Value::U32(1))]);
        });
        s.barrier();
        let end = s.atomic(AtomicOp::Load, done, s.n(0), &[]);
        s.barrier();
        s.if_(end.get().ne(s.lit(Value::U32(0))), || s.break_(label));
    });
    s.store(x, global(&s), s.lit(Value::U32(1)));
    s.finish()
}

/// More shared memory than CUDA allows to declare.
pub fn large() -> Kernel {
    let s = Sketch::new("large");
    let x = s.slice_mut("x", Scalar::F32);
    let (a, b) = (
        s.shared("a", Scalar::F32, 9000),
        s.shared("b", Scalar::F32, 9000),
    );
    s.store(a, tid(&s), s.f32(1.0));
    s.store(b, tid(&s) + s.n(8000), s.f32(2.0));
    s.barrier();
    s.store(
        x,
        global(&s),
        s.load(a, tid(&s)) + s.load(b, tid(&s) + s.n(8000)),
    );
    s.finish()
}

/// Atomic operations on floats, in a slice and in a shared array.
pub fn float_atomics() -> Kernel {
    let s = Sketch::new("float_atomics");
    let (x, sums) = (s.slice("x", Scalar::F32), s.atomics("sums", Scalar::F32));
    let best = s.shared_atomics("best", Scalar::F64, 1);
    s.atomic_discard(AtomicOp::Store, best, s.n(0), &[s.lit(Value::f64(0.0))]);
    s.barrier();
    let value = s.let_("value", s.load(x, global(&s)));
    s.atomic_discard(
        AtomicOp::Max,
        best,
        s.n(0),
        &[value.get().cast(Scalar::F64)],
    );
    s.barrier();
    let most = s.atomic(AtomicOp::Load, best, s.n(0), &[]);
    let share = value.get() / most.get().cast(Scalar::F32);
    s.atomic_discard(
        AtomicOp::Add,
        sums,
        s.id(Builtin::BlockIdx(Axis::X)),
        &[share],
    );
    s.finish()
}

/// Subgroups sum values, and pass values to neighbouring lanes.
pub fn subgroup_sum() -> Kernel {
    let s = Sketch::new("subgroup_sum");
    let x = s.slice_mut("x", Scalar::F32);
    let value = s.let_("value", s.load(x, global(&s)));
    let sum = s.subgroup(SubgroupOp::Sum, &[value.get()]);
    let next = s.subgroup(SubgroupOp::ShuffleDown, &[value.get(), s.n(1)]);
    s.if_(s.id(Builtin::SubgroupLane).eq(s.n(0)), || {
        s.store(x, global(&s), sum.get() + next.get());
    });
    s.finish()
}
