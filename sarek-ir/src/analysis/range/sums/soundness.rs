//! Soundness test of sums: random kernels whose guards and indices are sums of few values, so that sums decide
//! about many checks.

use super::super::soundness::{Case, Tally, narrowed, try_one};
use crate::analysis::random::Rng;
use crate::sketch::{Sketch, SketchExpr, SketchLocal};
use crate::{Axis, Builtin, DivideOp, Kernel, Memory, ParamId, Scalar, Value};

struct Writer<'s> {
    s: &'s Sketch,
    rng: Rng,
    buffer: Memory,
    a: ParamId,
    fixed: Vec<SketchLocal<'s>>,
    variables: Vec<SketchLocal<'s>>,
    /// The sums that guards have compared, to be reused in indices.
    compared: Vec<[(SketchLocal<'s>, u64); 2]>,
}

impl<'s> Writer<'s> {
    fn atom(&mut self) -> SketchExpr<'s> {
        let locals = [self.fixed.as_slice(), self.variables.as_slice()].concat();
        match self.rng.below(8) {
            0 => self.s.id(Builtin::GlobalIdx(Axis::X)),
            1 => self.s.id(Builtin::BlockIdx(Axis::X)) * self.s.id(Builtin::BlockDim(Axis::X)),
            2 => self.s.id(Builtin::ThreadIdx(Axis::X)),
            _ => self.rng.pick(&locals).get(),
        }
    }

    fn factor(&mut self) -> SketchExpr<'s> {
        match self.rng.below(4) {
            0 => self.s.arg(self.a),
            _ => self.s.n(1 + self.rng.below(4)),
        }
    }

    fn term(&mut self) -> SketchExpr<'s> {
        match self.rng.below(12) {
            0..=4 => self.atom(),
            5 | 6 => self.atom() * self.factor(),
            7 => (self.atom() + self.atom()) * self.factor(),
            8 => {
                let op = self.rng.pick(&[DivideOp::Div, DivideOp::Rem]);
                self.atom().divide(op, self.s.n(1 + self.rng.below(5)))
            }
            9 => self.atom() & self.s.n(self.rng.pick(&[1, 3, 7])),
            10 => self.atom() >> self.s.n(self.rng.below(3)),
            _ => {
                let narrow = self.rng.pick(&[Scalar::I32, Scalar::U8, Scalar::U32]);
                self.atom().cast(narrow).cast(Scalar::Usize)
            }
        }
    }

    fn sum(&mut self) -> SketchExpr<'s> {
        let mut sum = self.term();
        for _ in 0..self.rng.below(3) {
            let term = match self.rng.below(4) {
                0 => self.s.n(self.rng.below(3)),
                _ => self.term(),
            };
            sum = match self.rng.below(4) {
                0 => sum - term,
                _ => sum + term,
            };
        }
        sum
    }

    fn end(&mut self) -> SketchExpr<'s> {
        match self.rng.below(4) {
            0 => self.s.len(self.buffer),
            1 => self.s.arg(self.a),
            2 => self.s.n(self.rng.below(12)),
            _ => self.sum(),
        }
    }

    /// A sum of two locals, which indices may reuse.
    fn pair(&mut self) -> SketchExpr<'s> {
        let locals = [self.fixed.as_slice(), self.variables.as_slice()].concat();
        let pair = [0, 1].map(|_| (self.rng.pick(&locals), 1 + self.rng.below(2)));
        self.compared.push(pair);
        self.written(pair)
    }

    fn written(&self, pair: [(SketchLocal<'s>, u64); 2]) -> SketchExpr<'s> {
        let [a, b] = pair.map(|(local, factor)| local.get() * self.s.n(factor));
        a + b
    }

    fn index(&mut self) -> SketchExpr<'s> {
        if self.compared.is_empty() || self.rng.below(3) == 0 {
            return self.sum();
        }
        let pair = self.rng.pick(&self.compared);
        let again = self.written(pair);
        match self.rng.below(6) {
            0 => again + self.s.n(1),
            1 => again - self.s.n(1),
            _ => again,
        }
    }

    fn guard(&mut self) -> SketchExpr<'s> {
        if self.rng.below(2) == 0 {
            let (pair, end) = (self.pair(), self.s.len(self.buffer));
            return pair.lt(end);
        }
        let (sum, end) = (self.sum(), self.end());
        let one = match self.rng.below(6) {
            0 => sum.le(end),
            1 => end.gt(sum),
            2 => sum.eq(end),
            3 => sum.ge(end),
            4 => sum.ne(end),
            _ => sum.lt(end),
        };
        match self.rng.below(6) {
            0 => one.and(self.guard()),
            1 => one.or(self.guard()),
            2 => !one,
            _ => one,
        }
    }

    fn stmts(&mut self, depth: u32) {
        let known = (self.fixed.len(), self.compared.len());
        for _ in 0..2 + self.rng.below(3) {
            self.stmt(depth);
        }
        self.fixed.truncate(known.0);
        self.compared.truncate(known.1);
    }

    fn stmt(&mut self, depth: u32) {
        let s = self.s;
        match self.rng.below(if depth > 0 { 14 } else { 8 }) {
            0 => {
                let sum = self.sum();
                self.fixed.push(s.let_("sum", sum));
            }
            1 => {
                let load = s.load(self.buffer, self.sum()).cast(Scalar::Usize);
                let small = load & s.n(15);
                self.fixed.push(s.let_("read", small));
            }
            2 => {
                let (local, sum) = (self.rng.pick(&self.variables), self.sum());
                s.set(local, sum);
            }
            3 => {
                let local = self.rng.pick(&self.variables);
                s.set(local, local.get() + s.n(self.rng.below(3)));
            }
            4 => {
                let guard = self.guard();
                s.assert(guard, "random");
            }
            5..=7 => {
                let index = self.index();
                s.store(self.buffer, index, s.lit(Value::U32(3)));
            }
            8..=11 => {
                let guard = self.guard();
                let leaves = self.rng.below(5) == 0;
                s.if_(guard, || {
                    self.stmts(depth - 1);
                    if leaves {
                        s.return_();
                    }
                });
            }
            12 => {
                let (start, end) = (self.sum(), self.end());
                let start = start & s.n(7);
                let near = s.call(crate::Intrinsic::Min, &[end, s.n(self.rng.below(9))]);
                let end = if self.rng.below(3) == 0 {
                    self.atom() & s.n(7)
                } else {
                    near
                };
                s.for_("k", start, end, |k, _| {
                    self.fixed.push(k);
                    self.stmts(depth - 1);
                    self.fixed.retain(|of| of.id != k.id);
                });
            }
            _ => {
                let start = self.sum() & s.n(3);
                let counter = s.let_mut("counter", start);
                let end = self.end();
                s.while_(counter.get().lt(end).and(counter.get().lt(s.n(6))), |_| {
                    self.fixed.push(counter);
                    self.stmts(depth - 1);
                    self.fixed.retain(|of| of.id != counter.id);
                    s.set(counter, counter.get() + s.n(1 + self.rng.below(4)));
                });
            }
        }
    }
}

fn kernel(seed: u64) -> Kernel {
    let s = Sketch::new("random");
    let buffer = s.slice_mut("buf", Scalar::U32);
    let a = s.scalar("a", Scalar::Usize);
    s.scalar("b", Scalar::I32);
    s.scalar("c", Scalar::U32);
    let fixed = vec![s.let_("x", s.id(Builtin::GlobalIdx(Axis::X)))];
    let variables = ["u", "v"].map(|name| s.let_mut(name, s.id(Builtin::ThreadIdx(Axis::X))));
    let mut writer = Writer {
        s: &s,
        rng: Rng(seed),
        buffer: buffer.into(),
        a,
        fixed,
        variables: variables.to_vec(),
        compared: vec![],
    };
    writer.stmts(2);
    s.finish()
}

#[test]
fn what_sums_prove_holds_in_every_thread() {
    let (mut tally, mut by_sums) = (Tally::default(), 0);
    for seed in 0..500 {
        let case = Case::new(kernel(seed), seed);
        try_one(&case, seed, &mut tally);
        by_sums += usize::from(case.decided_by_sums());
    }
    let Tally {
        open,
        narrow,
        reached,
    } = tally;
    assert!(
        open > 300 && narrow > 150 && reached > 150 && by_sums > 30,
        "{open} sites stay open, {narrow} kernels fit 32 bits, {reached} proved sites were reached, sums decided in {by_sums}"
    );
}

#[test]
fn a_launch_narrowed_by_sums_computes_the_same() {
    let cases = (0..500).map(|seed| (seed, Case::new(kernel(seed), seed)));
    let compared = narrowed(cases);
    assert!(compared > 150, "{compared} launches were narrowed");
}
