use std::collections::BTreeSet;

use super::{Contract, joint_calls};
use crate::analysis::barriers;
use crate::sketch::{Sketch, SketchExpr};
use crate::{Argument, Axis, Builtin, CallId, CallTarget, Kernel, Memory, Scalar, Value};

fn kernel(fill: impl FnOnce(&Sketch)) -> Kernel {
    let s = Sketch::new("f");
    fill(&s);
    let kernel = s.finish();
    assert_eq!(crate::validate(&kernel), Ok(()), "{kernel}");
    kernel
}

fn thread(s: &Sketch) -> SketchExpr<'_> {
    s.id(Builtin::ThreadIdx(Axis::X))
}

#[test]
fn barriers_depend_on_parameters() {
    let function = kernel(|s| {
        let n = s.scalar("n", Scalar::Usize);
        s.scalar("v", Scalar::F32);
        let lens = s.slice("lens", Scalar::U32);
        s.for_("k", s.n(0), s.arg(n), |_, _| s.barrier());
        s.if_(s.load(lens, s.n(0)).gt(s.lit(Value::U32(3))), || {
            s.barrier()
        });
    });
    assert_eq!(Contract::of(&function, true), Contract::default());
    let found: Vec<bool> = Contract::by_parameter(&function)
        .iter()
        .map(|p| p.barrier)
        .collect();
    assert_eq!(found, [true, false, true]);
}

#[test]
fn a_return_of_a_function_parts_its_threads() {
    let fill = |s: &Sketch| {
        s.barrier();
        s.if_(thread(s).gt(s.n(3)), || s.return_());
        s.barrier();
    };
    let kernel = kernel(fill);
    assert_eq!(barriers::check(&kernel, false), Ok(()));
    let found = barriers::check(&kernel, true).map_err(|found| found.len());
    assert_eq!(found, Err(1), "the one behind the return");
}

#[test]
fn a_return_in_a_loop_parts_what_stands_before_it() {
    let kernel = kernel(|s| {
        s.for_("k", s.n(0), s.n(4), |_, _| {
            s.barrier();
            s.if_(thread(s).gt(s.n(3)), || s.return_());
        });
    });
    let found = barriers::check(&kernel, true).map_err(|found| found.len());
    assert_eq!(found, Err(1));
}

#[test]
fn calls_stand_where_all_come_together_or_not() {
    let function = kernel(|s| {
        let n = s.scalar("n", Scalar::Usize);
        let f = s.function("g");
        s.call_function(f, &[Argument::Value(s.arg(n).id)], None);
        s.if_(thread(s).gt(s.n(3)), || {
            s.call_function(f, &[Argument::Value(s.n(1).id)], None);
        });
        s.if_(s.arg(n).gt(s.n(3)), || {
            s.call_function(f, &[Argument::Value(thread(s).id)], None);
        });
    });
    let of = |calls: &[u32]| calls.iter().map(|c| CallId(*c)).collect::<BTreeSet<_>>();
    let always = Contract::of(&function, true);
    assert_eq!(always.calls, of(&[1]));
    assert_eq!(always.arguments, [(CallId(2), 0)].into());
    let joint = joint_calls(&function, true).into_iter().map(|(_, c)| c);
    assert_eq!(joint.collect::<BTreeSet<_>>(), of(&[0, 2]));
    let [n] = &Contract::by_parameter(&function)[..] else {
        panic!("it has one parameter")
    };
    assert_eq!(n.calls, of(&[2]));
    assert_eq!(n.arguments, [(CallId(0), 0)].into());
}

#[test]
fn what_closures_are_given_to_and_call_is_apart() {
    let kernel = kernel(|s| {
        let f = s.function("f");
        let closure = s.closure("k", Scalar::Usize, Scalar::Usize, |k| {
            s.call_function(f, &[], None);
            k.get()
        });
        s.call_with(CallTarget::Function(f), &[], &[closure], None);
        s.call_function(f, &[], None);
    });
    let found = Contract::of(&kernel, false);
    assert_eq!(found.calls, [CallId(0)].into());
    let joint = joint_calls(&kernel, false).into_iter().map(|(_, c)| c);
    assert_eq!(joint.collect::<Vec<_>>(), [CallId(2)]);
}

#[test]
fn threads_agree_on_memory_that_nobody_writes() {
    let kernel = kernel(|s| {
        let read = s.slice("read", Scalar::F32);
        let written = s.slice_mut("written", Scalar::F32);
        s.store(written, thread(s), s.f32(1.0));
        let f = s.function("g");
        let args = [read, written].map(|p| Argument::Memory(Memory::Slice(p)));
        s.call_function(f, &args, None);
    });
    assert_eq!(
        Contract::of(&kernel, false).arguments,
        [(CallId(0), 1)].into()
    );
}

#[test]
fn what_a_function_asks_reaches_those_who_pass_it_on() {
    use super::{Facts, Refusal, accepted};
    let puts = kernel(|s| {
        let tile = s.slice_mut("tile", Scalar::U32);
        let at = s.scalar("at", Scalar::Usize);
        s.store(tile, thread(s) + s.arg(at), s.lit(Value::U32(1)));
        s.barrier();
    });
    let puts = Facts::of(&puts, &[]).unwrap();
    assert_eq!((&puts.agreed, &puts.takes), (&[1].into(), &[0].into()));
    let passing = |differs: bool| {
        kernel(|s| {
            let tile = s.slice_mut("tile", Scalar::U32);
            let (v, from) = (s.scalar("v", Scalar::U32), s.scalar("from", Scalar::Usize));
            s.let_("unused", s.arg(v));
            let at = s.let_("at", s.arg(from) + s.n(1));
            let at = if differs { thread(s) } else { at.get() };
            let args = [Argument::Memory(tile.into()), Argument::Value(at.id)];
            s.call_function(s.function("puts"), &args, None);
        })
    };
    let refusal = Facts::of(&passing(true), std::slice::from_ref(&puts));
    assert_eq!(refusal, Err(Refusal::Disagrees(CallId(0), 1)));
    let passes = Facts::of(&passing(false), &[puts]).unwrap();
    assert_eq!(passes.agreed, [2].into());
    let calls = |give: fn(&Sketch) -> SketchExpr<'_>| {
        let kernel = kernel(|s| {
            let tile: Memory = s.shared("tile", Scalar::U32, 64).into();
            let (v, at) = (thread(s).cast(Scalar::U32), give(s));
            let args = [v, at].map(|e| Argument::Value(e.id));
            let args = [&[Argument::Memory(tile)], &args[..]].concat();
            s.call_function(s.function("passes"), &args, None);
        });
        accepted(&kernel, std::slice::from_ref(&passes)).map(drop)
    };
    assert_eq!(calls(|s| s.n(3)), Ok(()));
    assert_eq!(calls(|s| s.id(Builtin::BlockIdx(Axis::X))), Ok(()));
    assert_eq!(calls(thread), Err(Refusal::Disagrees(CallId(0), 2)));
}
