//! Compiles generated texts with the compilers that the targets' own drivers use.

use std::sync::LazyLock;

use naga::front::wgsl;
use naga::valid::{Capabilities, ValidationFlags, Validator};
use opencl3::context::Context;
use opencl3::device::{CL_DEVICE_TYPE_ALL, Device, get_all_devices};
use opencl3::program::Program;
use sarek_backends::cuda::nvrtc;

/// Compiles the text of a snapshot. A snapshot of the IR has no compiler, and passes.
pub fn check(extension: &str, name: &str, text: &str) {
    match extension {
        "ir" => {}
        "cu" => cuda(name, text),
        "cl" => opencl(name, text),
        "wgsl" => naga(name, text),
        other => panic!("no compiler for {other}"),
    }
}

fn skip(tool: &str, name: &str, why: &str) {
    let required = std::env::var("SAREK_REQUIRE").unwrap_or_default();
    let required = required.split(',').any(|n| n.trim() == tool);
    assert!(!required, "SAREK_REQUIRE names {tool}: {why}");
    eprintln!("{name} is not compiled by {tool}: {why}");
}

fn cuda(name: &str, text: &str) {
    match nvrtc::version() {
        Err(why) => skip("nvrtc", name, &why),
        Ok(_) => {
            let compiled = nvrtc::compile(name, text, "sm_90");
            compiled.unwrap_or_else(|error| panic!("{error}"));
        }
    }
}

fn opencl(name: &str, text: &str) {
    static CONTEXT: LazyLock<Result<Context, String>> = LazyLock::new(|| {
        let devices = get_all_devices(CL_DEVICE_TYPE_ALL).map_err(|e| e.to_string())?;
        let device = devices.first().ok_or("there is no OpenCL device")?;
        Context::from_device(&Device::new(*device)).map_err(|e| e.to_string())
    });
    match &*CONTEXT {
        Err(why) => skip("opencl", name, why),
        Ok(context) => {
            let built = Program::create_and_build_from_source(context, text, "-cl-std=CL1.2");
            built.unwrap_or_else(|log| panic!("{name}: {log}\n{text}"));
        }
    }
}

fn naga(name: &str, text: &str) {
    let module = wgsl::parse_str(text);
    let module = module.unwrap_or_else(|e| panic!("{name}: {}\n{text}", e.emit_to_string(text)));
    let checked = Validator::new(ValidationFlags::all(), Capabilities::all()).validate(&module);
    checked.unwrap_or_else(|e| panic!("{name}: {}\n{text}", e.emit_to_string(text)));
}
