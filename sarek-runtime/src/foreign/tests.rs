use sarek_ir::write::{Source, SourceFile};
use std::sync::atomic::Ordering::Relaxed;

use super::*;
use crate::Error;
use crate::testing::gpu::GpuBackend;
use crate::testing::{device, host};
use crate::{Vector, tag};

/// A kernel that the fake GPU compiles to nothing.
fn nothing(name: &str) -> Builder {
    let text = Text::new(&tag::lookup("fake"), format!("text of {name}"));
    let builder = ForeignKernel::new(name).text(text);
    builder.input::<f32>("x").output::<f32>("y")
}

#[test]
fn equal_ones_are_compiled_once() {
    let (device, stats) = device(&GpuBackend::new("gpu", 100));
    let x = Vector::filled(4, 1.0f32);
    let mut y = Vector::filled(4, 2.0f32);
    for _ in 0..3 {
        let kernel = nothing("once").build().unwrap();
        // SAFETY: the kernel does nothing.
        let launch = unsafe { kernel.call((&x, &mut y)) };
        launch.grid(2).block(2).run_on(&device).unwrap();
    }
    assert_eq!(stats.compiles.load(Relaxed), 1);
    assert_eq!(stats.launches.load(Relaxed), 3);
    let other = nothing("once").options(Parts::new().flag("-O3"));
    // SAFETY: the kernel does nothing.
    let launch = unsafe { other.build().unwrap().call((&x, &mut y)) };
    launch.grid(2).block(2).run_on(&device).unwrap();
    assert_eq!(stats.compiles.load(Relaxed), 2);
    assert_eq!(y.to_vec().unwrap(), [2.0; 4]);
    // A vector that it may have written is downloaded.
    assert_eq!(stats.downloads.load(Relaxed), 1);
}

#[test]
fn grids_are_not_folded() {
    let backend = GpuBackend::with("gpu", 100, |info| info.max_grid = [8; 3]);
    let (device, _) = device(&backend);
    let kernel = nothing("folded").build().unwrap();
    let (x, mut y) = (Vector::filled(1, 1.0f32), Vector::filled(1, 1.0f32));
    let mut run = |grid: usize| {
        // SAFETY: the kernel does nothing.
        let launch = unsafe { kernel.call((&x, &mut y)) };
        launch.grid(grid).block(1).run_on(&device)
    };
    run(8).unwrap();
    let error = run(9).unwrap_err().to_string();
    assert!(error.contains("cannot be folded"), "{error}");
}

#[test]
fn a_device_of_compiled_rust_takes_no_text() {
    let kernel = nothing("host").build().unwrap();
    let (x, mut y) = (Vector::filled(1, 1.0f32), Vector::filled(1, 1.0f32));
    // SAFETY: the kernel does not run.
    let launch = unsafe { kernel.call((&x, &mut y)) };
    let error = launch.grid(1).block(1).run_on(&host()).unwrap_err();
    let Error::NotEligible { reasons, .. } = error else {
        panic!("{error}");
    };
    assert!(
        reasons[0].contains("nothing but text in fake"),
        "{reasons:?}"
    );
}

#[test]
fn definitions_that_differ_from_an_environments_are_errors() {
    let (device, _) = device(&GpuBackend::new("gpu", 100));
    let tile = |size: &str| Parts::new().define("TILE", size);
    let parts = tile("8");
    let environment =
        crate::environment::Environment::new("foreign/tile", move |_| Ok(parts.clone()));
    crate::environment::register(environment).unwrap();
    let (x, mut y) = (Vector::filled(1, 1.0f32), Vector::filled(1, 1.0f32));
    for (size, fits) in [("8", true), ("16", false)] {
        let kernel = nothing("tiles").options(tile(size)).build().unwrap();
        // SAFETY: the kernel does nothing.
        let launch = unsafe { kernel.call((&x, &mut y)) };
        let launch = launch.environment("foreign/tile").grid(1).block(1);
        match launch.run_on(&device) {
            Ok(()) => assert!(fits),
            Err(error) => {
                let error = error.to_string();
                assert!(
                    !fits && error.contains("`tiles`: it defines TILE"),
                    "{error}"
                );
            }
        }
    }
}

#[test]
fn what_reads_files_is_not_kept() {
    let source = |text: &str| Source {
        text: text.to_owned(),
        ..Source::default()
    };
    // SAFETY: nothing is compiled with any of these.
    let with = |text: &str| unsafe { Parts::new().file("own.h", text) };
    // SAFETY: as above.
    let header = |name: &str| unsafe { with("").header(name) };
    let text = "#include \"own.h\"\nint x;";
    assert!(!with("").reads_files(&source(text)));
    assert!(!header("own.h").reads_files(&source("int x;")));
    assert!(Parts::new().reads_files(&source(text)));
    assert!(with(" # include <other.h>").reads_files(&source(text)));
    assert!(header("other.h").reads_files(&source(text)));
    // SAFETY: as above.
    let folder = unsafe { with("").include_dir("/usr/include") };
    assert!(folder.reads_files(&source(text)));
    assert!(with("").flag("-include other.h").reads_files(&source(text)));
    // The target's own files are known; a library on disk is not.
    let header = SourceFile::header("own.h", "any", "");
    let mut own = source(text);
    own.files = vec![header, SourceFile::unit("unit", "any", "int y;")];
    assert!(!Parts::new().reads_files(&own));
    own.files[1].contents = b"#include \"other.h\"".to_vec();
    assert!(Parts::new().reads_files(&own));
    assert!(!with("").library("own.h").reads_files(&source("int x;")));
    assert!(with("").library("libx.a").reads_files(&source("int x;")));
}

#[test]
fn a_text_runs_in_blocks_alone() {
    let backend = GpuBackend::with("gpu", 100, |info| info.features.strided = true);
    let (device, _) = device(&backend);
    let kernel = nothing("scheduled").build().unwrap();
    let (x, mut y) = (Vector::filled(1, 1.0f32), Vector::filled(1, 1.0f32));
    for (schedule, runs) in [
        (tag::ScheduleKind::blocks(), true),
        (tag::ScheduleKind::grid_stride(), false),
        (tag::ScheduleKind::single_thread(), false),
    ] {
        // SAFETY: the kernel does nothing.
        let launch = unsafe { kernel.call((&x, &mut y)) };
        let outcome = launch.schedule(&schedule).grid(2).block(1).run_on(&device);
        match outcome {
            Ok(()) => assert!(runs, "{schedule}"),
            Err(error) => assert!(
                error.to_string().contains("runs its text as it is written"),
                "{error}"
            ),
        }
    }
}

/// The caller of a foreign kernel vouches for its arguments, so safe code must not change them.
#[test]
fn scalars_of_a_recorded_call_take_unsafe() {
    let (device, _) = device(&GpuBackend::new("gpu", 100));
    let kernel = nothing("recorded").scalar::<f32>("a").build().unwrap();
    let (x, mut y) = (Vector::filled(4, 1.0f32), Vector::filled(4, 2.0f32));
    let mut recording = device.record_graph();
    // SAFETY: the kernel does nothing.
    let launch = unsafe { kernel.call((&x, &mut y, 1.0f32)) };
    recording.launch(launch.grid(2).block(2)).unwrap();
    let mut graph = recording.finish();
    for refused in [
        graph.set_scalar("a", 2.0f32),
        graph.set_scalar_of(0, "a", 2.0f32),
    ] {
        let refused = refused.unwrap_err();
        assert!(matches!(refused, Error::Graph { .. }));
        assert!(
            refused
                .to_string()
                .contains("was called in an `unsafe` block"),
            "{refused}"
        );
    }
    // SAFETY: the kernel does nothing, whatever the number.
    unsafe { graph.raw_set_scalar("a", 2.0f32) }.unwrap();
    // SAFETY: as above.
    unsafe { graph.raw_set_scalar_of(0, "a", 3.0f32) }.unwrap();
    graph.replay((&x, &mut y)).unwrap();
}
