//! Random kernels without races, run before and after merges.

use std::collections::BTreeSet;

use super::super::{Merge, Refusal};
use crate::analysis::random::{Rng, threads};
use crate::interp::{Host, Machine};
use crate::sketch::{Sketch, SketchExpr, SketchLocal};
use crate::{
    AtomicOp, Axis, Builtin, DivideOp, Kernel, LabelId, LocalId, ParamId, Scalar, Value, passes,
    validate,
};

/// The length of each slice. Indices are taken modulo this length, or are ids of threads.
pub(super) const LEN: u64 = 1 << 10;

struct Writer<'s> {
    s: &'s Sketch,
    rng: Rng,
    /// The locals in scope, and true for those that may be assigned.
    locals: Vec<(SketchLocal<'s>, bool)>,
    array: Option<LocalId>,
    loops: Vec<LabelId>,
    input: ParamId,
    output: ParamId,
    counts: ParamId,
    size: ParamId,
}

/// A random kernel with the parameters `input`, `output`, `counts`, `size`. Each thread writes its own elements of
/// `output` only. No check fails.
pub(super) fn kernel(seed: u64) -> Kernel {
    let s = Sketch::new("random");
    let (input, output) = (
        s.slice("input", Scalar::U64),
        s.slice_mut("output", Scalar::U64),
    );
    let (counts, size) = (
        s.atomics("counts", Scalar::U64),
        s.scalar("size", Scalar::Usize),
    );
    let mut w = Writer {
        s: &s,
        rng: Rng(seed),
        locals: vec![],
        array: None,
        loops: vec![],
        input,
        output,
        counts,
        size,
    };
    if w.rng.below(4) == 0 {
        let array = s.array("array", Scalar::Usize, 4);
        for at in 0..4 {
            let value = w.value(1);
            s.store(array, s.n(at), value);
        }
        w.array = Some(array);
    }
    if w.rng.below(4) == 0 {
        let done = w.condition();
        s.if_(done, || s.return_());
    }
    w.block(4, 3);
    w.store();
    let mut kernel = s.finish();
    passes::elide_checks(&mut kernel, &BTreeSet::new());
    kernel
}

impl<'s> Writer<'s> {
    fn id(&mut self) -> SketchExpr<'s> {
        let axis = self.rng.pick(&Axis::ALL);
        let id = match self.rng.below(6) {
            0 => Builtin::GlobalDim(axis),
            1 => Builtin::GlobalThreadId,
            _ => Builtin::GlobalIdx(axis),
        };
        self.s.id(id)
    }

    fn local(&mut self, assigned: bool) -> Option<SketchLocal<'s>> {
        let fits = self.locals.iter().filter(|local| local.1 || !assigned);
        let found: Vec<_> = fits.map(|local| local.0).collect();
        (!found.is_empty()).then(|| self.rng.pick(&found))
    }

    fn leaf(&mut self) -> SketchExpr<'s> {
        match self.rng.below(7) {
            0 | 1 => self.id(),
            2 | 3 => match self.local(false) {
                Some(local) => local.get(),
                None => self.id(),
            },
            4 => self.s.arg(self.size),
            _ => {
                let n = self.rng.below(6);
                self.s.n(n)
            }
        }
    }

    fn value(&mut self, depth: u32) -> SketchExpr<'s> {
        let a = match depth {
            0 => return self.leaf(),
            _ => self.value(depth - 1),
        };
        match self.rng.below(9) {
            0 | 1 => a + self.leaf(),
            2 => a - self.leaf(),
            3 => a * self.leaf(),
            4 => a ^ self.leaf(),
            5 => self.bounded(self.input, a),
            6 => match self.array {
                Some(array) => {
                    let at = a.divide(DivideOp::Rem, self.s.n(4));
                    self.s.load(array, at)
                }
                None => a,
            },
            7 => {
                let own = self.own();
                self.s.load(self.output, own).cast(Scalar::Usize)
            }
            _ => a,
        }
    }

    /// The element of a slice at this index modulo its length.
    fn bounded(&mut self, slice: ParamId, index: SketchExpr<'s>) -> SketchExpr<'s> {
        let index = match self.rng.below(2) {
            0 => index.divide(DivideOp::Rem, self.s.n(LEN)),
            _ => index & self.s.n(LEN - 1),
        };
        self.s.load(slice, index).cast(Scalar::Usize)
    }

    /// An element that only this thread accesses.
    fn own(&mut self) -> SketchExpr<'s> {
        let s = self.s;
        match self.rng.below(2) {
            0 => s.id(Builtin::GlobalThreadId),
            _ => {
                let [x, y, z] = Axis::ALL.map(|axis| s.id(Builtin::GlobalIdx(axis)));
                let rows = z * s.id(Builtin::GlobalDim(Axis::Y)) + y;
                rows * s.id(Builtin::GlobalDim(Axis::X)) + x
            }
        }
    }

    fn condition(&mut self) -> SketchExpr<'s> {
        let (a, b) = (self.value(1), self.leaf());
        match self.rng.below(4) {
            0 => a.lt(b),
            1 => a.ge(b),
            2 => a.lt(b).and(self.leaf().lt(self.s.n(5))),
            _ => (a & self.s.n(3)).eq(self.s.n(1)),
        }
    }

    fn store(&mut self) {
        let (at, value) = (self.own(), self.value(2));
        self.s.store(self.output, at, value.cast(Scalar::U64));
    }

    fn block(&mut self, statements: u32, depth: u32) {
        let scope = self.locals.len();
        for _ in 0..1 + self.rng.below(statements.into()) {
            self.statement(depth);
        }
        self.locals.truncate(scope);
    }

    fn statement(&mut self, depth: u32) {
        let s = self.s;
        match self.rng.below(if depth == 0 { 6 } else { 11 }) {
            0 => {
                let value = self.value(2);
                let local = s.let_("a", value);
                self.locals.push((local, false));
            }
            1 => {
                let value = self.value(1);
                let local = s.let_mut("b", value);
                self.locals.push((local, true));
            }
            2 => {
                if let Some(local) = self.local(true) {
                    let value = self.value(2);
                    s.set(local, value);
                }
            }
            3 => self.store(),
            4 => match self.array {
                Some(array) => {
                    let (at, value) = (self.value(1), self.value(1));
                    s.store(array, at.divide(DivideOp::Rem, s.n(4)), value);
                }
                None => {
                    let (at, by) = (self.value(1) & s.n(LEN - 1), self.leaf());
                    s.atomic_discard(AtomicOp::Add, self.counts, at, &[by.cast(Scalar::U64)]);
                }
            },
            5 => match self.loops.last().copied() {
                Some(label) => {
                    let done = self.condition();
                    s.if_(done, || s.break_(label));
                }
                None => self.store(),
            },
            6 | 7 => {
                let cond = self.condition();
                let w = std::cell::RefCell::new(self);
                let has_else = w.borrow_mut().rng.below(3) == 0;
                s.if_else(
                    cond,
                    || w.borrow_mut().block(2, depth - 1),
                    || {
                        if has_else {
                            w.borrow_mut().block(2, depth - 1);
                        }
                    },
                );
            }
            8 | 9 => {
                let (start, turns) = (self.rng.below(3), self.leaf());
                let end = turns & s.n(3);
                let w = std::cell::RefCell::new(self);
                s.for_("k", s.n(start), end, |k, label| {
                    let mut w = w.borrow_mut();
                    w.locals.push((k, false));
                    w.loops.push(label);
                    w.block(3, depth - 1);
                    w.loops.pop();
                    w.locals.pop();
                });
            }
            _ => {
                let counter = s.let_mut("c", s.n(0));
                let end = self.leaf() & s.n(3);
                let w = std::cell::RefCell::new(self);
                s.while_(counter.get().lt(end), |label| {
                    let mut w = w.borrow_mut();
                    s.set(counter, counter.get() + s.n(1));
                    w.loops.push(label);
                    w.block(2, depth - 1);
                    w.loops.pop();
                });
            }
        }
    }
}

/// The memory of a run.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Memories {
    slices: [Vec<u64>; 3],
    size: u64,
}

impl Host for Memories {
    fn scalar(&self, _: ParamId) -> Value {
        Value::Usize(self.size)
    }

    fn len(&self, _: ParamId) -> u64 {
        LEN
    }

    fn load(&mut self, slice: ParamId, index: u64) -> Value {
        Value::U64(self.slices[slice.index()][index as usize])
    }

    fn store(&mut self, slice: ParamId, index: u64, value: Value) {
        let Value::U64(value) = value else {
            panic!("an element is a `u64`");
        };
        self.slices[slice.index()][index as usize] = value;
    }
}

/// The memory before a run.
pub(super) fn memories(size: u64) -> Memories {
    let elements = |factor: u64| (0..LEN).map(|i| i.wrapping_mul(factor) % 13).collect();
    Memories {
        slices: [elements(7), elements(5), elements(3)],
        size,
    }
}

pub(super) fn run(kernel: &Kernel, extent: [u64; 3], size: u64) -> Memories {
    let mut memories = memories(size);
    let mut machine = Machine::new(kernel);
    for ids in threads(extent, [4, 2, 1]) {
        machine
            .run(&ids, [1; 3], &mut memories)
            .expect("no check is left");
    }
    memories
}

/// Applies merges to a launch, and returns the extent of the merged one.
pub(super) fn merge(
    kernel: &mut Kernel,
    mut extent: [u64; 3],
    merges: &[(Axis, u32)],
) -> Result<[u64; 3], Refusal> {
    for &(axis, factor) in merges {
        let threads = &mut extent[axis.index()];
        let merge = Merge::new(axis, factor, *threads);
        merge.apply(kernel, &[])?;
        *threads = merge.threads(*threads);
    }
    Ok(extent)
}

#[test]
fn merged_kernels_compute_the_same() {
    let (mut merged, mut refused) = (0, 0);
    for seed in 0..1000 {
        let plain = kernel(seed);
        assert_eq!(validate(&plain), Ok(()), "{plain}");
        let mut rng = Rng(!seed);
        let extent = [1 + rng.below(9), 1 + rng.below(4), 1 + rng.below(2)];
        let mut chosen = |_| (rng.pick(&Axis::ALL), rng.pick(&[2, 3, 4]));
        let merges: Vec<_> = (0..1 + seed % 2).map(&mut chosen).collect();
        let mut kernel = plain.clone();
        let Ok(threads) = merge(&mut kernel, extent, &merges) else {
            refused += 1;
            continue;
        };
        merged += 1;
        assert_eq!(
            validate(&kernel),
            Ok(()),
            "seed {seed}: {merges:?}\n{plain}\n{kernel}"
        );
        let size = seed % 5;
        assert_eq!(
            run(&plain, extent, size),
            run(&kernel, threads, size),
            "seed {seed}, {extent:?}: {merges:?}\n{plain}\n{kernel}"
        );
    }
    assert!(merged > 500, "{merged} merged, {refused} refused");
}
