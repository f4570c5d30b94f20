//! Tests of claims at each launch.

use std::sync::Mutex;
use std::sync::atomic::AtomicUsize;

use super::*;
use crate::plugin::claims::{CopyAction, LaunchRequest, Request};
use crate::plugin::tag::StorageKind;

/// The number of launches that a backend has run.
fn launches(backend: &GpuBackend) -> usize {
    backend.stats.launches.load(Relaxed)
}

#[test]
fn predicates_of_every_kind_are_asked_at_each_dispatch() {
    let schedule: Tag<ScheduleKind> = tag::register("dispatch/asked").unwrap();
    let storage: Tag<StorageKind> = tag::register("dispatch/asked").unwrap();
    for (subject, name) in [
        (Subject::Kernels, "kernels"),
        (Subject::Programs, "programs"),
        (Subject::Schedule(schedule.clone()), "schedules"),
        (Subject::Storage(storage.clone()), "storages"),
    ] {
        let [plain, picky] = [GpuBackend::new("plain", 9), GpuBackend::new("picky", 5)];
        let asked = Arc::new(AtomicUsize::new(0));
        // Similar launches differ in a float, which no memo knows.
        let is_two = |launch: &LaunchRequest<'_>| {
            launch.args[0].value == Some(Value::f32(2.0)) && launch.threads == [4, 1, 1]
        };
        let (count, own) = (asked.clone(), subject.clone());
        picky.claim(move |claims| {
            let (count, own) = (count.clone(), own.clone());
            claims.by_predicate(own.clone(), move |request: &Request<'_>| {
                let Some(launch) = request.launch else {
                    return true; // An allocation.
                };
                assert_eq!((request.subject, request.kernels.len()), (&own, 1));
                count.fetch_add(1, Relaxed);
                is_two(launch)
            });
        });
        let (own, tags) = (subject.clone(), (schedule.clone(), storage.clone()));
        plain.claim(move |claims| match &own {
            Subject::Schedule(_) => drop(claims.schedule(tags.0.clone()).clone()),
            Subject::Storage(_) => drop(claims.storage(tags.1.clone()).clone()),
            Subject::Kernels | Subject::Programs | Subject::Copies { .. } => {}
        });
        let all = registry("", &[plain.clone(), picky.clone()]);
        let x = Vector::filled(4, 1.0);
        let launch = |a: f32, on: Option<&Device>| {
            let mut y = match subject {
                Subject::Storage(_) => Vector::zeros(4).stored_in(&storage).unwrap(),
                _ => Vector::zeros(4),
            };
            let mut call = axpy(a, &x, &mut y);
            if matches!(subject, Subject::Schedule(_)) {
                call = call.schedule(&schedule);
            }
            let mut ready = call.over(4);
            match on {
                Some(device) => ready.run_on(device),
                None => ready.run_among(&all),
            }
        };
        for a in [1.0, 2.0, 1.0, 2.0, 1.0] {
            launch(a, None).unwrap();
        }
        assert_eq!((launches(&plain), launches(&picky)), (3, 2), "{name}");
        assert_eq!(asked.load(Relaxed), 5, "{name}: once for each launch");
        let [first, other] = ["plain", "picky"].map(|name| all.of(name).unwrap());
        launch(1.0, Some(&first)).unwrap();
        let error = launch(2.0, Some(&first)).unwrap_err();
        assert!(
            matches!(error, Error::NotEligible { .. }),
            "{name}: {error}"
        );
        assert!(error.to_string().contains("`picky` has claimed"), "{error}");
        launch(2.0, Some(&other)).unwrap();
        assert_eq!(asked.load(Relaxed), 8, "{name}");
        assert!(all.claims().has_predicates());
        // Without the predicate, nothing is asked.
        all.unregister("picky");
        launch(2.0, None).unwrap();
        assert!(!all.claims().has_predicates());
        assert_eq!((launches(&plain), asked.load(Relaxed)), (5, 8), "{name}");
    }
}

#[test]
fn predicates_see_the_whole_launch() {
    let schedule: Tag<ScheduleKind> = tag::register("dispatch/seen").unwrap();
    let storage: Tag<StorageKind> = tag::register("dispatch/seen").unwrap();
    let backend = GpuBackend::new("sees", 9);
    let tags = (schedule.clone(), storage.clone());
    let seen = Arc::new(Mutex::new(vec![]));
    let list = seen.clone();
    backend.claim(move |claims| {
        let list = list.clone();
        claims.schedule(tags.0.clone()).storage(tags.1.clone());
        claims.by_predicate(Subject::Kernels, move |request| {
            let launch = request.launch.unwrap();
            let name = &request.kernels[0].name;
            let tags = format!("{} {:?}", launch.schedule, launch.environments);
            lock(&list).push(format!(
                "{name} {:?} {:?} {tags}",
                launch.threads, launch.block
            ));
            for arg in launch.args {
                let storage = arg.storage.as_ref().map(Tag::to_string);
                lock(&list).push(format!(
                    "{} {:?} {} {} {storage:?} {}",
                    arg.name, arg.value, arg.len, arg.bytes, arg.written
                ));
            }
            true
        });
    });
    let all = registry("", &[backend]);
    let x = Vector::filled(6, 1.0);
    let mut y = Vector::zeros(6).stored_in(&storage).unwrap();
    let call = axpy(3.0, &x, &mut y).schedule(&schedule);
    call.grid((3, 2)).block((1, 1)).run_among(&all).unwrap();
    assert_eq!(
        *lock(&seen),
        [
            "axpy [3, 2, 1] Some([1, 1, 1]) dispatch/seen []",
            "a Some(F32(1077936128)) 0 0 None false",
            "x None 6 24 Some(\"device\") false",
            "y None 6 24 Some(\"dispatch/seen\") true",
        ]
    );
}

#[test]
fn copies_are_claimed_by_predicate() {
    let backend = GpuBackend::new("copies", 9);
    let own = StorageKind::device;
    backend.claim(move |claims| {
        let small = |request: &Request<'_>| request.bytes == 4;
        let large = |request: &Request<'_>| request.bytes > 8;
        let illegal = CopyAction::Illegal("it is too large");
        claims
            .copies_by_predicate(own(), own(), CopyAction::StageViaHost, small)
            .copies_by_predicate(own(), own(), illegal, large);
    });
    let (device, stats) = device(&backend);
    let there = || {
        let mut v = Vector::zeros(4);
        let x = Vector::filled(4, 2.0);
        axpy(1.0, &x, &mut v).over(4).run_on(&device).unwrap();
        v
    };
    let (x, mut y) = (there(), there());
    let copies = || (stats.copies.load(Relaxed), stats.downloads.load(Relaxed));
    y.copy_from(0, &x, 0..2).unwrap();
    assert_eq!(copies(), (1, 0));
    y.copy_from(0, &x, 0..1).unwrap();
    assert_eq!(copies(), (1, 1), "it goes through the host");
    let error = y.copy_from(0, &x, 0..3).unwrap_err().to_string();
    assert!(error.contains("it is too large"), "{error}");
    y.copy_from(0, &x, 0..2).unwrap();
    assert_eq!(copies(), (2, 1));
}

#[test]
fn copies_are_claimed_by_source_destination_and_schedule() {
    let fast: Tag<StorageKind> = tag::register("dispatch/fast").unwrap();
    let loads: Template<ScheduleKind, u32> = tag::template("dispatch/loads").unwrap();
    let (host, own) = (StorageKind::host(), StorageKind::device());
    let backend = GpuBackend::new("loads", 9);
    let tags = (fast.clone(), loads.tag().clone(), loads.of(7));
    backend.claim(move |claims| {
        let (fast, loads, seven) = tags.clone();
        let (host, own) = (StorageKind::host(), StorageKind::device());
        let itself = CopyAction::Illegal("its launches load by themselves");
        claims
            .storage(fast.clone())
            .schedule(loads.clone())
            .copies(host.clone(), fast.clone(), CopyAction::Native)
            .copies_under(host.clone(), fast.clone(), loads, itself)
            .copies_under(host.clone(), fast.clone(), seven, CopyAction::Native)
            .copies(fast.clone(), host, CopyAction::Illegal("it is write-only"))
            .copies(fast, own, CopyAction::StageViaHost);
    });
    let (device, stats) = device(&backend);
    let mut out = Vector::zeros(4);
    let mut run = |x: &Vector<f32>, schedule: Option<Tag<ScheduleKind>>| {
        let call = axpy(1.0, x, &mut out);
        let call = match &schedule {
            Some(schedule) => call.schedule(schedule),
            None => call,
        };
        call.over(4).run_on(&device)
    };
    let stored = || Vector::filled(4, 2.0).stored_in(&fast).unwrap();
    // The copy to the device depends on the launch that needs it.
    let x = stored();
    let error = run(&x, Some(loads.of(1))).unwrap_err();
    assert!(matches!(error, Error::IllegalCopy { .. }), "{error}");
    let text = error.to_string();
    for part in [
        "`host`",
        "`dispatch/fast`",
        "`dispatch/loads 1`",
        "load by themselves",
    ] {
        assert!(text.contains(part), "{text}");
    }
    run(&x, Some(loads.of(7))).unwrap();
    run(&stored(), None).unwrap();
    // What is there already needs no copy.
    run(&x, Some(loads.of(1))).unwrap();
    // The host is a storage: reading is a copy, too.
    let mut y = Vector::zeros(4).stored_in(&fast).unwrap();
    axpy(1.0, &x, &mut y).over(4).run_on(&device).unwrap();
    let error = y.to_vec().unwrap_err().to_string();
    assert!(
        error.contains("from `dispatch/fast` to `host`") && error.contains("write-only"),
        "{error}"
    );
    // The claimed way between storages goes through the host, and is not a copy to the host.
    let before = (stats.copies.load(Relaxed), stats.downloads.load(Relaxed));
    out.copy_from(0, &y, ..).unwrap();
    let after = (stats.copies.load(Relaxed), stats.downloads.load(Relaxed));
    assert_eq!((after.0 - before.0, after.1 - before.1), (0, 1));
    assert_eq!(out.to_vec().unwrap(), [2.0; 4]);
    // Each key has one owner, with its schedule.
    let other = |name, schedule: Option<Tag<ScheduleKind>>| {
        let other = GpuBackend::new(name, 1);
        let (host, fast) = (host.clone(), fast.clone());
        other.claim(move |claims| {
            let [host, fast] = [host.clone(), fast.clone()];
            match schedule.clone() {
                Some(schedule) => claims.copies_under(host, fast, schedule, CopyAction::Native),
                None => claims.copies(host, fast, CopyAction::Native),
            };
        });
        other
    };
    let all = registry("", &[backend]);
    for schedule in [None, Some(loads.tag().clone())] {
        let error = all.register(other("second", schedule)).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("loads, second"), "{text}");
    }
    all.register(other("third", Some(ScheduleKind::blocks())))
        .unwrap();
    assert!(Vector::<f32>::zeros(1).stored_in(&host).is_err() && own != host);
}

#[test]
fn storages_decide_which_device_runs_a_kernel() {
    let left: Tag<StorageKind> = tag::register("dispatch/left").unwrap();
    let bank: Template<StorageKind, u32> = tag::template("dispatch/bank").unwrap();
    let [plain, one, two] = [
        GpuBackend::new("plain", 9),
        GpuBackend::new("one", 5),
        GpuBackend::new("two", 4),
    ];
    let own = left.clone();
    one.claim(move |claims| {
        claims.storage(own.clone());
        claims.by_predicate(Subject::Kernels, |request| {
            request.kernels[0].name == "of_one"
        });
    });
    let own = bank.tag().clone();
    two.claim(move |claims| {
        // Also one of the framework's storages.
        claims.storage(own.clone()).storage(StorageKind::pinned());
    });
    let all = registry("", &[plain.clone(), one.clone(), two.clone()]);
    let stored = |storage: &Tag<StorageKind>| Vector::filled(4, 1.0).stored_in(storage).unwrap();
    let (device, in_bank) = (StorageKind::device(), bank.of(3));
    let ran = || [&plain, &one, &two].map(|backend| launches(backend));
    for (x, y, due) in [
        (&device, &device, [1, 0, 0]),
        (&device, &left, [1, 1, 0]),
        (&left, &device, [1, 2, 0]),
        (&in_bank, &device, [1, 2, 1]),
        (&StorageKind::pinned(), &bank.of(4), [1, 2, 2]),
    ] {
        let (x, mut y) = (stored(x), stored(y));
        axpy(1.0, &x, &mut y).over(4).run_among(&all).unwrap();
        assert_eq!(ran(), due);
        assert_eq!(y.to_vec().unwrap(), [2.0; 4]);
    }
    // Several owners are an error that names them, and what each has claimed.
    let both = |error: Error| {
        assert!(matches!(error, Error::Ambiguous { .. }), "{error}");
        let text = error.to_string();
        assert!(text.contains("claimed by one, two"), "{text}");
        text
    };
    let (x, mut y) = (stored(&left), stored(&in_bank));
    let text = both(axpy(1.0, &x, &mut y).over(4).run_among(&all).unwrap_err());
    for part in [
        "`axpy`",
        "the storage `dispatch/left` of `x` by one",
        "the storage `dispatch/bank 3` of `y` by two",
    ] {
        assert!(text.contains(part), "{text}");
    }
    let on_one = all.of("one").unwrap();
    both(axpy(1.0, &x, &mut y).over(4).run_on(&on_one).unwrap_err());
    let explained = explain::launch(&all, &axpy(1.0, &x, &mut y).over(4));
    assert!(explained.contains("claimed by one, two"), "{explained}");
    assert!(!explained.contains(": chosen"), "{explained}");
    let of_one = changed(|k| k.name = "of_one".into());
    let text = both(
        of_one(&Vector::zeros(4), &mut y)
            .over(4)
            .run_among(&all)
            .unwrap_err(),
    );
    assert!(text.contains("the kernel by one"), "{text}");
    // A device of another backend refuses.
    let on_plain = all.of("plain").unwrap();
    let refused = |error: Error| {
        assert!(matches!(error, Error::NotEligible { .. }), "{error}");
        error.to_string()
    };
    let mut z = Vector::zeros(4);
    let text = refused(axpy(1.0, &x, &mut z).over(4).run_on(&on_plain).unwrap_err());
    assert!(
        text.contains("`x` is in the storage `dispatch/left`, which `one` has claimed"),
        "{text}"
    );
    let launch = of_one(&Vector::zeros(4), &mut z).over(4).run_on(&on_plain);
    let text = refused(launch.unwrap_err());
    assert!(text.contains("`one` has claimed the kernel"), "{text}");
    assert_eq!(ran(), [1, 2, 2]);
    // `explain` has each claim, its owner and the reason.
    let explained = explain::launch(&all, &of_one(&x, &mut z).over(4));
    for line in [
        "claimed: the kernel, by `one` through a predicate",
        "claimed: the storage `dispatch/left` of `x`, by `one` through its key",
        "(one:0), priority 5: chosen",
        "`one` has claimed the kernel; `x` is in the storage `dispatch/left`, which `one` has claimed",
    ] {
        assert!(explained.contains(line), "{line}\n{explained}");
    }
    let explained = explain::launch(&all, &axpy(1.0, &y, &mut z).over(4));
    let line = "claimed: the storage `dispatch/bank 3` of `x`, by `two` through its template";
    assert!(explained.contains(line), "{explained}");
}

#[test]
fn texts_depend_on_schedule_and_storages() {
    let reversed: Template<ScheduleKind, u32> = tag::template("dispatch/reversed").unwrap();
    let tiles: Tag<StorageKind> = tag::register("dispatch/tiles").unwrap();
    let backend = GpuBackend::new("sees", 9);
    let tags = (reversed.tag().clone(), tiles.clone());
    backend.claim(move |claims| {
        claims.schedule(tags.0.clone()).storage(tags.1.clone());
    });
    let (device, stats) = device(&backend);
    let compiles = || stats.compiles.load(Relaxed);
    let text = |schedule: &Tag<ScheduleKind>, storage: &Tag<StorageKind>| {
        let x = Vector::filled(4, 1.0).stored_in(storage).unwrap();
        let mut y = Vector::zeros(4);
        let ready = axpy(1.0, &x, &mut y).schedule(schedule).over(4);
        let specialized = ready.specialize(&device).unwrap().unwrap();
        let text = device.compile(&specialized).unwrap().text;
        ready.run_on(&device).unwrap();
        assert_eq!(y.to_vec().unwrap(), [1.0; 4]);
        (text, specialized.to_string())
    };
    let (blocks, own) = (ScheduleKind::blocks(), StorageKind::device());
    // A renderer that does not ask has one text for all.
    let plain = text(&reversed.of(1), &tiles);
    assert_eq!(text(&blocks, &own), plain);
    assert_eq!(compiles(), 1);
    stats.sees_tags.store(true, Relaxed);
    device.programs().clear();
    for (schedule, storage, due) in [
        (&blocks, &own, "x in device; y in device; by blocks"),
        (
            &blocks,
            &tiles,
            "x in dispatch/tiles; y in device; by blocks",
        ),
        (
            &reversed.of(1),
            &own,
            "x in device; y in device; by dispatch/reversed 1",
        ),
        (
            &reversed.of(2),
            &own,
            "x in device; y in device; by dispatch/reversed 2",
        ),
    ] {
        let before = compiles();
        let (found, facts) = text(schedule, storage);
        assert!(found.ends_with(due), "{found}");
        assert!(
            facts.contains(&format!("the schedule `{schedule}`")),
            "{facts}"
        );
        // The tags are part of the program's key: other ones are another program, the same are not.
        assert_eq!(text(schedule, storage).0, found);
        assert_eq!(compiles(), before + 1, "{due}");
    }
    // A graph that is repeated with another scalar keeps the tags.
    let x = Vector::filled(4, 1.0).stored_in(&tiles).unwrap();
    let mut y = Vector::zeros(4);
    let mut recording = device.record_graph();
    let launch = axpy(1.0, &x, &mut y).schedule(&reversed.of(3));
    recording.launch(launch.over(4)).unwrap();
    let mut graph = recording.finish();
    let before = compiles();
    graph.set_scalar("a", 2.0f32).unwrap();
    assert_eq!(compiles(), before);
}
