//! The conformance suite on every backend of this machine.
//!
//! The environment variable `SAREK_REQUIRE=opencl,wgpu` makes a missing backend a failure.
//! `SAREK_CASES=casts/,matmul` selects the cases with one of these texts in their name. It also prints the name of
//! each case before it runs, which helps if one hangs or crashes.

use sarek::{Device, Result};
use sarek_conformance::Report;

fn required(backend: &str) -> bool {
    let list = std::env::var("SAREK_REQUIRE").unwrap_or_default();
    list.split(',').any(|name| name.trim() == backend)
}

fn run(device: &Device) -> Report {
    let report = match std::env::var("SAREK_CASES") {
        Err(_) => sarek_conformance::run(device),
        Ok(part) => sarek_conformance::run_matching(device, &part, |case| {
            eprintln!("{}: {}", device.backend(), case.name);
        }),
    };
    println!("{report}");
    report
}

/// Runs the suite on every device of a backend.
fn check(backend: &str) {
    if let Err(why) = Device::of(backend) {
        assert!(!required(backend), "`{backend}` is required: {why}");
        eprintln!("not tested: {why}");
        return;
    }
    for device in Device::all().iter().filter(|d| d.backend() == backend) {
        run(device).assert_passed();
    }
}

/// The devices that test every change run blocks of all sizes, so cooperation of threads is tested with 1 thread up to 1024.
#[test]
fn blocks_of_every_size_run() {
    for device in Device::all() {
        let sizes: Vec<usize> = sarek_conformance::input::block_sizes(&device).collect();
        assert_eq!(sizes, [1, 3, 32, 33, 255, 256, 1024], "{device}");
    }
}

#[test]
fn native() -> Result<()> {
    run(&Device::of("native")?).assert_complete();
    Ok(())
}

#[test]
fn interpreter() -> Result<()> {
    run(&Device::of("interpreter")?).assert_complete();
    Ok(())
}

#[test]
fn cuda() {
    check("cuda");
}

#[test]
fn opencl() {
    check("opencl");
}

#[test]
fn wgpu() {
    check("wgpu");
}
