//! Texts and refusals of merges.

use std::collections::BTreeSet;

use super::super::footprint::{Distance, Footprint};
use super::super::{Merge, Optimization, Refusal};
use super::{product, saxpy};
use crate::sketch::Sketch;
use crate::{AtomicOp, Axis, Builtin, Memory, ParamId, Scalar, Value, passes, validate, write};

#[test]
fn loads_of_all_lanes_come_first() {
    let mut kernel = saxpy();
    passes::elide_checks(&mut kernel, &BTreeSet::new());
    Merge::new(Axis::X, 2, 100).apply(&mut kernel, &[]).unwrap();
    assert_eq!(validate(&kernel), Ok(()));
    let text = kernel.to_string();
    let body: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|line| line.contains("global_idx_x"))
        .collect();
    assert_eq!(body.len(), 6, "{text}");
    for (line, start) in body
        .iter()
        .zip(["let held", "let held", "let held", "let held", "y[", "y["])
    {
        assert!(line.starts_with(start), "{text}");
    }
}

#[test]
fn neighbouring_elements_are_one_access() {
    for (dialect, wide) in [
        ("cuda", "float4"),
        ("opencl", "float4"),
        ("wgsl", "vec4<f32>"),
    ] {
        let dialect = write::dialect(dialect).unwrap();
        let text = |aligned: &[u32]| {
            let optimization = Optimization {
                aligned: aligned.iter().copied().map(ParamId).collect(),
                merges: vec![Merge::new(Axis::X, 4, 1024)],
                ..Optimization::default()
            };
            let kernel = optimization.apply(&saxpy()).unwrap();
            let variant = write::default_variant(&kernel, dialect);
            write::render(&kernel, dialect, &variant).unwrap().text
        };
        let name = dialect.name();
        assert_eq!(text(&[]).matches(wide).count(), 0, "{name}");
        // Two loads and a store.
        let wide_text = text(&[1, 2]);
        assert!(wide_text.matches(wide).count() >= 3, "{wide_text}");
    }
}

#[test]
fn words_of_structs_are_one_access_without_a_merge() {
    let s = Sketch::new("structs");
    let (x, y) = (s.slice("x", Scalar::F32), s.slice_mut("y", Scalar::F32));
    let i = s.let_("i", s.id(Builtin::GlobalIdx(Axis::X)));
    let at = |word| i.get() * s.n(8) + s.n(word);
    let words: Vec<_> = (0..8)
        .map(|word| s.let_("word", s.load(x, at(word))))
        .collect();
    for (word, value) in (0..).zip(&words) {
        s.store(y, at(word), value.get() + value.get());
    }
    let kernel = s.finish();
    for (dialect, wide) in [("cuda", "float4"), ("wgsl", "vec4<f32>")] {
        let dialect = write::dialect(dialect).unwrap();
        let optimization = Optimization {
            aligned: vec![x, y],
            ..Optimization::default()
        };
        let kernel = optimization.apply(&kernel).unwrap();
        let variant = write::default_variant(&kernel, dialect);
        let text = write::render(&kernel, dialect, &variant).unwrap().text;
        // Two loads and two stores.
        assert!(text.matches(wide).count() >= 4, "{text}");
    }
}

#[test]
fn words_hold_neighbouring_elements_of_8_and_16_bits() {
    for (ty, factor, wide) in [
        (Scalar::U8, 16, "uint4"),
        (Scalar::Bool, 16, "uint4"),
        (Scalar::I8, 8, "uint2"),
        (Scalar::U8, 4, "u32"),
        (Scalar::F16, 8, "uint4"),
        (Scalar::I16, 4, "uint2"),
    ] {
        let s = Sketch::new("copy");
        let (x, y) = (s.slice("x", ty), s.slice_mut("y", ty));
        let i = s.let_("i", s.id(Builtin::GlobalIdx(Axis::X)));
        s.store(y, i.get(), s.load(x, i.get()));
        let kernel = s.finish();
        let optimization = Optimization {
            aligned: vec![x, y],
            merges: vec![Merge::new(Axis::X, factor, 1024)],
            ..Optimization::default()
        };
        let kernel = optimization.apply(&kernel).unwrap();
        for dialect in ["cuda", "opencl"].map(|name| write::dialect(name).unwrap()) {
            let variant = write::default_variant(&kernel, dialect);
            let text = write::render(&kernel, dialect, &variant).unwrap().text;
            // A load and a store.
            assert_eq!(text.matches(&format!("{wide}*)")).count(), 2, "{text}");
            // A cast to `bool` would take all higher bits.
            assert!(!text.contains("(bool)"), "{text}");
            let second = format!(">> {})", 8 * ty.size());
            assert_eq!(
                text.matches(&second).count(),
                (factor as usize * ty.size()) / 4,
                "{text}"
            );
        }
    }
}

#[test]
fn a_branch_that_every_thread_takes_is_gone() {
    let s = Sketch::new("k");
    let (y, n) = (s.slice_mut("y", Scalar::U32), s.scalar("n", Scalar::Usize));
    let i = s.let_("i", s.id(Builtin::GlobalIdx(Axis::X)));
    let cond = i.get().lt(s.arg(n));
    s.if_(cond, || s.store(y, i.get(), s.u32(1)));
    let cond = cond.id;
    let mut kernel = s.finish();
    kernel.sites = vec![].into();
    for stmt in kernel.stmts.to_mut() {
        *stmt = stmt.unchecked();
    }
    let optimization = Optimization {
        holds: vec![cond],
        merges: vec![Merge::new(Axis::X, 2, 10)],
        ..Optimization::default()
    };
    let text = optimization.apply(&kernel).unwrap().to_string();
    assert!(!text.contains("if"), "{text}");
}

#[test]
fn what_the_lanes_share_is_loaded_once() {
    let mut kernel = product();
    passes::elide_checks(&mut kernel, &BTreeSet::new());
    for axis in [Axis::X, Axis::Y] {
        Merge::new(axis, 4, 1024).apply(&mut kernel, &[]).unwrap();
    }
    assert_eq!(validate(&kernel), Ok(()));
    let text = kernel.to_string();
    let count = |what: &str| text.matches(what).count();
    assert_eq!(
        (count("= a["), count("= b["), count("c[")),
        (4, 4, 16),
        "{text}"
    );
}

#[test]
fn only_indices_without_offset_are_wide() {
    let s = Sketch::new("k");
    let (x, y) = (s.slice("x", Scalar::F32), s.slice_mut("y", Scalar::F32));
    let i = s.let_("i", s.id(Builtin::GlobalIdx(Axis::X)));
    s.store(y, i.get(), s.load(x, i.get() + s.n(1)));
    let footprint = Footprint::of(&s.finish());
    let found: Vec<_> = footprint
        .accesses
        .iter()
        .map(|a| (a.distance[0], a.multiple))
        .collect();
    assert_eq!(found, [(Distance::One, 1), (Distance::One, 16)]);
}

#[test]
fn elements_of_structs_are_runs() {
    let has_runs = |of_thread: &[u64], words: u64| {
        let s = Sketch::new("k");
        let (x, y) = (s.slice("x", Scalar::F32), s.slice_mut("y", Scalar::F32));
        // The index of a struct is checked before it is multiplied.
        let id = s.id(Builtin::GlobalIdx(Axis::X));
        let i = s.let_("i", s.bounded(x, 0, id, s.len(x)));
        let at = |word| i.get() * s.n(words) + s.n(word);
        let loads = of_thread.iter().map(|word| s.load(x, at(*word)));
        let sum = loads.reduce(|a, b| a + b).expect("there is a load");
        s.store(y, i.get(), sum);
        Footprint::of(&s.finish()).runs
    };
    assert!(has_runs(&[0, 1, 2, 3, 4, 5, 6, 7], 8));
    assert!(has_runs(&[0, 1], 4));
    // Three words begin at no multiple of two, nor do these, and others do not follow each other.
    assert!(!has_runs(&[0, 1], 3));
    assert!(!has_runs(&[1, 2], 4));
    assert!(!has_runs(&[0, 2, 4], 8));
    // Words of neighbouring threads follow each other.
    assert!(!has_runs(&[0, 1], 1));
}

#[test]
fn each_obstacle_is_refused() {
    let refusal = |write: &dyn Fn(&Sketch, Memory)| {
        let s = Sketch::new("k");
        let y = s.slice_mut("y", Scalar::U64);
        write(&s, y.into());
        let mut kernel = s.finish();
        Merge::new(Axis::X, 2, 100).apply(&mut kernel, &[]).err()
    };
    let x = Builtin::GlobalIdx(Axis::X);
    // A checked store.
    assert_eq!(
        refusal(&|s, y| s.store(y, s.id(x), s.lit(Value::U64(1)))),
        Some(Refusal::Check)
    );
    assert_eq!(refusal(&|s, _| s.barrier()), Some(Refusal::Cooperation));
    assert_eq!(
        refusal(&|s, _| {
            s.let_("a", s.id(Builtin::ThreadIdx(Axis::Y)));
        }),
        Some(Refusal::BlockIds)
    );
    assert_eq!(
        refusal(&|s, _| {
            s.let_("a", s.id(Builtin::GlobalIdx(Axis::Y)));
        }),
        Some(Refusal::SameAlongAxis)
    );
    assert_eq!(
        refusal(&|s, _| s.for_("k", s.n(0), s.n(3), |k, _| {
            s.if_(k.get().lt(s.id(x)), || s.return_());
        })),
        Some(Refusal::Return)
    );
    // A thread may wait for its neighbour.
    assert_eq!(
        refusal(&|s, _| {
            let flags = s.atomics("flags", Scalar::U32);
            s.loop_(|label| {
                let seen = s.atomic(AtomicOp::Load, flags, s.id(x) & s.n(7), &[]);
                s.if_(seen.get().eq(s.u32(1)), || s.break_(label));
            });
        }),
        Some(Refusal::Cooperation)
    );
    assert_eq!(
        refusal(&|s, _| s.native(vec![], None)),
        Some(Refusal::Native)
    );
    assert_eq!(refusal(&|s, _| s.print(vec![], &[])), Some(Refusal::Print));
}
