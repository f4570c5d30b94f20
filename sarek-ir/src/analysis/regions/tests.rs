use std::collections::HashMap;

use super::{Node, Place, Plan, Rules};
use crate::analysis::uniformity::Uniformity;
use crate::sketch::{Sketch, SketchExpr};
use crate::{Axis, Builtin, Kernel, Scalar, Stmt, StmtId, SubgroupOp};

fn plan(kernel: &Kernel) -> Plan {
    assert_eq!(crate::validate(kernel), Ok(()), "{kernel}");
    let uniformity = Uniformity::of(kernel);
    let boundary = |id: StmtId| matches!(kernel.stmt(id), Stmt::Barrier | Stmt::Subgroup { .. });
    let rules = Rules {
        kernel,
        uniformity: &uniformity,
        boundary: &boundary,
    };
    let stmts: Vec<StmtId> = kernel.block(kernel.body).collect();
    Plan::of(&rules, &stmts, &HashMap::new())
}

/// The shape of a tree: `r` region, `1` once, `|` barrier, `s` subgroup, `?` `if`, `*` loop, `!` masked.
fn shape(nodes: &[Node]) -> String {
    let each = nodes.iter().map(|node| match node {
        Node::Region { .. } => "r".to_string(),
        Node::Once(_) => "1".to_string(),
        Node::Barrier => "|".to_string(),
        Node::Subgroup { .. } => "s".to_string(),
        Node::If {
            masked,
            then,
            otherwise,
            ..
        } => {
            let mark = if masked.is_some() { "!" } else { "" };
            format!("?{mark}({},{})", shape(then), shape(otherwise))
        }
        Node::Loop {
            masked,
            iteration,
            body,
            ..
        } => {
            let mark = if masked.is_some() { "!" } else { "" };
            let skips = if iteration.is_some() { "~" } else { "" };
            format!("*{mark}{skips}({})", shape(body))
        }
    });
    each.collect()
}

fn thread(s: &Sketch) -> SketchExpr<'_> {
    s.id(Builtin::ThreadIdx(Axis::X))
}

fn of(fill: impl FnOnce(&Sketch)) -> (String, Plan, Kernel) {
    let s = Sketch::new("k");
    fill(&s);
    let kernel = s.finish();
    let plan = plan(&kernel);
    (shape(&plan.tree.nodes), plan, kernel)
}

/// The storage of all locals with this name.
fn places(kernel: &Kernel, plan: &Plan, name: &str) -> Vec<Place> {
    let named = kernel.locals.iter().zip(&plan.places);
    named
        .filter(|(l, _)| l.name == name)
        .map(|(_, place)| *place)
        .collect()
}

#[test]
fn barriers_end_regions() {
    let (found, plan, kernel) = of(|s| {
        let out = s.slice_mut("out", Scalar::U64);
        let tile = s.shared("tile", Scalar::U64, 8);
        let i = s.let_("i", thread(s) + s.n(1));
        let kept = s.let_("kept", s.load(out, i.get()));
        s.store(tile, thread(s), i.get().cast(Scalar::U64));
        s.barrier();
        let near = s.let_("near", s.load(tile, i.get()));
        s.store(out, i.get(), near.get() + kept.get());
    });
    assert_eq!(found, "r|r");
    assert_eq!(places(&kernel, &plan, "i"), [Place::Again]);
    assert_eq!(places(&kernel, &plan, "kept"), [Place::Lanes]);
    assert_eq!(places(&kernel, &plan, "near"), [Place::Lane]);
    assert_eq!(plan.uses[1].again.len(), 1);
    assert!(plan.uses[0].lanes[0].1);
    assert!(!plan.uses[1].lanes[0].1);
}

#[test]
fn uniform_loops_stay_outside() {
    let (found, plan, kernel) = of(|s| {
        let out = s.slice_mut("out", Scalar::F32);
        let tile = s.shared("tile", Scalar::F32, 8);
        let half = s.let_mut("half", s.n(4));
        s.while_(half.get().gt(s.n(0)), |_| {
            s.if_(thread(s).lt(half.get()), || {
                s.store(tile, thread(s), s.f32(1.0));
            });
            s.barrier();
            s.set(half, half.get() >> s.n(1));
        });
        s.store(out, thread(s), s.load(tile, thread(s)));
    });
    assert_eq!(found, "1*(r|1)r");
    assert_eq!(places(&kernel, &plan, "half"), [Place::Once]);
}

#[test]
fn jumps_that_all_take_leave_nodes() {
    let (found, ..) = of(|s| {
        let n = s.scalar("n", Scalar::Usize);
        s.if_(s.arg(n).eq(s.n(0)), || s.return_());
        s.for_("k", s.n(0), s.n(9), |k, l| {
            s.if_(k.get().gt(s.arg(n)), || s.break_(l));
            s.barrier();
        });
    });
    assert_eq!(found, "?(1,)*(?(1,)|)");
}

#[test]
fn returns_of_some_leave_a_mask() {
    let (found, plan, _) = of(|s| {
        let out = s.slice_mut("out", Scalar::U64);
        s.if_(thread(s).eq(s.n(3)), || s.return_());
        s.barrier();
        s.store(out, thread(s), s.n(1).cast(Scalar::U64));
    });
    assert_eq!(found, "r|r");
    assert!(plan.tree.root.is_some());
}

#[test]
fn a_counter_of_lanes_that_leave_is_of_each() {
    let (found, plan, kernel) = of(|s| {
        let out = s.slice_mut("out", Scalar::U64);
        s.for_("k", s.n(0), s.n(9), |k, l| {
            let sum = s.subgroup(SubgroupOp::Sum, &[k.get().cast(Scalar::U64)]);
            s.store(out, k.get(), sum.get());
            s.if_(thread(s).lt(s.n(3)), || s.break_(l));
        });
    });
    assert_eq!(found, "*!(rsr)");
    assert_eq!(places(&kernel, &plan, "k"), [Place::Lanes]);
}

#[test]
fn divergent_subgroups_are_masked() {
    let (found, plan, kernel) = of(|s| {
        let out = s.slice_mut("out", Scalar::U64);
        s.if_(thread(s).lt(s.n(3)), || {
            let sum = s.subgroup(SubgroupOp::Sum, &[thread(s).cast(Scalar::U64)]);
            s.store(out, thread(s), sum.get());
        });
        s.for_("k", s.n(0), thread(s), |k, l| {
            s.if_(k.get().eq(s.n(2)), || s.continue_(l));
            s.subgroup(SubgroupOp::Any, &[k.get().eq(s.n(1))]);
        });
    });
    assert_eq!(found, "?!(rsr,)*!~(rs)");
    assert_eq!(places(&kernel, &plan, "k"), [Place::Lanes]);
}
