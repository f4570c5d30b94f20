//! `native!`: each target emits its own text; other targets run the fallback or are not eligible.

use crate::Case;
use crate::check::{CaseError, Check, ensure, expect, sentinel_filled, wrong};
use sarek::prelude::*;
use sarek::{Error, NativePrelude};

pub const CASES: &[Case] = &[
    Case::new("native/selection", &[], selection),
    Case::new("native/buffers", &[], buffers),
    Case::new("native/small_buffers", &[], small_buffers),
    Case::new("native/no_fallback", &[], no_fallback),
    Case::new("native/values", &[], values),
    Case::new("native/operands", &[], operands),
    Case::new("native/preludes", &[], preludes),
    Case::new("native/rejected", &[], rejected),
];

/// The name that `native!` uses for the device's target.
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
    let expected: Vec<u32> = (0..50).map(|i| 10 * i + code).collect();
    let mut out = sentinel_filled(expected.len());
    selection_kernel(&mut out)
        .over(expected.len())
        .run_on(device)?;
    expect("selection", &out, &expected)
}

/// Uses buffers and parameters as operands.
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
    let expected: Vec<f32> = x.iter().map(|x| x * 4.0).collect();
    let mut y = sentinel_filled(100);
    buffers_kernel(4.0, &Vector::from_vec(x), &mut y)
        .over(100)
        .run_on(device)?;
    expect("buffers", &y, &expected)
}

/// Names buffers of elements that some devices have in words only.
#[kernel]
fn small_buffers_kernel(x: &[u8], y: &mut [u8]) {
    let i = global_idx_x() as u32;
    let at = i as usize;
    y[at] = x[at];
    // SAFETY: each thread stores to its own element, which exists: the store above was checked.
    unsafe {
        native! {
            "cuda" => "{y}[{i}] = {x}[{i}] + 1;",
            "opencl" => "{y}[{i}] = {x}[{i}] + 1;",
            "wgsl" => "{y}[{i}] = {x}[{i}] + 1;",
            _ => { y[at] = x[at] + 1; }
        }
    }
}

fn small_buffers(device: &Device) -> Check {
    let x: Vec<u8> = (0..77).collect();
    let mut y = sentinel_filled(77);
    let result = small_buffers_kernel(&Vector::from_slice(&x), &mut y)
        .over(77)
        .run_on(device);
    match (device.info().words, result) {
        (false, result) => {
            result?;
            let expected: Vec<u8> = x.iter().map(|x| x + 1).collect();
            expect("small buffers", &y, &expected)
        }
        (true, Err(Error::NotEligible { reasons, .. })) => {
            let named = reasons
                .iter()
                .any(|reason| reason.contains("a `native!` names `"));
            ensure(named, || format!("{reasons:?}"))
        }
        (true, Err(error)) => Err(CaseError::Error(error)),
        (true, Ok(())) => wrong("a text takes words for elements"),
    }
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
    let mut out = sentinel_filled(4);
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
        (_, Err(error)) => Err(CaseError::Error(error)),
        (_, Ok(())) => wrong("a text that this target does not have was dropped"),
    }
}

/// Texts that are expressions, with an operand that is an expression, too.
#[kernel]
fn values_kernel(x: &[f32], small: &mut [i32], out: &mut [f32]) {
    let i = global_idx_x();
    // SAFETY: the texts read an element that exists, and only compute with it.
    let twice: f32 = unsafe {
        native! {
            "cuda" => "__ldg(&{x}[{at}]) * 2.0f" as f32,
            "opencl" => "{x}[{at}] * 2.0f" as f32,
            "wgsl" => "{x}[{at}] * 2.0" as f32,
            at = (i + 1) as u32 - 1,
            _ => { x[at as usize] * 2.0 }
        }
    };
    // The constant is wider than its declared type.
    // SAFETY: the texts are constants.
    let byte = unsafe {
        native! {
            "cuda" => "300" as u8,
            "opencl" => "300" as u8,
            "wgsl" => "300u" as u8,
            _ => { 44 }
        }
    };
    small[i] = byte as i32;
    out[i] = if twice > 10.0 { twice - 10.0 } else { twice };
}

fn values(device: &Device) -> Check {
    let x: Vec<f32> = (0..77).map(|k| k as f32 * 0.25).collect();
    let expected: Vec<f32> = x
        .iter()
        .map(|x| 2.0 * x - if 2.0 * x > 10.0 { 10.0 } else { 0.0 })
        .collect();
    let (mut small, mut out) = (sentinel_filled(77), sentinel_filled(77));
    values_kernel(&Vector::from_vec(x), &mut small, &mut out)
        .over(77)
        .run_on(device)?;
    expect("small", &small, &[44; 77])?;
    expect("out", &out, &expected)
}

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Pair {
    low: u32,
    high: u32,
}

/// Uses fields, parts of tuples, arrays and shared arrays as operands.
#[kernel(block = 32)]
fn operands_kernel(by: Pair, out: &mut [u32]) {
    let tile = shared_array::<u32, 32>();
    let t = thread_idx_x();
    tile[t] = t as u32;
    let mut pair = Pair { low: 1, high: 2 };
    let mut two = (3u32, 4.0f32);
    let mut near = [0u32; 3];
    let own = t as u32;
    // SAFETY: each text assigns variables of this thread, and reads an element of the tile.
    unsafe {
        native! {
            "cuda" => "{pair.high} = {tile}[{own}]; {two.0} = {pair.low} + {by.high}; {near}[2] = 7u;",
            "opencl" => "{pair.high} = {tile}[{own}]; {two.0} = {pair.low} + {by.high}; {near}[2] = 7u;",
            "wgsl" => "{pair.high} = {tile}[{own}]; {two.0} = {pair.low} + {by.high}; {near}[2] = 7u;",
            _ => {
                pair.high = tile[own as usize];
                two.0 = pair.low + by.high;
                near[2] = 7;
            }
        }
    }
    out[global_idx_x()] = pair.high * 1000 + two.0 * 10 + near[0] + near[2];
}

fn operands(device: &Device) -> Check {
    let expected: Vec<u32> = (0..64)
        .map(|i| (i % 32) * 1000 + 10 * (1 + 5) + 7)
        .collect();
    let mut out = sentinel_filled(64);
    let by = Pair { low: 4, high: 5 };
    operands_kernel(by, &mut out).grid(2).run_on(device)?;
    expect("operands", &out, &expected)
}

/// A function for each target.
const THRICE: NativePrelude = NativePrelude::new(&[
    (
        "cuda",
        "__device__ unsigned thrice(unsigned x) {\n    return 3u * x;\n}",
    ),
    ("opencl", "uint thrice(uint x) {\n    return 3u * x;\n}"),
    ("wgsl", "fn thrice(x: u32) -> u32 {\n    return 3u * x;\n}"),
]);

/// Uses the prelude that the calling kernel uses, too.
#[device]
fn ninefold(x: u32) -> u32 {
    // SAFETY: the function only computes.
    unsafe {
        native! {
            "cuda" => "thrice(thrice({x}))" as u32,
            "opencl" => "thrice(thrice({x}))" as u32,
            "wgsl" => "thrice(thrice({x}))" as u32,
            use THRICE,
            _ => { 9 * x }
        }
    }
}

#[kernel]
fn preludes_kernel(out: &mut [u32]) {
    let i = global_idx_x();
    // SAFETY: the function only computes.
    let three = unsafe {
        native! {
            use THRICE,
            "cuda" => "thrice({v})" as u32,
            "opencl" => "thrice({v})" as u32,
            "wgsl" => "thrice({v})" as u32,
            v = i as u32,
            _ => { 3 * v }
        }
    };
    out[i] = three + ninefold(i as u32) + ninefold(1);
}

fn preludes(device: &Device) -> Check {
    let expected: Vec<u32> = (0..40).map(|i| 12 * i + 9).collect();
    let mut out = sentinel_filled(40);
    preludes_kernel(&mut out).over(40).run_on(device)?;
    expect("preludes", &out, &expected)?;
    let text = preludes_kernel::source("cuda")?;
    let times = text.matches("__device__ unsigned thrice").count();
    ensure(times == 1, || {
        format!("the prelude stands {times} times:\n{text}")
    })
}

const REJECTED: u32 = line!() + 8;
#[kernel]
fn rejected_kernel(out: &mut [u32]) {
    let i = global_idx_x();
    let mut x = 1u32;
    // SAFETY: no target compiles this text.
    unsafe {
        native! {
            "cuda" => "{x} = 1u;
                {x} = undeclared_thing;",
            "opencl" => "{x} = 1u; {x} = undeclared_thing;",
            "wgsl" => "{x} = 1u; {x} = undeclared_thing;",
            _ => { x = 2; }
        }
    }
    out[i] = x;
}

/// A compiler's error is reported at the user's line.
fn rejected(device: &Device) -> Check {
    let line = match target(device) {
        "cuda" => REJECTED + 1,
        "opencl" => REJECTED + 2,
        "wgsl" => REJECTED + 3,
        _ => return Ok(()),
    };
    let mut out = sentinel_filled(4);
    match rejected_kernel(&mut out).over(4).run_on(device) {
        Err(Error::Compile { places, log, .. }) => {
            let suffix = format!("src/cases/native_text.rs:{line}");
            let fits = matches!(&places[..], [place] if place.ends_with(&suffix));
            ensure(fits, || format!("{places:?} is not …{suffix}: {log}"))?;
            // WGSL has no `#line`.
            let told = target(device) == "wgsl" || log.contains("native_text.rs");
            ensure(told, || {
                format!("the compiler does not name the file: {log}")
            })
        }
        Err(error) => Err(CaseError::Error(error)),
        Ok(()) => wrong("a text that does not compile ran"),
    }
}
