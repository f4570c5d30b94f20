//! Programs of the disk cache that the driver refuses.

use std::process::Command;

use super::*;

/// Set in a child process, whose disk cache is a folder of the test.
const CHILD: &str = "SAREK_TEST_REFUSED";

/// Launches on a fresh device that refuses the first programs that it loads. Returns the result and
/// the number of compilations.
fn launch(refusals: usize) -> (Result<()>, usize) {
    let (device, stats) = device(&GpuBackend::new("gpu", 1));
    stats.keeps_artifacts.store(true, Relaxed);
    stats.refusals.store(refusals, Relaxed);
    let (x, mut y) = (Vector::zeros(64), Vector::zeros(64));
    let result = axpy(1.0, &x, &mut y).over(64).run_on(&device);
    (result, stats.compiles.load(Relaxed))
}

#[test]
fn a_program_on_disk_that_the_driver_refuses_is_compiled_anew_once() {
    if std::env::var(CHILD).is_ok() {
        let written = || crate::cache::status().written;
        assert!(matches!(launch(1), (Err(Error::Device { .. }), 1)), "fresh");
        assert_eq!(written(), 1);
        assert!(matches!(launch(0), (Ok(()), 0)), "from disk");
        assert!(matches!(launch(1), (Ok(()), 1)), "refused");
        assert_eq!(written(), 2, "the entry is replaced");
        let twice = launch(2);
        assert!(matches!(twice, (Err(Error::Device { .. }), 1)), "{twice:?}");
        assert!(matches!(launch(0), (Ok(()), 0)), "from disk");
        return;
    }
    let folder = std::env::temp_dir().join(format!("sarek-refused-{}", std::process::id()));
    let child = Command::new(std::env::current_exe().unwrap())
        .args([
            "launch::tests::refused::a_program_on_disk_that_the_driver_refuses_is_compiled_anew_once",
            "--exact",
        ])
        .env(CHILD, "1")
        .env("SAREK_CACHE", &folder)
        .output()
        .unwrap();
    let _ = std::fs::remove_dir_all(&folder);
    assert!(child.status.success(), "{child:?}");
    let ran = String::from_utf8_lossy(&child.stdout);
    assert!(ran.contains("1 passed"), "{ran}");
}
