//! Tests of eligibility and of the choice of a device.

use super::*;

#[test]
fn the_best_eligible_device_runs_it() {
    let kernel = changed(|k| {
        k.push_literal(sarek_ir::Value::f64(1.0), Loc::default());
    });
    let poor = GpuBackend::with("poor", 100, |info| info.features.f64 = false);
    let rich = GpuBackend::new("rich", 90);
    let host = HostBackend::new("host", 50);
    let (x, mut y) = (Vector::zeros(4), Vector::zeros(4));
    let all = registry("", &[poor.clone(), rich.clone(), host.clone()]);
    kernel(&x, &mut y).over(4).run_among(&all).unwrap();
    assert_eq!(rich.stats.launches.load(Relaxed), 1);
    assert_eq!(poor.stats.launches.load(Relaxed), 0);
    assert_eq!(host.opened.load(Relaxed), 0, "nobody needed it");
    let explained = explain::launch(&all, &kernel(&x, &mut y).over(4));
    assert!(
        explained.contains("(poor:0), priority 100: it has no f64\n"),
        "{explained}"
    );
    assert!(
        explained.contains("(rich:0), priority 90: chosen\n"),
        "{explained}"
    );
    assert!(
        explained.contains("(host:0), priority 50: could run it\n"),
        "{explained}"
    );
    assert!(
        explained.contains("3 of 3 checks proved; indices of 32 bits"),
        "{explained}"
    );
    let only_poor: [Arc<dyn crate::plugin::backend::Backend>; 1] = [poor.clone()];
    let error = kernel(&x, &mut y)
        .over(4)
        .run_among(&registry("", &only_poor))
        .unwrap_err();
    let Error::NoDevice(reasons) = &error else {
        panic!("{error}");
    };
    assert_eq!(reasons[0].1, "it has no f64");
    let error = kernel(&x, &mut y)
        .over(4)
        .run_on(&device(&poor).0)
        .unwrap_err();
    assert!(matches!(error, Error::NotEligible { .. }), "{error}");
}

#[test]
fn buffers_and_natives_decide_eligibility_too() {
    let native = changed(|k| {
        k.natives = vec![Native {
            texts: vec![NativeText {
                target: "cuda".into(),
                pieces: vec![].into(),
                origin: Default::default(),
            }]
            .into(),
            fallback: None,
            intrinsic: None,
            result: None,
        }]
        .into();
    });
    let plain = changed(|_| ());
    let reasons = |error| match error {
        Err(Error::NotEligible { reasons, .. }) => reasons.join("; "),
        other => panic!("{other:?}"),
    };
    let (x, mut y) = (Vector::zeros(4), Vector::zeros(4));
    let (gpu, _) = device(&GpuBackend::new("gpu", 1));
    let error = native(&x, &mut y).over(4).run_on(&gpu);
    assert!(reasons(error).contains("no text for \"fake\""));
    let (small, _) = device(&GpuBackend::with("small", 1, |info| info.max_buffer = 15));
    let error = plain(&x, &mut y).over(4).run_on(&small);
    assert!(reasons(error).contains("`x` has 16 bytes"));
    let (few, _) = device(&GpuBackend::with("few", 1, |info| info.max_buffers = 2));
    plain(&x, &mut y).over(4).run_on(&few).unwrap();
    let error = plain(&x, &mut y).over(5).run_on(&few);
    assert!(
        reasons(error).contains("3 buffers"),
        "the fault record is one"
    );
    // A check that no launch can prove needs the fault record in every launch.
    let checked = changed(|k| k.sites.to_mut()[0].provable = false);
    let error = checked(&x, &mut y).over(4).run_on(&few);
    assert!(reasons(error).contains("3 buffers"));
}

#[test]
fn wide_indices_need_64_bit_integers() {
    let (narrow, _) = device(&GpuBackend::with("narrow", 1, |info| {
        info.features.i64 = false
    }));
    let x = Vector::zeros(4);
    let mut y = Vector::zeros(4);
    axpy(1.0, &x, &mut y).over(4).run_on(&narrow).unwrap();
    let wide = axpy(1.0, &x, &mut y)
        .over(1 << 33)
        .run_on(&narrow)
        .unwrap_err();
    assert!(wide.to_string().contains("exceed 32 bits"), "{wide}");
    // Each id fits 32 bits, but not the number of a block in the folded grid.
    let folding = GpuBackend::with("folding", 1, |info| {
        info.features.i64 = false;
        info.max_grid = [1 << 20, 1 << 13, 1];
    });
    let (folding, _) = device(&folding);
    let folded = axpy(1.0, &x, &mut y).grid((1 << 17, 1 << 15)).block(1);
    let wide = folded.run_on(&folding).unwrap_err();
    assert!(wide.to_string().contains("exceed 32 bits"), "{wide}");
}

/// A launch on the fake GPU of a kernel without parameters, with the body that `fill` writes.
fn block_kernel(fill: impl FnOnce(&Sketch)) -> Launch<'static> {
    let s = Sketch::new("blocks");
    fill(&s);
    let def = kernels::def(s.finish(), kernels::axpy().direct.run);
    // SAFETY: the fake GPU does nothing for a kernel of this name, and its body is not run.
    unsafe { Launch::of(kernels::leak(def), []) }
}

#[test]
fn barriers_need_whole_blocks() {
    let waits = || block_kernel(Sketch::barrier);
    let [(gpu, _), _] = two_gpus();
    let error = waits().over(100).run_on(&gpu).unwrap_err().to_string();
    assert!(
        error.contains("`.grid(g).block(b)`") && error.contains("`.cover(n)`"),
        "{error}"
    );
    assert!(waits().over(100).explain().contains("`.cover(n)`"));
    waits().cover(100).run_on(&gpu).unwrap();
    waits().grid(3).block(32).run_on(&gpu).unwrap();
}

#[test]
fn subgroups_may_be_for_blocks_of_one_dimension() {
    let flat = GpuBackend::with("flat", 1, |info| {
        info.features.subgroups = true;
        info.features.shaped_subgroups = false;
    });
    let (flat, _) = device(&flat);
    let lanes = || {
        block_kernel(|s| {
            s.subgroup(SubgroupOp::Sum, &[s.lit(Value::U32(1))]);
        })
    };
    lanes().grid(2).block(32).run_on(&flat).unwrap();
    let error = lanes().grid(2).block((8, 4)).run_on(&flat).unwrap_err();
    assert!(matches!(error, Error::NotEligible { .. }), "{error}");
    assert!(error.to_string().contains("several dimensions"), "{error}");
    // A block that is picked has one dimension.
    lanes().grid((2, 2)).run_on(&flat).unwrap();
}

#[test]
fn shared_memory_is_held_to_the_device() {
    let [(gpu, _), _] = two_gpus();
    let most = gpu.info().max_shared / 4;
    let fixed = |len| {
        block_kernel(move |s| {
            s.shared("tile", Scalar::F32, len);
        })
    };
    fixed(most).over(1).run_on(&gpu).unwrap();
    let error = fixed(most + 1).over(1).run_on(&gpu).unwrap_err();
    assert!(matches!(error, Error::NotEligible { .. }), "{error}");
    let sized = |per_thread| {
        block_kernel(move |s| {
            let dim = s.id(Builtin::BlockDim(Axis::X));
            s.shared_slice("tile", Scalar::F32, dim * s.n(per_thread));
        })
    };
    sized(most / 32).grid(1).block(32).run_on(&gpu).unwrap();
    // A block that is picked has room; if none has, the launch is refused.
    sized(most / 32).grid(1).run_on(&gpu).unwrap();
    let error = sized(most + 1).grid(1).run_on(&gpu).unwrap_err();
    assert!(matches!(error, Error::NotEligible { .. }), "{error}");
    let error = sized(most / 32).grid(1).block(64).run_on(&gpu).unwrap_err();
    assert!(error.to_string().contains("shared memory"), "{error}");
    let error = sized(u64::MAX).grid(1).block(3).run_on(&gpu).unwrap_err();
    assert!(error.to_string().contains("shared memory"), "{error}");
}

#[test]
fn schedules_and_kernels_go_to_those_who_claim_them() {
    let tiled: Template<ScheduleKind, u32> = tag::template("launch/tiled").unwrap();
    let [plain, tiles] = [GpuBackend::new("plain", 9), GpuBackend::new("tiles", 5)];
    let claimed = tiled.tag().clone();
    tiles.claim(move |claims| {
        claims.schedule(claimed.clone());
        claims.by_predicate(Subject::Kernels, |request| {
            request
                .kernels
                .iter()
                .any(|kernel| kernel.name == "claimed")
        });
    });
    let all = registry("", &[plain.clone(), tiles.clone()]);
    let (x, mut y) = (Vector::filled(4, 1.0), Vector::zeros(4));
    axpy(1.0, &x, &mut y).over(4).run_among(&all).unwrap();
    let tag = tiled.of(16);
    axpy(1.0, &x, &mut y)
        .schedule(&tag)
        .over(4)
        .run_among(&all)
        .unwrap();
    assert_eq!(*lock(&tiles.stats.schedules), ["launch/tiled 16"]);
    let claimed = changed(|k| k.name = "claimed".into());
    claimed(&x, &mut Vector::zeros(4))
        .over(4)
        .run_among(&all)
        .unwrap();
    let launches = |b: &GpuBackend| b.stats.launches.load(Relaxed);
    assert_eq!((launches(&plain), launches(&tiles)), (1, 2));
    assert_eq!(y.to_vec().unwrap(), [2.0; 4]);
    let error = axpy(1.0, &x, &mut y)
        .schedule(&tag)
        .over(4)
        .run_on(&device(&plain).0);
    let text = error.unwrap_err().to_string();
    assert!(
        text.contains("it does not run the schedule `launch/tiled 16`"),
        "{text}"
    );
    let unknown = tag::lookup("launch/nowhere");
    let error = axpy(1.0, &x, &mut y)
        .schedule(&unknown)
        .over(4)
        .run_among(&all)
        .unwrap_err();
    assert!(
        matches!(&error, Error::Unclaimed { known, .. } if known.len() == 1),
        "{error}"
    );
    // When the owner of the claim is unregistered, every device may run the kernel again.
    assert!(all.unregister("tiles"));
    claimed(&x, &mut Vector::zeros(4))
        .over(4)
        .run_among(&all)
        .unwrap();
    assert_eq!(launches(&plain), 2);
    let other = GpuBackend::new("other", 1);
    let claimed = tiled.tag().clone();
    other.claim(move |claims| drop(claims.schedule(claimed.clone()).clone()));
    all.register(other).unwrap();
    all.register(tiles)
        .map_err(|error| assert!(matches!(error, Error::Ambiguous { .. })))
        .unwrap_err();
}

#[test]
fn blocks_take_turns_where_a_schedule_says_so() {
    let backend = GpuBackend::with("gpu", 9, |info| info.compute_units = 2);
    let (gpu, stats) = device(&backend);
    let n = 10_000;
    let (x, mut y) = (Vector::filled(n, 1.0), Vector::zeros(n));
    let grid = || lock(&stats.last).1;
    let mut run = |schedule: &Tag<ScheduleKind>| {
        let launch = axpy(1.0, &x, &mut y).schedule(schedule);
        launch.over(n).run_on(&gpu).unwrap();
        grid()
    };
    assert_eq!(run(&ScheduleKind::blocks()), [40, 1, 1]);
    assert_eq!(run(&ScheduleKind::grid_stride()), [16, 1, 1]);
    assert_eq!(run(&ScheduleKind::single_thread()), [1; 3]);
    assert_eq!(
        stats.compiles.load(Relaxed),
        2,
        "turns are another text, one for both"
    );
    assert_eq!(y.to_vec().unwrap(), vec![3.0; n]);
    let plain = GpuBackend::with("plain", 9, |info| info.features.strided = false);
    let launch = axpy(1.0, &x, &mut y).schedule(&ScheduleKind::grid_stride());
    let error = launch.over(n).run_on(&device(&plain).0).unwrap_err();
    assert!(
        error.to_string().contains("its texts do not support it"),
        "{error}"
    );
}

#[test]
fn a_launch_is_a_program_of_one_kernel() {
    let [plain, programs] = [GpuBackend::new("plain", 9), GpuBackend::new("programs", 5)];
    let named = |name: &'static str| {
        move |request: &crate::plugin::claims::Request<'_>| {
            request.kernels.iter().all(|k| k.name == name)
        }
    };
    programs.claim(move |claims| {
        claims.by_predicate(Subject::Programs, named("fused"));
    });
    let all = registry("", &[plain.clone(), programs.clone()]);
    let fused = changed(|k| k.name = "fused".into());
    let (x, mut y) = (Vector::filled(4, 1.0), Vector::zeros(4));
    for _ in 0..2 {
        fused(&x, &mut y).over(4).run_among(&all).unwrap();
        axpy(1.0, &x, &mut y).over(4).run_among(&all).unwrap();
    }
    let launches = |b: &GpuBackend| b.stats.launches.load(Relaxed);
    assert_eq!((launches(&plain), launches(&programs)), (2, 2));
    let other = GpuBackend::new("other", 1);
    other.claim(move |claims| {
        claims.by_predicate(Subject::Kernels, named("fused"));
    });
    all.register(other).unwrap();
    let error = fused(&x, &mut y).over(4).run_among(&all).unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("(the kernel by other, the program by programs): claimed by other, programs"),
        "{text}"
    );
}
