use std::sync::atomic::Ordering::Relaxed;

use super::*;
use crate::testing::gpu::GpuBackend;
use crate::testing::kernels::axpy_call as axpy;
use crate::testing::{devices, host, two_gpus};

fn context(device: &Device, name: &str, elements: &[f32]) -> Context {
    let root = Context::new(device).unwrap();
    root.init_from_host(name, elements.to_vec()).unwrap()
}

/// Returns a routine's code that computes `y += a * x`.
fn add(a: f32) -> impl Fn(&Bound<'_>) -> Result<()> {
    move |bound| {
        let x = bound.input::<f32>("x")?;
        let mut y = bound.output::<f32>("y")?;
        let n = y.len();
        axpy(a, &x, &mut y)
            .over(n)
            .enqueue(bound.stream())
            .map(drop)
    }
}

fn x_to_y() -> Uses {
    Uses::new().reads("x").writes("y")
}

#[test]
fn children_have_what_their_parents_have() {
    let parent = context(&host(), "x", &[1.0, 2.0]);
    let [left, right] = [parent.child(), parent.child()];
    let left = left.init_from_host("y", vec![5u32]).unwrap();
    assert_eq!(left.names(), ["x", "y"]);
    assert!(!parent.contains("y") && !right.contains("y"));
    right.from_host("x", &[3.0f32, 4.0]).unwrap();
    assert_eq!(
        left.to_host::<f32>("x").unwrap(),
        [3.0, 4.0],
        "contents are shared"
    );
    let absent = |error| matches!(error, Error::NotInContext { name, .. } if name == "y");
    assert!(absent(parent.to_host::<u32>("y").unwrap_err()));
    assert!(absent(right.from_host("y", &[1u32]).unwrap_err()));
    let present = left
        .init_from_host("x", vec![0.0f32])
        .map(drop)
        .unwrap_err();
    assert!(
        matches!(present, Error::AlreadyInContext { .. }),
        "{present}"
    );
    let other = left.to_host::<f32>("y").unwrap_err().to_string();
    assert!(other.contains("no f32"), "{other}");
}

#[test]
fn routines_are_linked_once_and_run_often() {
    let [(device, stats), _] = two_gpus();
    let context = context(&device, "x", &[1.0, 2.0]);
    let missing = context.link(x_to_y(), add(2.0)).map(drop).unwrap_err();
    assert!(matches!(missing, Error::NotInContext { name, .. } if name == "y"));
    let context = context.init_from_host("y", vec![0.0f32; 2]).unwrap();
    let routine = context.link(x_to_y(), add(2.0)).unwrap();
    assert_eq!(
        (routine.inputs(), routine.outputs()),
        (&["x".to_owned()][..], &["y".to_owned()][..])
    );
    assert_eq!(stats.launches.load(Relaxed), 0, "it is inert");
    for _ in 0..3 {
        routine.run().unwrap();
    }
    assert_eq!(context.to_host::<f32>("y").unwrap(), [6.0, 12.0]);
    assert_eq!(stats.uploads.load(Relaxed), 2);
    let wrong = context.link(Uses::new().reads("x"), add(1.0)).unwrap();
    assert!(
        matches!(wrong.run(), Err(Error::Context { .. })),
        "`y` was not named"
    );
    let wrong = context
        .link(Uses::new().reads("x").reads("y"), add(1.0))
        .unwrap();
    assert!(
        wrong
            .run()
            .unwrap_err()
            .to_string()
            .contains("without writing")
    );
}

#[test]
fn contexts_begin_from_others() {
    let gpus = devices(&GpuBackend::of_many("gpu", 9, 2, |_| ()));
    let one = context(&gpus[0], "x", &[1.0, 2.0]);
    let two = Context::new(&gpus[1]).unwrap();
    let absent = two.init_from::<f32>("y", &one).map(drop).unwrap_err();
    assert!(matches!(absent, Error::NotInContext { .. }));
    let two = two.init_from::<f32>("x", &one).unwrap();
    let present = two.init_from::<f32>("x", &one).map(drop).unwrap_err();
    assert!(matches!(present, Error::AlreadyInContext { .. }));
    one.from_host("x", &[7.0f32, 7.0]).unwrap();
    assert_eq!(two.to_host::<f32>("x").unwrap(), [1.0, 2.0], "a copy");
}

#[test]
fn transfers_are_inert_until_they_run() {
    let [(a, _), (b, _)] = two_gpus();
    let (one, two) = (context(&a, "x", &[1.0]), context(&b, "x", &[2.0]));
    assert!(
        two.transfer::<f32>("y", &one, Target::Place).is_none(),
        "absent there"
    );
    let more = one.init_from_host("z", vec![0.0f32]).unwrap();
    assert!(
        two.transfer::<f32>("z", &more, Target::Place).is_none(),
        "absent here"
    );
    assert!(
        one.transfer::<f32>("x", &more, Target::Place).is_none(),
        "the same"
    );
    let transfer = two.transfer::<f32>("x", &one, Target::Place).unwrap();
    assert_eq!(two.to_host::<f32>("x").unwrap(), [2.0]);
    one.from_host("x", &[5.0f32]).unwrap();
    assert_eq!(transfer.outputs(), ["x"]);
    transfer.run().unwrap();
    assert_eq!(two.to_host::<f32>("x").unwrap(), [5.0]);
    // Transfers in both directions at once.
    let back = one.transfer::<f32>("x", &two, Target::Place).unwrap();
    std::thread::scope(|scope| {
        for routine in [&transfer, &back] {
            scope.spawn(move || (0..200).for_each(|_| routine.run().unwrap()));
        }
    });
    let wrong = two.transfer::<u32>("x", &one, Target::Place).unwrap();
    assert!(matches!(wrong.run(), Err(Error::Context { .. })));
}

/// `[1, 2] + [3, 4] = [4, 6]`, on two devices.
#[test]
fn gradients_add_through_the_merge_buffer() {
    let sum = |bound: &Bound<'_>| {
        let mut gradient = bound.output::<f32>("gradient")?;
        let launch = axpy(1.0, bound.merged()?, &mut gradient);
        launch.over(2).enqueue(bound.stream()).map(drop)
    };
    let consumer = || Uses::new().writes("gradient").merges("gradient");
    let pairs = two_gpus().map(|(device, _)| device);
    for [a, b] in [pairs, [host(), host()]] {
        let one = context(&a, "gradient", &[1.0, 2.0]);
        let two = context(&b, "gradient", &[3.0, 4.0]);
        let two = two.init_from_host("other", vec![0.0f32; 2]).unwrap();
        // This context has no transfer into the merge buffer among its ancestors.
        let early = one.link(consumer(), sum).map(drop).unwrap_err();
        assert!(
            matches!(early, Error::MergeMismatch { have: None, .. }),
            "{early}"
        );
        let transfer = one
            .transfer::<f32>("gradient", &two, Target::Merge)
            .unwrap();
        let routine = transfer.context().link(consumer(), sum).unwrap();
        assert_eq!(routine.merge_input(), Some("gradient"));
        // The consumer is linked, but the transfer has not run.
        assert!(matches!(
            routine.run(),
            Err(Error::MergeMismatch { have: None, .. })
        ));
        transfer.run().unwrap();
        assert_eq!(
            one.to_host::<f32>("gradient").unwrap(),
            [1.0, 2.0],
            "left as it is"
        );
        routine.run().unwrap();
        assert_eq!(one.to_host::<f32>("gradient").unwrap(), [4.0, 6.0]);
        assert_eq!(two.to_host::<f32>("gradient").unwrap(), [3.0, 4.0]);
        // After another transfer into the same buffer, the consumer returns an error.
        let other = one.transfer::<f32>("other", &two, Target::Merge).unwrap();
        let wrong = other.context().link(consumer(), sum).map(drop).unwrap_err();
        assert!(
            matches!(wrong, Error::MergeMismatch { have: Some(_), .. }),
            "{wrong}"
        );
        other.run().unwrap();
        assert!(matches!(
            routine.run(),
            Err(Error::MergeMismatch { have: Some(_), .. })
        ));
    }
}

#[test]
fn linking_allocates_what_a_routine_creates() {
    let [(device, _), _] = two_gpus();
    let root = Context::new(&device).unwrap();
    let root = root
        .init_with("x", Vector::from_vec(vec![1.0f32, 2.0]))
        .unwrap();
    let taken = root.init_with("x", Vector::filled(1, 0u8)).map(drop);
    assert!(matches!(taken, Err(Error::AlreadyInContext { .. })));
    let uses = || Uses::new().reads("x").creates::<f32>("y", 2);
    // One routine in several contexts, each with a vector of its own.
    let contexts = [root.child(), root.child()];
    let routines = contexts.map(|context| context.link(uses(), add(3.0)).unwrap());
    assert!(!root.contains("y"));
    for (n, routine) in [1u8, 2].into_iter().zip(&routines) {
        assert_eq!(routine.outputs(), ["y"]);
        assert_eq!(routine.context().to_host::<f32>("y").unwrap(), [0.0; 2]);
        (0..n).for_each(|_| routine.run().unwrap());
    }
    let results = routines.map(|routine| routine.context().to_host::<f32>("y").unwrap());
    assert_eq!(results, [[3.0, 6.0], [6.0, 12.0]]);
    let twice = root.link(uses().creates::<u8>("y", 1), add(1.0)).map(drop);
    assert!(twice.unwrap_err().to_string().contains("creates it twice"));
    let present = root
        .link(Uses::new().creates::<f32>("x", 2), add(1.0))
        .map(drop);
    assert!(matches!(present, Err(Error::AlreadyInContext { .. })));
    assert!(uses() == uses() && uses() != Uses::new().reads("x").creates::<f32>("y", 3));
}

#[test]
fn a_child_has_the_merge_node_that_it_is_given() {
    let [(a, _), (b, _)] = two_gpus();
    let (one, two) = (context(&a, "x", &[1.0]), context(&b, "x", &[4.0]));
    let take = |bound: &Bound<'_>| {
        let merged = bound.merged::<f32>()?.get(0)?;
        bound.output::<f32>("x")?.set(0, merged)
    };
    let uses = || Uses::new().writes("x").merges("x");
    assert!(one.link(uses(), take).is_err());
    let routine = one.child_merging("x").link(uses(), take).unwrap();
    let early = routine.run().unwrap_err();
    assert!(
        matches!(early, Error::MergeMismatch { have: None, .. }),
        "{early}"
    );
    one.transfer::<f32>("x", &two, Target::Merge)
        .unwrap()
        .run()
        .unwrap();
    routine.run().unwrap();
    assert_eq!(one.to_host::<f32>("x").unwrap(), [4.0]);
}

/// A transfer into the node itself comes after one into the merge buffer, whose consumer is linked behind both.
#[test]
fn transfers_into_place_keep_the_merge_node() {
    let [(a, _), (b, _)] = two_gpus();
    let one = context(&a, "gradient", &[1.0]);
    let one = one.init_from_host("x", vec![0.0f32]).unwrap();
    let two = context(&b, "gradient", &[3.0]);
    let two = two.init_from_host("x", vec![5.0f32]).unwrap();
    let merge = one
        .transfer::<f32>("gradient", &two, Target::Merge)
        .unwrap();
    let place = merge
        .context()
        .transfer::<f32>("x", &two, Target::Place)
        .unwrap();
    let take = |bound: &Bound<'_>| {
        let taken = bound.merged::<f32>()?.get(0)?;
        bound.output::<f32>("x")?.set(0, taken)
    };
    let uses = || Uses::new().writes("x").merges("gradient");
    let take = place.context().link(uses(), take).unwrap();
    for routine in [&merge, &place] {
        routine.run().unwrap();
    }
    assert_eq!(one.to_host::<f32>("x").unwrap(), [5.0]);
    take.run().unwrap();
    assert_eq!(one.to_host::<f32>("x").unwrap(), [3.0]);
    let printed = format!("{take:?}");
    assert!(
        printed.contains(r#"vectors: ["gradient", "x"]"#)
            && printed.contains(r#"merged: "gradient""#),
        "{printed}"
    );
    assert!(!format!("{one:?}").contains("merged"), "{one:?}");
}

#[test]
fn a_batch_of_links_is_one_after_the_other() {
    let sum = |bound: &Bound<'_>| {
        let mut gradient = bound.output::<f32>("gradient")?;
        let launch = axpy(1.0, bound.merged()?, &mut gradient);
        launch.over(2).enqueue(bound.stream()).map(drop)
    };
    let consumer = || Uses::new().writes("gradient").merges("gradient");
    let [(a, stats), (b, _)] = two_gpus();
    let run = |batched: bool| {
        let one = context(&a, "gradient", &[1.0, 2.0]);
        let two = context(&b, "gradient", &[3.0, 4.0]);
        let transfer = || Link::transfer::<f32>("gradient", &two, Target::Merge);
        let (context, routines) = if batched {
            let absent = Link::transfer::<f32>("nothing", &two, Target::Place);
            let batch = [
                Some(transfer()),
                None,
                Some(Link::new(consumer(), sum)),
                Some(absent),
            ];
            one.link_batch(batch).unwrap()
        } else {
            let first = one
                .transfer::<f32>("gradient", &two, Target::Merge)
                .unwrap();
            let second = first.context().link(consumer(), sum).unwrap();
            let context = second.context().clone();
            (context, vec![Some(first), None, Some(second), None])
        };
        let facts = |routine: &Option<Routine>| {
            let routine = routine.as_ref()?;
            let merge = routine.merge_input().map(str::to_owned);
            Some((routine.inputs().to_vec(), routine.outputs().to_vec(), merge))
        };
        let facts: Vec<_> = routines.iter().map(facts).collect();
        let launched = stats.launches.load(Relaxed);
        routines
            .iter()
            .flatten()
            .for_each(|routine| routine.run().unwrap());
        assert_eq!(stats.launches.load(Relaxed), launched + 1);
        (
            facts,
            context.to_host::<f32>("gradient").unwrap(),
            context.names(),
        )
    };
    let (together, apart) = (run(true), run(false));
    assert_eq!(together, apart);
    assert_eq!(together.1, [4.0, 6.0]);
    // The consumer before the transfer: the whole batch fails, as it would one by one.
    let (one, two) = (
        context(&a, "gradient", &[1.0; 2]),
        context(&b, "gradient", &[1.0; 2]),
    );
    let transfer = Link::transfer::<f32>("gradient", &two, Target::Merge);
    let wrong = one.link_batch([Some(Link::new(consumer(), sum)), Some(transfer)]);
    let wrong = wrong.map(drop).unwrap_err();
    assert!(
        matches!(wrong, Error::MergeMismatch { have: None, .. }),
        "{wrong}"
    );
}

/// `y += 2 x` for four elements, compiled for a device.
fn doubling(on: &Device) -> crate::Code {
    let (x, mut y) = (Vector::filled(4, 0.0f32), Vector::filled(4, 0.0f32));
    let program = axpy(2.0, &x, &mut y).over(4).specialize(on);
    on.compile(&program.unwrap().unwrap()).unwrap()
}

#[test]
fn compiled_code_is_linked_into_several_contexts() {
    let [(device, stats), _] = two_gpus();
    for device in [&device, &host()] {
        let code = doubling(device);
        let first = context(device, "weights", &[1.0, 2.0, 3.0, 4.0]);
        let second = context(device, "x", &[10.0, 20.0, 30.0, 40.0]);
        let second = second.init_from_host("sum", vec![1.0f32; 4]).unwrap();
        // Its output is new in one of them, and there already in the other.
        let one = first.link_code(&code, &[("x", "weights")]).unwrap();
        let two = second.link_code(&code, &[("y", "sum")]).unwrap();
        assert_eq!(
            (one.inputs(), one.outputs()),
            (&["weights".to_owned()][..], &["y".to_owned()][..])
        );
        assert!(one.context().contains("y") && !first.contains("y"));
        assert_eq!(
            one.context().to_host::<f32>("y").unwrap(),
            [0.0; 4],
            "nothing has run"
        );
        assert_eq!(two.context().names(), second.names());
        one.run().unwrap();
        two.run().unwrap();
        one.run().unwrap();
        let due = [4.0, 8.0, 12.0, 16.0];
        assert_eq!(one.context().to_host::<f32>("y").unwrap(), due, "{device}");
        let due = [21.0, 41.0, 61.0, 81.0];
        assert_eq!(second.to_host::<f32>("sum").unwrap(), due, "{device}");
    }
    assert_eq!(stats.compiles.load(Relaxed), 1);
}

#[test]
fn code_that_does_not_fit_a_context_is_an_error() {
    let [(device, _), (other, _)] = two_gpus();
    let code = doubling(&device);
    let here = context(&device, "x", &[1.0; 4]);
    let here = here.init_from_host("short", vec![1.0f32; 3]).unwrap();
    let here = here.init_from_host("whole", vec![1u32; 4]).unwrap();
    let cases: [(&[(&str, &str)], &str); 5] = [
        (&[("x", "nowhere")], "no vector `nowhere`"),
        (&[("x", "short")], "has 3 elements, and the code takes 4"),
        (
            &[("y", "whole")],
            "its elements are u32, and the code takes f32",
        ),
        (&[("y", "x")], "two parameters"),
        (&[("z", "x")], "no vector parameter of this name"),
    ];
    for (names, problem) in cases {
        let error = here.link_code(&code, names).unwrap_err().to_string();
        assert!(error.contains(problem), "{error}");
    }
    let there = context(&other, "x", &[1.0; 4]);
    let error = there.link_code(&code, &[]).unwrap_err();
    assert!(matches!(error, Error::Device { .. }), "{error}");
}
