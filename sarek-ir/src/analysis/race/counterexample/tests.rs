use std::cell::Cell;

use super::super::shared::soundness as shared;
use super::super::{Race, check, soundness};
use super::world::Facts;
use super::{BUDGET, Counterexample, Element, World, search};
use crate::analysis::access::Place;
use crate::analysis::random::Rng;
use crate::interp::{Finding, Host, Ids, Like, Machine, Sanitize, Stop};
use crate::sketch::{Sketch, SketchExpr, SketchLocal};
use crate::{
    AtomicOp, Axis, Builtin, Kernel, Memory, ParamId, Root, Scalar, Stmt, StmtId, TypeDef, Value,
};

const X: Builtin = Builtin::GlobalIdx(Axis::X);
const T: Builtin = Builtin::ThreadIdx(Axis::X);

/// The arguments of a launch. Elements have any values.
struct Launch<'w>(&'w World<'w>);

impl Host for Launch<'_> {
    fn scalar(&self, param: ParamId) -> Value {
        let value = self.0.argument(param);
        value.expect("these kernels take integers").0
    }

    fn len(&self, slice: ParamId) -> u64 {
        self.0.len(slice)
    }

    fn load(&mut self, slice: ParamId, index: u64) -> Value {
        let kernel = self.0.kernel();
        let read_only = kernel.access(slice.into()) == crate::Access::Read;
        let bits = match read_only && self.0.zeros {
            true => 0,
            false => Rng(index ^ u64::from(slice.0) << 32).next(),
        };
        Value::of_bits(kernel.element(slice.into()), bits)
    }

    fn store(&mut self, _: ParamId, _: u64, _: Value) {}
}

fn settings(seed: u64) -> Sanitize {
    Sanitize {
        seed,
        unwritten: true,
        overflow: false,
    }
}

/// The ids of a thread of a counterexample.
fn ids_of(world: &World<'_>, memory: Memory, thread: [u32; 3]) -> Ids {
    let thread = thread.map(u64::from);
    let block = match memory {
        Memory::Shared(_) => [0; 3],
        _ => [0, 1, 2].map(|a| thread[a] / world.block[a]),
    };
    let at = [0, 1, 2].map(|a| thread[a] % world.block[a]);
    let mut threads = world.threads(block);
    let found = threads.find(|ids| ids.thread_idx == at);
    found.expect("a thread of the launch")
}

/// Asserts that the sanitizer finds the race of a counterexample if the two threads run alone, without barriers.
fn replay_alone(world: &World<'_>, race: &Race, found: &Counterexample) {
    let kernel = world.kernel();
    let mut machine = Machine::sanitizing(kernel, settings(0));
    let mut last = Ok(());
    for thread in found.threads {
        let ids = ids_of(world, race.memory, thread);
        last = machine.run(&ids, [1; 3], &mut Launch(world));
        if matches!(last, Err(Stop::Found(_))) {
            break;
        }
    }
    let Err(Stop::Found(finding)) = last else {
        panic!("{found:?} is no race, but {last:?}, in\n{kernel}");
    };
    assert!(matches!(*finding, Finding::Race { memory, .. } if memory == race.memory));
}

/// Asserts that the sanitizer finds a race in some order of the block's threads.
fn replay_block(world: &World<'_>, race: &Race, found: &Counterexample) {
    let kernel = world.kernel();
    let first = ids_of(world, race.memory, [0; 3]);
    let races = (0..20).any(|seed| {
        let mut machine = Machine::sanitizing(kernel, settings(seed));
        machine.like = [Like::Host, Like::Accelerator][seed as usize % 2];
        let ran = machine.run(&first, world.block, &mut Launch(world));
        let Err(Stop::Found(finding)) = ran else {
            return false;
        };
        matches!(*finding, Finding::Race { memory, .. } if memory == race.memory)
    });
    assert!(races, "{found:?} is no race in\n{kernel}");
}

/// Searches a counterexample for each race of a kernel, and shows it to `replay`.
fn each_found(kernel: &Kernel, replay: &mut dyn FnMut(&World<'_>, &Race, &Counterexample)) {
    let Err(races) = check(kernel) else { return };
    let facts = Facts::of(kernel);
    for race in races {
        let budget = Cell::new(BUDGET);
        let places = [race.first.0, race.second.0].map(Some);
        let found = search(&facts, race.memory, places, &budget);
        let told = found.as_ref().map(|(_, found, _)| *found);
        assert_eq!(told, race.counterexample.as_deref().copied(), "{kernel}");
        if let Some((world, found, _)) = found {
            replay(&world, &race, &found);
        }
    }
}

#[test]
fn the_sanitizer_confirms_random_slices() {
    let mut count = [0; 2];
    for seed in 0..300 {
        for (make, count) in [soundness::kernel, soundness::pattern]
            .into_iter()
            .zip(&mut count)
        {
            each_found(&make(&mut Rng(seed)), &mut |world, race, found| {
                *count += 1;
                replay_alone(world, race, found);
            });
        }
    }
    assert!(count.iter().all(|count| *count > 40), "{count:?} found");
}

#[test]
fn the_sanitizer_confirms_random_shared_arrays() {
    let mut count = 0;
    for seed in 0..600 {
        each_found(
            &shared::kernel_of(seed, true, 64),
            &mut |world, race, found| {
                count += 1;
                replay_block(world, race, found);
            },
        );
    }
    assert!(count > 200, "{count} found");
}

/// The two threads meet also where each runs alone, with stores in place of barriers.
#[test]
fn threads_alone_confirm_random_shared_arrays() {
    let mut count = 0;
    for seed in 0..600 {
        each_found(&shared::kernel(seed, true), &mut |world, race, found| {
            count += 1;
            let alone = shared::kernel(seed, false);
            let ids = found
                .threads
                .map(|thread| ids_of(world, race.memory, thread));
            let [a, b] = ids.map(|ids| shared::touched(&alone, &ids, world.values.arguments));
            let at = found.element.single().expect("an index");
            let meets = a.iter().any(|(phase, index, stores)| {
                *index == at
                    && b.iter()
                        .any(|(p, i, s)| p == phase && i == index && (*s || *stores))
            });
            assert!(meets, "seed {seed}: {found:?} in\n{}", world.kernel());
        });
    }
    assert!(count > 200, "{count} found");
}

/// A kernel with `x: &[u32]`, `y: &mut [u32]` and `n: usize`; `fill` gets them with `i`, the thread's global id.
fn kernel(fill: impl Fn(&Sketch, [ParamId; 3], SketchLocal<'_>)) -> Kernel {
    let s = Sketch::new("k");
    let (x, y) = (s.slice("x", Scalar::U32), s.slice_mut("y", Scalar::U32));
    let n = s.scalar("n", Scalar::Usize);
    let i = s.let_("i", s.id(X));
    fill(&s, [x, y, n], i);
    let kernel = s.finish();
    assert_eq!(crate::validate(&kernel), Ok(()), "{kernel}");
    kernel
}

fn half<'s>(s: &'s Sketch, i: SketchLocal<'s>) -> SketchExpr<'s> {
    i.get().divide(crate::DivideOp::Div, s.n(2))
}

/// Stores to `y[i / 2]`.
fn store_half(s: &Sketch, y: ParamId, i: SketchLocal<'_>) {
    s.store(y, half(s, i), s.lit(Value::U32(1)));
}

/// The threads along x, the element, and the value of arguments and lengths of the counterexample.
fn named(kernel: &Kernel) -> Option<(u32, u32, u64, Option<u32>)> {
    let races = check(kernel).expect_err("a race");
    let found = races[0].counterexample.as_deref()?;
    let [a, b] = found.threads.map(|[x, y, z]| {
        assert_eq!([y, z], [0, 0]);
        x
    });
    let value = found.assumed.map(|assumed| assumed.arguments);
    Some((a, b, found.element.single()?, value))
}

#[test]
fn guards_are_satisfied() {
    let below = kernel(|s, [_, y, n], i| s.if_(i.get().ge(s.arg(n)), || store_half(s, y, i)));
    assert_eq!(named(&below), Some((6, 7, 3, Some(5))));
    let returned = kernel(|s, [_, y, _], i| {
        s.if_(i.get().lt(s.n(4)), || s.return_());
        store_half(s, y, i);
    });
    assert_eq!(named(&returned), Some((4, 5, 2, None)));
    let alone = kernel(|s, [_, y, _], i| {
        s.if_(i.get().gt(s.n(0)).and(i.get().ne(s.n(7))), || s.return_());
        store_half(s, y, i);
    });
    assert_eq!(named(&alone), None);
}

#[test]
fn no_example_depends_on_unknown_values() {
    let by_link = kernel(|s, [_, y, _], i| {
        s.if_(s.link("FLAG", Scalar::Bool), || store_half(s, y, i));
    });
    assert_eq!(named(&by_link), None);
    let may_return = kernel(|s, [_, y, _], i| {
        s.if_(s.link("FLAG", Scalar::Bool), || s.return_());
        store_half(s, y, i);
    });
    assert_eq!(named(&may_return), None);
    let may_fault = kernel(|s, [_, y, _], i| {
        s.let_("read", s.load(y, s.load(y, s.n(0)).cast(Scalar::Usize)));
        store_half(s, y, i);
    });
    assert_eq!(named(&may_fault), None);
    let waits = kernel(|s, [_, y, _], i| {
        s.while_(s.load(y, s.n(9)).eq(s.lit(Value::U32(0))), |_| {});
        store_half(s, y, i);
    });
    assert_eq!(named(&waits), None);
    let either = kernel(|s, [_, y, _], i| {
        let k = s.let_mut("k", i.get());
        s.if_(s.link("FLAG", Scalar::Bool), || s.set(k, s.n(3)));
        s.store(y, k.get(), s.lit(Value::U32(1)));
    });
    assert_eq!(named(&either), None);
    let same = kernel(|s, [_, y, _], i| {
        let k = s.let_mut("k", s.n(0));
        let by = |v| move || s.set(k, v);
        s.if_else(s.link("FLAG", Scalar::Bool), by(half(s, i)), by(half(s, i)));
        s.store(y, k.get(), s.lit(Value::U32(1)));
    });
    assert_eq!(named(&same), Some((0, 1, 0, None)));
}

#[test]
fn inputs_may_be_zero() {
    let kernel = |wanted: u32| {
        kernel(|s, [x, y, _], i| {
            let is_wanted = s.load(x, i.get()).eq(s.lit(Value::U32(wanted)));
            s.if_(is_wanted, || store_half(s, y, i));
        })
    };
    assert_eq!(named(&kernel(0)), Some((0, 1, 0, None)));
    assert!(
        check(&kernel(0)).expect_err("a race")[0]
            .counterexample
            .as_deref()
            .copied()
            .expect("found")
            .zeros
    );
    assert_eq!(named(&kernel(1)), None);
}

#[test]
fn loops_run() {
    let run = kernel(|s, [_, y, _], i| {
        s.for_("k", s.n(0), s.n(5), |k, _| {
            s.store(y, i.get() * s.n(4) + k.get(), s.lit(Value::U32(1)));
        });
    });
    assert_eq!(named(&run), Some((0, 1, 4, None)));
    let left = kernel(|s, [_, y, _], i| {
        s.for_("k", s.n(0), s.n(9), |k, label| {
            s.if_(k.get().eq(s.n(2)), || s.continue_(label));
            s.if_(k.get().ge(s.n(6)), || s.break_(label));
            s.store(y, i.get() * s.n(5) + k.get(), s.lit(Value::U32(1)));
        });
    });
    assert_eq!(named(&left), Some((0, 1, 5, None)));
    let strides = kernel(|s, [_, y, _], i| {
        let at = s.let_mut("at", i.get());
        s.while_(at.get().lt(s.len(y)), |_| {
            s.store(y, at.get(), s.lit(Value::U32(1)));
            s.set(at, at.get() + s.id(Builtin::GlobalDim(Axis::X)) - s.n(1));
        });
    });
    assert_eq!(named(&strides), Some((0, 7, 7, Some(64))));
    let endless = kernel(|s, [_, y, _], i| {
        s.loop_(|_| {});
        store_half(s, y, i);
    });
    assert_eq!(named(&endless), None);
}

#[test]
fn requirements_and_arithmetic_hold() {
    let required = kernel(|s, [_, y, n], i| {
        s.assert(s.arg(n).le(s.n(3)), "a requirement");
        s.if_(i.get().ge(s.arg(n)), || store_half(s, y, i));
    });
    assert_eq!(named(&required), Some((4, 5, 2, Some(3))));
    let underflows = kernel(|s, [_, y, _], i| {
        let before = s.let_("before", i.get() - s.n(1));
        store_half(s, y, before);
    });
    assert_eq!(named(&underflows), Some((1, 2, 0, None)));
    let bounded = kernel(|s, [_, y, _], i| {
        let n = s.let_("n", s.len(y));
        let index = n.get() - s.n(1) + half(s, i);
        s.store(y, index, s.lit(Value::U32(1)));
    });
    assert_eq!(named(&bounded), Some((0, 1, 4, Some(5))));
}

#[test]
fn values_are_followed_through_structs() {
    let tuple = kernel(|s, [_, y, _], i| {
        let ty = s.type_of(TypeDef::Tuple(vec![Scalar::Usize.into(); 2].into()));
        let pair = s.let_any(
            "pair",
            ty,
            Some(s.construct(None, &[("0", half(s, i)), ("1", s.n(0))], ty)),
        );
        s.update(
            Root::Local(pair.id),
            vec![crate::Step::Field(s.name("1"))],
            i.get(),
        );
        let at = s.field(s.read_any(pair.id), "0", Scalar::Usize);
        s.store(y, at, s.lit(Value::U32(1)));
    });
    assert_eq!(named(&tuple), Some((0, 1, 0, None)));
}

#[test]
fn elements_of_views_are_coordinates() {
    let s = Sketch::new("k");
    let view = s.slice_mut("m", Scalar::F32);
    for name in ["rows", "cols", "offset", "row_stride", "col_stride"] {
        s.scalar(name, Scalar::Usize);
    }
    let i = s.let_("i", s.id(X));
    let row = s.bounded(view, 0, half(&s, i), s.arg(ParamId(1)));
    s.store(view, s.at(view, &[row, s.n(2)]), s.f32(0.0));
    let races = check(&s.finish()).expect_err("a race");
    let found = races[0].counterexample.as_deref().expect("an example");
    assert_eq!(found.threads, [[0, 0, 0], [1, 0, 0]]);
    assert_eq!(found.element.to_string(), "[0, 2]");
}

/// A race between two statements of a shared array.
fn between(kernel: &Kernel, memory: Memory, stores: [usize; 2]) -> Option<Counterexample> {
    let all = (0..kernel.stmts.len()).map(|id| StmtId(id as u32));
    let all =
        all.filter(|id| matches!(kernel.stmt(*id), Stmt::Store { memory: of, .. } if of == memory));
    let all: Vec<StmtId> = all.collect();
    let places = stores.map(|at| Some(Place::Store(all[at])));
    let (facts, budget) = (Facts::of(kernel), Cell::new(BUDGET));
    search(&facts, memory, places, &budget).map(|(_, found, _)| found)
}

#[test]
fn barriers_order_accesses_of_a_block() {
    let s = Sketch::new("k");
    let tile: Memory = s.shared("tile", Scalar::U32, 40).into();
    let y: Memory = s.slice_mut("y", Scalar::U32).into();
    let t = s.let_("t", s.id(T));
    let one = || s.lit(Value::U32(1));
    s.store(tile, t.get(), one());
    s.store(y, s.id(X), one());
    s.barrier();
    s.store(tile, t.get() + s.n(1), one());
    s.store(y, s.n(0), one());
    let mut kernel = s.finish();
    kernel.block = Some([8, 1, 1]);
    assert_eq!(between(&kernel, tile, [0, 1]), None);
    assert_eq!(between(&kernel, tile, [0, 0]), None);
    let threads = |found: Option<Counterexample>| found.map(|found| found.threads.map(|t| t[0]));
    // Thread 0 stores before the barrier, and threads of its own block after it.
    assert_eq!(threads(between(&kernel, y, [0, 1])), Some([0, 8]));
    assert_eq!(threads(between(&kernel, y, [1, 1])), Some([0, 1]));
}

/// A kernel with two arguments and `y: &mut [u32]` over two dimensions.
fn plane(fill: impl Fn(&Sketch, [ParamId; 3], [SketchLocal<'_>; 2])) -> Kernel {
    let s = Sketch::new("k");
    let params = [
        s.scalar("w", Scalar::Usize),
        s.scalar("pitch", Scalar::Usize),
        s.slice_mut("y", Scalar::U32),
    ];
    let ids = [("col", Axis::X), ("row", Axis::Y)];
    let ids = ids.map(|(name, axis)| s.let_(name, s.id(Builtin::GlobalIdx(axis))));
    fill(&s, params, ids);
    s.finish()
}

#[test]
fn one_argument_may_differ_from_the_others() {
    let wide = plane(|s, [w, pitch, y], [col, row]| {
        s.if_(col.get().lt(s.arg(w)), || {
            s.store(y, row.get() * s.arg(pitch) + col.get(), s.u32(1));
        });
    });
    let races = check(&wide).expect_err("a race");
    let found = races[0].counterexample.as_deref().expect("an example");
    let assumed = found.assumed.expect("values");
    assert_eq!(
        (assumed.arguments, assumed.special),
        (5, Some((ParamId(0), 64)))
    );
    assert_eq!(found.element, Element::from(5));
    assert_eq!(found.threads, [[0, 1, 0], [5, 0, 0]]);
}

#[test]
fn other_accesses_may_meet_than_those_without_a_proof() {
    // The loads of the row `k` meet the stores to it, not those of the column.
    let pivot = plane(|s, [k, n, a], [x, y]| {
        let (row, col) = (y.get() + s.arg(k), x.get() + s.arg(k) + s.n(1));
        let (row, col) = (s.let_("i", row), s.let_("j", col));
        s.if_(row.get().lt(s.arg(n)).and(col.get().lt(s.arg(n))), || {
            let left = s.load(a, row.get() * s.arg(n) + s.arg(k));
            let above = s.load(a, s.arg(k) * s.arg(n) + col.get());
            s.store(a, row.get() * s.arg(n) + col.get(), left + above);
        });
    });
    let races = check(&pivot).expect_err("a race");
    assert!(races[0].counterexample.is_some());
    assert_ne!(races[0].first, races[0].second);
}

#[test]
fn intervals_are_reached_if_no_thread_stops() {
    let kernel = |len| {
        let s = Sketch::new("k");
        let tile: Memory = s.shared("tile", Scalar::U32, len).into();
        let t = s.let_("t", s.id(T));
        let one = || s.lit(Value::U32(1));
        s.store(tile, t.get(), one());
        s.barrier();
        s.store(tile, s.n(0), one());
        let mut kernel = s.finish();
        kernel.block = Some([8, 1, 1]);
        (kernel, tile)
    };
    let (fits, tile) = kernel(8);
    let found = between(&fits, tile, [1, 1]).expect("a race");
    assert_eq!(found.element, Element::from(0));
    let (faults, tile) = kernel(7);
    assert_eq!(between(&faults, tile, [1, 1]), None);
}

#[test]
fn flags_order_blocks() {
    let s = Sketch::new("k");
    let flag = s.atomics("flag", Scalar::U32);
    let y = s.slice_mut("y", Scalar::U32);
    let done = s.atomic(AtomicOp::Load, flag, s.n(0), &[]);
    s.if_(done.get().eq(s.lit(Value::U32(1))), || {
        s.store(y, s.n(0), s.lit(Value::U32(1)));
    });
    assert_eq!(named(&s.finish()), None);
}
