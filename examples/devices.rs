//! Lists all backends and devices, and the reason if a backend has none.
//!
//! `cargo run --release --example devices`

use sarek::prelude::*;

/// Writes a known value from each thread.
#[kernel]
fn hello(out: &mut [u32]) {
    let i = global_idx_x();
    out[i] = 42;
}

fn main() -> sarek::Result<()> {
    let devices = Device::all();
    let mut working = 0;
    for (backend, priority) in sarek::registry::backends() {
        let found: Vec<&Device> = devices.iter().filter(|d| d.backend() == backend).collect();
        match Device::of(backend) {
            Ok(_) => println!("{backend} (priority {priority}): {} found", found.len()),
            Err(why) => println!("{backend} (priority {priority}): none. {why}"),
        }
        for device in found {
            working += usize::from(describe(device));
        }
    }
    let best = Device::best()?;
    println!(
        "\nlaunches without a device go to: {} ({})",
        best.name(),
        best.backend()
    );
    if working < devices.len() {
        println!(
            "{} of {} devices failed",
            devices.len() - working,
            devices.len()
        );
        std::process::exit(1);
    }
    Ok(())
}

/// Prints the properties of a device, and runs a kernel on it. Returns true if the kernel ran.
fn describe(device: &Device) -> bool {
    let info = device.info();
    println!("  {}: {}", device.ordinal(), device.name());
    println!("     {}, priority {}", info.kind, device.priority());
    if info.memory > 0 {
        println!(
            "     memory {:.1} GiB",
            info.memory as f64 / (1u64 << 30) as f64
        );
    }
    println!(
        "     blocks of up to {} threads {:?}, grids of up to {:?} blocks",
        info.max_block_threads, info.max_block, info.max_grid
    );
    let features = [
        ("f64", info.features.f64),
        ("f64 functions", info.features.f64_math),
        ("64-bit integers", info.features.i64),
        ("8-bit storage", info.features.storage8),
        ("16-bit storage", info.features.storage16),
        ("f16", info.features.f16),
    ];
    let listed = |has: bool| {
        let names: Vec<&str> = features
            .iter()
            .filter(|f| f.1 == has)
            .map(|f| f.0)
            .collect();
        if names.is_empty() {
            "nothing".to_string()
        } else {
            names.join(", ")
        }
    };
    println!("     has {}; lacks {}", listed(true), listed(false));
    for (key, value) in device.debug_info() {
        println!("     {key}: {value}");
    }
    let outcome = runs(device);
    match &outcome {
        Ok(()) => println!("     runs a kernel: yes"),
        Err(why) => println!("     runs a kernel: NO: {why}"),
    }
    outcome.is_ok()
}

fn runs(device: &Device) -> Result<(), String> {
    let mut out = Vector::<u32>::zeros(8);
    hello(&mut out)
        .over(8)
        .run_on(device)
        .map_err(|e| e.to_string())?;
    let got = out.to_vec().map_err(|e| e.to_string())?;
    if got == [42; 8] {
        Ok(())
    } else {
        Err(format!("it computed {got:?}"))
    }
}
