mod dispatch;
mod eligible;
mod faults;
mod optimize;
mod refused;

use std::sync::atomic::Ordering::Relaxed;

use sarek_ir::sketch::Sketch;
use sarek_ir::write::SlotKind;
use sarek_ir::{
    Axis, Builtin, Expr, Loc, Native, NativeText, Precondition, Scalar, SubgroupOp, Value,
};

use super::*;
use crate::environment::{self, Environment, Parts};
use crate::host::{DirectArg, IndexSpace, RawFault};
use crate::plugin::claims::Subject;
use crate::plugin::tag::{self, ScheduleKind, Template};
use crate::sync::lock;
use crate::testing::gpu::GpuBackend;
use crate::testing::host::HostBackend;
use crate::testing::{self, device, kernels, registry, two_gpus};
use crate::{FaultKind, Vector};

fn axpy<'a>(a: f32, x: &'a Vector<f32>, y: &'a mut Vector<f32>) -> Launch<'a> {
    kernels::axpy_call(a, x, y)
}

/// Makes a variant of the kernel `axpy`, and returns a function that calls it.
fn changed(
    change: impl FnOnce(&mut sarek_ir::Kernel),
) -> impl for<'a> Fn(&'a Vector<f32>, &'a mut Vector<f32>) -> Launch<'a> {
    let mut def = kernels::axpy();
    let mut ir = sarek_ir::Kernel::clone(def.ir);
    change(&mut ir);
    def.ir = Box::leak(Box::new(ir.into()));
    let def = kernels::leak(def);
    // SAFETY: the definitions in the tests take these arguments.
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
    /// As for [`crate::host::RunBlocks`].
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
    // Also without any device.
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
fn preconditions_on_subgroups_depend_on_the_device() {
    let kernel = changed(|k| {
        k.preconditions = vec![Precondition::SubgroupSize(32), Precondition::WholeSubgroups].into();
    });
    let (x, mut y) = (Vector::zeros(100), Vector::zeros(100));
    let device = testing::host();
    let mut run =
        |grid: usize, block: usize| kernel(&x, &mut y).grid(grid).block(block).run_on(&device);
    run(3, 32).unwrap();
    run(1, 48).unwrap();
    let error = run(2, 48).unwrap_err();
    assert!(matches!(error, Error::Precondition { .. }));
    let text = error.to_string();
    assert!(
        text.contains("its blocks have 48 threads along x, and subgroups have 32"),
        "{text}"
    );
    for (size, due) in [
        (
            8,
            "only if the device's subgroups have 32 threads, but its subgroups have 8",
        ),
        (0, "but its subgroups may differ in size"),
    ] {
        let other = testing::gpu::GpuBackend::with("other", 1, |info| info.subgroup = size);
        let other = registry("", &[other]).best().unwrap();
        let error = kernel(&x, &mut y).over(7).run_on(&other).unwrap_err();
        assert!(matches!(error, Error::NotEligible { .. }), "{error}");
        assert!(error.to_string().contains(due), "{error}");
    }
    let explained = kernel(&x, &mut y).over(7).explain();
    assert!(
        explained.contains("subgroups have 32 threads\n"),
        "{explained}"
    );
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
        let flags: Vec<_> = lock(&stats.parts).flags().map(str::to_owned).collect();
        (stats.compiles.load(Relaxed), flags)
    };
    assert_eq!(run(&[]), (1, vec![]));
    assert_eq!(run(&["launch/one"]), (2, vec!["-one".to_owned()]));
    assert_eq!(run(&["launch/one", "launch/two"]).1, ["-one", "-two"]);
    assert_eq!(run(&["launch/one"]).0, 3, "known");
}
