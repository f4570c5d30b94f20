//! Compares kernels of unsuffixed literals, whose types only rustc can infer, with the results of rustc's own code.

use std::path::Path;

use sarek_fuzz::batch::{BATCH, Crate, Form};
use sarek_fuzz::compiler::Compiler;
use sarek_fuzz::literals;
use sarek_fuzz::worker::DEVICE_TIMEOUT;

/// The first seed and the number of crates; `SAREK_LITERALS=FROM,CRATES` overrides them.
fn seeds() -> (u64, u64) {
    let variable = std::env::var("SAREK_LITERALS").unwrap_or_default();
    let numbers: Vec<u64> = variable.split(',').filter_map(|n| n.parse().ok()).collect();
    match numbers[..] {
        [from, crates] => (from, crates),
        _ => (0, 1),
    }
}

#[test]
fn literals_have_the_types_that_rustc_infers() {
    let executable = std::env::current_exe().expect("this program");
    let target = executable.ancestors().nth(3).expect("target/debug/deps");
    let compiler = Compiler::new(target).expect("the libraries");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("literals");
    let batches = Crate::new(&compiler, &folder);
    let (from, crates) = seeds();
    let mut findings = String::new();
    for first in (0..crates).map(|at| from + at * BATCH) {
        let cases: Vec<_> = (first..first + BATCH).map(literals::case).collect();
        let form = Form::of_seed(&[0], first);
        let verdicts = batches
            .judge(&cases, form, &[], DEVICE_TIMEOUT)
            .expect("a crate");
        for (seed, verdict) in (first..).zip(verdicts) {
            for finding in &verdict.findings {
                findings += &format!("seed {seed}: {finding}\n");
            }
        }
    }
    assert!(findings.is_empty(), "{findings}");
}
