//! Two devices at once: data written on one is visible on the other, in queue order.
//!
//! Tests every pair of devices of different backends, and two devices of each backend. If a backend has only one device, the test prints that
//! its pair did not run; `SAREK_REQUIRE_PAIRS=cuda,opencl` makes that a failure. `native` is opened twice for its pair.
//! PoCL can present two devices (`POCL_DEVICES`), which a test uses in a child process.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use sarek::backend::{Backend, BackendDevice};
use sarek::context::{Bound, Context, Routine, Target, Uses};
use sarek::prelude::*;
use sarek::{Result, WorkKind, registry};

#[kernel]
fn affine(scale: u32, offset: u32, v: &mut [u32]) {
    let i = global_idx_x();
    v[i] = v[i].wrapping_mul(scale).wrapping_add(offset);
}

#[kernel]
fn add(x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    y[i] = y[i].wrapping_add(x[i]);
}

/// Two devices, and the number of elements to use with them.
struct Pair {
    a: Device,
    b: Device,
    n: usize,
}

impl Pair {
    fn new(a: &Device, b: &Device) -> Pair {
        let interpreted = [a, b].iter().any(|d| d.backend() == "interpreter");
        let (a, b) = (a.clone(), b.clone());
        let n = if interpreted { 1001 } else { (1 << 18) + 77 };
        Pair { a, b, n }
    }

    fn each(&self) -> [&Device; 2] {
        [&self.a, &self.b]
    }

    /// A vector of 0, 1, 2, … whose only current copy is on this device.
    fn numbers_on(&self, device: &Device) -> Result<Vector<u32>> {
        let mut v: Vector<u32> = (0..self.n as u32).collect();
        affine(1, 0, &mut v).over(self.n).run_on(device)?;
        Ok(v)
    }

    /// True if the driver copies directly from one device to the other.
    fn copies_directly(&self) -> bool {
        self.a.backend() == "cuda" && self.b.backend() == "cuda"
    }
}

/// The values of `f` for 0, 1, 2, ….
fn numbers(n: usize, f: impl Fn(u32) -> u32) -> Vec<u32> {
    (0..n as u32).map(f).collect()
}

/// A device whose copy is stale gets the current one from the other device, as a whole or in part.
fn coherence(pair: &Pair) -> Result<()> {
    let Pair { a, b, n } = pair;
    let mut v = pair.numbers_on(a)?;
    for round in 1..4 {
        affine(1, 1, &mut v).over(*n).run_on(a)?;
        affine(1, 1, &mut v).over(*n).run_on(b)?;
        assert!(!v.devices().contains(a) || a.info().host_memory);
        // A read leaves all copies current.
        let mut w = Vector::zeros(*n);
        add(&v, &mut w).over(*n).run_on(a)?;
        if pair.each().iter().all(|d| !d.info().host_memory) {
            assert!(v.devices().contains(a) && v.devices().contains(b));
        }
        let expected = numbers(*n, |i| i + 2 * round);
        assert_eq!(
            (w.to_vec()?, v.read(5..6)?),
            (expected.clone(), vec![expected[5]])
        );
    }
    // Stale on `b`, and partly overwritten on the host.
    affine(2, 0, &mut v).over(*n).run_on(a)?;
    v.write(n - 3, &[7, 8, 9])?;
    affine(1, 1, &mut v).over(*n).run_on(b)?;
    let mut expected = numbers(*n, |i| 2 * (i + 6) + 1);
    expected[n - 3..].copy_from_slice(&[8, 9, 10]);
    assert_eq!(v.to_vec()?, expected);
    Ok(())
}

/// Parts are copied between devices, at offsets on both sides.
fn copies(pair: &Pair) -> Result<()> {
    let n = pair.n;
    for [from, to] in [pair.each(), [&pair.b, &pair.a]] {
        let source = pair.numbers_on(from)?;
        let mut target = pair.numbers_on(to)?;
        let mut expected = numbers(n, |i| i);
        for (at, range) in [(0, 1..2), (3, n / 2..n - 5), (n - 1, 0..1), (17, 1..66)] {
            target.copy_from(at, &source, range.clone())?;
            let part = range.clone().map(|i| i as u32).collect::<Vec<_>>();
            expected[at..at + range.len()].copy_from_slice(&part);
        }
        assert_eq!(target.to_vec()?, expected);
        assert_eq!(source.to_vec()?, numbers(n, |i| i));
    }
    Ok(())
}

/// Read after write, write after read and write after write, without waiting on the host.
fn order(pair: &Pair) -> Result<()> {
    let n = pair.n;
    let streams = [pair.a.new_stream()?, pair.b.new_stream()?];
    let (mut v, mut w) = (Vector::filled(n, 1u32), Vector::filled(n, 0u32));
    let (mut due_v, mut due_w) = (1u32, 0u32);
    for round in 0..24 {
        let [here, there] = [&streams[round % 2], &streams[(round + 1) % 2]];
        affine(3, 1, &mut v).over(n).enqueue(here)?;
        add(&v, &mut w).over(n).enqueue(there)?;
        affine(5, 2, &mut v).over(n).enqueue(here)?;
        due_v = due_v.wrapping_mul(3).wrapping_add(1);
        due_w = due_w.wrapping_add(due_v);
        due_v = due_v.wrapping_mul(5).wrapping_add(2);
        if round % 8 == 7 {
            w.fill_on(there, 0)?;
            due_w = 0;
        }
    }
    // A stream of one device waits for an event of the other.
    let event = streams[0].record()?;
    streams[1].wait(&event)?;
    streams[1].sync()?;
    assert!(event.is_done()?);
    assert_eq!(v.to_vec()?, vec![due_v; n]);
    assert_eq!(w.to_vec()?, vec![due_w; n]);
    Ok(())
}

/// Memory that the other device still reads is neither reused nor freed.
fn lifetimes(pair: &Pair) -> Result<()> {
    let n = pair.n;
    let streams = [pair.a.new_stream()?, pair.b.new_stream()?];
    let mut kept = Vec::new();
    for round in 0..12u32 {
        let [here, there] = [0, 1].map(|i| &streams[(i + round as usize) % 2]);
        let mut v = Vector::filled(n, round);
        for _ in 0..4 {
            affine(2, 1, &mut v).over(n).enqueue(here)?;
        }
        let mut w = Vector::filled(n, 1000u32);
        add(&v, &mut w).over(n).enqueue(there)?;
        drop(v);
        match round % 3 {
            0 => drop(here.device().trim()?),
            1 => {
                // Probably allocated where `v` was.
                let mut other = Vector::filled(n, 9999u32);
                affine(1, 1, &mut other).over(n).enqueue(here)?;
            }
            _ => {}
        }
        kept.push(w);
    }
    for (round, w) in (0..12u32).zip(kept) {
        assert_eq!(w.to_vec()?, vec![1000 + 16 * round + 15; n], "{round}");
    }
    Ok(())
}

/// Each device works on its part of a vector.
fn parts(pair: &Pair) -> Result<()> {
    let n = pair.n;
    let mut v = pair.numbers_on(&pair.a)?;
    for (part, device) in v.parts_mut(2)?.iter_mut().zip(pair.each()) {
        let len = part.len();
        affine(3, 1, part).over(len).run_on(device)?;
    }
    let expected = numbers(n, |i| 3 * i + 1);
    assert_eq!(v.to_vec()?, expected);
    let mut halves = v.partition(2)?;
    for (half, device) in halves.iter_mut().zip(pair.each()) {
        let len = half.len();
        affine(1, 1, half).over(len).run_on(device)?;
    }
    let expected: Vec<u32> = expected.iter().map(|x| x + 1).collect();
    assert_eq!(Vector::gather(&halves)?.to_vec()?, expected);
    Ok(())
}

/// A fault on one device does not affect the other, until that uses the poisoned vector.
fn faults(pair: &Pair) -> Result<()> {
    for [bad, good] in [pair.each(), [&pair.b, &pair.a]] {
        let (ones, short) = (Vector::filled(10, 1), Vector::filled(9, 1));
        let (mut lost, mut fine) = (Vector::filled(10, 1), Vector::filled(10, 1));
        let result = add(&short, &mut lost).over(10).run_on(bad);
        add(&ones, &mut fine).over(10).run_on(good)?;
        assert_eq!(fine.to_vec()?, [2; 10]);
        let used = add(&lost, &mut fine).over(10).run_on(good);
        let failed = result.is_err() || used.is_err() || fine.to_vec().is_err();
        assert!(failed, "what `{bad}` lost was used by `{good}`");
        let _told = (bad.sync(), good.sync());
        lost.fill(1)?;
        fine.fill(1)?;
        add(&lost, &mut fine).over(10).run_on(good)?;
        assert_eq!(fine.to_vec()?, [2; 10]);
    }
    Ok(())
}

/// A context with a gradient, and the routine that computes it.
fn worker(device: &Device, n: usize) -> Result<(Context, Routine)> {
    let context = Context::new(device)?
        .init_from_host("own", vec![device.ordinal() as u32 + 1; n])?
        .init_from_host("gradient", vec![0u32; n])?
        .init_from_host("weights", vec![0u32; n])?;
    let uses = Uses::new().reads("own").writes("gradient");
    let routine = context.link(uses, move |bound: &Bound<'_>| {
        let (own, mut gradient) = (bound.input("own")?, bound.output("gradient")?);
        gradient.fill_on(bound.stream(), 0u32)?;
        let launch = add(&own, &mut gradient).over(n);
        launch.enqueue(bound.stream()).map(drop)
    })?;
    Ok((context, routine))
}

/// Gradients of two devices are added through merge buffers, so both make the same step.
fn merge_buffers(pair: &Pair) -> Result<()> {
    let n = pair.n;
    let (contexts, gradients): (Vec<_>, Vec<_>) = pair
        .each()
        .into_iter()
        .map(|device| worker(device, n))
        .collect::<Result<Vec<_>>>()?
        .into_iter()
        .unzip();
    let (mut transfers, mut steps) = (Vec::new(), Vec::new());
    for i in 0..2 {
        let transfer = contexts[i].transfer::<u32>("gradient", &contexts[1 - i], Target::Merge);
        let transfer = transfer.expect("both have a gradient");
        let uses = Uses::new();
        let uses = uses.writes("gradient").writes("weights").merges("gradient");
        let step = transfer.context().link(uses, move |bound: &Bound<'_>| {
            let mut gradient = bound.output("gradient")?;
            let launch = add(bound.merged()?, &mut gradient).over(n);
            launch.enqueue(bound.stream())?;
            let mut weights = bound.output("weights")?;
            let launch = add(&gradient, &mut weights).over(n);
            launch.enqueue(bound.stream()).map(drop)
        })?;
        transfers.push(transfer);
        steps.push(step);
    }
    assert!(steps[0].run().is_err(), "nothing was brought yet");
    for _ in 0..3 {
        for routine in gradients.iter().chain(&transfers).chain(&steps) {
            routine.run()?;
        }
    }
    let both: u32 = pair.each().iter().map(|d| d.ordinal() as u32 + 1).sum();
    for context in &contexts {
        assert_eq!(context.to_host::<u32>("weights")?, vec![3 * both; n]);
    }
    Ok(())
}

/// Several threads alternate between the two devices, starting at different ones.
fn threads(pair: &Pair) -> Result<()> {
    let n = pair.n;
    let rounds = 16u32;
    let back_and_forth = |first: usize| -> Result<Vec<u32>> {
        let mut v = Vector::filled(n, 0u32);
        for round in 0..rounds {
            let device = pair.each()[(first + round as usize) % 2];
            affine(1, 1, &mut v).over(n).run_on(device)?;
        }
        v.to_vec()
    };
    let ended = std::thread::scope(|scope| {
        let spawn = |i: usize| scope.spawn(move || back_and_forth(i % 2));
        let threads: Vec<_> = (0..4).map(spawn).collect();
        let join = |t: std::thread::ScopedJoinHandle<'_, _>| t.join().expect("no panic");
        threads.into_iter().map(join).collect::<Vec<_>>()
    });
    for found in ended {
        assert_eq!(found?, vec![rounds; n]);
    }
    Ok(())
}

/// Direct copies do not pass through the host. Prints their bandwidth.
fn direct_copies(pair: &Pair) -> Result<()> {
    let n = 1 << 26;
    if !pair.copies_directly() {
        return Ok(());
    }
    let mut v = Vector::filled(n, 1u32);
    affine(1, 1, &mut v).over(n).run_on(&pair.a)?;
    let mut w = Vector::filled(n, 1u32);
    affine(1, 1, &mut w).over(n).run_on(&pair.b)?;
    let ((), profile) = pair.a.profile(|| {
        let ((), other) = pair.b.profile(|| w.copy_from(0, &v, ..))?;
        let by_host = |kind| [WorkKind::Upload, WorkKind::Download].contains(&kind);
        assert!(!other.work.iter().any(|work| by_host(work.kind)), "{other}");
        Ok(())
    })?;
    assert!(profile.work.is_empty(), "{profile}");
    let begun = Instant::now();
    let times = 20;
    for _ in 0..times {
        w.copy_from(0, &v, ..)?;
    }
    pair.b.sync()?;
    let took = begun.elapsed().max(Duration::from_nanos(1));
    let rate = (times * n * size_of::<u32>()) as f64 / took.as_secs_f64();
    println!("{} to {}: {:.1} GB/s", pair.a, pair.b, rate / 1e9);
    assert_eq!(w.read(n - 1..)?, [2]);
    Ok(())
}

fn check(pair: &Pair) {
    for (what, holds) in [
        ("coherence", coherence as fn(&Pair) -> Result<()>),
        ("copies", copies),
        ("order", order),
        ("lifetimes", lifetimes),
        ("parts", parts),
        ("faults", faults),
        ("merge buffers", merge_buffers),
        ("threads", threads),
        ("direct copies", direct_copies),
    ] {
        println!("{} and {}: {what}", pair.a, pair.b);
        holds(pair).unwrap_or_else(|error| panic!("{} and {}: {error}", pair.a, pair.b));
    }
    for device in pair.each() {
        device.sync().expect("every fault was reported");
    }
}

/// The first two devices of a backend, in both orders.
fn pairs_of(backend: &str) -> Option<[Pair; 2]> {
    let all = Device::all().into_iter();
    let own: Vec<_> = all.filter(|d| d.backend() == backend).collect();
    let [a, b, ..] = &own[..] else {
        return None;
    };
    Some([Pair::new(a, b), Pair::new(b, a)])
}

/// Held by each test, since profiles contain the work of all threads.
static ALONE: Mutex<()> = Mutex::new(());

#[test]
fn any_two_devices() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let all = Device::all();
    for (i, a) in all.iter().enumerate() {
        for b in all[i + 1..].iter().filter(|b| b.backend() != a.backend()) {
            check(&Pair::new(a, b));
        }
    }
}

/// The first two devices of a backend, in both orders. Without two, prints that their test did not run, or fails if `SAREK_REQUIRE_PAIRS` names
/// the backend.
fn pairs_here(backend: &str) -> Option<[Pair; 2]> {
    let pairs = pairs_of(backend);
    if pairs.is_none() {
        let required = std::env::var("SAREK_REQUIRE_PAIRS").unwrap_or_default();
        let missing = format!("`{backend}` has no two devices here: its pair was not run");
        assert!(
            !required.split(',').any(|name| name == backend),
            "{missing}"
        );
        eprintln!("{missing}");
    }
    pairs
}

#[test]
fn two_devices_of_one_backend() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    for backend in ["cuda", "opencl", "wgpu"] {
        pairs_here(backend).iter().flatten().for_each(check);
    }
}

#[test]
fn two_cuda_devices_exchange_through_merge_buffers() -> Result<()> {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    for pair in pairs_here("cuda").iter().flatten() {
        merge_buffers(pair)?;
        println!("{} and {} exchanged", pair.a, pair.b);
    }
    Ok(())
}

/// Two devices of `native` under another name. Each is opened by itself.
struct Twins(Arc<dyn Backend>);

impl Backend for Twins {
    fn name(&self) -> &'static str {
        "native twins"
    }

    fn count(&self) -> std::result::Result<usize, String> {
        Ok(2)
    }

    fn open(&self, _: usize) -> Result<Arc<dyn BackendDevice>> {
        self.0.open(0)
    }

    fn priority(&self) -> i32 {
        -1
    }
}

#[test]
fn two_devices_of_native() -> Result<()> {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut linked = registry::LINKED.iter().flat_map(|make| make());
    let native = linked.find(|backend| backend.name() == "native");
    registry::register(Arc::new(Twins(native.expect("it is a default feature"))))?;
    let pairs = pairs_of("native twins").expect("two devices");
    pairs.iter().for_each(check);
    registry::unregister("native twins");
    Ok(())
}

/// Runs in a child process, where PoCL presents two devices.
#[test]
fn two_devices_of_pocl() {
    const CHILD: &str = "SAREK_TEST_TWO_OF_POCL";
    if std::env::var_os(CHILD).is_some() {
        pairs_of("opencl")
            .expect("PoCL is two devices")
            .iter()
            .for_each(check);
        return;
    }
    let is_pocl = |d: &Device| d.debug_info().values().any(|fact| fact.contains("PoCL"));
    if !Device::of("opencl").is_ok_and(|device| is_pocl(&device)) {
        eprintln!("there is no PoCL here: its pair was not run");
        return;
    }
    let this = std::env::current_exe().expect("this test");
    let child = std::process::Command::new(this)
        .args(["two_devices_of_pocl", "--exact"])
        .env(CHILD, "1")
        .env("POCL_DEVICES", "pthread pthread")
        .output()
        .expect("it runs");
    let output = [child.stdout, child.stderr].concat();
    assert!(
        child.status.success(),
        "{}",
        String::from_utf8_lossy(&output)
    );
}
