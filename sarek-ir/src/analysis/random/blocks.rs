//! Random kernels with barriers, in which no two threads race and every barrier is legal.

use std::collections::BTreeSet;

use crate::analysis::range::{ArgFact, LaunchFacts, analyse};
use crate::interp::cases::BUDGET;
use crate::interp::{Host, Ids, Like, Machine, Stop};
use crate::sketch::Sketch;
use crate::{
    AtomicOp, Axis, Builtin, ExprId, Intrinsic, Kernel, LabelId, LocalId, ParamId, Scalar,
    SharedId, SiteId, StmtId, Value,
};

use super::{INTS, Program, Rng};

/// The parts of such a kernel that [`Program`] does not have.
struct Block<'p, 's> {
    p: &'p Program<'s>,
    out: ParamId,
    tile: SharedId,
    count: SharedId,
    /// The enclosing loops in which all threads are together.
    loops: std::cell::RefCell<Vec<LabelId>>,
}

/// A kernel for launches along x, with parameters `buf: &[u32]`, `a: usize`, `b: i32`, `c: u32`,
/// `out: &mut [u32]`. Each thread has one element of `out`.
pub(crate) fn kernel(seed: u64) -> Kernel {
    let s = Sketch::new("random");
    let buffer = s.slice("buf", Scalar::U32);
    let args = [
        s.scalar("a", Scalar::Usize),
        s.scalar("b", Scalar::I32),
        s.scalar("c", Scalar::U32),
    ];
    let out = s.slice_mut("out", Scalar::U32);
    let tile = s.shared_slice("tile", Scalar::U32, s.id(Builtin::BlockDim(Axis::X)));
    let count = s.shared_atomics("count", Scalar::U32, 1);
    let program = Program::new(&s, seed, buffer, args);
    let block = Block {
        p: &program,
        out,
        tile,
        count,
        loops: Default::default(),
    };
    block.together(7, 3);
    block.write();
    s.finish()
}

impl<'s> Block<'_, 's> {
    fn s(&self) -> &'s Sketch {
        self.p.s
    }

    /// Runs `f` with only uniform values allowed.
    fn uniform<T>(&self, f: impl FnOnce() -> T) -> T {
        let before = self.p.together.replace(true);
        let made = f();
        self.p.together.set(before);
        made
    }

    fn push(&self, local: LocalId, ty: Scalar, mutable: bool) {
        self.p.scope.borrow_mut().push((local, ty, mutable));
    }

    fn is_uniform(&self, local: LocalId) -> bool {
        self.p.uniform.borrow().contains(&local)
    }

    /// Adds to this thread's element.
    fn write(&self) {
        let s = self.s();
        let at = || s.id(Builtin::GlobalIdx(Axis::X));
        let scaled = s.load(self.out, at()) * s.lit(Value::U32(31));
        s.store(self.out, at(), scaled + self.p.int(Scalar::U32, 2));
    }

    /// Statements that all threads reach together.
    fn together(&self, n: u64, depth: u32) {
        let scope = self.p.scope.borrow().len();
        for _ in 0..1 + self.p.below(n) {
            self.together_stmt(depth);
        }
        self.p.scope.borrow_mut().truncate(scope);
    }

    fn together_stmt(&self, depth: u32) {
        let (s, p) = (self.s(), self.p);
        match p.below(if depth > 0 { 18 } else { 12 }) {
            0..=1 => self.declare(true),
            2 => self.assign(true),
            3 => {
                let index = self.uniform(|| p.int(Scalar::Usize, 1));
                let read = s.let_("same", s.load(p.buffer, index));
                p.uniform.borrow_mut().push(read.id);
                self.push(read.id, Scalar::U32, false);
            }
            4 => s.barrier(),
            5..=6 => self.exchange(),
            7 => self.count(),
            8 => self.leave(),
            9..=11 => self.alone_stmt(depth.min(2)),
            12..=13 => {
                let cond = self.uniform(|| p.condition(1));
                s.if_else(cond, || self.branch(depth), || self.branch(depth));
            }
            14..=15 => {
                let bound = self.uniform(|| p.int(Scalar::Usize, 1));
                let end = s.call(Intrinsic::Min, &[bound, s.n(4)]);
                s.for_("k", s.n(p.below(2)), end, |k, label| {
                    p.uniform.borrow_mut().push(k.id);
                    self.push(k.id, Scalar::Usize, false);
                    self.body(label, depth);
                    p.scope.borrow_mut().pop();
                });
            }
            _ => {
                // The loop ends by its counter, by the condition, or by a `return` of all threads.
                let c = s.let_mut("c", s.i32(0));
                p.uniform.borrow_mut().push(c.id);
                self.push(c.id, Scalar::I32, false);
                let cond = self.uniform(|| p.condition(1));
                let endless = p.below(3) == 0;
                let least = s.id(Builtin::ThreadIdx(Axis::X)).cast(Scalar::I32);
                let step = |label| {
                    s.set(c, c.get() + s.i32(1));
                    if endless {
                        s.if_(c.get().gt(least & s.i32(3)), || s.return_());
                    }
                    self.body(label, depth);
                };
                if endless {
                    s.loop_(step);
                } else {
                    s.while_(c.get().lt(s.i32(4)).and(cond), step);
                }
            }
        }
    }

    fn body(&self, label: LabelId, depth: u32) {
        let s = self.s();
        self.loops.borrow_mut().push(label);
        self.together(4, depth - 1);
        if self.p.below(4) == 0 {
            s.if_(self.p.condition(1), || {
                self.alone(2, 1);
                s.continue_(label);
            });
            self.alone(2, 1);
        }
        self.loops.borrow_mut().pop();
    }

    /// A uniform branch, which may end in a jump.
    fn branch(&self, depth: u32) {
        self.together(3, depth - 1);
        let loops = self.loops.borrow().clone();
        match self.p.below(8) {
            0 => self.s().return_(),
            1 if !loops.is_empty() => self.s().break_(self.p.pick(&loops)),
            2 if !loops.is_empty() => self.s().continue_(self.p.pick(&loops)),
            _ => {}
        }
    }

    fn declare(&self, uniform: bool) {
        let (s, p) = (self.s(), self.p);
        let ty = p.pick(&INTS);
        let init = if uniform {
            self.uniform(|| p.int(ty, 2))
        } else {
            p.int(ty, 2)
        };
        let mutable = p.below(2) == 0;
        let local = if mutable {
            s.let_mut("m", init)
        } else {
            s.let_("l", init)
        };
        if uniform {
            p.uniform.borrow_mut().push(local.id);
        }
        self.push(local.id, ty, mutable);
    }

    fn assign(&self, uniform: bool) {
        let p = self.p;
        let scope = p.scope.borrow().clone();
        let mut open = scope.into_iter();
        let Some((local, ty, _)) = open.find(|l| l.2 && self.is_uniform(l.0) == uniform) else {
            return;
        };
        let value = if uniform {
            self.uniform(|| p.int(ty, 1))
        } else {
            p.int(ty, 1)
        };
        self.s().assign(local, value);
    }

    /// Each thread passes a value to another thread.
    fn exchange(&self) {
        let (s, p) = (self.s(), self.p);
        let thread = || s.id(Builtin::ThreadIdx(Axis::X));
        s.store(self.tile, thread(), p.int(Scalar::U32, 1));
        s.barrier();
        let from = (thread() + s.n(p.below(40))).divide(crate::DivideOp::Rem, s.len(self.tile));
        let got = s.let_("got", s.load(self.tile, from));
        self.push(got.id, Scalar::U32, false);
        s.barrier();
    }

    /// Counts the threads that are here.
    fn count(&self) {
        let s = self.s();
        let zero = || s.n(0);
        s.atomic(AtomicOp::Store, self.count, zero(), &[s.lit(Value::U32(0))]);
        s.barrier();
        s.atomic(AtomicOp::Add, self.count, zero(), &[s.lit(Value::U32(1))]);
        s.barrier();
        let count = s.atomic(AtomicOp::Load, self.count, zero(), &[]);
        self.push(count.id, Scalar::U32, false);
        s.barrier();
    }

    /// A `return` that some threads take.
    fn leave(&self) {
        let (s, p) = (self.s(), self.p);
        let thread = s.id(Builtin::ThreadIdx(Axis::X));
        let cond = match p.below(3) {
            0 => thread.lt(self.uniform(|| p.leaf(Scalar::Usize))),
            1 => thread.ge(self.uniform(|| p.leaf(Scalar::Usize))),
            _ => p.condition(1),
        };
        s.if_(cond, || {
            self.write();
            s.return_();
        });
    }

    /// Statements that each thread executes by itself.
    fn alone(&self, n: u64, depth: u32) {
        let scope = self.p.scope.borrow().len();
        for _ in 0..1 + self.p.below(n) {
            self.alone_stmt(depth);
        }
        self.p.scope.borrow_mut().truncate(scope);
    }

    fn alone_stmt(&self, depth: u32) {
        let (s, p) = (self.s(), self.p);
        match p.below(if depth > 0 { 12 } else { 7 }) {
            0..=1 => self.declare(false),
            2..=3 => self.assign(false),
            4 => self.write(),
            5 => s.assert(p.condition(1), "random"),
            6 => {
                let index = p.int(Scalar::Usize, 1);
                let index = match p.below(3) {
                    0 => index,
                    _ => s.call(Intrinsic::Min, &[index, s.n(2)]),
                };
                let read = s.let_("read", s.load(p.buffer, index));
                self.push(read.id, Scalar::U32, false);
            }
            7..=8 => {
                let cond = p.condition(1);
                let ends = || {
                    self.alone(2, depth - 1);
                    self.exit();
                };
                s.if_else(cond, ends, ends);
            }
            9..=10 => {
                let end = s.call(Intrinsic::Min, &[p.int(Scalar::Usize, 1), s.n(3)]);
                s.for_("j", s.n(0), end, |j, label| {
                    self.push(j.id, Scalar::Usize, false);
                    self.repeated(label, depth);
                    p.scope.borrow_mut().pop();
                });
            }
            _ => {
                let c = s.let_mut("d", s.i32(0));
                let cond = c.get().lt(s.i32(3)).and(p.condition(1));
                s.while_(cond, |label| {
                    s.set(c, c.get() + s.i32(1));
                    self.repeated(label, depth);
                });
            }
        }
    }

    fn repeated(&self, label: LabelId, depth: u32) {
        self.p.loops.borrow_mut().push(label);
        self.alone(2, depth - 1);
        self.p.loops.borrow_mut().pop();
    }

    fn exit(&self) {
        let loops = self.p.loops.borrow().clone();
        match self.p.below(8) {
            0 => self.s().return_(),
            1 if !loops.is_empty() => self.s().break_(self.p.pick(&loops)),
            2 if !loops.is_empty() => self.s().continue_(self.p.pick(&loops)),
            _ => {}
        }
    }
}

/// A random launch of such a kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Launch {
    #[allow(dead_code)] // for messages
    seed: u64,
    /// The number of threads of a block.
    pub lanes: u64,
    blocks: u64,
    len: u32,
    scalars: [Value; 3],
}

struct Memory {
    buffer: Vec<u32>,
    out: Vec<u32>,
    scalars: [Value; 3],
    done: u64,
    launch: Launch,
}

impl Launch {
    pub fn new(seed: u64, lanes: &[u64]) -> Launch {
        let mut rng = Rng(!seed);
        Launch {
            seed,
            lanes: rng.pick(lanes),
            blocks: 1 + rng.below(2),
            len: rng.pick(&[0, 1, 4, 7, 40]),
            scalars: [
                Value::Usize(rng.pick(&[0, 1, 3, 9, 100])),
                Value::I32(rng.pick(&[0, 1, 4, -1, i32::MIN])),
                Value::U32(rng.pick(&[0, 1, 6, u32::MAX])),
            ],
        }
    }

    /// The sites that the range analysis does not prove for this launch.
    pub fn unproved(&self, kernel: &Kernel) -> BTreeSet<SiteId> {
        let threads = self.blocks * self.lanes;
        let [a, b, c] = self.scalars.map(ArgFact::Scalar);
        let args = [
            ArgFact::Len(self.len.into()),
            a,
            b,
            c,
            ArgFact::Len(threads),
        ];
        let facts = LaunchFacts {
            grid: [self.blocks, 1, 1],
            block: [self.lanes as u32, 1, 1],
            extent: [threads, 1, 1],
            args: &args,
        };
        let ranges = analyse(kernel, &facts);
        let sites = (0..kernel.sites.len() as u32).map(SiteId);
        sites.filter(|site| !ranges.proved(*site)).collect()
    }

    /// Runs the kernel. Returns the contents of memory, and the end of each block.
    pub fn run(&self, kernel: &Kernel, like: Like) -> (Vec<u32>, Vec<Result<(), Stop>>) {
        let threads = self.blocks * self.lanes;
        let mut host = Memory {
            buffer: (0..self.len).map(|i| i.wrapping_mul(7) % 5).collect(),
            out: vec![0; threads as usize],
            scalars: self.scalars,
            done: 0,
            launch: *self,
        };
        let mut machine = Machine::new(kernel);
        machine.like = like;
        let block = |b| Ids {
            thread_idx: [0; 3],
            block_idx: [b, 0, 0],
            block_dim: [self.lanes, 1, 1],
            grid_dim: [self.blocks, 1, 1],
            global_dim: [threads, 1, 1],
        };
        let ends = (0..self.blocks).map(|b| machine.run(&block(b), [self.lanes, 1, 1], &mut host));
        let ends = ends.collect();
        (host.out, ends)
    }
}

impl Memory {
    fn did(&mut self) {
        self.done += 1;
        assert!(self.done <= BUDGET, "{:?} hangs", self.launch);
    }
}

impl Host for Memory {
    fn scalar(&self, param: ParamId) -> Value {
        self.scalars[param.index() - 1]
    }

    fn len(&self, slice: ParamId) -> u64 {
        match slice {
            ParamId(0) => self.buffer.len() as u64,
            _ => self.out.len() as u64,
        }
    }

    fn load(&mut self, slice: ParamId, index: u64) -> Value {
        Value::U32(match slice {
            ParamId(0) => self.buffer[index as usize],
            _ => self.out[index as usize],
        })
    }

    fn store(&mut self, _: ParamId, index: u64, value: Value) {
        let Value::U32(value) = value else {
            unreachable!("`out` holds `u32`s")
        };
        self.out[index as usize] = value;
    }

    fn evaluated(&mut self, _: ExprId, _: Value) {
        self.did();
    }

    fn opened(&mut self, _: StmtId) {
        self.did();
    }
}
