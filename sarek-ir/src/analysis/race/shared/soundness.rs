//! Soundness test of the race check of shared arrays: in accepted random kernels, no two threads of a block
//! collide between two barriers.
//!
//! Threads run one by one, so each kernel is written twice: as it is checked, and with slices in place of
//! shared memory. In the second version, a store to a special slice stands in for each barrier. It tells the
//! host that the thread has entered the next barrier interval.

use std::collections::HashMap;

use super::super::meet::Constants;
use super::super::satisfied;
use super::check;
use crate::analysis::random::{Rng, threads};
use crate::analysis::range::{ArgFact, LaunchFacts};
use crate::analysis::uniformity::Among;
use crate::interp::{Host, Ids, Machine, Sanitize, Stop};
use crate::sketch::{Sketch, SketchExpr, SketchLocal};
use crate::{Axis, Builtin, Kernel, LabelId, Memory, ParamId, Scalar, Type, Value};

/// Long enough for every index to be in bounds, unless it wraps.
const LEN: u64 = 1 << 40;

/// The slice whose stores stand in for barriers.
const MARKS: ParamId = ParamId(0);

/// Records the threads that access each element.
struct Touches {
    n: u64,
    thread: usize,
    block: u64,
    phase: u64,
    /// For each element in a barrier interval of a block: the first thread, and whether another thread accessed
    /// it, and whether any wrote it.
    elements: HashMap<(u64, u64, u64), (usize, bool, bool)>,
}

impl Touches {
    fn touch(&mut self, index: u64, writes: bool) {
        let (me, key) = (self.thread, (self.block, self.phase, index));
        let element = self.elements.entry(key).or_insert((me, false, false));
        element.1 |= element.0 != me;
        element.2 |= writes;
    }
}

impl Host for Touches {
    fn scalar(&self, _: ParamId) -> Value {
        Value::Usize(self.n)
    }

    fn len(&self, _: ParamId) -> u64 {
        LEN
    }

    fn load(&mut self, _: ParamId, index: u64) -> Value {
        self.touch(index, false);
        Value::U32(3)
    }

    fn store(&mut self, slice: ParamId, index: u64, _: Value) {
        match slice {
            MARKS => self.phase += 1,
            _ => self.touch(index, true),
        }
    }
}

/// A parameter of a function, or a part of one, as a value.
#[derive(Clone, Copy)]
pub(in crate::analysis::race) enum Given {
    Scalar(ParamId),
    /// An element of a slice of `u32`s.
    Element(ParamId, u64),
    /// A field of a struct of this type.
    Field(ParamId, Type, &'static str),
    /// The referent of a `&mut usize`.
    Referent(ParamId),
}

impl Given {
    fn read(self, s: &Sketch) -> SketchExpr<'_> {
        match self {
            Given::Scalar(param) => s.arg(param),
            Given::Element(param, at) => s.load(param, s.n(at)).cast(Scalar::Usize),
            Given::Field(param, ty, name) => s.field(s.param_value(param, ty), name, Scalar::Usize),
            Given::Referent(param) => s.param_value(param, Scalar::Usize),
        }
    }
}

pub(in crate::analysis::race) struct Writer<'s> {
    s: &'s Sketch,
    rng: Rng,
    /// True if barriers are written as barriers, false if as stores to `marks`.
    barriers: bool,
    marks: ParamId,
    n: ParamId,
    v: Memory,
    threads: Vec<SketchLocal<'s>>,
    /// Values that are the same for all threads of the block: immutable locals here, a mutable one in `changing`.
    uniform: Vec<SketchLocal<'s>>,
    changing: SketchLocal<'s>,
    /// Values that callers of a function pass, which may differ between threads.
    given: Vec<Given>,
    /// Values of each thread.
    own: Vec<SketchLocal<'s>>,
}

impl<'s> Writer<'s> {
    /// A writer of the body of a function with a scalar and a memory.
    pub(in crate::analysis::race) fn of_function(
        s: &'s Sketch,
        rng: Rng,
        (n, v): (ParamId, Memory),
        threads: Vec<SketchLocal<'s>>,
        given: Vec<Given>,
    ) -> Writer<'s> {
        Writer {
            s,
            rng,
            barriers: true,
            marks: MARKS,
            n,
            v,
            threads,
            uniform: vec![],
            changing: s.let_mut("changing", s.n(1)),
            given,
            own: vec![],
        }
    }

    fn same(&mut self) -> SketchExpr<'s> {
        if !self.given.is_empty() && self.rng.below(2) == 0 {
            return self.rng.pick(&self.given).read(self.s);
        }
        match self.rng.below(6) {
            0 => self.s.arg(self.n),
            1 => self.s.id(Builtin::BlockDim(Axis::X)),
            2 => self.changing.get(),
            3 => self.s.id(Builtin::BlockIdx(Axis::X)),
            _ if self.uniform.is_empty() => self.s.n(self.rng.below(5)),
            4 => self.rng.pick(&self.uniform).get(),
            _ => self.s.n(self.rng.below(5)),
        }
    }

    fn atom(&mut self) -> SketchExpr<'s> {
        if !self.own.is_empty() && self.rng.below(3) == 0 {
            return self.rng.pick(&self.own).get();
        }
        match self.rng.below(8) {
            0 => self.s.id(Builtin::GlobalIdx(Axis::X)),
            1 => self.same(),
            _ => self.rng.pick(&self.threads).get(),
        }
    }

    fn index(&mut self) -> SketchExpr<'s> {
        match self.rng.below(8) {
            0..=2 => self.rng.pick(&self.threads).get(),
            3 => self.atom() + self.same(),
            4 => self.same() * self.same() + self.atom(),
            5 => self.atom() * self.same() + self.atom(),
            6 => self.same() - self.atom(),
            _ => self.same(),
        }
    }

    fn access(&mut self) {
        let index = self.index();
        if self.rng.below(3) == 0 {
            self.s.let_("read", self.s.load(self.v, index));
        } else {
            self.s.store(self.v, index, self.s.lit(Value::U32(1)));
        }
    }

    fn guard(&mut self) -> SketchExpr<'s> {
        let (atom, bound) = (self.atom(), self.same());
        match self.rng.below(6) {
            0 => atom.eq(bound),
            1 => (atom + self.same()).lt(bound),
            2 => atom.ge(bound),
            _ => atom.lt(bound),
        }
    }

    fn barrier(&self) {
        if self.barriers {
            self.s.barrier();
        } else {
            self.s
                .store(self.marks, self.s.n(0), self.s.lit(Value::U32(1)));
        }
    }

    /// Statements under control that is the same for all threads.
    pub(in crate::analysis::race) fn together(&mut self, depth: u32, around: &[LabelId]) {
        for _ in 0..2 + self.rng.below(3) {
            match self.rng.below(14) {
                0..=3 => self.access(),
                4 | 5 => {
                    let guard = self.guard();
                    self.s.if_(guard, || {
                        self.access();
                        if self.rng.below(2) == 0 {
                            self.access();
                        }
                    });
                }
                6..=8 => self.barrier(),
                9 => {
                    let value = self.same() + self.s.n(1);
                    self.s.set(self.changing, value);
                }
                10 if depth > 0 => {
                    let cond = self.same().lt(self.same());
                    let known = self.uniform.len();
                    self.s.if_(cond, || self.together(depth - 1, around));
                    self.uniform.truncate(known);
                }
                11 if depth > 0 => self.loops(depth, around),
                12 if !around.is_empty() => {
                    let cond = self.same().eq(self.same());
                    let label = self.rng.pick(around);
                    let leaves = self.rng.below(2) == 0;
                    self.s.if_(cond, || {
                        if leaves {
                            self.s.break_(label);
                        } else {
                            self.s.continue_(label);
                        }
                    });
                }
                13 if self.rng.below(3) == 0 => {
                    let guard = self.guard();
                    self.s.if_(guard, || self.s.return_());
                }
                _ => {
                    let value = self.same();
                    let local = self.s.let_("same", value);
                    self.uniform.push(local);
                }
            }
        }
    }

    fn loops(&mut self, depth: u32, around: &[LabelId]) {
        let known = (self.uniform.len(), self.own.len());
        let (from, to) = (self.s.n(0), self.s.n(1 + self.rng.below(3)));
        if self.rng.below(3) == 0 {
            // Each thread runs through this loop by itself.
            let id = self.rng.pick(&self.threads);
            let to = if self.rng.below(2) == 0 { to } else { id.get() };
            self.s.for_("own", from, to, |k, _| {
                self.own.push(k);
                self.access();
                if self.rng.below(2) == 0 {
                    let guard = self.guard();
                    self.s.if_(guard, || self.access());
                }
            });
        } else {
            self.s.for_("k", from, to, |k, label| {
                self.uniform.push(k);
                let inner = [around, &[label]].concat();
                self.together(depth - 1, &inner);
            });
        }
        self.uniform.truncate(known.0);
        self.own.truncate(known.1);
    }
}

pub(in crate::analysis::race) fn kernel(seed: u64, barriers: bool) -> Kernel {
    kernel_of(seed, barriers, LEN)
}

/// A kernel with barriers and a shared array of this length, or its version with marks.
pub(in crate::analysis::race) fn kernel_of(seed: u64, barriers: bool, len: u64) -> Kernel {
    let s = Sketch::new("random");
    let marks = s.slice_mut("marks", Scalar::U32);
    let n = s.scalar("n", Scalar::Usize);
    let v = match barriers {
        true => s.shared("v", Scalar::U32, len).into(),
        false => s.slice_mut("v", Scalar::U32).into(),
    };
    let mut rng = Rng(seed);
    let axes = 1 + rng.below(2) as usize;
    let id = |axis: &Axis| s.let_("t", s.id(Builtin::ThreadIdx(*axis)));
    let threads = Axis::ALL[..axes].iter().map(id).collect();
    let changing = s.let_mut("changing", s.n(1));
    let mut w = Writer {
        s: &s,
        rng,
        barriers,
        marks,
        n,
        v,
        threads,
        uniform: vec![],
        changing,
        given: vec![],
        own: vec![],
    };
    w.together(2, &[]);
    s.finish()
}

/// The accesses of a thread that runs alone, in a kernel with marks: the barrier interval, the index, and true for
/// stores.
pub(in crate::analysis::race) fn touched(
    kernel: &Kernel,
    ids: &Ids,
    n: u64,
) -> Vec<(u64, u64, bool)> {
    let mut host = Touches {
        n,
        thread: 0,
        block: 0,
        phase: 0,
        elements: HashMap::new(),
    };
    let _ = Machine::new(kernel).run(ids, [1; 3], &mut host);
    let touched = host.elements.into_iter();
    touched
        .map(|((_, phase, index), (_, _, stores))| (phase, index, stores))
        .collect()
}

#[test]
fn no_two_threads_meet_where_no_race_was_found() {
    let (mut accepted, mut ran, mut met, mut phases) = (0, 0, 0, 0);
    for seed in 0..2500 {
        let (checked, run) = (kernel(seed, true), kernel(seed, false));
        assert_eq!(crate::validate(&checked), Ok(()), "{checked}");
        let needs = check(&checked, &Among::default(), &mut Constants::none());
        accepted += u32::from(needs.is_ok());
        let mut rng = Rng(seed ^ 0xb10c);
        for _ in 0..4 {
            let n = if rng.below(8) == 0 {
                u64::MAX
            } else {
                rng.below(6)
            };
            let block = [1 + rng.below(4) as u32, 1 + rng.below(2) as u32, 1];
            let grid = [1 + rng.below(2), 1, 1];
            let extent = [0, 1, 2].map(|a| grid[a] * u64::from(block[a]));
            let args = [ArgFact::Len(LEN), ArgFact::Scalar(Value::Usize(n))];
            let facts = LaunchFacts {
                grid,
                block,
                extent,
                args: &args,
            };
            let mut host = Touches {
                n,
                thread: 0,
                block: 0,
                phase: 0,
                elements: HashMap::new(),
            };
            let mut machine = Machine::new(&run);
            for (i, ids) in threads(extent, block).into_iter().enumerate() {
                (host.thread, host.block, host.phase) = (i, ids.block_idx[0], 0);
                // A thread that faults after an index has wrapped keeps its recorded accesses.
                let _ = machine.run(&ids, [1; 3], &mut host);
                phases = phases.max(host.phase);
            }
            let race = host.elements.values().any(|e| e.1 && e.2);
            met += u32::from(race);
            if let Ok(needs) = &needs
                && satisfied(&checked, needs, &facts)
            {
                ran += u32::from(!host.elements.is_empty());
                assert!(
                    !race,
                    "seed {seed}: threads meet, {facts:?}, {needs:?} in\n{checked}"
                );
            }
        }
    }
    assert!(
        accepted > 100 && ran > 100 && met > 500 && phases > 3,
        "{accepted} accepted, {ran} ran, {met} met, {phases} phases"
    );
}

/// The sanitizer finds no race in an accepted kernel, in any order of its threads, and does find races in other
/// kernels.
#[test]
fn what_is_accepted_is_clean_in_every_order() {
    let (mut ran, mut met) = (0, 0);
    for seed in 0..1200 {
        let kernel = kernel_of(seed, true, 64);
        let needs = check(&kernel, &Among::default(), &mut Constants::none());
        let mut rng = Rng(seed ^ 0x0b5e);
        let n = rng.below(6);
        let block = [1 + rng.below(6) as u32, 1 + rng.below(2) as u32, 1];
        let args = [ArgFact::Len(LEN), ArgFact::Scalar(Value::Usize(n))];
        let facts = LaunchFacts {
            grid: [1; 3],
            block,
            extent: block.map(u64::from),
            args: &args,
        };
        let clean = needs.is_ok_and(|needs| satisfied(&kernel, &needs, &facts));
        for order in 0..3 {
            let races = sanitized(&kernel, block, n, order);
            assert!(
                !(clean && races),
                "seed {seed}, order {order}, {facts:?} in\n{kernel}"
            );
            met += u32::from(races);
        }
        ran += u32::from(clean);
    }
    assert!(ran > 100 && met > 300, "{ran} ran, {met} met");
}

fn sanitized(kernel: &Kernel, block: [u32; 3], n: u64, seed: u64) -> bool {
    let settings = Sanitize {
        seed,
        unwritten: true,
        overflow: false,
    };
    let mut host = Touches {
        n,
        thread: 0,
        block: 0,
        phase: 0,
        elements: HashMap::new(),
    };
    let first = Ids {
        thread_idx: [0; 3],
        block_idx: [0; 3],
        block_dim: block.map(u64::from),
        grid_dim: [1; 3],
        global_dim: block.map(u64::from),
    };
    let ran = Machine::sanitizing(kernel, settings).run(&first, first.block_dim, &mut host);
    matches!(ran, Err(Stop::Found(_)))
}
