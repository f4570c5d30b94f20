//! Staged loops, run before and after, and their texts and refusals.

use std::cell::RefCell;
use std::collections::BTreeSet;

use super::super::{Merge, Optimization, Refusal, Spread, Stage};
use super::{product, run_blocks};
use crate::analysis::random::Rng;
use crate::interp::Host;
use crate::sketch::{Sketch, SketchExpr, SketchLocal};
use crate::{Axis, Builtin, DivideOp, Kernel, ParamId, Scalar, Value, passes, validate, write};

/// The slices of a random kernel, by the form of the index with which it is loaded, and `out`.
const FORMS: usize = 12;

/// A launch of a random kernel: its extent, and the arguments `n` and `start`.
#[derive(Clone, Copy, Debug)]
struct Shape {
    extent: [u64; 3],
    n: u64,
    start: u64,
}

impl Shape {
    /// The length that the accesses of a form need.
    fn len(self, form: usize) -> u64 {
        let ([x, y, z], n) = (self.extent, self.n);
        match form {
            0 => y * n,
            1 => n * x,
            2 => n,
            3 => x * n,
            4 => n * y,
            5 => x + n,
            6 => 2 * n + 1,
            7 => (n / 2 + 1) * x,
            8 => x * y * z,
            9 => (x / 2 + 1) * n,
            10 => 4 * n + 4,
            11 => 2 * n * y,
            _ => x * y * z,
        }
    }
}

struct Writer<'s> {
    s: &'s Sketch,
    rng: RefCell<Rng>,
    slices: Vec<ParamId>,
    n: ParamId,
    sum: SketchLocal<'s>,
}

impl<'s> Writer<'s> {
    fn below(&self, n: u64) -> u64 {
        self.rng.borrow_mut().below(n)
    }

    /// The sum of the units of an element of 2 or 4.
    fn units(&self, k: SketchLocal<'s>) -> SketchExpr<'s> {
        let s = self.s;
        let load = |form: usize, index, unit: u64| s.load(self.slices[form], index + s.n(unit));
        let rest = [1, 2, 3].map(|unit| load(10, k.get() * s.n(4), unit));
        match self.below(3) {
            0 => s.load(self.slices[10], k.get() * s.n(4)) - rest[0] + rest[1] * rest[2],
            1 => load(10, k.get() * s.n(4), 4) + load(10, k.get() * s.n(4), 3),
            _ => {
                let row = || s.id(Builtin::GlobalIdx(Axis::Y)) * (s.arg(self.n) * s.n(2));
                load(11, row() + k.get() * s.n(2), 0) - load(11, row() + k.get() * s.n(2), 1)
            }
        }
    }

    fn load(&self, k: SketchLocal<'s>) -> SketchExpr<'s> {
        let s = self.s;
        let form = self.below(11);
        if form == 10 {
            return self.units(k);
        }
        let form = form as usize;
        let [x, y] = [Axis::X, Axis::Y].map(|axis| s.id(Builtin::GlobalIdx(axis)));
        let [w, h] = [Axis::X, Axis::Y].map(|axis| s.id(Builtin::GlobalDim(axis)));
        let n = s.arg(self.n);
        let k = k.get();
        let index = match form {
            0 => y * n + k,
            1 => k * w + x,
            2 => k,
            3 => k + x * n,
            4 => k * h + y,
            5 => x + k,
            6 => k * s.n(2) + s.n(1),
            7 => k.divide(DivideOp::Div, s.n(2)) * w + x,
            8 => s.id(Builtin::GlobalThreadId),
            _ => x.divide(DivideOp::Div, s.n(2)) * n + k,
        };
        s.load(self.slices[form], index)
    }

    fn statement(&self, k: SketchLocal<'s>, depth: u32) {
        let s = self.s;
        match self.below(if depth == 0 { 3 } else { 6 }) {
            0 | 1 => s.set(self.sum, self.sum.get() * s.f32(0.75) + self.load(k)),
            2 => s.set(self.sum, self.sum.get() - self.load(k) * self.load(k)),
            3 => {
                let a = s.let_("a", self.load(k));
                s.set(self.sum, self.sum.get() + a.get() * a.get());
            }
            4 => {
                let cond = self.load(k).lt(self.load(k));
                s.if_(cond, || self.statement(k, depth - 1));
            }
            _ => {
                s.for_("j", s.n(0), k.get() & s.n(1), |_, _| {
                    self.statement(k, depth - 1)
                });
            }
        }
    }
}

/// A random kernel with a loop over `k`, which loads from ten slices.
fn kernel(seed: u64) -> Kernel {
    let s = Sketch::new("random");
    let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "l", "m"];
    let slices = names.map(|name| s.slice(name, Scalar::F32)).to_vec();
    let out = s.slice_mut("out", Scalar::F32);
    let (n, start) = (
        s.scalar("n", Scalar::Usize),
        s.scalar("start", Scalar::Usize),
    );
    let sum = s.let_mut("sum", s.id(Builtin::GlobalIdx(Axis::X)).cast(Scalar::F32));
    let w = Writer {
        s: &s,
        rng: RefCell::new(Rng(seed)),
        slices,
        n,
        sum,
    };
    let first = if seed.is_multiple_of(3) {
        s.n(0)
    } else {
        s.arg(start)
    };
    s.for_("k", first, s.arg(n), |k, _| {
        for _ in 0..1 + w.below(3) {
            w.statement(k, 2);
        }
    });
    let [x, y, z] = Axis::ALL.map(|axis| s.id(Builtin::GlobalIdx(axis)));
    let rows = z * s.id(Builtin::GlobalDim(Axis::Y)) + y;
    let at = rows * s.id(Builtin::GlobalDim(Axis::X)) + x;
    s.store(out, at, sum.get());
    s.finish()
}

struct Memories {
    slices: Vec<Vec<f32>>,
    shape: Shape,
}

impl Host for Memories {
    fn scalar(&self, param: ParamId) -> Value {
        let start = param.index() == FORMS + 2;
        Value::Usize(if start {
            self.shape.start
        } else {
            self.shape.n
        })
    }

    fn len(&self, slice: ParamId) -> u64 {
        self.slices[slice.index()].len() as u64
    }

    fn load(&mut self, slice: ParamId, index: u64) -> Value {
        Value::f32(self.slices[slice.index()][index as usize])
    }

    fn store(&mut self, slice: ParamId, index: u64, value: Value) {
        let Value::F32(bits) = value else {
            panic!("an element is an `f32`");
        };
        self.slices[slice.index()][index as usize] = f32::from_bits(bits);
    }
}

/// The bits of the last slice after a launch of whole blocks, or of blocks of one thread.
fn run(kernel: &Kernel, shape: Shape, threads: [u64; 3]) -> Vec<u32> {
    let slice = |form| {
        (0..shape.len(form))
            .map(|i| (i * 7 % 13) as f32 * 0.375 - 1.5)
            .collect()
    };
    let mut memories = Memories {
        slices: (0..=FORMS).map(slice).collect(),
        shape,
    };
    run_blocks(kernel, threads, &mut memories);
    let out = memories.slices.last().expect("there is `out`");
    out.iter().map(|value| value.to_bits()).collect()
}

/// A random plan for a launch.
fn plan(rng: &mut Rng, shape: Shape) -> Optimization {
    let factor = [rng.pick(&[1, 2, 4, 8]), rng.pick(&[1, 2, 4]), 1];
    let block = [rng.pick(&[1, 2, 4]), rng.pick(&[1, 2, 3]), 1];
    let tile = [0, 1, 2].map(|axis| factor[axis] * block[axis]);
    let chunk = rng.pick(&[1, 2, 3, 4, 8]);
    let mut stage = Stage::new(tile, block, chunk, shape.extent);
    stage.double = rng.below(2) == 0;
    let turns = shape.n.saturating_sub(shape.start);
    stage.rest = !turns.is_multiple_of(chunk.into()) || !shape.n.is_multiple_of(chunk.into());
    let merges = [Axis::X, Axis::Y].into_iter().filter_map(|axis| {
        let factor = factor[axis.index()];
        let run = [1, 2, 4]
            .into_iter()
            .filter(|run| factor.is_multiple_of(*run));
        let spread = Spread {
            block: block[axis.index()],
            run: rng.pick(&run.collect::<Vec<u32>>()),
        };
        (factor > 1).then(|| Merge::staged(axis, factor, spread))
    });
    let merges = merges.collect();
    let is_multiple = shape.n.is_multiple_of(4) && shape.n > 0;
    Optimization {
        aligned: match rng.below(2) {
            0 => (0..FORMS as u32).map(ParamId).collect(),
            _ => vec![],
        },
        multiples: match is_multiple {
            true => vec![(ParamId(FORMS as u32 + 1), 4)],
            false => vec![],
        },
        stage: Some(stage),
        merges,
        ..Optimization::default()
    }
}

#[test]
fn staged_loops_compute_the_same() {
    let (mut staged, mut refused) = (0, vec![]);
    for seed in 0..500 {
        let plain = kernel(seed);
        assert_eq!(validate(&plain), Ok(()), "{plain}");
        let mut rng = Rng(!seed);
        let shape = Shape {
            extent: [1 + rng.below(20), 1 + rng.below(6), 1 + rng.below(2)],
            n: rng.below(14),
            start: rng.below(3),
        };
        let plan = plan(&mut rng, shape);
        let kernel = match plan.apply(&plain) {
            Ok(kernel) => kernel,
            Err(refusal) => {
                refused.push(refusal);
                continue;
            }
        };
        staged += 1;
        assert_eq!(
            validate(&kernel),
            Ok(()),
            "seed {seed}: {plan:?}\n{plain}\n{kernel}"
        );
        let mut unchecked = plain.clone();
        passes::elide_checks(&mut unchecked, &BTreeSet::new());
        assert_eq!(
            run(&unchecked, shape, shape.extent),
            run(&kernel, shape, plan.threads(shape.extent)),
            "seed {seed}, {shape:?}: {plan:?}\n{plain}\n{kernel}"
        );
    }
    println!("{staged} staged, {} refused", refused.len());
    assert!(staged > 330, "{staged} staged, {refused:?}");
}

/// The plan of a product for blocks of 256 threads.
fn tiles_of_128(extent: [u64; 3]) -> Optimization {
    let stage = Stage::new([128, 128, 1], [16, 16, 1], 8, extent);
    let spread = Spread { block: 16, run: 4 };
    Optimization {
        aligned: [0, 1, 2].map(ParamId).to_vec(),
        multiples: vec![(ParamId(3), 4)],
        stage: Some(Stage {
            rest: false,
            ..stage
        }),
        merges: [Axis::Y, Axis::X]
            .map(|axis| Merge::staged(axis, 8, spread))
            .to_vec(),
        ..Optimization::default()
    }
}

#[test]
fn all_accesses_of_a_staged_product_are_wide() {
    let kernel = tiles_of_128([1024, 1024, 1]).apply(&product()).unwrap();
    for (dialect, wide) in [("cuda", "float4*)"), ("opencl", "float4*)")] {
        let dialect = write::dialect(dialect).unwrap();
        let variant = write::default_variant(&kernel, dialect);
        let text = write::render(&kernel, dialect, &variant).unwrap().text;
        let count = |what: &str| text.matches(what).count();
        // Of each operand, a load for the first chunk and one for each further one.
        assert_eq!(count(&format!("{wide}a)")), 2, "{text}");
        assert_eq!(count(&format!("{wide}b)")), 2, "{text}");
        // Two groups of four for each thread, and the copies of `b`. Those of `a` are turned, and so single.
        assert_eq!(count(&format!("{wide}a_tile)")), 2, "{text}");
        assert_eq!(count(&format!("{wide}b_tile)")), 4, "{text}");
        assert_eq!(count(&format!("{wide}c)")), 16, "{text}");
        assert_eq!(count("a_tile[turn"), 4, "{text}");
    }
}

#[test]
fn a_ragged_product_is_guarded_after_its_loop_only() {
    let guards = |extent| {
        let kernel = tiles_of_128(extent).apply(&product()).unwrap().to_string();
        let (before, after) = kernel.rsplit_once("barrier").unwrap();
        (before.contains("min("), after.contains("global_dim_x()"))
    };
    assert_eq!(guards([1024, 1024, 1]), (false, false));
    assert_eq!(guards([1000, 1000, 1]), (true, true));
}

#[test]
fn each_obstacle_to_staging_is_refused() {
    let refusal = |extent, write: &dyn Fn(&Sketch, [ParamId; 3])| {
        let s = Sketch::new("k");
        let slices = [
            s.slice("a", Scalar::U64),
            s.slice_mut("y", Scalar::U64),
            s.scalar("n", Scalar::Usize),
        ];
        write(&s, slices);
        let mut kernel = s.finish();
        passes::elide_checks(&mut kernel, &BTreeSet::new());
        let stage = Stage::new([8, 1, 1], [8, 1, 1], 4, [extent, 1, 1]);
        stage.apply(&mut kernel, &[]).err()
    };
    let x = Builtin::GlobalIdx(Axis::X);
    let sum = |s: &Sketch, [a, y, n]: [ParamId; 3]| {
        let sum = s.let_mut("sum", s.lit(Value::U64(0)));
        s.for_("k", s.n(0), s.arg(n), |k, _| {
            s.set(sum, sum.get() + s.load(a, k.get()));
        });
        s.store(y, s.id(x), sum.get());
    };
    assert_eq!(refusal(64, &sum), None);
    assert_eq!(refusal(60, &sum), None);
    // No loop, or one under a condition.
    assert_eq!(
        refusal(64, &|s, [_, y, _]| s.store(
            y,
            s.id(x),
            s.lit(Value::U64(0))
        )),
        Some(Refusal::NoLoop)
    );
    assert_eq!(
        refusal(64, &|s, slices| s
            .if_(s.id(x).lt(s.n(9)), || sum(s, slices))),
        Some(Refusal::NoLoop)
    );
    // Bounds that differ between threads, and a loop that some leave early.
    assert_eq!(
        refusal(64, &|s, [a, y, _]| s.for_("k", s.n(0), s.id(x), |k, _| {
            s.store(y, s.id(x), s.load(a, k.get()));
        })),
        Some(Refusal::Uneven)
    );
    assert_eq!(
        refusal(64, &|s, [a, y, n]| {
            let sum = s.let_mut("sum", s.lit(Value::U64(0)));
            s.for_("k", s.n(0), s.arg(n), |k, label| {
                s.set(sum, sum.get() + s.load(a, k.get()));
                s.if_(s.lit(Value::U64(9)).lt(sum.get()), || s.break_(label));
            });
            s.store(y, s.id(x), sum.get());
        }),
        Some(Refusal::Uneven)
    );
    // Tiles are placed by `usize` arithmetic.
    assert_eq!(
        refusal(64, &|s, [a, y, _]| {
            let (end, sum) = (
                s.scalar("end", Scalar::U32),
                s.let_mut("sum", s.lit(Value::U64(0))),
            );
            s.for_("k", s.u32(0), s.arg(end), |k, _| {
                s.set(sum, sum.get() + s.load(a, k.get().cast(Scalar::Usize)));
            });
            s.store(y, s.id(x), sum.get());
        }),
        Some(Refusal::Counter)
    );
    // Neighbours load neighbours already, and an index that comes from memory is unknown.
    assert_eq!(
        refusal(64, &|s, [a, y, n]| {
            let sum = s.let_mut("sum", s.lit(Value::U64(0)));
            s.for_("k", s.n(0), s.arg(n), |k, _| {
                let at = s.load(a, k.get() * s.arg(n) + s.id(x));
                s.set(sum, sum.get() + s.load(a, at.cast(Scalar::Usize)));
            });
            s.store(y, s.id(x), sum.get());
        }),
        Some(Refusal::NoTile)
    );
    // A store in the loop, and a load of what the kernel writes by threads beyond the extent.
    assert_eq!(
        refusal(64, &|s, [a, y, n]| s.for_("k", s.n(0), s.arg(n), |k, _| {
            s.store(y, s.id(x), s.load(a, k.get()));
        })),
        Some(Refusal::Effect)
    );
    let adds = |s: &Sketch, [a, y, n]: [ParamId; 3]| {
        let sum = s.let_mut("sum", s.load(y, s.id(x)));
        s.for_("k", s.n(0), s.arg(n), |k, _| {
            s.set(sum, sum.get() + s.load(a, k.get()));
        });
        s.store(y, s.id(x), sum.get());
    };
    assert_eq!(refusal(64, &adds), None);
    assert_eq!(refusal(60, &adds), Some(Refusal::Effect));
    // The user's threads cooperate already.
    assert_eq!(refusal(64, &|s, _| s.barrier()), Some(Refusal::Cooperation));
}
