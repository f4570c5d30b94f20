use std::sync::Arc;

use sarek_ir::sketch::Sketch;
use sarek_ir::{Axis, Builtin, Kernel, NativeText, Scalar, SiteId, Value};
use sarek_runtime::backend::{Args, Backend, Launch, Program, Slice};
use sarek_runtime::host::{DirectArg, IndexSpace, RawFault};
use sarek_runtime::{Error, Result};

use super::InterpreterBackend;

const X: Builtin = Builtin::GlobalIdx(Axis::X);

fn device() -> Arc<dyn sarek_runtime::backend::BackendDevice> {
    InterpreterBackend.open(0).expect("it is always there")
}

fn launch(kernel: Kernel, space: IndexSpace, args: &[DirectArg]) -> Result<Option<RawFault>> {
    sarek_ir::validate(&kernel).expect("a sound sketch");
    let device = device();
    // SAFETY: the kernel is closed and valid.
    let program = unsafe { device.load(&Program::Ir(Arc::new(kernel))) }?;
    let launch = Launch {
        program: &*program,
        kernel: "k",
        space,
        grid: space.grid.map(|g| g as u32),
        schedule: &sarek_runtime::tag::ScheduleKind::blocks(),
        environments: &sarek_runtime::backend::States::default(),
        args: Args::Host {
            args,
            checked: true,
        },
    };
    // SAFETY: each test passes the arguments that its kernel takes, in memory of its own.
    unsafe { device.stream().launch(&launch) }
}

fn over(extent: [u64; 3], block: [u32; 3]) -> IndexSpace {
    let grid = [0, 1, 2].map(|a| extent[a].div_ceil(u64::from(block[a])));
    IndexSpace {
        grid,
        block,
        extent,
    }
}

fn slice<T>(values: &mut [T]) -> DirectArg {
    DirectArg::Slice {
        ptr: values.as_mut_ptr().cast(),
        len: values.len(),
        mutable: true,
    }
}

fn saxpy() -> Kernel {
    let s = Sketch::new("saxpy");
    let a = s.scalar("a", Scalar::F32);
    let (x, y) = (s.slice("x", Scalar::F32), s.slice_mut("y", Scalar::F32));
    let i = s.let_("i", s.id(X));
    let sum = s.arg(a) * s.load(x, i.get()) + s.load(y, i.get());
    s.store(y, i.get(), sum);
    s.finish()
}

#[test]
fn runs_every_thread_of_a_ragged_space() {
    let (mut x, mut y) = ([1.0f32, 2.0, 3.0, 4.0, 5.0], [0.5f32; 5]);
    let args = [
        DirectArg::Scalar(Value::f32(2.0)),
        slice(&mut x),
        slice(&mut y),
    ];
    let fault = launch(saxpy(), over([5, 1, 1], [2, 1, 1]), &args);
    assert_eq!(fault.expect("arguments fit"), None);
    assert_eq!(y, [2.5, 4.5, 6.5, 8.5, 10.5]);
}

#[test]
fn the_first_thread_to_fault_is_reported_and_stores_nothing() {
    let (mut x, mut y) = ([1.0f32; 5], [0.5f32; 3]);
    let args = [
        DirectArg::Scalar(Value::f32(2.0)),
        slice(&mut x),
        slice(&mut y),
    ];
    let fault = launch(saxpy(), over([5, 1, 1], [2, 1, 1]), &args);
    let expected = RawFault {
        site: SiteId(1),
        detail: 3,
        thread: [3, 0, 0],
    };
    assert_eq!(fault.expect("arguments fit"), Some(expected));
    assert_eq!(y, [2.5; 3]);
}

#[test]
fn ids_in_three_dimensions() {
    let s = Sketch::new("ids");
    let v = s.slice_mut("v", Scalar::U32);
    let digit = |axis, by: u64| {
        let block = s.id(Builtin::BlockIdx(axis)) * s.id(Builtin::BlockDim(axis));
        (block + s.id(Builtin::ThreadIdx(axis))) * s.n(by)
    };
    let value = digit(Axis::X, 1) + digit(Axis::Y, 10) + digit(Axis::Z, 100);
    s.store(v, s.id(Builtin::GlobalThreadId), value.cast(Scalar::U32));
    let mut v = [0u32; 24];
    let fault = launch(s.finish(), over([4, 3, 2], [3, 2, 1]), &[slice(&mut v)]);
    assert_eq!(fault.expect("arguments fit"), None);
    let expected: Vec<u32> = (0..2)
        .flat_map(|z| (0..3).flat_map(move |y| (0..4).map(move |x| 100 * z + 10 * y + x)))
        .collect();
    assert_eq!(v.as_slice(), expected);
}

/// Each block reverses its elements, through a shared array whose length the launch determines.
fn reverse(barrier: impl FnOnce(&Sketch)) -> Kernel {
    let s = Sketch::new("reverse");
    let v = s.slice_mut("v", Scalar::F32);
    let factor = s.scalar("factor", Scalar::Usize);
    let thread = || s.id(Builtin::ThreadIdx(Axis::X));
    let lanes = || s.id(Builtin::BlockDim(Axis::X));
    let tile = s.shared_slice("tile", Scalar::F32, lanes() * s.arg(factor));
    let last = s.let_("last", s.len(tile) - s.n(1));
    s.store(tile, last.get() - thread(), s.load(v, s.id(X)));
    barrier(&s);
    let from = thread() + lanes() * (s.arg(factor) - s.n(1));
    s.store(v, s.id(X), s.load(tile, from));
    s.finish()
}

fn run_reverse(kernel: Kernel, n: usize, factor: u64) -> (Result<Option<RawFault>>, Vec<f32>) {
    let mut v: Vec<f32> = (0..3 * n).map(|i| i as f32).collect();
    let args = [slice(&mut v), DirectArg::Scalar(Value::Usize(factor))];
    let space = over([3 * n as u64, 1, 1], [n as u32, 1, 1]);
    (launch(kernel, space, &args), v)
}

#[test]
fn blocks_share_arrays_and_meet_at_barriers() {
    for n in [1, 3, 32, 33, 255, 256, 1024] {
        let (ran, v) = run_reverse(reverse(|s| s.barrier()), n, 2);
        assert_eq!(ran.expect("arguments fit"), None);
        let block = |b| (b * n..(b + 1) * n).rev().map(|i| i as f32);
        let expected: Vec<f32> = (0..3).flat_map(block).collect();
        assert_eq!(v, expected, "{n} threads");
    }
    // Without elements, the first store is out of bounds.
    let (ran, _) = run_reverse(reverse(|s| s.barrier()), 3, 0);
    let expected = RawFault {
        site: SiteId(1),
        detail: u64::MAX,
        thread: [0, 0, 0],
    };
    assert_eq!(ran.expect("arguments fit"), Some(expected));
}

#[test]
fn a_barrier_that_some_threads_miss_is_an_error() {
    let kernel = reverse(|s| {
        let some = s.id(Builtin::ThreadIdx(Axis::X)).lt(s.n(2));
        s.if_(some, || s.barrier());
    });
    let (ran, _) = run_reverse(kernel, 3, 2);
    let Err(Error::Launch { problem, .. }) = ran else {
        panic!("{ran:?}")
    };
    assert!(
        problem.contains("thread [0, 0, 0] of block [0, 0, 0] waits"),
        "{problem}"
    );
    assert!(
        problem.contains("where thread [2, 0, 0] does not come"),
        "{problem}"
    );
}

#[test]
fn control_flow_and_every_element_type() {
    let s = Sketch::new("types");
    let flags = s.slice_mut("flags", Scalar::Bool);
    let long = s.slice_mut("long", Scalar::I64);
    let double = s.slice_mut("double", Scalar::F64);
    let i = s.let_("i", s.id(X));
    let sum = s.let_mut("sum", s.lit(Value::I64(0)));
    s.for_("k", s.n(0), s.n(100), |k, outer| {
        s.if_((k.get() % s.n(2)).eq(s.n(1)), || s.continue_(outer));
        s.loop_(|_| {
            s.if_(k.get().gt(i.get()), || s.break_(outer));
            s.set(sum, sum.get() + k.get().cast(Scalar::I64));
            s.continue_(outer);
        });
    });
    s.store(long, i.get(), -sum.get());
    s.store(double, i.get(), s.load(long, i.get()).cast(Scalar::F64));
    s.store(
        flags,
        i.get(),
        s.load(flags, i.get())
            .and(sum.get().gt(s.lit(Value::I64(2)))),
    );
    let (mut flags, mut long, mut double) = ([true; 6], [0i64; 6], [0f64; 6]);
    let args = [slice(&mut flags), slice(&mut long), slice(&mut double)];
    let fault = launch(s.finish(), over([6, 1, 1], [6, 1, 1]), &args);
    assert_eq!(fault.expect("arguments fit"), None);
    assert_eq!(long, [0, 0, -2, -2, -6, -6]);
    assert_eq!(double, [0.0, 0.0, -2.0, -2.0, -6.0, -6.0]);
    assert_eq!(flags, [false, false, false, false, true, true]);
}

#[test]
fn native_blocks_run_their_fallback_or_are_refused() {
    let kernel = |fallback: bool| {
        let s = Sketch::new("native");
        let v = s.slice_mut("v", Scalar::I32);
        let text = NativeText {
            target: "cuda".into(),
            pieces: vec![].into(),
            origin: Default::default(),
        };
        let store = || s.store(v, s.id(X), s.i32(7));
        s.native(vec![text], fallback.then_some(&store as &dyn Fn()));
        s.finish()
    };
    let mut v = [0];
    let ran = launch(kernel(true), over([1, 1, 1], [1, 1, 1]), &[slice(&mut v)]);
    assert_eq!(ran.expect("it has a fallback"), None);
    assert_eq!(v, [7]);
    let refused = launch(kernel(false), over([1, 1, 1], [1, 1, 1]), &[slice(&mut v)]);
    assert!(
        matches!(refused, Err(Error::Unsupported { .. })),
        "{refused:?}"
    );
}

#[test]
fn arguments_that_do_not_fit_are_an_error() {
    let space = over([1, 1, 1], [1, 1, 1]);
    let wrong = launch(saxpy(), space, &[DirectArg::Scalar(Value::f32(1.0))]);
    assert!(matches!(wrong, Err(Error::Launch { .. })));
    let mut x = [1.0f32];
    let int = [
        DirectArg::Scalar(Value::I32(1)),
        slice(&mut x),
        slice(&mut [1.0f32]),
    ];
    assert!(matches!(
        launch(saxpy(), space, &int),
        Err(Error::Launch { .. })
    ));
}

#[test]
fn copies() {
    let device = device();
    let stream = device.stream();
    let mem = device.alloc(8).expect("8 bytes");
    let part = |offset, len| Slice {
        mem: mem.clone(),
        offset,
        len,
    };
    let mut out = [0; 8];
    // SAFETY: all of it is memory of this test.
    let copied = unsafe {
        let numbers = [1, 2, 3, 4, 5, 6, 7, 8];
        stream.copy_in(&part(0, 8), &numbers).expect("own memory");
        stream.zero(&part(6, 2)).expect("own memory");
        let copied = stream.copy(&part(2, 4), &part(0, 4)).expect("own memory");
        stream.copy_out(&part(0, 8), &mut out).expect("own memory");
        copied
    };
    assert!(copied);
    assert_eq!(out, [1, 2, 1, 2, 3, 4, 0, 0]);
}

#[test]
fn the_sanitizer_names_both_threads() {
    let s = Sketch::new("k");
    let v = s.slice_mut("v", Scalar::F32);
    s.store(v, s.n(2), s.f32(1.0));
    let program = super::program::Interpreted::new(Arc::new(s.finish())).expect("it is closed");
    let mut values = [0.0f32; 3];
    let args = [slice(&mut values)];
    let space = over([4, 1, 1], [2, 1, 1]);
    assert_eq!(program.run(&args, &space, None).expect("it runs"), None);
    for seed in 0..3 {
        let settings = sarek_ir::interp::Sanitize {
            seed,
            ..Default::default()
        };
        let Err(Error::Sanitizer { kernel, finding }) = program.run(&args, &space, Some(settings))
        else {
            panic!("two threads meet");
        };
        assert_eq!(kernel, "k");
        assert_eq!(finding.matches("writes `v[2]`").count(), 2, "{finding}");
    }
}
