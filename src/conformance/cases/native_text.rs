//! `native!`: each target emits its own text, others run the fallback or are not eligible.

use crate::Error;
use crate::conformance::Case;
use crate::conformance::check::{Check, Stop, expect, poisoned, wrong};
use crate::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("native/selection", &[], selection),
    Case::new("native/buffers", &[], buffers),
    Case::new("native/no_fallback", &[], no_fallback),
];

/// Which text runs on a device: the name that `native!` has for its target.
fn target(device: &Device) -> &str {
    match device.backend() {
        "wgpu" => "wgsl",
        other => other,
    }
}

#[kernel]
fn selection_kernel(out: &mut [u32]) {
    let i = global_idx_x();
    let mut who = 0u32;
    let base = i as u32 * 10;
    // SAFETY: each text assigns one variable of this thread.
    unsafe {
        native! {
            "cuda" => "{who} = {base} + 1u;",
            "opencl" => "{{ {who} = {base} + 2u; }}",
            "wgsl" => "{who} = {base} + 3u;",
            _ => { who = base + 4; }
        }
    }
    out[i] = who;
}

fn selection(device: &Device) -> Check {
    let code = match target(device) {
        "cuda" => 1,
        "opencl" => 2,
        "wgsl" => 3,
        _ => 4,
    };
    let due: Vec<u32> = (0..50).map(|i| 10 * i + code).collect();
    let mut out = poisoned(due.len());
    selection_kernel(&mut out).over(due.len()).run_on(device)?;
    expect("selection", &out, &due)
}

/// Operands that are buffers and parameters.
#[kernel]
fn buffers_kernel(scale: f32, x: &[f32], y: &mut [f32]) {
    let i = global_idx_x() as u32;
    let at = i as usize;
    y[at] = 0.0;
    // SAFETY: each thread stores to its own element, which exists: the store above was checked.
    unsafe {
        native! {
            "cuda" => "{y}[{i}] = {scale} * {x}[{i}];",
            "opencl" => "{y}[{i}] = {scale} * {x}[{i}];",
            "wgsl" => "{y}[{i}] = {scale} * {x}[{i}];",
            _ => { y[at] = scale * x[at]; }
        }
    }
}

fn buffers(device: &Device) -> Check {
    let x: Vec<f32> = (0..100).map(|k| k as f32 * 0.25).collect();
    let due: Vec<f32> = x.iter().map(|x| x * 4.0).collect();
    let mut y = poisoned(100);
    buffers_kernel(4.0, &Vector::from_vec(x), &mut y)
        .over(100)
        .run_on(device)?;
    expect("buffers", &y, &due)
}

#[kernel]
fn cuda_only(out: &mut [u32]) {
    let i = global_idx_x();
    let mut x = 1u32;
    // SAFETY: assigns one variable of this thread.
    unsafe {
        native!("cuda", "{x} = 9u;");
    }
    out[i] = x;
}

fn no_fallback(device: &Device) -> Check {
    let mut out = poisoned(4);
    let result = cuda_only(&mut out).over(4).run_on(device);
    match (target(device), result) {
        ("cuda", result) => {
            result?;
            expect("cuda", &out, &[9; 4])
        }
        (
            _,
            Err(Error::NotEligible {
                kernel, reasons, ..
            }),
        ) => {
            if kernel == "cuda_only" && !reasons.is_empty() {
                Ok(())
            } else {
                wrong(format!("not eligible: {kernel}: {reasons:?}"))
            }
        }
        (_, Err(error)) => Err(Stop::Error(error)),
        (_, Ok(())) => wrong("a text that this target does not have was dropped"),
    }
}
