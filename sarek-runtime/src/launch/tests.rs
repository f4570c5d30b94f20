use std::sync::atomic::Ordering::Relaxed;

use sarek_ir::sketch::Sketch;
use sarek_ir::write::SlotKind;
use sarek_ir::{Axis, Builtin, Expr, Loc, Native, NativeText, Precondition, Scalar};

use super::*;
use crate::claims::Subject;
use crate::direct::{DirectArg, IndexSpace, RawFault};
use crate::environment::{self, Environment, Parts};
use crate::sync::lock;
use crate::tag::{self, ScheduleKind, Template};
use crate::testing::gpu::GpuBackend;
use crate::testing::host::HostBackend;
use crate::testing::{self, device, kernels, registry, two_gpus};
use crate::{FaultKind, Vector};

fn axpy<'a>(a: f32, x: &'a Vector<f32>, y: &'a mut Vector<f32>) -> Launch<'a> {
    kernels::axpy_call(a, x, y)
}

/// A kernel that is `axpy` but for a change, and a call of it.
fn changed(
    change: impl FnOnce(&mut sarek_ir::Kernel),
) -> impl for<'a> Fn(&'a Vector<f32>, &'a mut Vector<f32>) -> Launch<'a> {
    let mut def = kernels::axpy();
    let mut ir = def.ir.clone();
    change(&mut ir);
    def.ir = Box::leak(Box::new(ir));
    let def = kernels::leak(def);
    // SAFETY: the tests give definitions that take these arguments.
    move |x, y| unsafe { Launch::of(def, [1.0f32.into(), x.into(), y.into()]) }
}

fn index_of_x(error: &Error) -> u64 {
    match error {
        Error::Fault(fault) => match &fault.kind {
            FaultKind::Index {
                argument, index, ..
            } if argument == "x" => *index,
            other => panic!("{other:?}"),
        },
        other => panic!("{other}"),
    }
}

#[test]
fn a_host_launch_runs_the_body_in_place() {
    let x = Vector::from_vec(vec![1.0, 2.0, 3.0]);
    let mut y = Vector::filled(3, 10.0);
    let before = y.as_slice().unwrap().as_ptr();
    axpy(2.0, &x, &mut y)
        .over(3)
        .run_on(&testing::host())
        .unwrap();
    assert_eq!(y.to_vec().unwrap(), [12.0, 14.0, 16.0]);
    assert_eq!(y.as_slice().unwrap().as_ptr(), before);
}

#[test]
fn a_host_fault_names_everything_and_sticks_until_the_vector_is_rewritten() {
    let x = Vector::from_vec(vec![1.0, 2.0]);
    let mut y = Vector::filled(3, 10.0);
    let device = testing::host();
    let error = axpy(2.0, &x, &mut y).over(3).run_on(&device).unwrap_err();
    let Error::Fault(fault) = &error else {
        panic!("{error}");
    };
    assert_eq!(
        (fault.kernel.as_str(), fault.line, fault.thread),
        ("axpy", 3, [2, 0, 0])
    );
    let expected = FaultKind::Index {
        argument: "x".into(),
        index: 2,
        len: 2,
    };
    assert_eq!(fault.kind, expected);
    assert!(x.to_vec().is_ok());
    assert_eq!(y.to_vec().unwrap_err().to_string(), error.to_string());
    assert!(
        axpy(1.0, &y, &mut Vector::zeros(3))
            .over(3)
            .run_on(&device)
            .is_err()
    );
    y.fill(0.0).unwrap();
    axpy(1.0, &x, &mut y).over(2).run_on(&device).unwrap();
    assert_eq!(y.to_vec().unwrap(), [1.0, 2.0, 0.0]);
}

#[test]
fn a_host_backends_error_poisons_what_it_may_have_written() {
    let broken = changed(|k| k.name = "broken".into());
    let x = Vector::zeros(2);
    let mut y = Vector::zeros(2);
    let error = broken(&x, &mut y)
        .over(2)
        .run_on(&testing::host())
        .unwrap_err();
    assert!(matches!(error, Error::Device { .. }));
    assert!(x.to_vec().is_ok() && y.to_vec().is_err());
}

#[test]
fn a_device_fault_sticks_to_the_vectors_and_is_reported_once_elsewhere() {
    let [(device, _), (other, _)] = two_gpus();
    let x = Vector::from_vec(vec![1.0, 2.0]);
    let mut y = Vector::zeros(3);
    let mut z = Vector::zeros(3);
    axpy(1.0, &x, &mut y).over(3).run_on(&device).unwrap();
    // What is computed of it before anybody knows is lost as well, on any device.
    axpy(1.0, &y, &mut z).over(3).run_on(&device).unwrap();
    assert_eq!(index_of_x(&device.sync().unwrap_err()), 2);
    device.sync().unwrap();
    for _ in 0..2 {
        assert_eq!(index_of_x(&y.to_vec().unwrap_err()), 2);
        assert_eq!(index_of_x(&z.get(0).unwrap_err()), 2);
    }
    assert!(axpy(1.0, &x, &mut z).over(2).run_on(&other).is_err());
    assert!(format!("{z:?}").contains("lost"));
    // The device goes on, and so does the vector once it is rewritten.
    z.fill(1.0).unwrap();
    axpy(1.0, &x, &mut z).over(2).run_on(&device).unwrap();
    assert_eq!(z.to_vec().unwrap(), [2.0, 3.0, 1.0]);
    device.sync().unwrap();
}

#[test]
fn a_fault_that_a_read_reported_is_not_reported_again() {
    let [(device, _), _] = two_gpus();
    let x = Vector::zeros(1);
    let mut y = Vector::zeros(2);
    let stream = device.new_stream().unwrap();
    let event = axpy(1.0, &x, &mut y).over(2).enqueue(&stream).unwrap();
    assert_eq!(index_of_x(&y.to_vec().unwrap_err()), 1);
    event.sync().unwrap();
    stream.sync().unwrap();
    device.sync().unwrap();
    y.fill(0.0).unwrap();
    let event = axpy(1.0, &x, &mut y).over(2).enqueue(&stream).unwrap();
    drop(y);
    assert_eq!(index_of_x(&event.sync().unwrap_err()), 1);
    stream.sync().unwrap();
}

#[test]
fn a_dropped_streams_fault_is_reported_by_the_device() {
    let [(device, _), _] = two_gpus();
    let x = Vector::zeros(1);
    let mut y = Vector::zeros(2);
    let stream = device.new_stream().unwrap();
    let _event = axpy(1.0, &x, &mut y).over(2).enqueue(&stream).unwrap();
    drop((stream, _event, y));
    let _other = device.new_stream().unwrap();
    assert!(device.sync().is_err());
    device.sync().unwrap();
}

#[test]
fn many_launches_that_might_fault_are_settled_in_between() {
    let [(device, stats), _] = two_gpus();
    let x = Vector::zeros(4);
    for _ in 0..600 {
        // Nobody reads the results, all of which are lost.
        let mut y = Vector::zeros(5);
        axpy(1.0, &x, &mut y).over(5).run_on(&device).unwrap();
    }
    // Records are read many at a time.
    let read = stats.downloads.load(Relaxed);
    assert!((4..30).contains(&read), "{read} times");
    assert_eq!(index_of_x(&device.sync().unwrap_err()), 4);
    device.sync().unwrap();
}

#[test]
fn proved_launches_carry_no_fault_record() {
    let backend = GpuBackend::new("gpu", 1);
    let (device, stats) = device(&backend);
    let (x, mut y) = (Vector::zeros(1000), Vector::zeros(1000));
    let faults = || {
        lock(&stats.last)
            .0
            .iter()
            .any(|slot| slot.kind == SlotKind::Faults)
    };
    axpy(1.0, &x, &mut y).over(1000).run_on(&device).unwrap();
    assert!(!faults());
    axpy(1.0, &x, &mut y).cover(1000).run_on(&device).unwrap();
    assert!(faults(), "threads 1000 to 1023 run too");
}

#[test]
fn a_kernel_is_compiled_once_for_each_variant() {
    let backend = GpuBackend::new("gpu", 1);
    let (device, stats) = device(&backend);
    let (x, mut y) = (Vector::zeros(1000), Vector::zeros(1000));
    for (threads, compiles) in [(1000, 1), (1000, 1), (10, 1), (1001, 2), (1500, 2)] {
        axpy(1.0, &x, &mut y).over(threads).run_on(&device).unwrap();
        assert_eq!(stats.compiles.load(Relaxed), compiles, "{threads} threads");
    }
}

#[test]
fn threads_share_kernels_and_what_they_read() {
    let backend = GpuBackend::new("gpu", 1);
    let (device, stats) = device(&backend);
    let kernel = changed(|_| ());
    let x = Vector::filled(64, 1.0);
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                let mut y = Vector::zeros(64);
                for _ in 0..20 {
                    kernel(&x, &mut y).over(64).run_on(&device).unwrap();
                }
                assert_eq!(y.to_vec().unwrap(), [20.0; 64]);
            });
        }
    });
    assert_eq!(stats.compiles.load(Relaxed), 1);
    assert_eq!(stats.uploads.load(Relaxed), 1 + 16);
}

#[test]
fn a_vector_may_be_read_twice() {
    let slice = kernels::axpy().ir.params[1].kind;
    let mut ir = sarek_ir::Kernel::new("reads_twice");
    ir.params = vec![kernels::param("a", slice), kernels::param("b", slice)].into();
    /// # Safety
    /// As for [`crate::direct::RunBlocks`].
    unsafe fn body(
        args: &[DirectArg],
        _: &IndexSpace,
        _: std::ops::Range<u64>,
        _: bool,
    ) -> std::result::Result<(), RawFault> {
        assert_eq!(args.len(), 2);
        Ok(())
    }
    let def = kernels::leak(kernels::def(ir, body));
    let x = Vector::filled(4, 1.0f32);
    let [(gpu, stats), _] = two_gpus();
    for device in [gpu, testing::host()] {
        // SAFETY: the definition takes two slices.
        let launch: Launch = unsafe { Launch::of(def, [(&x).into(), (&x).into()]) };
        launch.over(4).run_on(&device).unwrap();
    }
    assert_eq!(stats.uploads.load(Relaxed), 1);
}

#[test]
fn an_empty_launch_does_nothing_but_is_checked() {
    let [(device, stats), _] = two_gpus();
    let (x, mut y) = (Vector::zeros(1), Vector::zeros(1));
    axpy(1.0, &x, &mut y).over(0).run_on(&device).unwrap();
    axpy(1.0, &x, &mut y).cover((5, 0)).run_on(&device).unwrap();
    let stream = device.stream();
    axpy(1.0, &x, &mut y)
        .grid(0)
        .block(32)
        .enqueue(&stream)
        .unwrap()
        .sync()
        .unwrap();
    // Without any device, too.
    axpy(1.0, &x, &mut y)
        .over(0)
        .run_among(&registry("", &[]))
        .unwrap();
    let malformed = axpy(1.0, &x, &mut y).grid(0).block(0).run_on(&device);
    assert!(matches!(malformed.unwrap_err(), Error::Launch { .. }));
    assert_eq!(
        (stats.launches.load(Relaxed), stats.uploads.load(Relaxed)),
        (0, 0)
    );
}

#[test]
fn grids_past_the_limits_are_folded() {
    let small = GpuBackend::with("small", 1, |info| info.max_grid = [4, 4, 2]);
    let (device, stats) = device(&small);
    let x = Vector::filled(300, 1.0);
    let mut y = Vector::zeros(300);
    axpy(1.0, &x, &mut y)
        .grid(10)
        .block(30)
        .run_on(&device)
        .unwrap();
    let grid = |axis| SlotKind::Grid(axis);
    {
        let (slots, physical) = &*lock(&stats.last);
        assert_eq!(*physical, [4, 3, 1]);
        assert!(
            slots
                .iter()
                .any(|slot| slot.kind == grid(Axis::X) && slot.ty == Scalar::U32)
        );
    }
    assert_eq!(y.to_vec().unwrap(), [1.0; 300]);
    let many = axpy(1.0, &x, &mut y)
        .grid(33)
        .block(1)
        .run_on(&device)
        .unwrap_err();
    assert!(many.to_string().contains("4 × 4 × 2"), "{many}");
}

#[test]
fn preconditions_are_told_in_words() {
    let kernel = changed(|k| {
        let x = k.push_expr(
            Expr::Len(sarek_ir::ParamId(1).into()),
            Scalar::Usize,
            Loc::default(),
        );
        k.preconditions = vec![
            Precondition::SingleThread(Axis::Y),
            Precondition::ExtentAtMost(Axis::X, 50),
            Precondition::NoOverflow(x),
        ]
        .into();
    });
    let (x, mut y) = (Vector::zeros(100), Vector::zeros(100));
    let device = testing::host();
    let mut run = |extent: (usize, usize)| kernel(&x, &mut y).over(extent).run_on(&device);
    run((50, 1)).unwrap();
    let error = run((50, 4)).unwrap_err();
    assert!(matches!(error, Error::Precondition { .. }));
    let text = error.to_string();
    assert!(
        text.contains("one thread along y, but it has 4 threads along y"),
        "{text}"
    );
    let text = run((51, 1)).unwrap_err().to_string();
    assert!(
        text.contains("at most 50 threads along x, but it has 51"),
        "{text}"
    );
    let explained = kernel(&x, &mut y).over(7).explain();
    assert!(explained.contains("one thread along y\n"), "{explained}");
}

#[test]
fn a_fixed_block_is_used() {
    let kernel = changed(|k| k.block = Some([64, 2, 1]));
    let (x, mut y) = (Vector::zeros(10), Vector::zeros(10));
    fn fixed(launch: Launch<'_>) -> Launch<'_, FixedBlock> {
        Launch {
            call: launch.call,
            block: PhantomData,
        }
    }
    let block = |ready: Ready<'_>| ready.plan(&testing::host()).unwrap().space;
    assert_eq!(block(fixed(kernel(&x, &mut y)).over(10)).block, [64, 2, 1]);
    assert_eq!(
        block(fixed(kernel(&x, &mut y)).grid((2, 3))).extent,
        [128, 6, 1]
    );
    let small = GpuBackend::with("small", 1, |info| info.max_block_threads = 100);
    let error = fixed(kernel(&x, &mut y))
        .over(10)
        .run_on(&device(&small).0)
        .unwrap_err();
    assert!(matches!(error, Error::NotEligible { .. }), "{error}");
}

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
    let only_poor: [Arc<dyn crate::backend::Backend>; 1] = [poor.clone()];
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
    // A check that no launch can prove needs it in every launch.
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
    // Each id fits, but not the number of a block in the folded grid.
    let folding = GpuBackend::with("folding", 1, |info| {
        info.features.i64 = false;
        info.max_grid = [1 << 20, 1 << 13, 1];
    });
    let (folding, _) = device(&folding);
    let folded = axpy(1.0, &x, &mut y).grid((1 << 17, 1 << 15)).block(1);
    let wide = folded.run_on(&folding).unwrap_err();
    assert!(wide.to_string().contains("exceed 32 bits"), "{wide}");
}

#[test]
fn arguments_built_by_hand_are_checked() {
    let def = kernels::leak(kernels::axpy());
    let (x, mut y) = (Vector::<f32>::zeros(1), Vector::<i32>::zeros(1));
    let run = |args: Vec<Arg<'_>>| {
        // SAFETY: the definition takes these arguments.
        let launch: Launch<'_> = unsafe { Launch::of(def, args) };
        launch
            .over(1)
            .run_on(&testing::host())
            .unwrap_err()
            .to_string()
    };
    let text = run(vec![1.0f32.into(), (&x).into(), (&mut y).into()]);
    assert!(
        text.contains("`y` takes &mut Vector<f32>, not &mut Vector<i32>"),
        "{text}"
    );
    let text = run(vec![1.0f32.into(), (&x).into(), (&x).into()]);
    assert!(text.contains("not &Vector<f32>"), "{text}");
    assert!(run(vec![1.0f32.into()]).contains("3 arguments, not 1"));
}

#[test]
fn literals_are_extents() {
    fn dims(extent: impl IntoDims) -> [usize; 3] {
        extent.into_dims().0
    }
    assert_eq!(dims(7), [7, 1, 1]);
    assert_eq!(dims((7, 8)), [7, 8, 1]);
    assert_eq!(dims((7, 8, 9)), [7, 8, 9]);
}

/// A kernel of no parameters, which this fills, on the fake GPU.
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
    // Without its owner the kernel is everybody's again.
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
fn environments_reach_the_compiler_and_name_programs() {
    let backend = GpuBackend::new("gpu", 1);
    let (device, stats) = device(&backend);
    let flag = |flag: &'static str| move |_: &str| Ok(Parts::new().flag(flag));
    environment::register(Environment::new("launch/one", flag("-one"))).unwrap();
    environment::register(Environment::new("launch/two", flag("-two"))).unwrap();
    let (x, mut y) = (Vector::zeros(4), Vector::zeros(4));
    let mut run = |names: &[&str]| {
        let launch = axpy(1.0, &x, &mut y);
        let launch = names
            .iter()
            .fold(launch, |launch, name| launch.environment(name));
        launch.over(4).run_on(&device).unwrap();
        (
            stats.compiles.load(Relaxed),
            lock(&stats.parts).flags.clone(),
        )
    };
    assert_eq!(run(&[]), (1, vec![]));
    assert_eq!(run(&["launch/one"]), (2, vec!["-one".to_owned()]));
    assert_eq!(run(&["launch/one", "launch/two"]).1, ["-one", "-two"]);
    assert_eq!(run(&["launch/one"]).0, 3, "known");
}

#[test]
fn a_launch_that_did_not_fail_is_lost_behind_one_that_did() {
    // A check that no launch can prove, so that each has a record of its own.
    let checked = changed(|k| k.sites.to_mut()[0].provable = false);
    let [(device, _), _] = two_gpus();
    let stream = device.new_stream().unwrap();
    let (x, mut lost, mut y) = (Vector::zeros(2), Vector::zeros(3), Vector::zeros(2));
    checked(&x, &mut lost).over(3).enqueue(&stream).unwrap();
    let behind = checked(&x, &mut y).over(2).enqueue(&stream).unwrap();
    assert_eq!(index_of_x(&behind.sync().unwrap_err()), 2);
    behind.sync().unwrap();
    stream.sync().unwrap();
    assert_eq!(index_of_x(&y.to_vec().unwrap_err()), 2);
    y.fill(0.0).unwrap();
    checked(&x, &mut y)
        .over(2)
        .enqueue(&stream)
        .unwrap()
        .sync()
        .unwrap();
    assert_eq!(y.to_vec().unwrap(), [0.0; 2]);
}
