//! Random kernels with mutable indices, loops whose counters step, quotients and ranges.

use crate::analysis::random::Rng;
use crate::sketch::{Sketch, SketchExpr, SketchLocal};
use crate::{Axis, Builtin, DivideOp, Intrinsic, Kernel, LabelId, Memory, ParamId, Scalar, Value};

/// The slice whose stores stand in for barriers.
pub(super) const MARKS: ParamId = ParamId(0);

struct Writer<'s> {
    s: &'s Sketch,
    rng: Rng,
    v: Memory,
    sizes: [ParamId; 2],
    data: ParamId,
    /// True for a shared array. Its kernels have barriers, or marks in their place.
    in_block: bool,
    barriers: bool,
    /// The locals in scope; the flags are true if a local is mutable, and the same for all threads.
    locals: Vec<(SketchLocal<'s>, bool, bool)>,
    /// The enclosing loops that each thread runs through by itself.
    loops: Vec<LabelId>,
    /// True if only values that all threads have in common may be used.
    together: bool,
    /// The accesses that may still be written.
    accesses: u32,
}

/// A kernel with the parameters `marks`, `m`, `n`, `data`, and for a slice `v`.
pub(super) fn kernel(seed: u64, in_block: bool, barriers: bool) -> Kernel {
    let s = Sketch::new("random");
    s.slice_mut("marks", Scalar::U32);
    let sizes = ["m", "n"].map(|name| s.scalar(name, Scalar::Usize));
    let data = s.slice("data", Scalar::U32);
    let v = match in_block && barriers {
        true => s.shared("v", Scalar::U32, 1 << 40).into(),
        false => s.slice_mut("v", Scalar::U32).into(),
    };
    let mut rng = Rng(seed);
    let accesses = 1 + rng.below(2) as u32;
    let mut w = Writer {
        s: &s,
        rng,
        v,
        sizes,
        data,
        in_block,
        barriers,
        locals: vec![],
        loops: vec![],
        together: false,
        accesses,
    };
    match in_block {
        true => w.all(2),
        false => w.alone(5, 3),
    }
    w.access();
    s.finish()
}

impl<'s> Writer<'s> {
    fn thread(&mut self) -> SketchExpr<'s> {
        let axis = match self.rng.below(6) {
            0 => Axis::Y,
            _ => Axis::X,
        };
        let id = match (self.in_block, self.rng.below(5)) {
            (true, 1..) => Builtin::ThreadIdx(axis),
            (false, 0) if self.rng.below(2) == 0 => Builtin::SubgroupLane,
            (true, 0) if self.rng.below(2) == 0 => Builtin::SubgroupLane,
            (false, 0) => Builtin::GlobalThreadId,
            (false, 1) => match self.rng.below(2) {
                0 => Builtin::ThreadIdx(axis),
                _ => Builtin::BlockIdx(axis),
            },
            _ => Builtin::GlobalIdx(axis),
        };
        self.s.id(id)
    }

    fn local(&mut self, mutable: bool) -> Option<SketchLocal<'s>> {
        let fits =
            |l: &&(SketchLocal<'s>, bool, bool)| (l.1 || !mutable) && (l.2 || !self.together);
        let found: Vec<_> = self.locals.iter().filter(fits).map(|l| l.0).collect();
        (!found.is_empty()).then(|| self.rng.pick(&found))
    }

    fn number(&mut self, most: u64) -> SketchExpr<'s> {
        let n = self.rng.below(most);
        self.s.n(n)
    }

    fn leaf(&mut self) -> SketchExpr<'s> {
        match self.rng.below(8) {
            0..=2 if !self.together => self.thread(),
            3..=5 => match self.local(false) {
                Some(local) => local.get(),
                None => self.number(5),
            },
            6 => {
                let size = self.rng.pick(&self.sizes);
                match self.rng.below(5) {
                    0 => self.s.id(Builtin::BlockDim(Axis::X)),
                    1 => self.s.id(Builtin::GlobalDim(Axis::X)),
                    _ => self.s.arg(size),
                }
            }
            _ => self.number(5),
        }
    }

    fn value(&mut self, depth: u32) -> SketchExpr<'s> {
        let a = match depth {
            0 => return self.leaf(),
            _ => self.value(depth - 1),
        };
        let s = self.s;
        match self.rng.below(28) {
            0..=2 => a + self.leaf(),
            3 => a - self.leaf(),
            4 => a * self.leaf(),
            5 => a / self.number(4),
            6 => a.divide(DivideOp::Rem, self.number(4)),
            7 => a.divide(DivideOp::Rem, self.leaf()),
            8 => a / self.leaf(),
            9 => a ^ self.leaf(),
            10 => a >> s.u32(1),
            11 => a & s.n(3),
            12 => s.call(Intrinsic::Min, &[a, self.leaf()]),
            13 => s.call(Intrinsic::SaturatingSub, &[a, self.leaf()]),
            14 => s.call(Intrinsic::AbsDiff, &[a, self.leaf()]),
            15 => {
                let narrow = self.rng.pick(&[Scalar::U32, Scalar::I32, Scalar::U8]);
                (a.cast(narrow) + self.leaf().cast(narrow)).cast(Scalar::Usize)
            }
            16 => s.call(Intrinsic::Max, &[a, self.leaf()]),
            17 => {
                let least = self.number(3);
                let most = s.call(Intrinsic::Max, &[self.leaf(), s.n(2)]);
                s.call(Intrinsic::Clamp, &[a, least, most])
            }
            18 => {
                let mask = self.rng.pick(&[3, 1]);
                a & !s.n(mask)
            }
            19 => a & self.leaf(),
            20 => (a << s.u32(self.rng.below(3) as u32)) | self.leaf(),
            21 => {
                let a = s.let_("g", a);
                a.get() ^ (a.get() >> s.u32(1 + self.rng.below(2) as u32))
            }
            22 => {
                let bits = a.cast(Scalar::U32);
                let reversed = s.call(Intrinsic::ReverseBits, &[bits]);
                (reversed >> s.u32(27 + self.rng.below(4) as u32)).cast(Scalar::Usize)
            }
            23 => {
                let functions = [
                    Intrinsic::WrappingAdd,
                    Intrinsic::WrappingSub,
                    Intrinsic::WrappingMul,
                ];
                let function = self.rng.pick(&functions);
                let narrow = self.rng.pick(&[Scalar::Usize, Scalar::U32, Scalar::U8]);
                let args = [a, self.leaf()].map(|e| e.cast(narrow));
                s.call(function, &args).cast(Scalar::Usize)
            }
            24 => {
                let a = s.let_("r", a);
                (a.get() * (a.get() + s.n(1))) / s.n(2)
            }
            25 => a & s.n(self.rng.pick(&[4, 6, 12])),
            _ => a,
        }
    }

    fn compared(&mut self, a: SketchExpr<'s>, b: SketchExpr<'s>) -> SketchExpr<'s> {
        match self.rng.below(8) {
            0 | 1 => a.lt(b),
            2 => a.le(b),
            3 => a.gt(b),
            4 => a.ge(b),
            5 => a.ne(b),
            _ => a.eq(b),
        }
    }

    fn guard(&mut self) -> SketchExpr<'s> {
        let s = self.s;
        let found = match self.rng.below(10) {
            0 => {
                // Signed values.
                let to = self.rng.pick(&[Scalar::I32, Scalar::I64]);
                let [a, b] = [(); 2].map(|()| self.value(0).cast(to));
                let two = s.lit(Value::int(to, 2).expect("an integer type"));
                let op = self.rng.pick(&[
                    DivideOp::Div,
                    DivideOp::Rem,
                    DivideOp::DivEuclid,
                    DivideOp::RemEuclid,
                ]);
                let value = match self.rng.below(4) {
                    0 => (a - b).divide(op, two),
                    1 => (a - b) ^ two,
                    2 => (a - b) & two,
                    _ => a - b,
                };
                let least = i128::from(self.rng.below(3)) - 1;
                let other = s.lit(Value::int(to, least).expect("an integer type"));
                self.compared(value, other)
            }
            1 if !self.together => {
                // Data.
                let at = self.leaf();
                let read = s.load(self.data, at).cast(Scalar::F32);
                read.lt(s.f32(2.5))
            }
            2 => {
                let (a, b, c, d) = (self.leaf(), self.leaf(), self.leaf(), self.leaf());
                let (first, second) = (self.compared(a, b), self.compared(c, d));
                match self.rng.below(2) {
                    0 => first.and(second),
                    _ => first.or(second),
                }
            }
            _ => {
                let depth = self.rng.below(2) as u32;
                let (a, b) = (self.value(depth), self.leaf());
                self.compared(a, b)
            }
        };
        match self.rng.below(6) {
            0 => !found,
            _ => found,
        }
    }

    fn access(&mut self) {
        if self.accesses == 0 || self.together {
            return;
        }
        self.accesses -= 1;
        let s = self.s;
        let index = match self.rng.below(10) {
            9 => {
                // An element of a tile of the block.
                let (block, thread) = (Builtin::BlockIdx(Axis::X), Builtin::ThreadIdx(Axis::X));
                s.id(block) * self.leaf() + s.id(thread)
            }
            0..=2 => s.n(0),
            3 => self.thread(),
            4 => self.thread() * self.leaf() + self.leaf(),
            5 | 6 => match self.local(true) {
                Some(local) => local.get(),
                None => s.n(0),
            },
            7 => {
                let (size, id) = (self.rng.pick(&self.sizes), self.thread());
                id * s.arg(size) + self.leaf()
            }
            _ => self.value(2),
        };
        let (v, store) = (self.v, self.rng.below(5) > 0);
        let write = || match store {
            true => s.store(v, index, s.u32(1)),
            false => _ = s.let_("read", s.load(v, index)),
        };
        match self.rng.below(3) {
            0 => write(),
            _ => {
                let guard = self.thread().lt(s.n(4));
                s.if_(guard, write);
            }
        }
    }

    fn declare(&mut self) {
        let value = self.value(1);
        let mutable = self.rng.below(3) > 0;
        let local = match mutable {
            true => self.s.let_mut("a", value),
            false => self.s.let_("b", value),
        };
        self.locals.push((local, mutable, self.together));
    }

    fn change(&mut self) {
        let Some(local) = self.local(true) else {
            return self.declare();
        };
        self.step(local);
    }

    fn step(&mut self, local: SketchLocal<'s>) {
        let s = self.s;
        let shared = self.locals.iter().any(|l| l.0.id == local.id && l.2);
        // Threads by themselves must not change a local that all have in common.
        if shared && self.in_block && !self.together {
            return;
        }
        let now = local.get();
        let value = match self.rng.below(9) {
            0 => self.value(1),
            1 | 2 => now + self.leaf(),
            3 => now - self.number(3),
            4 => now * s.n(2),
            5 => now / s.n(2),
            6 => now << s.u32(1),
            _ => now + s.n(1 + self.rng.below(2)),
        };
        s.set(local, value);
    }

    /// Statements of a thread by itself.
    fn alone(&mut self, n: u64, depth: u32) {
        let scope = self.locals.len();
        for _ in 0..1 + self.rng.below(n) {
            self.alone_stmt(depth);
        }
        self.locals.truncate(scope);
    }

    fn alone_stmt(&mut self, depth: u32) {
        let s = self.s;
        match self.rng.below(if depth > 0 { 16 } else { 7 }) {
            0 => self.access(),
            1 | 2 => self.declare(),
            3 | 4 => self.change(),
            5 if !self.loops.is_empty() => {
                let (guard, label) = (self.guard(), self.rng.pick(&self.loops));
                let leaves = self.rng.below(2) == 0;
                s.if_(guard, || match leaves {
                    true => s.break_(label),
                    false => s.continue_(label),
                });
            }
            5 | 6 => {
                let guard = self.guard();
                s.if_(guard, || s.return_());
            }
            7..=9 => {
                let guard = self.guard();
                s.if_(guard, || self.alone(3, depth - 1));
            }
            10 => {
                let guard = self.guard();
                let cell = std::cell::RefCell::new(self);
                s.if_else(
                    guard,
                    || cell.borrow_mut().alone(2, depth - 1),
                    || cell.borrow_mut().alone(2, depth - 1),
                );
            }
            11 => {
                let local = s.let_uninit("c", Scalar::Usize);
                let (guard, a, b) = (self.guard(), self.value(1), self.value(1));
                s.if_else(guard, || s.set(local, a), || s.set(local, b));
                self.locals.push((local, true, false));
            }
            _ => self.repeat(depth),
        }
    }

    fn body(&mut self, label: LabelId, depth: u32) {
        self.loops.push(label);
        match self.together {
            true => self.all(depth - 1),
            false => self.alone(3, depth - 1),
        }
        self.loops.pop();
    }

    /// The body of a loop over a range, in which a cursor may step beside the counter.
    fn body_with(&mut self, cursor: Option<SketchLocal<'s>>, label: LabelId, depth: u32) {
        self.body(label, depth);
        cursor.inspect(|cursor| self.step(*cursor));
    }

    fn cursor(&mut self) -> Option<SketchLocal<'s>> {
        let start = (self.rng.below(2) == 0).then(|| self.value(1))?;
        let cursor = self.s.let_mut("at", start);
        self.locals.push((cursor, true, self.together));
        Some(cursor)
    }

    fn repeat(&mut self, depth: u32) {
        let (s, scope, together) = (self.s, self.locals.len(), self.together);
        match self.rng.below(8) {
            6 | 7 => self.numbers(depth),
            0 => {
                let (cursor, start, end) = (self.cursor(), self.number(3), self.small());
                s.for_("k", start, end, |k, label| {
                    self.locals.push((k, false, together));
                    self.body_with(cursor, label, depth);
                });
            }
            1 => {
                let cursor = self.cursor();
                let end = self.small();
                let [end, start] = [end, self.number(2)].map(|e| s.let_("end", e));
                s.for_("k", start.get(), end.get(), |k, label| {
                    let minus = |a, b| s.call(Intrinsic::WrappingSub, &[a, b]);
                    let last = minus(end.get(), s.n(1));
                    let i = s.let_("i", minus(last, minus(k.get(), start.get())));
                    self.locals.push((i, false, together));
                    self.body_with(cursor, label, depth);
                });
            }
            2 => self.stepped(depth),
            kind => {
                let mut counters = vec![];
                for _ in 0..1 + self.rng.below(2) {
                    let start = self.value(1);
                    let counter = s.let_mut("d", start);
                    self.locals.push((counter, true, together));
                    counters.push(counter);
                }
                let (counter, other) = (counters[0], counters[counters.len() - 1]);
                let end = self.small();
                let early = self.rng.below(2) == 0;
                let step = |this: &mut Self| {
                    this.step(counter);
                    if other.id != counter.id {
                        this.step(other);
                    }
                };
                let turn = |this: &mut Self, label| {
                    if early {
                        step(this);
                    }
                    this.body(label, depth);
                    if !early {
                        step(this);
                    }
                };
                match kind {
                    3 => s.loop_(|label| {
                        let end = counter.get().ge(end);
                        s.if_(end, || s.break_(label));
                        turn(self, label);
                    }),
                    _ => s.while_(counter.get().lt(end), |label| turn(self, label)),
                }
            }
        }
        // Counters stay in scope after the loop.
        let mut kept = self.locals.split_off(scope);
        kept.retain(|l| l.1);
        self.locals.extend(kept);
    }

    /// A loop over a stepped range.
    fn stepped(&mut self, depth: u32) {
        let (s, together) = (self.s, self.together);
        let cursor = self.cursor();
        let (start, end, step) = (self.leaf(), self.small(), self.leaf());
        let [start, end, step] = [start, end, step].map(|e| s.let_("part", e));
        let (inclusive, single) = (self.rng.below(3) == 0, self.rng.below(3) == 0);
        let next = s.let_mut("next", start.get());
        let begins = match inclusive {
            true => start.get().le(end.get()),
            false => start.get().lt(end.get()),
        };
        let more = s.let_mut("more", begins);
        s.while_(s.read(more.id), |label| {
            let i = s.let_("i", next.get());
            let far = s.call(Intrinsic::AbsDiff, &[i.get(), end.get()]);
            let far = far.cast(Scalar::Usize);
            let goes_on = match (inclusive, single) {
                (true, true) => i.get().ne(end.get()),
                (true, false) => far.ge(step.get()),
                (false, _) => far.gt(step.get()),
            };
            s.set(more, goes_on);
            let step = match inclusive && single {
                true => s.n(1),
                false => step.get(),
            };
            let then = s.call(Intrinsic::WrappingAdd, &[i.get(), step]);
            s.set(next, then);
            self.locals.push((i, false, together));
            self.body_with(cursor, label, depth);
        });
    }

    /// A loop whose counters begin as numbers.
    fn numbers(&mut self, depth: u32) {
        let s = self.s;
        let [a, b] = [(); 2].map(|()| {
            let start = self.number(9);
            let counter = s.let_mut("p", start);
            self.locals.push((counter, true, self.together));
            counter
        });
        let (early, end) = (self.rng.below(2) == 0, self.number(9));
        let cond = match self.rng.below(2) {
            0 => a.get().lt(end),
            _ => a.get().gt(s.n(0)),
        };
        let step = |this: &mut Self| {
            for counter in [a, b] {
                let now = counter.get();
                let next = match this.rng.below(6) {
                    0 => now * s.n(2),
                    1 => now / s.n(2),
                    2 => now << s.u32(1),
                    3 => now >> s.u32(1),
                    4 => now * s.n(2) - b.get(),
                    _ => now + s.n(1),
                };
                s.set(counter, next);
            }
        };
        s.while_(cond, |label| {
            if early {
                step(self);
            }
            self.body(label, depth);
            if !early {
                step(self);
            }
        });
    }

    fn small(&mut self) -> SketchExpr<'s> {
        match self.rng.below(3) {
            0 => self.leaf(),
            1 => self.s.arg(self.sizes[0]),
            _ => self.number(6),
        }
    }

    fn barrier(&self) {
        let (at, value) = (self.s.n(0), self.s.u32(1));
        match self.barriers {
            true => self.s.barrier(),
            false => self.s.store(MARKS, at, value),
        }
    }

    /// Statements that all threads of a block reach together.
    fn all(&mut self, depth: u32) {
        let scope = self.locals.len();
        for _ in 0..2 + self.rng.below(3) {
            match self.rng.below(8) {
                0 | 1 => self.barrier(),
                2 => self.uniform(|this| match this.rng.below(2) {
                    0 => this.declare(),
                    _ => this.change(),
                }),
                3 | 4 if depth > 0 => self.uniform(|this| this.repeat(depth)),
                5 if depth > 0 => {
                    let guard = self.uniform(Self::guard);
                    self.s.if_(guard, || self.all(depth - 1));
                }
                _ => self.apart(depth),
            }
        }
        self.locals.truncate(scope);
    }

    fn uniform<T>(&mut self, f: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.together, true);
        let made = f(self);
        self.together = before;
        made
    }

    /// A statement of each thread by itself.
    fn apart(&mut self, depth: u32) {
        let before = std::mem::replace(&mut self.together, false);
        let loops = std::mem::take(&mut self.loops);
        match self.rng.below(3) {
            0 => self.access(),
            _ => self.alone_stmt(depth.min(1) + 1),
        }
        self.loops = loops;
        self.together = before;
    }
}
