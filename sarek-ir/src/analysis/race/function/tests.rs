use std::collections::BTreeSet;

use super::FunctionRaces;
use crate::sketch::{Sketch, SketchExpr};
use crate::{
    Argument, Axis, Builtin, Compound, Kernel, Length, Memory, Precondition, Root, Scalar,
    SharedId, Step, TypeDef,
};

fn function(fill: impl FnOnce(&Sketch)) -> Kernel {
    let s = Sketch::new("f");
    fill(&s);
    let kernel = s.finish();
    assert_eq!(crate::validate(&kernel), Ok(()), "{kernel}");
    kernel
}

fn check(function: &Kernel) -> FunctionRaces {
    super::check(function, &BTreeSet::new())
}

fn thread(s: &Sketch) -> SketchExpr<'_> {
    s.id(Builtin::ThreadIdx(Axis::X))
}

/// Stores, waits, reads a neighbour's element, and optionally waits again.
fn neighbour(s: &Sketch, memory: Memory, ends: bool) {
    s.store(memory, thread(s), s.f32(1.0));
    s.barrier();
    s.let_("x", s.load(memory, s.n(3)));
    if ends {
        s.barrier();
    }
}

#[test]
fn a_lent_array_is_used_between_barriers() {
    let takes = |ends: bool| {
        check(&function(|s| {
            let tile = s.slice_mut("tile", Scalar::F32);
            neighbour(s, tile.into(), ends);
        }))
    };
    assert_eq!(takes(true).takes, [true]);
    assert!(
        takes(true)
            .needs
            .contains(&Precondition::BlockAtMost(Axis::Y, 1))
    );
    assert_eq!(
        takes(false).takes,
        [false],
        "the next call may store what is read"
    );
}

#[test]
fn a_return_before_the_last_barrier_ends_without_it() {
    let found = check(&function(|s| {
        let n = s.scalar("n", Scalar::Usize);
        let tile = s.slice_mut("tile", Scalar::F32);
        s.if_(s.arg(n).eq(s.n(0)), || s.return_());
        neighbour(s, tile.into(), true);
    }));
    assert_eq!(found.takes, [false, false]);
}

#[test]
fn races_are_told_of_the_functions_own_arrays() {
    let own = |missing: bool, ends: bool| {
        check(&function(|s| {
            let tile: Memory = s.shared("tile", Scalar::F32, 64).into();
            s.store(tile, thread(s), s.f32(1.0));
            if !missing {
                s.barrier();
            }
            s.let_("x", s.load(tile, s.n(3)));
            if ends {
                s.barrier();
            }
        }))
    };
    let found = own(false, true);
    assert!(found.races.is_empty() && found.open.is_empty(), "{found:?}");
    assert_eq!(own(true, true).races.len(), 1);
    assert_eq!(own(false, false).open, [SharedId(0)]);
}

#[test]
fn a_racy_parameter_is_not_lent_to() {
    let found = check(&function(|s| {
        let tile = s.slice_mut("tile", Scalar::F32);
        s.store(tile, s.n(0), s.f32(1.0));
        s.barrier();
    }));
    assert_eq!(found.takes, [false]);
    assert!(
        found.races.is_empty(),
        "callers are told, where they lend an array"
    );
}

#[test]
fn a_call_ends_by_a_barrier() {
    let found = |uses_before: bool| {
        check(&function(|s| {
            let tile = s.slice_mut("tile", Scalar::F32);
            let callee = s.function("g");
            if uses_before {
                s.store(tile, thread(s), s.f32(1.0));
            }
            s.call_function(callee, &[Argument::Memory(tile.into())], None);
            s.call_function(callee, &[Argument::Memory(tile.into())], None);
        }))
    };
    assert_eq!(found(false).takes, [true]);
    assert_eq!(
        found(true).takes,
        [false],
        "a barrier is missing before the call"
    );
}

#[test]
fn a_loop_may_end_by_the_barrier() {
    let found = |lent: bool, jumps: bool| {
        check(&function(|s| {
            let tile: Memory = match lent {
                true => s.slice_mut("tile", Scalar::F32).into(),
                false => s.shared("tile", Scalar::F32, 64).into(),
            };
            let n = s.scalar("n", Scalar::Usize);
            s.for_("k", s.n(0), s.arg(n), |k, l| {
                s.store(tile, thread(s), s.f32(1.0));
                if jumps {
                    s.if_(k.get().eq(s.n(3)), || s.break_(l));
                }
                s.barrier();
                s.let_("x", s.load(tile, s.n(3)));
                s.barrier();
            });
        }))
    };
    assert_eq!(found(false, false).open, []);
    assert_eq!(found(false, true).open, [SharedId(0)]);
    assert_eq!(
        found(true, false).takes,
        [false, false],
        "there may be no turn"
    );
}

#[test]
fn what_own_arrays_need_stays_beside_a_racy_parameter() {
    let found = check(&function(|s| {
        let tile: Memory = s.shared("tile", Scalar::F32, 64).into();
        neighbour(s, tile, true);
        let lent = s.slice_mut("lent", Scalar::F32);
        s.store(lent, s.n(0), s.f32(1.0));
    }));
    assert_eq!(found.takes, [false]);
    let needed = Precondition::BlockAtMost(Axis::Y, 1);
    assert!(found.needs.contains(&needed), "{found:?}");
}

#[test]
fn a_call_that_is_lent_a_parameter_is_no_barrier_for_own_arrays() {
    let found = |between: bool, behind: bool| {
        check(&function(|s| {
            let tile: Memory = s.shared("tile", Scalar::F32, 64).into();
            let lent = s.slice_mut("lent", Scalar::F32);
            let callee = s.function("g");
            let call = || s.call_function(callee, &[Argument::Memory(lent.into())], None);
            s.store(tile, thread(s), s.f32(1.0));
            if between {
                call()
            } else {
                s.barrier()
            }
            s.let_("x", s.load(tile, s.n(3)));
            if behind { call() } else { s.barrier() }
        }))
    };
    assert!(found(false, false).races.is_empty() && found(false, false).open.is_empty());
    assert_eq!(found(true, false).races.len(), 1);
    assert_eq!(found(false, true).open, [SharedId(0)]);
}

#[test]
fn views_are_lent_no_shared_arrays() {
    let kernel = function(|s| {
        let tile = s.slice_mut("tile", Scalar::F32);
        neighbour(s, tile.into(), true);
        let view = s.slice_mut("view", Scalar::F32);
        s.store(view, s.n(0), s.f32(1.0));
    });
    let found = super::check(&kernel, &BTreeSet::from([crate::ParamId(1)]));
    assert_eq!(found.takes, [true, false]);
}

/// A tile that is transposed: each thread stores to `tile[y][x]` and reads `tile[x][y]`, or a part of it.
fn turned(s: &Sketch, waits: bool, columns: u64, reads_rows: bool) {
    let row = s.type_of(TypeDef::Array {
        elem: Scalar::F32.into(),
        len: Length::Fixed(columns),
    });
    let tile = s.slice_mut("tile", row);
    let thread = |axis| s.id(Builtin::ThreadIdx(axis));
    let (memory, site) = (tile.into(), None);
    let step = Step::Index {
        index: thread(Axis::X).id,
        site,
    };
    let root = Root::Element {
        memory,
        index: thread(Axis::Y).id,
        site,
    };
    s.update(root, vec![step], s.f32(1.0));
    if waits {
        s.barrier();
    }
    let other = s.load_as(tile, thread(Axis::X), row);
    match reads_rows {
        true => {
            s.let_any("other", row, Some(other));
        }
        false => {
            let (base, index) = (other.id, thread(Axis::Y).id);
            let part = Compound::Index { base, index, site };
            s.let_("part", s.compound(part, Scalar::F32));
        }
    }
    s.barrier();
}

#[test]
fn elements_of_rows_are_told_apart() {
    let found = |waits, rows| check(&function(|s| turned(s, waits, 32, rows)));
    let due = found(true, false);
    assert_eq!(due.takes, [true]);
    let is_one =
        |need: &Precondition| matches!(need, Precondition::BlockAtMost(Axis::X | Axis::Y, 1));
    assert!(!due.needs.iter().any(is_one), "{due:?}");
    assert_eq!(found(false, false).takes, [false], "a barrier is missing");
    let rows = found(true, true);
    assert!(
        rows.takes == [false] || rows.needs.iter().any(is_one),
        "whole rows are not told apart: {rows:?}"
    );
}

/// The names of the parameters on which threads must agree; `None` if the function may not be passed a shared
/// array.
fn agreed(fill: impl FnOnce(&Sketch, Memory)) -> Option<Vec<String>> {
    let function = function(|s| {
        let tile = s.slice_mut("tile", Scalar::F32);
        fill(s, tile.into());
        s.barrier();
    });
    let found = check(&function);
    let name = |param: &crate::ParamId| function.params[param.index()].name.to_string();
    found.takes[0].then(|| found.agreed.iter().map(name).collect())
}

#[test]
fn threads_agree_on_what_keeps_them_apart() {
    fn one(s: &Sketch) -> SketchExpr<'_> {
        s.f32(1.0)
    }
    let of_sum = agreed(|s, tile| {
        let (at, value) = (s.scalar("at", Scalar::Usize), s.scalar("v", Scalar::F32));
        s.store(tile, thread(s) + s.arg(at), s.arg(value));
    });
    assert_eq!(of_sum.unwrap(), ["at"]);
    let of_factor = agreed(|s, tile| {
        let each = s.scalar("each", Scalar::Usize);
        s.for_("k", s.n(0), s.arg(each), |k, _| {
            s.store(tile, thread(s) * s.arg(each) + k.get(), one(s));
        });
    });
    assert_eq!(of_factor.unwrap(), ["each"]);
    let of_mask = agreed(|s, tile| {
        let mask = s.scalar("mask", Scalar::Usize);
        let other = s.let_("other", thread(s) ^ s.arg(mask));
        s.if_(other.get().gt(thread(s)), || {
            s.store(tile, thread(s), s.load(tile, other.get()));
        });
    });
    assert_eq!(of_mask.unwrap(), ["mask"]);
    let of_one = agreed(|s, tile| {
        let who = s.scalar("who", Scalar::Usize);
        s.if_(thread(s).eq(s.arg(who)), || s.store(tile, s.n(0), one(s)));
    });
    assert_eq!(of_one.unwrap(), ["who"]);
    let of_parts = agreed(|s, tile| {
        let place_type = s.named_type("Place");
        let (place, table) = (s.value("place", place_type), s.slice("table", Scalar::U32));
        let at = s.field(s.param_value(place, place_type), "at", Scalar::Usize);
        s.store(tile, thread(s) + at, one(s));
        s.barrier();
        let at = s.load(table, s.n(0)).cast(Scalar::Usize);
        s.store(tile, thread(s) + at, one(s));
    });
    assert_eq!(of_parts.unwrap(), ["place", "table"]);
    let of_half = agreed(|s, tile| {
        let half = s.let_mut("half", s.arg(s.scalar("half", Scalar::Usize)));
        s.if_(thread(s).lt(half.get()), || {
            s.store(tile, thread(s), s.load(tile, thread(s) + half.get()));
        });
    });
    assert_eq!(of_half.unwrap(), ["half"]);
}

#[test]
fn threads_may_differ_in_what_the_proof_bounds() {
    let found = agreed(|s, tile| {
        let at = s.scalar("at", Scalar::Usize);
        s.if_(s.arg(at).lt(s.n(8)), || {
            s.store(tile, thread(s) * s.n(8) + s.arg(at), s.f32(1.0));
        });
    });
    assert_eq!(found.unwrap(), Vec::<String>::new());
}

#[test]
fn threads_agree_sooner_than_a_launch_is_asked_for_more() {
    let fill = |s: &Sketch, tile| {
        let row = s.scalar("row", Scalar::Usize);
        s.if_(s.id(Builtin::ThreadIdx(Axis::Y)).eq(s.arg(row)), || {
            s.store(tile, thread(s), s.f32(1.0));
        });
    };
    assert_eq!(agreed(fill).unwrap(), ["row"]);
}

#[test]
fn what_a_reference_leads_to_has_no_formula() {
    let found = |changes: bool| {
        agreed(|s, tile| {
            let at = s.reference("at", Scalar::Usize);
            s.store(
                tile,
                thread(s) + s.param_value(at, Scalar::Usize),
                s.f32(1.0),
            );
            if changes {
                s.update(Root::Param(at), vec![], s.n(1));
            }
        })
    };
    assert_eq!([found(false), found(true)], [None, None]);
}
