//! Random kernels, to compare the results of analyses with real runs.

pub(crate) mod blocks;

use std::cell::{Cell, RefCell};

use crate::interp::{Host, Ids};
use crate::sketch::{Sketch, SketchExpr};
use crate::{
    Axis, Builtin, DivideOp, ExprId, Intrinsic, Kernel, LabelId, LocalId, ParamId, Scalar, Value,
};

/// A small deterministic generator (splitmix64).
pub(crate) struct Rng(pub u64);

impl Rng {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }
}

const INTS: [Scalar; 8] = [
    Scalar::Usize,
    Scalar::I32,
    Scalar::U32,
    Scalar::I64,
    Scalar::I8,
    Scalar::U8,
    Scalar::I16,
    Scalar::U16,
];

/// The ids of all threads of a launch with blocks of `block`.
pub(crate) fn threads(extent: [u64; 3], block: [u32; 3]) -> Vec<Ids> {
    let block_dim = block.map(u64::from);
    let mut all = vec![];
    for z in 0..extent[2] {
        for y in 0..extent[1] {
            for x in 0..extent[0] {
                let at = [x, y, z];
                all.push(Ids {
                    thread_idx: [0, 1, 2].map(|a| at[a] % block_dim[a]),
                    block_idx: [0, 1, 2].map(|a| at[a] / block_dim[a]),
                    block_dim,
                    grid_dim: [0, 1, 2].map(|a| extent[a].div_ceil(block_dim[a])),
                    global_dim: extent,
                });
            }
        }
    }
    all
}

/// A writer of a random kernel of integers, guards and loops.
pub(crate) struct Program<'s> {
    s: &'s Sketch,
    rng: RefCell<Rng>,
    /// The locals in scope, with their types. The flag is true if the local may be assigned.
    scope: RefCell<Vec<(LocalId, Scalar, bool)>>,
    loops: RefCell<Vec<LabelId>>,
    /// The locals that are the same for all threads of a block. `together` is true if only these may be used.
    uniform: RefCell<Vec<LocalId>>,
    together: Cell<bool>,
    buffer: ParamId,
    args: [ParamId; 3],
}

/// A kernel with parameters `buf: &mut [u32]`, `a: usize`, `b: i32`, `c: u32`.
pub(crate) fn kernel(seed: u64) -> Kernel {
    let s = Sketch::new("random");
    let buffer = s.slice_mut("buf", Scalar::U32);
    let args = [
        s.scalar("a", Scalar::Usize),
        s.scalar("b", Scalar::I32),
        s.scalar("c", Scalar::U32),
    ];
    Program::new(&s, seed, buffer, args).stmts(6, 3);
    s.finish()
}

impl<'s> Program<'s> {
    fn new(s: &'s Sketch, seed: u64, buffer: ParamId, args: [ParamId; 3]) -> Program<'s> {
        Program {
            s,
            rng: RefCell::new(Rng(seed)),
            scope: RefCell::default(),
            loops: RefCell::default(),
            uniform: RefCell::default(),
            together: Cell::new(false),
            buffer,
            args,
        }
    }

    fn below(&self, n: u64) -> u64 {
        self.rng.borrow_mut().below(n)
    }

    fn pick<T: Copy>(&self, from: &[T]) -> T {
        self.rng.borrow_mut().pick(from)
    }

    fn literal(&self, ty: Scalar) -> SketchExpr<'s> {
        let edges = [
            0,
            1,
            2,
            3,
            5,
            7,
            8,
            31,
            33,
            64,
            -1,
            -2,
            i128::from(i32::MIN),
            i128::from(u32::MAX),
        ];
        let v = match self.below(3) {
            0 => self.pick(&edges),
            _ => i128::from(self.below(6)),
        };
        self.s.lit(Value::int(ty, v).expect("an integer type"))
    }

    fn local(&self, ty: Scalar) -> Option<SketchExpr<'s>> {
        let of_type: Vec<LocalId> = self
            .scope
            .borrow()
            .iter()
            .filter(|l| l.1 == ty)
            .map(|l| l.0)
            .filter(|l| !self.together.get() || self.uniform.borrow().contains(l))
            .collect();
        let pick = (!of_type.is_empty()).then(|| self.pick(&of_type))?;
        Some(self.s.read(pick))
    }

    fn leaf(&self, ty: Scalar) -> SketchExpr<'s> {
        if self.below(3) > 0
            && let Some(local) = self.local(ty)
        {
            return local;
        }
        let s = self.s;
        match (ty, self.below(4)) {
            (Scalar::Usize, 0) => s.arg(self.args[0]),
            (Scalar::Usize, 1) => {
                let ids = [
                    Builtin::GlobalIdx(Axis::X),
                    Builtin::GlobalIdx(Axis::Y),
                    Builtin::ThreadIdx(Axis::X),
                    Builtin::BlockIdx(Axis::X),
                    Builtin::BlockDim(Axis::X),
                    Builtin::GridDim(Axis::X),
                    Builtin::GlobalDim(Axis::Y),
                    Builtin::GlobalThreadId,
                ];
                let id = self.pick(&ids);
                if self.together.get() && !id.is_uniform() {
                    return s.id(Builtin::BlockIdx(Axis::X));
                }
                s.id(id)
            }
            (Scalar::Usize, 2) => s.len(self.buffer),
            (Scalar::I32, 0) => s.arg(self.args[1]),
            (Scalar::U32, 0) => s.arg(self.args[2]),
            _ => self.literal(ty),
        }
    }

    fn int(&self, ty: Scalar, depth: u32) -> SketchExpr<'s> {
        if depth == 0 || self.below(4) == 0 {
            return self.leaf(ty);
        }
        let s = self.s;
        let a = self.int(ty, depth - 1);
        let b = || self.int(ty, depth - 1);
        match self.below(18) {
            0..=2 => a + b(),
            3..=4 => a - b(),
            5..=6 => a * b(),
            7 => a & b(),
            8 => a | b(),
            9 => a ^ b(),
            10 => a << self.leaf(self.pick(&INTS)),
            11 => a >> self.leaf(self.pick(&INTS)),
            12..=13 => {
                let ops = [
                    DivideOp::Div,
                    DivideOp::Rem,
                    DivideOp::DivEuclid,
                    DivideOp::RemEuclid,
                ];
                let op = self.pick(&ops);
                a.divide(
                    op,
                    if self.below(2) == 0 {
                        self.literal(ty)
                    } else {
                        b()
                    },
                )
            }
            14 => {
                let from = self.pick(&INTS);
                self.int(from, depth - 1).cast(ty)
            }
            15 => !a,
            16 if ty.is_signed() => match self.below(4) {
                0 => -a,
                1 => s.call(Intrinsic::Abs, &[a]),
                2 => s.call(Intrinsic::Signum, &[a]),
                _ => s.call(Intrinsic::WrappingNeg, &[a]),
            },
            _ => {
                let binary = [
                    Intrinsic::Min,
                    Intrinsic::Max,
                    Intrinsic::SaturatingSub,
                    Intrinsic::SaturatingAdd,
                    Intrinsic::WrappingMul,
                    Intrinsic::RotateLeft,
                    Intrinsic::Clamp,
                    Intrinsic::Pow,
                ];
                match self.pick(&binary) {
                    Intrinsic::Clamp => s.call(Intrinsic::Clamp, &[a, b(), self.literal(ty)]),
                    i @ (Intrinsic::RotateLeft | Intrinsic::Pow) => {
                        s.call(i, &[a, self.leaf(Scalar::U32)])
                    }
                    i => s.call(i, &[a, b()]),
                }
            }
        }
    }

    fn condition(&self, depth: u32) -> SketchExpr<'s> {
        match self.below(10) {
            0 if depth > 0 => self.condition(depth - 1).and(self.condition(depth - 1)),
            1 if depth > 0 => self.condition(depth - 1).or(self.condition(depth - 1)),
            2 if depth > 0 => !self.condition(depth - 1),
            3 => match self.local(Scalar::Bool) {
                Some(local) => local,
                None => self.s.lit(Value::Bool(self.below(2) == 0)),
            },
            _ => {
                let ty = self.pick(&INTS);
                let (a, b) = (self.int(ty, depth.min(2)), self.int(ty, depth.min(1)));
                match self.below(6) {
                    0 => a.lt(b),
                    1 => a.le(b),
                    2 => a.gt(b),
                    3 => a.ge(b),
                    4 => a.eq(b),
                    _ => a.ne(b),
                }
            }
        }
    }

    fn stmts(&self, n: u64, depth: u32) {
        let scope = self.scope.borrow().len();
        for _ in 0..1 + self.below(n) {
            self.stmt(depth);
        }
        self.scope.borrow_mut().truncate(scope);
    }

    fn stmt(&self, depth: u32) {
        let s = self.s;
        let kind = self.below(if depth > 0 { 15 } else { 9 });
        match kind {
            0..=2 => {
                let ty = self.pick(&INTS);
                let mutable = self.below(3) == 0;
                let init = self.int(ty, 3);
                let local = if mutable {
                    s.let_mut("m", init)
                } else {
                    s.let_("l", init)
                };
                self.scope.borrow_mut().push((local.id, ty, mutable));
            }
            3 => {
                let local = s.let_("flag", self.condition(2));
                self.scope
                    .borrow_mut()
                    .push((local.id, Scalar::Bool, false));
            }
            4 => {
                let open: Vec<_> = self
                    .scope
                    .borrow()
                    .iter()
                    .copied()
                    .filter(|l| l.2)
                    .collect();
                if !open.is_empty() {
                    let (local, ty, _) = self.pick(&open);
                    s.assign(local, self.int(ty, 2));
                }
            }
            5 => {
                let index = self.int(Scalar::Usize, 2);
                s.store(self.buffer, index, self.int(Scalar::U32, 1));
            }
            6 => {
                let local = s.let_("read", s.load(self.buffer, self.int(Scalar::Usize, 2)));
                self.scope.borrow_mut().push((local.id, Scalar::U32, false));
            }
            7..=8 => s.assert(self.condition(1), "random"),
            9..=11 => {
                let cond = self.condition(2);
                s.if_else(cond, || self.branch(depth), || self.branch(depth));
            }
            12..=13 => {
                let ty = self.pick(&INTS);
                let cap = |e| s.call(Intrinsic::Min, &[e, s.lit(Value::int(ty, 4).expect("int"))]);
                let start = s.call(Intrinsic::Max, &[self.int(ty, 1), s.lit(Value::zero(ty))]);
                s.for_("i", start, cap(self.int(ty, 1)), |i, label| {
                    self.scope.borrow_mut().push((i.id, ty, false));
                    self.loop_body(label, depth);
                    self.scope.borrow_mut().pop();
                });
            }
            _ => {
                let counter = s.let_mut("c", s.i32(0));
                let cond = counter.get().lt(s.i32(3)).and(self.condition(1));
                s.while_(cond, |label| {
                    s.set(counter, counter.get() + s.i32(1));
                    self.scope
                        .borrow_mut()
                        .push((counter.id, Scalar::I32, false));
                    self.loop_body(label, depth);
                    self.scope.borrow_mut().pop();
                });
            }
        }
    }

    fn loop_body(&self, label: LabelId, depth: u32) {
        self.loops.borrow_mut().push(label);
        self.stmts(3, depth - 1);
        self.loops.borrow_mut().pop();
    }

    /// A block that may end in a jump.
    fn branch(&self, depth: u32) {
        self.stmts(3, depth - 1);
        let loops = self.loops.borrow().clone();
        match self.below(6) {
            0 => self.s.return_(),
            1 if !loops.is_empty() => self.s.break_(self.pick(&loops)),
            2 if !loops.is_empty() => self.s.continue_(self.pick(&loops)),
            _ => {}
        }
    }
}

/// A host with one buffer of `u32` and scalars, which calls `watch` for every evaluated expression.
pub(crate) struct Watched<'a> {
    pub buffer: Vec<u32>,
    pub scalars: [Value; 4],
    pub watch: &'a mut dyn FnMut(ExprId, Value),
}

impl Host for Watched<'_> {
    fn scalar(&self, param: ParamId) -> Value {
        self.scalars[param.index()]
    }

    fn len(&self, _: ParamId) -> u64 {
        self.buffer.len() as u64
    }

    fn load(&mut self, _: ParamId, index: u64) -> Value {
        Value::U32(self.buffer[index as usize])
    }

    fn store(&mut self, _: ParamId, index: u64, value: Value) {
        if let Value::U32(v) = value {
            self.buffer[index as usize] = v;
        }
    }

    fn evaluated(&mut self, expr: ExprId, value: Value) {
        (self.watch)(expr, value);
    }
}
