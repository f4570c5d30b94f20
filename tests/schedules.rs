//! The schedule of a launch does not change its results.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Condvar, Mutex};
use std::time::Duration;

use sarek::__private::host::{Direct, DirectArg, IndexSpace, RawFault};
use sarek::__private::{FreeBlock, KernelDef};
use sarek::prelude::*;
use sarek::tag::{self, ScheduleKind};
use sarek::{Error, Kernel, Launch, Result};

/// Threads return at different places, also inside loops.
#[kernel]
fn search(haystack: &[u32], limit: usize, found: &mut [u32]) {
    let i = global_idx_x();
    if haystack[i] % 5 == 0 {
        found[i] = 1000;
        return;
    }
    for k in 0..limit {
        for j in 0..3 {
            if haystack[i] == (3 * k + j) as u32 {
                found[i] = k as u32 + 1;
                return;
            }
        }
    }
    found[i] = 7;
}

#[kernel]
fn places(width: usize, height: usize, out: &mut [u32]) {
    let (x, y) = (global_idx_x(), global_idx_y());
    if x < width && y < height {
        out[y * width + x] = (1000 * y + x + 100_000 * global_thread_id()) as u32;
    }
}

#[kernel]
fn gather(index: &[u32], from: &[u32], to: &mut [u32]) {
    let i = global_idx_x();
    to[i] = from[index[i] as usize];
}

#[kernel(block = 32)]
fn rotate(v: &mut [u32]) {
    let tile = shared_array::<u32, 32>();
    let t = thread_idx_x();
    tile[t] = v[global_idx_x()];
    barrier();
    v[global_idx_x()] = tile[(t + 1) % 32];
}

fn schedules() -> [tag::Tag<ScheduleKind>; 3] {
    [
        ScheduleKind::blocks(),
        ScheduleKind::grid_stride(),
        ScheduleKind::single_thread(),
    ]
}

/// The devices that support every schedule.
fn devices() -> impl Iterator<Item = Device> {
    let runs = |device: &Device| device.info().host_memory || device.info().features.strided;
    Device::all().into_iter().filter(runs)
}

#[test]
fn results_are_the_same() -> Result<()> {
    for device in devices() {
        // Many more blocks than any device runs at once. Fewer for the interpreter, which is slow.
        let large = if device.backend() == "interpreter" {
            5000
        } else {
            300_001
        };
        for schedule in schedules() {
            let alone = schedule == ScheduleKind::single_thread();
            for n in [1, 255, 1000, if alone { 3001 } else { large }] {
                let haystack: Vector<u32> = (0..n).map(|i| (i * 7 % 101) as u32).collect();
                let mut found = Vector::filled(n, 0);
                search(&haystack, 20, &mut found)
                    .schedule(&schedule)
                    .over(n)
                    .run_on(&device)?;
                let expected = haystack.map(|v| match v {
                    v if v % 5 == 0 => 1000,
                    v if v < 60 => v / 3 + 1,
                    _ => 7,
                })?;
                assert!(
                    found.to_vec()? == expected.to_vec()?,
                    "{device}: {schedule}, {n}"
                );
            }
            let (width, height) = (37, 21);
            let mut out = Vector::filled(width * height, 0);
            let launch = places(width, height, &mut out).schedule(&schedule);
            launch.over((width, height)).run_on(&device)?;
            let expected =
                (0..width * height).map(|i| (1000 * (i / width) + i % width + 100_000 * i) as u32);
            assert_eq!(
                out.to_vec()?,
                expected.collect::<Vec<_>>(),
                "{device}: {schedule}"
            );
        }
    }
    Ok(())
}

#[test]
fn faults_name_the_scheduled_thread() -> Result<()> {
    for device in devices() {
        for schedule in schedules() {
            let n = if schedule == ScheduleKind::single_thread() {
                500
            } else {
                70_000
            };
            let mut index: Vec<u32> = vec![0; n];
            index[n - 3] = 5;
            let index = Vector::from_vec(index);
            let (from, mut to) = (Vector::filled(4, 1), Vector::zeros(n));
            let launch = gather(&index, &from, &mut to).schedule(&schedule).over(n);
            let outcome = launch.run_on(&device).and_then(|()| to.to_vec());
            match outcome {
                Err(Error::Fault(fault)) => {
                    assert_eq!(fault.thread, [n as u64 - 3, 0, 0], "{device}: {schedule}");
                }
                other => panic!("{device}, {schedule}: {:?}", other.map(|v| v.len())),
            }
            let _reported = device.sync();
        }
    }
    Ok(())
}

#[test]
fn kernels_that_need_concurrent_threads_are_refused() -> Result<()> {
    for device in Device::all() {
        let mut v: Vector<u32> = (0..64).collect();
        let expected: Vec<u32> = (0..64).map(|i| i / 32 * 32 + (i + 1) % 32).collect();
        let launch = rotate(&mut v)
            .schedule(&ScheduleKind::grid_stride())
            .grid(2);
        match launch.run_on(&device) {
            Ok(()) => assert_eq!(v.to_vec()?, expected),
            Err(error) => {
                assert!(!device.info().host_memory, "{device}: {error}");
                let text = error.to_string();
                let expected = text.contains("work together") || text.contains("do not support it");
                assert!(expected, "{text}");
            }
        }
        let mut found = Vector::zeros(64);
        let sized = search(&v, 2, &mut found).schedule(&ScheduleKind::single_thread());
        let sized = sized.grid(2).block(32).run_on(&device);
        assert_eq!(sized.is_ok(), device.info().host_memory, "{device}");
        let nowhere = search(&v, 2, &mut found).schedule(&tag::lookup("nowhere"));
        let error = nowhere
            .over(64)
            .run_on(&device)
            .expect_err("nobody claims it");
        assert!(error.to_string().contains("Undefined(nowhere)"), "{error}");
    }
    Ok(())
}

#[kernel]
fn roots(v: &mut [f32]) {
    let i = global_idx_x();
    v[i] = v[i].sqrt();
}

/// The threads that ran blocks of [`COUNTED`].
static RAN_ON: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
static CAME: Condvar = Condvar::new();
/// The number of threads for which a block waits.
static EXPECTED: AtomicUsize = AtomicUsize::new(1);

/// The body of [`roots`], with a note of the thread. While fewer threads than expected have come, a
/// block waits for another thread, which then takes the next blocks.
unsafe fn counted(
    args: &[DirectArg],
    space: &IndexSpace,
    blocks: Range<u64>,
    checked: bool,
) -> std::result::Result<(), RawFault> {
    let thread = format!("{:?}", std::thread::current().id());
    let mut ran_on = RAN_ON.lock().expect("nobody panics with it");
    ran_on.insert(thread);
    CAME.notify_all();
    let too_few = |ran_on: &mut BTreeSet<String>| ran_on.len() < EXPECTED.load(Relaxed);
    let waited = CAME.wait_timeout_while(ran_on, Duration::from_secs(30), too_few);
    if waited.expect("nobody panics with it").1.timed_out() {
        // The test fails; the other blocks need not wait.
        EXPECTED.store(0, Relaxed);
    }
    // SAFETY: the caller's promise is that of this body.
    unsafe { (<roots as Kernel>::DEF.direct.run)(args, space, blocks, checked) }
}

static COUNTED: KernelDef = KernelDef {
    direct: Direct {
        run: counted,
        ..<roots as Kernel>::DEF.direct
    },
    ..<roots as Kernel>::DEF
};

#[test]
fn native_blocks_run_on_several_threads() -> Result<()> {
    let native = Device::of("native")?;
    let wanted = std::env::var("RAYON_NUM_THREADS").ok();
    let available = || std::thread::available_parallelism().map_or(1, usize::from);
    let threads = wanted
        .and_then(|n| n.parse().ok())
        .unwrap_or_else(available);
    if threads < 2 {
        eprintln!("skipped: native_blocks_run_on_several_threads: there is one thread");
        return Ok(());
    }
    let n = 1 << 18;
    for (schedule, expected) in [
        (ScheduleKind::single_thread(), 1),
        (ScheduleKind::blocks(), 2),
        (ScheduleKind::grid_stride(), 2),
    ] {
        RAN_ON.lock().expect("nobody panics with it").clear();
        EXPECTED.store(expected, Relaxed);
        let mut v = Vector::filled(n, 9.0f32);
        // SAFETY: the definition is that of `roots`, with a body that calls its own.
        let launch = unsafe { Launch::<FreeBlock>::of(&COUNTED, [(&mut v).into()]) };
        launch.schedule(&schedule).over(n).run_on(&native)?;
        let ran_on = RAN_ON.lock().expect("nobody panics with it").clone();
        match expected {
            1 => assert_eq!(ran_on.len(), 1, "{schedule}: {ran_on:?}"),
            least => assert!(ran_on.len() >= least, "{schedule}: {ran_on:?}"),
        }
        assert!(v.to_vec()? == vec![3.0; n], "{schedule}");
    }
    Ok(())
}
