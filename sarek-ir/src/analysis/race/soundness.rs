//! Soundness test of the race check: if it accepts a random kernel, no two threads collide when the kernel runs
//! thread by thread.

use std::collections::HashMap;

use super::{check, satisfied};
use crate::analysis::random::{Rng, threads};
use crate::analysis::range::{ArgFact, LaunchFacts};
use crate::interp::{Host, Machine};
use crate::sketch::{Sketch, SketchExpr, SketchLocal};
use crate::{Axis, Builtin, Kernel, ParamId, Scalar, Value};

/// Long enough for every index to be in bounds, unless it wraps.
const LEN: u64 = 1 << 40;

/// Records the threads that access each element.
struct Touches {
    sizes: [u64; 2],
    thread: usize,
    /// For each element: the first thread, and whether another thread accessed it, and whether any wrote it.
    elements: HashMap<u64, (usize, bool, bool)>,
}

impl Touches {
    fn touch(&mut self, index: u64, writes: bool) {
        let me = self.thread;
        let element = self.elements.entry(index).or_insert((me, false, false));
        element.1 |= element.0 != me;
        element.2 |= writes;
    }
}

impl Host for Touches {
    fn scalar(&self, param: ParamId) -> Value {
        Value::Usize(self.sizes[param.index() - 1])
    }

    fn len(&self, _: ParamId) -> u64 {
        LEN
    }

    fn load(&mut self, _: ParamId, index: u64) -> Value {
        self.touch(index, false);
        Value::U32(3)
    }

    fn store(&mut self, _: ParamId, index: u64, _: Value) {
        self.touch(index, true);
    }
}

struct Writer<'s> {
    s: &'s Sketch,
    rng: &'s mut Rng,
    sizes: [ParamId; 2],
    ids: Vec<SketchLocal<'s>>,
}

impl<'s> Writer<'s> {
    /// A small number, a size or an extent.
    fn factor(&mut self) -> SketchExpr<'s> {
        match self.rng.below(9) {
            0..=3 => self.s.n(self.rng.below(5)),
            4..=7 => self.s.arg(self.rng.pick(&self.sizes)),
            _ => self.s.id(Builtin::GlobalDim(Axis::X)),
        }
    }

    fn atom(&mut self) -> SketchExpr<'s> {
        self.rng.pick(&self.ids).get()
    }

    /// Sums of products, nested as `(a * f + b) * g + c`.
    fn index(&mut self, depth: u32) -> SketchExpr<'s> {
        let start = if depth == 0 || self.rng.below(4) == 0 {
            self.atom()
        } else {
            self.index(depth - 1)
        };
        match self.rng.below(7) {
            0 => start,
            1 => start + self.factor(),
            2 => start * self.factor(),
            3 => (start * self.factor() + self.atom())
                .cast(Scalar::I32)
                .cast(Scalar::Usize),
            4 => self.factor() - start,
            _ => {
                let scaled = start * self.factor();
                scaled + self.atom()
            }
        }
    }

    fn guard(&mut self) -> SketchExpr<'s> {
        let (atom, bound) = (self.atom(), self.factor());
        match self.rng.below(6) {
            0 => atom.le(bound),
            1 => atom.eq(bound),
            2 => (atom + self.s.n(1)).lt(bound),
            3 => bound.gt(atom),
            _ => atom.lt(bound),
        }
    }
}

/// Index patterns of real programs, some of them with a mistake.
pub(super) fn pattern(rng: &mut Rng) -> Kernel {
    let s = Sketch::new("pattern");
    let v = s.slice_mut("v", Scalar::U32);
    let sizes = [s.scalar("m", Scalar::Usize), s.scalar("n", Scalar::Usize)];
    let ids = vec![s.let_("i", s.id(Builtin::GlobalIdx(Axis::X)))];
    let mut w = Writer {
        s: &s,
        rng,
        sizes,
        ids,
    };
    match w.rng.below(3) {
        0 => w.halves(v),
        1 => w.exchange(v),
        _ => w.tile(v),
    }
    let mut kernel = s.finish();
    kernel.block = (rng.below(3) > 0).then_some([2, 2, 1]);
    kernel
}

impl Writer<'_> {
    fn write(&self, v: ParamId, index: SketchExpr<'_>) {
        self.s.store(v, index, self.s.lit(Value::U32(1)));
    }

    /// `if i < m { v[i] = v[i + m] }`
    fn halves(&mut self, v: ParamId) {
        let s = self.s;
        let size = s.let_("size", self.factor());
        let guard = match self.rng.below(4) {
            0 => self.guard(),
            1 => self.atom().le(size.get()),
            _ => self.atom().lt(size.get()),
        };
        s.if_(guard, || {
            let far = match self.rng.below(4) {
                0 => self.factor(),
                _ => size.get(),
            };
            let far = s.let_("far", self.atom() + far);
            if self.rng.below(2) == 0 {
                s.let_("read", s.load(v, far.get()));
            } else {
                self.write(v, far.get());
            }
            let own = self.atom();
            self.write(v, own);
        });
    }

    /// `if i ^ m > i { v[i] = v[i ^ m] }`
    fn exchange(&mut self, v: ParamId) {
        let s = self.s;
        let masks = [0, 1].map(|_| s.let_("mask", self.factor()));
        let own = self.ids[0];
        let other = s.let_("other", own.get() ^ masks[0].get());
        let guard = match self.rng.below(6) {
            0 => other.get().ge(own.get()),
            1 => own.get().gt(other.get()),
            2 => other.get().ne(own.get()),
            _ => own.get().lt(other.get()),
        };
        s.if_(guard, || {
            self.write(v, other.get());
            s.let_("read", s.load(v, own.get()));
            match self.rng.below(6) {
                0 => self.write(v, own.get() ^ masks[1].get()),
                1 => self.write(v, other.get() + s.n(1)),
                _ => self.write(v, own.get()),
            }
        });
        if self.rng.below(5) == 0 {
            self.write(v, own.get());
        }
    }

    /// A tile of 2 by 2 threads whose place among the tiles is transposed.
    fn tile(&mut self, v: ParamId) {
        let s = self.s;
        let (bx, by) = (Builtin::BlockIdx(Axis::X), Builtin::BlockIdx(Axis::Y));
        let (tx, ty) = (Builtin::ThreadIdx(Axis::X), Builtin::ThreadIdx(Axis::Y));
        let (outer, inner) = self.rng.pick(&[(bx, by), (by, bx)]);
        let (slow, fast) = self.rng.pick(&[(ty, tx), (tx, ty), (ty, tx)]);
        let mut side = || match self.rng.below(5) {
            0 => s.n(1 + self.rng.below(4)),
            1 => s.id(Builtin::BlockDim(Axis::X)),
            _ => s.n(2),
        };
        let (high, low) = (side(), side());
        let row = s.let_("row", s.id(outer) * high + s.id(slow));
        let col = s.let_("col", s.id(inner) * low + s.id(fast));
        let width = s.let_("width", self.factor());
        let guard = match self.rng.below(4) {
            0 => col.get().le(width.get()),
            1 => row.get().lt(width.get()),
            _ => col.get().lt(width.get()),
        };
        s.if_(guard, || {
            let index = row.get() * width.get() + col.get();
            match self.rng.below(4) {
                0 => {
                    let add = s.n(self.rng.below(4));
                    self.write(v, index * s.n(2) + add);
                }
                1 => {
                    s.for_("k", s.n(0), s.n(2 + self.rng.below(2)), |k, _| {
                        let index = row.get() * width.get() + col.get();
                        self.write(v, index * s.n(2) + k.get());
                    });
                }
                _ => self.write(v, index),
            }
        });
    }
}

pub(super) fn kernel(rng: &mut Rng) -> Kernel {
    let s = Sketch::new("random");
    let v = s.slice_mut("v", Scalar::U32);
    let sizes = [s.scalar("m", Scalar::Usize), s.scalar("n", Scalar::Usize)];
    let axes: &[Axis] = if rng.below(2) == 0 {
        &Axis::ALL[..1]
    } else {
        &Axis::ALL[..2]
    };
    let ids = axes
        .iter()
        .map(|a| s.let_("i", s.id(Builtin::GlobalIdx(*a))))
        .collect();
    let mut w = Writer {
        s: &s,
        rng,
        sizes,
        ids,
    };
    let mut cond = w.guard();
    for _ in 0..w.rng.below(3) {
        cond = cond.and(w.guard());
    }
    let repeats = w.rng.below(2) == 0;
    let from = s.n(w.rng.below(2));
    // The second size may be huge.
    let to = if w.rng.below(2) == 0 {
        s.arg(sizes[0])
    } else {
        s.n(w.rng.below(5))
    };
    s.if_(cond, || {
        let body = |w: &mut Writer<'_>| {
            let index = w.index(2);
            s.store(v, index, s.lit(Value::U32(1)));
            if w.rng.below(4) == 0 {
                let index = w.index(2);
                s.let_("read", s.load(v, index));
            }
        };
        if repeats {
            s.for_("k", from, to, |k, _| {
                w.ids.push(k);
                body(&mut w);
            });
        } else {
            body(&mut w);
        }
    });
    s.finish()
}

#[test]
fn no_two_threads_meet_where_no_race_was_found() {
    try_all(kernel);
}

#[test]
fn no_two_threads_meet_in_patterns() {
    try_all(pattern);
}

fn try_all(make: fn(&mut Rng) -> Kernel) {
    let (mut accepted, mut ran, mut met) = (0, 0, 0);
    for seed in 0..350 {
        let mut rng = Rng(seed);
        let kernel = make(&mut rng);
        assert_eq!(crate::validate(&kernel), Ok(()), "{kernel}");
        let needs = check(&kernel);
        accepted += u32::from(needs.is_ok());
        for _ in 0..3 {
            let huge = [u64::MAX, 1 << 63, 1 << 62, (1 << 63) + 1];
            let n = if rng.below(4) == 0 {
                rng.pick(&huge)
            } else {
                rng.below(6)
            };
            let sizes = [rng.below(6), n];
            let extent = [1 + rng.below(6), 1 + rng.below(4), 1];
            let block = [2, 2, 1];
            let grid = extent.map(|e| e.div_ceil(2));
            let [m, n] = sizes.map(|n| ArgFact::Scalar(Value::Usize(n)));
            let args = [ArgFact::Len(LEN), m, n];
            let facts = LaunchFacts {
                grid,
                block,
                extent,
                args: &args,
            };
            let mut host = Touches {
                sizes,
                thread: 0,
                elements: HashMap::new(),
            };
            let mut machine = Machine::new(&kernel);
            for (i, ids) in threads(extent, block).into_iter().enumerate() {
                host.thread = i;
                // A thread that faults after an index has wrapped keeps its recorded accesses.
                let _ = machine.run(&ids, [1; 3], &mut host);
            }
            let race = host.elements.values().any(|e| e.1 && e.2);
            met += u32::from(race);
            if let Ok(needs) = &needs
                && satisfied(&kernel, needs, &facts)
            {
                ran += u32::from(!host.elements.is_empty());
                assert!(
                    !race,
                    "seed {seed}: threads meet, {facts:?}, {needs:?} in\n{kernel}"
                );
            }
        }
    }
    assert!(
        accepted > 15 && ran > 8 && met > 80,
        "{accepted} accepted, {ran} ran, {met} met"
    );
}
