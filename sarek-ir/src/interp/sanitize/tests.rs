use super::super::{Host, Ids, Machine, Stop};
use super::{Deed, Finding, Sanitize};
use crate::sketch::{Sketch, SketchExpr, SketchLocal};
use crate::{AtomicOp, Axis, Builtin, Kernel, ParamId, Scalar, Scope, SubgroupOp, Value};

const TX: Builtin = Builtin::ThreadIdx(Axis::X);
const X: Builtin = Builtin::GlobalIdx(Axis::X);
const PLAIN: Sanitize = Sanitize {
    overflow: false,
    seed: 0,
    unwritten: false,
};

/// A host with slices of 1000 zeros.
struct Zeros(Vec<Value>);

impl Host for Zeros {
    fn scalar(&self, _: ParamId) -> Value {
        Value::I32(i32::MAX)
    }

    fn len(&self, _: ParamId) -> u64 {
        self.0.len() as u64
    }

    fn load(&mut self, _: ParamId, index: u64) -> Value {
        self.0[index as usize]
    }

    fn store(&mut self, _: ParamId, index: u64, value: Value) {
        self.0[index as usize] = value;
    }
}

/// Runs two blocks of eight threads.
fn run(kernel: &Kernel, settings: Sanitize) -> Result<(), Stop> {
    assert_eq!(crate::validate(kernel), Ok(()), "{kernel}");
    let mut machine = Machine::sanitizing(kernel, settings);
    let mut host = Zeros(vec![Value::I32(0); 1000]);
    let mut blocks = [0, 1];
    machine.order(&mut blocks);
    for block in blocks {
        let first = Ids {
            thread_idx: [0; 3],
            block_idx: [block, 0, 0],
            block_dim: [8, 1, 1],
            grid_dim: [2, 1, 1],
            global_dim: [16, 1, 1],
        };
        machine.run(&first, [8, 1, 1], &mut host)?;
    }
    Ok(())
}

fn found(kernel: &Kernel, settings: Sanitize) -> Option<Finding> {
    match run(kernel, settings) {
        Ok(()) => None,
        Err(Stop::Found(finding)) => Some(*finding),
        Err(stop) => panic!("{stop:?}"),
    }
}

/// A kernel with a slice and the thread's index.
fn kernel(fill: impl for<'s> Fn(&'s Sketch, ParamId, SketchLocal<'s>)) -> Kernel {
    let s = Sketch::new("k");
    let v = s.slice_mut("v", Scalar::I32);
    let t = s.let_("t", s.id(TX));
    fill(&s, v, t);
    s.finish()
}

fn one(s: &Sketch) -> SketchExpr<'_> {
    s.i32(1)
}

#[test]
fn threads_that_meet_in_a_slice() {
    let own = kernel(|s, v, _| s.store(v, s.id(X), one(s)));
    assert_eq!(found(&own, PLAIN), None);
    let repeated = kernel(|s, v, t| s.store(v, t.get(), one(s)));
    let Some(Finding::Race { index, touches, .. }) = found(&repeated, PLAIN) else {
        panic!("blocks meet");
    };
    assert_eq!(
        (index, touches[0].thread.0[0], touches[1].thread.0[0]),
        (0, 0, 1)
    );
    assert_eq!(touches.map(|t| t.deed), [Deed::Store; 2]);
    let neighbour = kernel(|s, v, _| s.store(v, s.id(X), s.load(v, s.id(X) + s.n(1))));
    let text = found(&neighbour, PLAIN).map(|f| f.text(&neighbour));
    assert_eq!(
        text.as_deref(),
        Some(
            "data race: thread [0, 0, 0] of block [0, 0, 0] reads `v[1]` at :2:1, and thread [1, 0, 0] of block [0, 0, 0] \
             writes `v[1]` at :2:1, with nothing that orders the two"
        )
    );
}

/// Reverses a shared array, with or without a barrier between the store and the load.
fn reversed(with_barrier: bool) -> Kernel {
    kernel(move |s, v, t| {
        let tile = s.shared("tile", Scalar::I32, 8);
        s.store(tile, t.get(), one(s));
        if with_barrier {
            s.barrier();
        }
        s.store(v, s.id(X), s.load(tile, s.n(7) - t.get()));
        s.barrier();
    })
}

#[test]
fn barriers_order_a_block() {
    assert_eq!(found(&reversed(true), PLAIN), None);
    // In the plain order, the first thread reads an element that is not written yet.
    let plain = found(&reversed(false), PLAIN);
    assert!(
        matches!(plain, Some(Finding::Uninitialised { index: 7, .. })),
        "{plain:?}"
    );
    let seeds = (1..20).map(|seed| found(&reversed(false), Sanitize { seed, ..PLAIN }));
    assert!(seeds.clone().all(|found| found.is_some()));
    let again = (1..20).map(|seed| found(&reversed(false), Sanitize { seed, ..PLAIN }));
    assert!(seeds.eq(again), "a seed's order is the same each time");
}

#[test]
fn another_order_shows_another_race() {
    let orders: Vec<_> = (0..9)
        .filter_map(|seed| {
            let repeated = kernel(|s, v, _| s.store(v, s.n(5), one(s)));
            match found(&repeated, Sanitize { seed, ..PLAIN }) {
                Some(Finding::Race { touches, .. }) => Some(touches.map(|t| t.thread)),
                _ => None,
            }
        })
        .collect();
    assert_eq!(orders.len(), 9);
    assert!(orders.iter().any(|o| o != &orders[0]));
}

#[test]
fn shared_memory_is_written_first() {
    let sum = |initialised: bool| {
        kernel(move |s, v, t| {
            let total = s.shared_atomics("total", Scalar::I32, 1);
            if initialised {
                s.if_(t.get().eq(s.n(0)), || {
                    s.atomic_discard(AtomicOp::Store, total, s.n(0), &[s.i32(0)]);
                });
                s.barrier();
            }
            s.atomic_discard(AtomicOp::Add, total, s.n(0), &[one(s)]);
            s.barrier();
            s.store(v, s.id(X), one(s));
        })
    };
    assert_eq!(found(&sum(true), PLAIN), None);
    assert!(matches!(
        found(&sum(false), PLAIN),
        Some(Finding::Uninitialised { .. })
    ));
}

#[test]
fn a_block_does_not_see_the_shared_memory_of_the_one_before() {
    let k = kernel(|s, v, t| {
        let tile = s.shared("tile", Scalar::I32, 8);
        s.if_(s.id(Builtin::BlockIdx(Axis::X)).eq(s.n(0)), || {
            s.store(tile, t.get(), one(s));
        });
        s.barrier();
        s.store(v, s.id(X), s.load(tile, t.get()));
    });
    assert!(matches!(
        found(&k, PLAIN),
        Some(Finding::Uninitialised { .. })
    ));
}

/// The last block, found by a counter, adds up the values of all blocks.
fn last_block(fenced: bool) -> Kernel {
    let s = Sketch::new("k");
    let v = s.slice_mut("v", Scalar::I32);
    let done = s.atomics("done", Scalar::I32);
    s.if_(s.id(TX).eq(s.n(0)), || {
        s.store(v, s.id(Builtin::BlockIdx(Axis::X)), one(&s));
        if fenced {
            s.fence(Scope::Device);
        }
        let before = s.atomic(AtomicOp::Add, done, s.n(900), &[s.i32(1)]);
        s.if_(before.get().eq(s.i32(1)), || {
            s.store(v, s.n(20), s.load(v, s.n(0)) + s.load(v, s.n(1)));
        });
    });
    s.finish()
}

#[test]
fn fences_and_counters_order_blocks() {
    for seed in 0..6 {
        let settings = Sanitize { seed, ..PLAIN };
        assert_eq!(found(&last_block(true), settings), None);
        assert!(matches!(
            found(&last_block(false), settings),
            Some(Finding::Race { .. })
        ));
    }
}

#[test]
fn subgroups_order_nothing() {
    let k = kernel(|s, v, t| {
        let tile = s.shared("tile", Scalar::I32, 8);
        s.store(tile, t.get(), one(s));
        s.subgroup(SubgroupOp::Sum, &[s.i32(1)]);
        s.store(v, s.id(X), s.load(tile, s.n(7) - t.get()));
    });
    assert!(matches!(found(&k, PLAIN), Some(Finding::Race { .. })));
}

#[test]
fn integers_that_leave_their_types() {
    let s = Sketch::new("k");
    s.slice_mut("v", Scalar::I32);
    let most = s.scalar("most", Scalar::I32);
    s.let_("sum", s.arg(most) + s.i32(1));
    let sum = s.finish();
    let wanted = Sanitize {
        overflow: true,
        ..PLAIN
    };
    assert_eq!(found(&sum, PLAIN), None);
    let text = found(&sum, wanted)
        .map(|f| f.text(&sum))
        .expect("it overflows");
    assert!(text.contains("`most + 1i32` leaves `i32` at :1:"), "{text}");
    let shifted = kernel(|s, v, _| s.store(v, s.id(X), s.i32(1) << s.i32(32)));
    assert!(matches!(
        found(&shifted, wanted),
        Some(Finding::Overflow { .. })
    ));
    let fine = kernel(|s, v, _| s.store(v, s.id(X), (s.i32(1) << s.i32(31)) - s.i32(0)));
    assert_eq!(found(&fine, wanted), None);
}
