//! Transpositions and gathers along columns, run before and after staging through square tiles.

use std::collections::BTreeSet;

use super::super::{Merge, Optimization, Refusal, Spread, Square};
use super::run_blocks;
use crate::interp::Host;
use crate::sketch::{Sketch, SketchExpr};
use crate::{Axis, Builtin, Kernel, ParamId, Scalar, Value, passes, validate, write};

/// `to[y][x] = 2 * from[x][y] + x`, or `to[x][y] = 2 * from[y][x] + x`.
fn transposition(gathers: bool) -> Kernel {
    let s = Sketch::new("transposition");
    let (from, to) = (s.slice("from", Scalar::U64), s.slice_mut("to", Scalar::U64));
    let id = |axis| s.id(Builtin::GlobalIdx(axis));
    let (x, y) = (s.let_("x", id(Axis::X)), s.let_("y", id(Axis::Y)));
    let along_rows = || y.get() * s.id(Builtin::GlobalDim(Axis::X)) + x.get();
    let along_columns = || x.get() * s.id(Builtin::GlobalDim(Axis::Y)) + y.get();
    let (load, store) = match gathers {
        true => (along_columns(), along_rows()),
        false => (along_rows(), along_columns()),
    };
    let value = s.load(from, load) * s.lit(Value::U64(2)) + x.get().cast(Scalar::U64);
    s.store(to, store, value);
    let mut kernel = s.finish();
    passes::elide_checks(&mut kernel, &BTreeSet::new());
    kernel
}

struct Matrices([Vec<u64>; 2]);

impl Host for Matrices {
    fn scalar(&self, _: ParamId) -> Value {
        unreachable!("there is none")
    }

    fn len(&self, slice: ParamId) -> u64 {
        self.0[slice.index()].len() as u64
    }

    fn load(&mut self, slice: ParamId, index: u64) -> Value {
        Value::U64(self.0[slice.index()][index as usize])
    }

    fn store(&mut self, slice: ParamId, index: u64, value: Value) {
        let Value::U64(value) = value else {
            panic!("an element is a `u64`");
        };
        self.0[slice.index()][index as usize] = value;
    }
}

fn run(kernel: &Kernel, [x, y, _]: [u64; 3], threads: [u64; 3]) -> Vec<u64> {
    let mut host = Matrices([
        (0..x * y).map(|i| i * 5 + 1).collect(),
        vec![0; (x * y) as usize],
    ]);
    run_blocks(kernel, threads, &mut host);
    let [_, to] = host.0;
    to
}

fn plan(tile: u32, block: [u32; 2], exchanged: bool, extent: [u64; 3]) -> Optimization {
    let merges = [(Axis::Y, block[1]), (Axis::X, block[0])];
    let merges = merges.into_iter().filter(|(_, block)| *block < tile);
    Optimization {
        square: Some(Square::new(tile, block, exchanged, extent)),
        merges: merges
            .map(|(axis, block)| Merge::staged(axis, tile / block, Spread { block, run: 1 }))
            .collect(),
        ..Optimization::default()
    }
}

#[test]
fn transpositions_compute_the_same() {
    for gathers in [true, false] {
        let plain = transposition(gathers);
        for extent in [[8, 8, 1], [5, 11, 1], [16, 4, 1], [1, 9, 1], [13, 1, 1]] {
            for (tile, block) in [
                (4, [4, 1]),
                (8, [8, 2]),
                (8, [4, 4]),
                (2, [2, 2]),
                (6, [6, 3]),
            ] {
                let plan = plan(tile, block, !gathers, extent);
                let kernel = plan.apply(&plain).unwrap();
                assert_eq!(validate(&kernel), Ok(()), "{kernel}");
                assert_eq!(
                    run(&plain, extent, extent),
                    run(&kernel, extent, plan.threads(extent)),
                    "{extent:?}: {plan:?}\n{kernel}"
                );
            }
        }
    }
}

#[test]
fn both_accesses_follow_the_threads() {
    let kernel = plan(64, [64, 4], true, [128, 256, 1])
        .apply(&transposition(false))
        .unwrap();
    let dialect = write::dialect("cuda").unwrap();
    let variant = write::default_variant(&kernel, dialect);
    let text = write::render(&kernel, dialect, &variant).unwrap().text;
    let count = |what: &str| text.matches(what).count();
    assert_eq!((count("= from["), count("to[(")), (16, 16), "{text}");
    assert_eq!(count("from_tile[4160]"), 1, "{text}");
}

#[test]
fn each_obstacle_is_refused() {
    let refusal = |exchanged, write: &dyn Fn(&Sketch, [ParamId; 2])| {
        let s = Sketch::new("k");
        write(
            &s,
            [s.slice("from", Scalar::U64), s.slice_mut("to", Scalar::U64)],
        );
        let mut kernel = s.finish();
        passes::elide_checks(&mut kernel, &BTreeSet::new());
        let square = Square::new(4, [4, 4], exchanged, [8, 8, 1]);
        square.apply(&mut kernel).err()
    };
    fn at(s: &Sketch, axis: Axis) -> SketchExpr<'_> {
        s.id(Builtin::GlobalIdx(axis)) * s.n(8)
    }
    let own = Builtin::GlobalIdx(Axis::X);
    // The loads of neighbours are neighbours.
    assert_eq!(
        refusal(false, &|s, [from, to]| {
            s.store(to, s.id(own), s.load(from, at(s, Axis::Y) + s.id(own)));
        }),
        Some(Refusal::NoTile)
    );
    // Not every thread loads.
    assert_eq!(
        refusal(false, &|s, [from, to]| {
            let cond = s.id(own).lt(s.n(5));
            let y = Builtin::GlobalIdx(Axis::Y);
            s.if_(cond, || {
                s.store(to, s.id(own), s.load(from, at(s, Axis::X) + s.id(y)))
            });
        }),
        Some(Refusal::NoTile)
    );
    // A number of threads in one dimension has no exchanged axes.
    assert_eq!(
        refusal(true, &|s, [from, to]| {
            s.store(to, s.id(Builtin::GlobalThreadId), s.load(from, s.id(own)));
        }),
        Some(Refusal::BlockIds)
    );
    assert_eq!(
        refusal(false, &|s, _| s.barrier()),
        Some(Refusal::Cooperation)
    );
}
