//! The conformance suite on every backend of this machine.
//!
//! `SAREK_REQUIRE=opencl,wgpu` in the environment makes a missing backend, and a case that its
//! device skips, a failure.

use sarek::{Device, conformance};

fn required(backend: &str) -> bool {
    let list = std::env::var("SAREK_REQUIRE").unwrap_or_default();
    list.split(',').any(|name| name.trim() == backend)
}

/// Runs the suite on every device of a backend.
fn check(backend: &str) {
    let first = Device::of(backend);
    if let Err(why) = first {
        assert!(!required(backend), "`{backend}` is required: {why}");
        eprintln!("not tested: {why}");
        return;
    }
    for device in Device::all().into_iter().filter(|d| d.backend() == backend) {
        let report = conformance::run(&device);
        println!("{report}");
        if required(backend) {
            report.assert_complete();
        } else {
            report.assert_passed();
        }
    }
}

/// The host always has it.
#[test]
fn native() {
    let device = Device::of("native").expect("the native backend needs nothing");
    let report = conformance::run(&device);
    println!("{report}");
    report.assert_complete();
}

/// The host always has it.
#[test]
fn interpreter() {
    let device = Device::of("interpreter").expect("the interpreter needs nothing");
    let report = conformance::run(&device);
    println!("{report}");
    report.assert_complete();
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
