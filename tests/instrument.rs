//! Instrumentation: providers of tags of one's own, and the arrays of launches in files.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sarek::instrument::{self, Array, DataProblem, DataProvider, Provider, Upcoming};
use sarek::prelude::*;
use sarek::tag::{self, DataInstrumentationKind, InstrumentationKind, Tag};
use sarek::{Error, Result, Work, WorkKind};

#[kernel]
fn saxpy(a: f32, x: &[f32], y: &mut [f32]) {
    let i = global_idx_x();
    y[i] = a * x[i] + y[i];
}

#[kernel]
fn slow(rounds: u32, y: &mut [u32]) {
    let i = global_idx_x();
    let mut value = y[i];
    for k in 0..rounds {
        value = (value ^ k).wrapping_mul(2_654_435_761);
    }
    y[i] = value;
}

#[derive(Clone, Copy, PartialEq, Debug, KernelType)]
#[repr(C)]
struct Ball {
    up: bool,
    height: f64,
}

#[kernel]
fn bounce(balls: &mut [Ball], hits: &mut [u32]) {
    let i = global_idx_x();
    if balls[i].up {
        balls[i].height += 1.0;
        hits[i] += 1;
    }
}

/// Writes down what it is told.
#[derive(Default)]
struct Log {
    lines: Mutex<Vec<String>>,
    works: Mutex<Vec<Work>>,
    quick: bool,
}

impl Log {
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.lines.lock().unwrap())
    }
}

impl Provider for Log {
    fn waits(&self) -> bool {
        !self.quick
    }

    fn before(&self, work: &Upcoming<'_>) -> Result<()> {
        let (name, threads) = (work.name, work.threads);
        let line = format!(
            "before {name}: {threads} threads, {} + {} bytes",
            work.read, work.written
        );
        self.lines.lock().unwrap().push(line);
        Ok(())
    }

    fn after(&self, _: &Device, work: &Work) -> Result<()> {
        self.lines
            .lock()
            .unwrap()
            .push(format!("after {}", work.name));
        self.works.lock().unwrap().push(work.clone());
        Ok(())
    }
}

fn logged(name: &str, log: Log) -> (Tag<InstrumentationKind>, Arc<Log>) {
    let (tag, log) = (tag::register(name).unwrap(), Arc::new(log));
    instrument::register(&tag, log.clone()).unwrap();
    (tag, log)
}

/// A profile is of all work of a device, so the tests run one after the other.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a test on every device.
fn each(test: impl Fn(&Device)) {
    for device in Device::all() {
        eprintln!("{device}");
        test(&device);
    }
}

#[test]
fn a_launch_that_carries_a_tag_calls_its_provider() {
    let _alone = alone();
    let (tag, log) = logged("log", Log::default());
    let (x, mut y) = (Vector::filled(10, 1.0f32), Vector::zeros(10));
    each(|device| {
        let (x, mut y) = (Vector::filled(10, 1.0f32), Vector::<f32>::zeros(10));
        saxpy(2.0, &x, &mut y)
            .instrument(&tag)
            .over(8)
            .run_on(device)
            .unwrap();
        // A launch without it calls nothing.
        saxpy(2.0, &x, &mut y).over(8).run_on(device).unwrap();
        assert_eq!(
            log.take(),
            ["before saxpy: 8 threads, 80 + 40 bytes", "after saxpy"]
        );
        assert_eq!(y.to_vec().unwrap()[6..], [4.0, 4.0, 0.0, 0.0]);

        let mut z = Vector::filled(1000, 7u32);
        slow(100, &mut z)
            .instrument(&tag)
            .over(1000)
            .run_on(device)
            .unwrap();
        let last = log.works.lock().unwrap().pop().unwrap();
        assert!(last.kind == WorkKind::Kernel && last.time > Duration::ZERO);
        log.take();
    });
    // `run` and `enqueue` too. Providers are called in the order of the tags.
    let (second, other) = logged(
        "log second",
        Log {
            quick: true,
            ..Log::default()
        },
    );
    let launch = saxpy(2.0, &x, &mut y).instrument(&tag).instrument(&second);
    launch.over(10).run().unwrap();
    let stream = Device::best().unwrap().new_stream().unwrap();
    let launch = saxpy(2.0, &x, &mut y)
        .instrument(&second)
        .instrument(&InstrumentationKind::none());
    launch.over(0).enqueue(&stream).unwrap();
    let launch = saxpy(2.0, &x, &mut y).instrument(&second);
    launch.over(10).enqueue(&stream).unwrap();
    assert_eq!((log.take().len(), other.take().len()), (2, 4));
}

#[test]
fn graphs_carry_tags() {
    let _alone = alone();
    let (tag, log) = logged("graphs", Log::default());
    each(|device| {
        let (x, mut y) = (Vector::filled(8, 1.0f32), Vector::<f32>::zeros(8));
        let mut recording = device.record_graph();
        recording.launch(saxpy(1.0, &x, &mut y).over(8)).unwrap();
        recording.launch(saxpy(1.0, &x, &mut y).over(8)).unwrap();
        let refused = recording.launch(saxpy(1.0, &x, &mut y).instrument(&tag).over(8));
        assert!(matches!(refused, Err(Error::Graph { .. })));
        let graph = recording.finish().instrument(&tag);
        graph.replay((&x, &mut y)).unwrap();
        graph.replay((&x, &mut y)).unwrap();
        let (before, after) = (
            "before graph of 2: 0 threads, 128 + 64 bytes",
            "after graph of 2",
        );
        assert_eq!(log.take(), [before, after, before, after]);
        assert_eq!(y.to_vec().unwrap(), [4.0; 8]);
    });
}

/// All work of a device, for a time: launches, replays and transfers.
#[test]
fn a_device_is_measured_by_a_tag() {
    let _alone = alone();
    let (tag, log) = logged("all work", Log::default());
    each(|device| {
        let mut y = Vector::from_vec(vec![1.0f32; 8]);
        let x = Vector::filled(8, 1.0f32);
        let (_, profile) = device
            .profile_by(&tag, || {
                saxpy(1.0, &x, &mut y).over(8).run_on(device)?;
                y.to_vec()
            })
            .unwrap();
        let lines = log.take();
        let kernel = "before saxpy: 8 threads, 64 + 32 bytes".to_owned();
        assert!(
            lines.contains(&kernel) && lines.contains(&"after saxpy".to_owned()),
            "{lines:?}"
        );
        let transfers = lines
            .iter()
            .filter(|line| line.starts_with("before to the "));
        let due = if device.info().host_memory { 0 } else { 3 };
        assert_eq!(transfers.count(), due, "{device}: {lines:?}");
        assert_eq!(profile.work.len() * 2, lines.len());
        saxpy(1.0, &x, &mut y).over(8).run_on(device).unwrap();
        assert!(log.take().is_empty(), "the profile is over");
    });
}

#[test]
fn providers_may_refuse_and_launch() {
    let _alone = alone();
    struct Refuses(AtomicUsize);

    impl Provider for Refuses {
        fn before(&self, work: &Upcoming<'_>) -> Result<()> {
            if self.0.fetch_add(1, Relaxed) == 0 {
                return Err(Error::Unsupported {
                    backend: work.device.backend().to_owned(),
                    what: format!("{} today", work.name),
                });
            }
            // Its own launches call it no further.
            let tag = tag::lookup("refuses");
            let (x, mut y) = (Vector::filled(4, 1.0f32), Vector::zeros(4));
            saxpy(1.0, &x, &mut y)
                .instrument(&tag)
                .over(4)
                .run_on(work.device)
        }
    }

    let tag = tag::register("refuses").unwrap();
    let (x, mut y) = (Vector::filled(4, 1.0f32), Vector::<f32>::zeros(4));
    let mut run = |tag: &Tag<_>| saxpy(1.0, &x, &mut y).instrument(tag).over(4).run();
    let error = run(&tag).unwrap_err();
    assert!(matches!(error, Error::Tag { .. }), "{error:?}");
    assert!(
        error.to_string().contains("`refuses`: it has no provider"),
        "{error}"
    );
    let error = run(&InstrumentationKind::timer()).unwrap_err().to_string();
    assert!(error.contains("only `Device::profile_by`"), "{error}");
    run(&InstrumentationKind::none()).unwrap();

    instrument::register(&tag, Arc::new(Refuses(AtomicUsize::new(0)))).unwrap();
    assert!(run(&tag).unwrap_err().to_string().contains("saxpy today"));
    run(&tag).unwrap();
    let again = Arc::new(Refuses(AtomicUsize::new(0)));
    assert!(instrument::register(&tag, again.clone()).is_err());
    instrument::unregister(&tag).unwrap();
    assert!(run(&tag).is_err() && instrument::unregister(&tag).is_err());
    let timer = InstrumentationKind::timer();
    assert!(instrument::register(&timer, again.clone()).is_err());
    assert!(instrument::register(&tag::lookup("unknown"), again).is_err());
    assert_eq!(y.to_vec().unwrap(), [2.0; 4], "two of the launches ran");
}

/// A new folder for a test.
fn folder(name: &str) -> PathBuf {
    let folder =
        std::env::temp_dir().join(format!("sarek-instrument-{name}-{}", std::process::id()));
    let _absent = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Members of the kind for one test, which save to its folder and restore from there.
fn pair(name: &str) -> ([Tag<DataInstrumentationKind>; 2], PathBuf) {
    let folder = folder(name);
    let [save, restore] = ["save", "restore"].map(|what| format!("{name} {what}"));
    let [save, restore] = [save, restore].map(|tag| tag::register(&tag).unwrap());
    instrument::register_data(&save, Arc::new(instrument::Save::to(&folder))).unwrap();
    instrument::register_data(&restore, Arc::new(instrument::Restore::from(&folder))).unwrap();
    ([save, restore], folder)
}

/// The reason for which arrays could not be kept.
fn problem(result: Result<()>) -> DataProblem {
    match result {
        Err(Error::Data { problem, .. }) => *problem,
        other => panic!("{other:?}"),
    }
}

fn ball(up: bool, height: f64) -> Ball {
    Ball { up, height }
}

#[test]
fn arrays_are_saved_and_restored() {
    let _alone = alone();
    for (number, device) in Device::all().iter().enumerate() {
        if !device.info().features.f64 || !device.info().features.storage8 {
            eprintln!("not run on {device}");
            continue;
        }
        let ([save, restore], folder) = pair(&format!("balls{number}"));
        let mut balls = Vector::from_vec(vec![ball(true, 0.5), ball(false, 2.0), ball(true, -1.0)]);
        let mut hits = Vector::from_vec(vec![0u32, 10, 20]);
        for _ in 0..2 {
            let launch = bounce(&mut balls, &mut hits).instrument_data(&save);
            launch.over(3).run_on(device).unwrap();
        }
        let after = [ball(true, 2.5), ball(false, 2.0), ball(true, 1.0)];
        assert_eq!(balls.to_vec().unwrap(), after);

        // Another launch begins with what the first one had.
        let mut others = Vector::filled(3, ball(false, 9.0));
        let mut other_hits = Vector::<u32>::zeros(3);
        let launch = bounce(&mut others, &mut other_hits).instrument_data(&restore);
        launch.over(3).run_on(device).unwrap();
        let once = [ball(true, 1.5), ball(false, 2.0), ball(true, 0.0)];
        assert_eq!(others.to_vec().unwrap(), once, "{device}");
        assert_eq!(other_hits.to_vec().unwrap(), [1, 10, 21]);
        // The second one begins with what the second one had, and there is no third.
        let mut again = || {
            let launch = bounce(&mut others, &mut other_hits).instrument_data(&restore);
            launch.over(3).run_on(device)
        };
        again().unwrap();
        assert!(matches!(problem(again()), DataProblem::Io { .. }));
        assert_eq!(others.to_vec().unwrap(), after, "{device}");

        let mut names: Vec<_> = fs::read_dir(&folder)
            .unwrap()
            .map(|f| f.unwrap().file_name())
            .collect();
        names.sort();
        assert_eq!(names.len(), 8, "{names:?}");
        assert_eq!(names[0], "bounce.0.balls.after");
        let hits = fs::read(folder.join("bounce.1.hits.after")).unwrap();
        let bytes: Vec<u8> = [2u32, 10, 22]
            .iter()
            .flat_map(|hit| hit.to_ne_bytes())
            .collect();
        assert!(hits.ends_with(&bytes) && hits.starts_with(b"sarek array 1\nkernel: bounce\n"));
        fs::remove_dir_all(folder).unwrap();
    }
}

/// A vector that a launch only reads keeps its elements.
#[test]
fn a_launch_reads_restored_arrays_instead() {
    let _alone = alone();
    each(|device| {
        let name = format!("reads {device}");
        let ([save, restore], folder) = pair(&name.replace(|c: char| !c.is_alphanumeric(), ""));
        let (x, mut y) = (
            Vector::from_vec(vec![1.0f32, 2.0, 3.0]),
            Vector::<f32>::zeros(3),
        );
        saxpy(1.0, &x, &mut y)
            .instrument_data(&save)
            .over(3)
            .run_on(device)
            .unwrap();

        let (other, mut z) = (Vector::filled(3, 100.0f32), Vector::filled(3, 50.0f32));
        saxpy(10.0, &other, &mut z)
            .instrument_data(&restore)
            .over(3)
            .run_on(device)
            .unwrap();
        assert_eq!(z.to_vec().unwrap(), [10.0, 20.0, 30.0], "{device}");
        assert_eq!(other.to_vec().unwrap(), [100.0; 3], "{device}");
        fs::remove_dir_all(folder).unwrap();
    });
}

#[test]
fn arrays_that_cannot_be_kept_are_typed_errors() {
    let _alone = alone();
    let (x, mut y) = (Vector::filled(3, 1.0f32), Vector::<f32>::zeros(3));
    let mut run = |tag: &Tag<_>| saxpy(1.0, &x, &mut y).instrument_data(tag).over(3).run();

    let ([save, restore], folder) = pair("errors");
    run(&save).unwrap();
    let rewrite = |change: &dyn Fn(&mut String)| {
        let path = folder.join("saxpy.0.x.before");
        let mut text = String::from_utf8(fs::read(&path).unwrap()).unwrap();
        change(&mut text);
        fs::write(&path, text).unwrap();
    };
    let from_start = || {
        instrument::unregister_data(&restore).unwrap();
        instrument::register_data(&restore, Arc::new(instrument::Restore::from(&folder))).unwrap();
    };
    // 1.0 is `00 00 80 3f`, which is no text.
    fs::write(
        folder.join("saxpy.0.x.before"),
        "sarek array 1\nelement: f32\nbytes: 12\n\n123456789012",
    )
    .unwrap();
    run(&restore).unwrap();
    for (change, due) in [
        (
            ("f32", "u32"),
            "its elements are `f32`, and the saved ones `u32`",
        ),
        (("u32", "f32"), ""),
        (("bytes: 12", "bytes: 16"), "it has 12 of 16 bytes"),
        (
            ("123456789012", "1234567890123456"),
            "it has 12 bytes, and 16 were saved",
        ),
        (("sarek array 1", "array"), "its head is of another form"),
    ] {
        from_start();
        rewrite(&|text| *text = text.replace(change.0, change.1));
        match due {
            "" => run(&restore).unwrap(),
            due => {
                let told = problem(run(&restore)).to_string();
                assert!(told.contains(due), "{told}");
            }
        }
    }
    from_start();
    fs::remove_file(folder.join("saxpy.0.x.before")).unwrap();
    let missing = problem(run(&restore));
    let is_missing = |kind| kind == std::io::ErrorKind::NotFound;
    assert!(
        matches!(&missing, DataProblem::Io { kind, .. } if is_missing(*kind)),
        "{missing}"
    );

    // No folder.
    fs::remove_dir_all(&folder).unwrap();
    assert!(matches!(problem(run(&save)), DataProblem::Io { .. }));
    let own = DataInstrumentationKind::save();
    assert_eq!(problem(run(&own)), DataProblem::NoFolder);
    assert_eq!(
        problem(run(&DataInstrumentationKind::restore())),
        DataProblem::NoFolder
    );
    fs::create_dir_all(&folder).unwrap();
    instrument::set_data_folder(&folder);
    run(&own).unwrap();
    run(&DataInstrumentationKind::restore()).unwrap();
    run(&DataInstrumentationKind::none()).unwrap();

    // A full disk.
    #[cfg(target_os = "linux")]
    {
        std::os::unix::fs::symlink("/dev/full", folder.join("saxpy.1.x.before")).unwrap();
        let full = problem(run(&own));
        let is_full = |kind| kind == std::io::ErrorKind::StorageFull;
        assert!(
            matches!(&full, DataProblem::Io { kind, .. } if is_full(*kind)),
            "{full}"
        );
    }
    fs::remove_dir_all(&folder).unwrap();
    let unknown = tag::register("no data provider").unwrap();
    assert!(matches!(run(&unknown), Err(Error::Tag { .. })));
}

/// A provider that confuses arrays gets an error.
#[test]
fn confused_arrays_are_refused() {
    struct Swaps;

    impl DataProvider for Swaps {
        fn before(&self, _: &str, _: &Device, arrays: &mut [Array]) -> Result<u64> {
            for array in &mut *arrays {
                let bytes = array.bytes().to_vec();
                array.replace(&bytes).unwrap();
            }
            arrays.swap(0, 1);
            Ok(0)
        }

        fn after(&self, _: &str, _: &Device, _: u64, _: &[Array]) -> Result<()> {
            Ok(())
        }
    }

    let _alone = alone();
    let tag = tag::register("swaps").unwrap();
    instrument::register_data(&tag, Arc::new(Swaps)).unwrap();
    let (x, mut y) = (Vector::filled(4, 1.0f32), Vector::filled(3, 5.0f32));
    let run = saxpy(1.0, &x, &mut y).instrument_data(&tag).over(3).run();
    let (want, have) = (16, 12);
    assert_eq!(problem(run), DataProblem::Size { want, have });
    assert_eq!(y.to_vec().unwrap(), [5.0; 3]);
}

/// Bytes that are no value of the type are refused, and change no vector.
#[test]
fn only_values_are_restored() {
    let _alone = alone();
    struct Sets(Mutex<Vec<u8>>);

    impl DataProvider for Sets {
        fn before(&self, kernel: &str, _: &Device, arrays: &mut [Array]) -> Result<u64> {
            assert_eq!((kernel, arrays.len()), ("bounce", 2));
            let balls = &mut arrays[0];
            assert_eq!(
                (balls.parameter(), balls.len(), balls.is_written()),
                ("balls", 1, true)
            );
            assert_eq!(balls.replace(&[0]), Err(16));
            balls.replace(&self.0.lock().unwrap()).unwrap();
            arrays[1].replace(&5u32.to_ne_bytes()).unwrap();
            Ok(77)
        }

        fn after(&self, _: &str, _: &Device, number: u64, arrays: &[Array]) -> Result<()> {
            assert_eq!((number, arrays.len()), (77, 2));
            Ok(())
        }
    }

    let tag = tag::register("sets").unwrap();
    let sets = Arc::new(Sets(Mutex::default()));
    instrument::register_data(&tag, sets.clone()).unwrap();
    let (mut balls, mut hits) = (Vector::filled(1, ball(true, 0.0)), Vector::<u32>::zeros(1));
    let mut run = |first: u8, height: f64| {
        let mut bytes = [0; 16];
        bytes[0] = first;
        bytes[8..].copy_from_slice(&height.to_ne_bytes());
        *sets.0.lock().unwrap() = bytes.to_vec();
        let device = Device::of("native").unwrap();
        bounce(&mut balls, &mut hits)
            .instrument_data(&tag)
            .over(1)
            .run_on(&device)
    };
    let error = run(2, 1.0).unwrap_err();
    assert!(error.to_string().contains("a `bool` is 0 or 1"), "{error}");
    assert!(matches!(
        problem(Err(error)),
        DataProblem::Value { index: 0, .. }
    ));
    run(1, 3.0).unwrap();
    assert_eq!(balls.to_vec().unwrap(), [ball(true, 4.0)]);
    assert_eq!(hits.to_vec().unwrap(), [6]);
}
