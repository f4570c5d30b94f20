//! Tests of the backend through sarek's public interface.

use mygpu::{Backwards, Bank, MyC, backwards, bank};
use sarek::prelude::*;
use sarek::tag::{ScheduleKind, StorageKind, Tag, members};
use sarek::{Error, Result, registry};

#[kernel]
fn halve(x: &[f32], y: &mut [f32]) {
    let i = global_idx_x();
    let from = x[i];
    let mut to = 0.0f32;
    // SAFETY: the text assigns one variable of this thread.
    unsafe {
        native! {
            "mygpu" => "{to} = mygpu_half({from});",
            _ => { to = from / 2.0; }
        }
    }
    y[i] = to;
}

/// Compares this backend and the interpreter with plain Rust.
#[kernel_test(halve, on = ["mygpu", "interpreter"], ulps = 0)]
fn it_halves(#[within(-1e30..1e30)] x: &[f32], y: &mut [f32]) {
    for (x, y) in x.iter().zip(y) {
        *y = x / 2.0;
    }
}

#[kernel]
fn reversed(out: &mut [u32]) {
    let tile = shared_array::<u32, 32>();
    let t = thread_idx_x();
    tile[t] = global_idx_x() as u32;
    barrier();
    out[global_idx_x()] = tile[31 - t];
}

fn halved(device: &Device) -> Result<Vec<f32>> {
    let x = Vector::from_vec(vec![1.0, 2.0, 3.0]);
    let mut y = Vector::zeros(3);
    halve(&x, &mut y).over(3).run_on(device)?;
    y.to_vec()
}

#[test]
fn it_passes_the_suite() {
    let device = Device::of("mygpu").expect("it is linked");
    let report = sarek_conformance::run(&device);
    println!("{report}");
    report.assert_passed();
}

/// The texts of all nodes of the IR, which need no device.
#[test]
fn its_dialect_renders_every_node() {
    let rendered = sarek_conformance::render_all(&MyC);
    // OpenCL C 1.2, from which it derives, has no subgroups.
    rendered.assert_rendered(&["subgroup"]);
    let text = rendered.text("barrier").expect("it has barriers");
    assert!(text.contains("mygpu_barrier();"), "{text}");
}

#[test]
fn its_text_is_its_own() -> Result<()> {
    let text = halve::source("mygpu")?;
    assert!(
        text.contains("mygpu_half(") && text.contains("__kernel void halve"),
        "{text}"
    );
    assert!(reversed::source("mygpu")?.contains("mygpu_barrier();"));
    assert!(reversed::source("opencl")?.contains("barrier(CLK"));
    Ok(())
}

#[test]
fn it_has_storage_and_a_schedule_of_its_own() -> Result<()> {
    let device = Device::of("mygpu")?;
    let in_bank = bank().of(Bank { number: 1 });
    let mut y = Vector::zeros(64).stored_in(&in_bank)?;
    let block_size = 32;
    let schedule = backwards().of(Backwards {
        block_size,
        smem_kb: 1,
    });
    reversed(&mut y)
        .schedule(&schedule)
        .grid(2)
        .block(32)
        .run_on(&device)?;
    let expected: Vec<u32> = (0..2)
        .flat_map(|b| (0..32).rev().map(move |i| 32 * b + i))
        .collect();
    assert_eq!(y.to_vec()?, expected);
    assert!(
        members::<ScheduleKind>()
            .iter()
            .any(|tag| tag.name() == "mygpu/backwards")
    );
    // No other backend has this schedule, and this device lacks other storages.
    let native = Device::of("native")?;
    let refused = reversed(&mut y)
        .schedule(&schedule)
        .grid(2)
        .block(32)
        .run_on(&native);
    assert!(
        matches!(refused, Err(Error::NotEligible { .. })),
        "{refused:?}"
    );
    let elsewhere: Tag<StorageKind> = sarek::tag::lookup("mygpu/nowhere");
    let mut lost = Vector::zeros(64).stored_in(&elsewhere)?;
    let refused = reversed(&mut lost).grid(2).block(32).run_on(&device);
    assert!(
        matches!(refused, Err(Error::NotEligible { .. })),
        "{refused:?}"
    );
    Ok(())
}

/// The guide quotes the code of this crate, and states its number of lines.
#[test]
fn the_guide_quotes_this_crate() {
    let guide = include_str!("../../../book/src/backends.md");
    let code = include_str!("../src/lib.rs");
    let blank = |text: &str| {
        text.split_whitespace()
            .collect::<String>()
            .replace(",}", "}")
    };
    let all = blank(code) + &blank(include_str!("mygpu.rs"));
    let quotes = guide.split("```rust,ignore").skip(1);
    let mut quoted = 0;
    for quote in quotes.filter_map(|rest| rest.split("```").next()) {
        // Quotes must occur in the code, up to closing braces.
        let quote = blank(quote);
        assert!(all.contains(quote.trim_end_matches('}')), "{quote}");
        quoted += 1;
    }
    assert_eq!(quoted, 4);
    let is_code = |line: &&str| !line.trim().is_empty() && !line.trim().starts_with("//");
    let lines = code.lines().filter(is_code).count();
    let size = format!("in one file of {lines} lines of code");
    assert!(lines < 300 && guide.contains(&size), "{size}");
}

/// Runs in a process of its own, since all tests share the registry.
#[test]
fn it_is_selected_by_priority_and_dropped() -> Result<()> {
    const CHILD: &str = "MYGPU_CHILD";
    if std::env::var_os(CHILD).is_none() {
        let this = std::env::current_exe().expect("this test");
        let test = "it_is_selected_by_priority_and_dropped";
        let child = std::process::Command::new(this)
            .args([test, "--exact"])
            .env(CHILD, "1")
            .env("SAREK_BACKEND", "")
            .status();
        assert!(child.expect("it runs").success());
        return Ok(());
    }
    let accelerators = ["cuda", "opencl", "wgpu"];
    for device in Device::all() {
        let better = accelerators.contains(&device.backend()) && device.priority() > 80;
        if better {
            registry::unregister(device.backend());
        }
    }
    let device = Device::best()?;
    assert_eq!((device.backend(), device.priority()), ("mygpu", 80));
    assert_eq!(halved(&device)?, [0.5, 1.0, 1.5]);
    assert!(registry::unregister("mygpu") && !registry::unregister("mygpu"));
    assert_ne!(Device::best()?.backend(), "mygpu");
    assert!(Device::of("mygpu").is_err());
    // A device that is still held stays usable.
    assert_eq!(halved(&device)?, [0.5, 1.0, 1.5]);
    Ok(())
}
