//! Runs the `sarek-fuzz` program and checks its summary.

use std::process::Command;

#[test]
fn a_run_prints_its_summary() {
    let run = Command::new(env!("CARGO_BIN_EXE_sarek-fuzz"))
        .args(["--seed", "3", "--count", "6", "--jobs", "2"])
        .args(["--among", "interpreter"])
        .output()
        .expect("the program");
    let output = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success(), "{output}");
    let summary = output.lines().last().unwrap_or_default();
    let expected = "6 kernels judged, 6 agreed, 0 rejected, 0 differ; seeds from 3, ";
    assert!(summary.starts_with(expected), "{output}");
}
