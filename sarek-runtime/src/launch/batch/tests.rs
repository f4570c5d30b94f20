use std::sync::atomic::Ordering::Relaxed;

use super::*;
use crate::plugin::claims::Subject;
use crate::sync::lock;
use crate::testing::gpu::GpuBackend;
use crate::testing::kernels::{axpy, axpy_named, leak};
use crate::testing::{device, host, registry, two_gpus};
use crate::{FreeBlock, KernelDef, Launch, Vector};

fn call<'a>(
    def: &'static KernelDef,
    x: &'a Vector<f32>,
    y: &'a mut Vector<f32>,
) -> Launch<'a, FreeBlock> {
    // SAFETY: the arguments are those of `axpy`.
    unsafe { Launch::of(def, [2.0f32.into(), x.into(), y.into()]) }
}

/// Specializes a launch of a new kernel at each call.
fn specialized(device: &Device, n: usize, options: &str) -> Specialized {
    let (x, mut y) = (Vector::filled(n, 1.0), Vector::filled(n, 1.0));
    let launch = call(leak(axpy()), &x, &mut y);
    let launch = match options {
        "" => launch,
        flag => launch.options(crate::plugin::backend::Parts::new().flag(flag)),
    };
    launch.over(n).specialize(device).unwrap().unwrap()
}

#[test]
fn a_batch_is_what_its_parts_are_one_by_one() {
    let [(device, _), (other, _)] = two_gpus();
    let batch = [
        Some(specialized(&device, 4, "")),
        None,
        Some(specialized(&device, 100, "-O3")),
        Some(specialized(&device, 1000, "")),
        Some(specialized(&other, 4, "")),
    ];
    let one_by_one: Vec<_> = batch
        .iter()
        .map(|p| Some(device.compile(p.as_ref()?)))
        .collect();
    let texts = |codes: &[Option<Result<Code>>]| -> Vec<_> {
        let text = |code: &Option<Result<Code>>| match code {
            None => "a gap".to_owned(),
            Some(Ok(code)) => format!("{} {} {}", code.kernel, code.target, code.text),
            Some(Err(error)) => error.to_string(),
        };
        codes.iter().map(text).collect()
    };
    // On a device that has compiled none of them yet.
    let [(fresh, stats), (other, _)] = two_gpus();
    let again = |program: &Option<Specialized>| {
        let program = program.as_ref()?;
        let mut moved = program.clone();
        moved.device = match program.device == device {
            true => fresh.clone(),
            false => other.clone(),
        };
        Some(moved)
    };
    let again: Vec<_> = batch.iter().map(again).collect();
    let together = fresh.compile_batch(&again);
    assert_eq!(texts(&together), texts(&one_by_one));
    assert!(matches!(&together[4], Some(Err(Error::Device { .. }))));
    assert_eq!(stats.compiles.load(Relaxed), 3);
    fresh.compile_batch(&again);
    assert_eq!(stats.compiles.load(Relaxed), 3, "they are there");
}

#[test]
fn launches_find_what_was_compiled_ahead() {
    let (device, stats) = device(&GpuBackend::new("gpu", 1));
    let (x, mut y) = (Vector::filled(8, 1.0), Vector::filled(8, 1.0));
    let def = leak(axpy());
    let program = call(def, &x, &mut y)
        .over(8)
        .specialize(&device)
        .unwrap()
        .unwrap();
    assert_eq!(stats.uploads.load(Relaxed), 0);
    let code = device.compile(&program).unwrap();
    assert_eq!((&*code.kernel, &*code.target), ("axpy", "fake"));
    call(def, &x, &mut y).over(8).run_on(&device).unwrap();
    assert_eq!(stats.compiles.load(Relaxed), 1);
    assert_eq!(y.to_vec().unwrap(), [3.0; 8]);
    // The same kernel twice in a batch is compiled once; with other options it is another program.
    let launch = call(def, &x, &mut y).options(crate::plugin::backend::Parts::new().flag("-g"));
    let other = launch.over(8).specialize(&device).unwrap();
    assert!(
        other
            .as_ref()
            .unwrap()
            .to_string()
            .contains("environments options")
    );
    let codes = device.compile_batch(&[other.clone(), other, Some(program)]);
    assert!(codes.iter().all(|code| matches!(code, Some(Ok(_)))));
    assert_eq!(stats.compiles.load(Relaxed), 2);
}

#[test]
fn what_decides_a_program_is_told() {
    let (device, _) = device(&GpuBackend::new("gpu", 1));
    let text = specialized(&device, 4, "").to_string();
    for part in [
        "`axpy` on fake GPU",
        "blocks of (",
        "1 dimensions",
        "indices of 32 bits",
        "0 checks",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let (x, mut y) = (Vector::filled(0, 1.0), Vector::filled(0, 1.0));
    let empty = call(leak(axpy()), &x, &mut y).over(0).specialize(&device);
    assert!(empty.unwrap().is_none());
    let native = specialized(&host(), 4, "");
    let code = native.device().compile(&native).unwrap();
    assert_eq!((&*code.target, &*code.text), ("rust", ""));
}

#[test]
fn artifacts_have_given_names_or_those_of_their_kernels() {
    let (device, stats) = device(&GpuBackend::new("gpu", 1));
    stats.keeps_artifacts.store(true, Relaxed);
    // Programs that no earlier process has left in the cache.
    let since = std::time::UNIX_EPOCH.elapsed().unwrap().as_nanos();
    let program = |option: &str| specialized(&device, 4, &format!("{option}={since}"));
    let twice = program("-twice");
    let first = format!("layer 1 of {since}");
    let batch = [
        Some(program("-O1").named(&first)),
        None,
        Some(program("-O2")),
        Some(twice.clone().named("layer 3")),
        Some(twice.named("layer 4")),
    ];
    let codes = device.compile_batch(&batch);
    let names: Vec<_> = codes
        .iter()
        .map(|code| Some(&*code.as_ref()?.as_ref().unwrap().name))
        .collect();
    let due = [&*first, "axpy", "layer 3", "layer 4"].map(Some);
    assert_eq!(names, [due[0], None, due[1], due[2], due[3]]);
    assert_eq!(stats.compiles.load(Relaxed), 3, "a name makes no program");
    let info = device.debug_info();
    let programs: Vec<_> = info
        .keys()
        .filter(|key| key.starts_with("program "))
        .collect();
    let due = ["axpy", &first, "layer 3", "layer 4"].map(|name| format!("program {name}"));
    assert_eq!(programs, due.iter().collect::<Vec<_>>());
    assert!(
        info[&format!("program {first}")].contains("axpy"),
        "{info:?}"
    );
    assert!(
        batch[0]
            .as_ref()
            .unwrap()
            .to_string()
            .starts_with(&format!("{first}: `axpy`"))
    );
    // A launch that needs another program gives it the kernel's name.
    let (x, mut y) = (Vector::filled(4, 1.0), Vector::filled(4, 1.0));
    call(leak(axpy()), &x, &mut y)
        .over(4)
        .run_on(&device)
        .unwrap();
    assert!(device.debug_info().contains_key("program axpy (2)"));
    // On disk, an entry has the first name.
    let stored = crate::cache::stored();
    if crate::cache::status().folder.is_ok() {
        let named = |name: &str| stored.iter().any(|s| s.name.as_deref() == Some(name));
        assert!(named(&first) && named("layer 3"), "{stored:?}");
    }
}

#[test]
fn a_batch_is_one_text_for_one_call_of_the_compiler() {
    let (device, stats) = device(&GpuBackend::new("gpu", 1));
    stats.joined.store(1, Relaxed);
    let batch = |names: &[&'static str]| -> Vec<Option<Specialized>> {
        let program = |name: &&'static str| {
            let (x, mut y) = (Vector::filled(4, 1.0), Vector::filled(4, 1.0));
            let launch = call(leak(axpy_named(name)), &x, &mut y).over(4);
            launch.specialize(&device).unwrap()
        };
        names.iter().map(program).collect()
    };
    let compiles = |batch: &[Option<Specialized>]| {
        let before = stats.compiles.load(Relaxed);
        let codes = device.compile_batch(batch);
        (codes, stats.compiles.load(Relaxed) - before)
    };
    let three = batch(&["first", "second", "third"]);
    let (codes, calls) = compiles(&three);
    assert_eq!(calls, 1);
    for (code, name) in codes.iter().zip(["first", "second", "third"]) {
        let code = code.as_ref().unwrap().as_ref().unwrap();
        assert_eq!(code.kernel, name);
        assert!(code.text.starts_with(name), "its own text: {}", code.text);
    }
    assert_eq!(compiles(&three).1, 0, "launches find them");
    // Kernels of one name do not stand in one text, and neither do those with other options.
    assert_eq!(compiles(&batch(&["one", "one", "other"])).1, 2);
    // The failure of one does not affect the others.
    *lock(&stats.rejected) = Some("wrong".to_owned());
    let (codes, calls) = compiles(&batch(&["good", "wrong", "fine"]));
    let outcomes: Vec<bool> = codes.iter().map(|c| c.as_ref().unwrap().is_ok()).collect();
    assert_eq!((outcomes, calls), (vec![true, false, true], 4));
    // Two texts for four kernels.
    *lock(&stats.rejected) = None;
    stats.joined.store(2, Relaxed);
    assert_eq!(compiles(&batch(&["a", "b", "c", "d"])).1, 2);
    // A compiler that asks for nothing else gets one text for each.
    stats.joined.store(0, Relaxed);
    assert_eq!(compiles(&batch(&["e", "f"])).1, 2);
}

#[test]
fn a_batch_is_a_program_of_all_its_kernels() {
    let [plain, fused] = [GpuBackend::new("plain", 9), GpuBackend::new("fused", 5)];
    fused.claim(|claims| {
        claims.by_predicate(Subject::Programs, |request| {
            request
                .kernels
                .iter()
                .map(|k| &*k.name)
                .eq(["front", "back"])
        });
    });
    let all = registry("", &[plain, fused]);
    let [plain, fused] = ["plain", "fused"].map(|name| {
        let devices = all.all();
        devices
            .into_iter()
            .find(|device| device.backend() == name)
            .unwrap()
    });
    let (front, back) = (leak(axpy_named("front")), leak(axpy_named("back")));
    let program = |device: &Device, def| {
        let (x, mut y) = (Vector::filled(4, 1.0), Vector::filled(4, 1.0));
        call(def, &x, &mut y).over(4).specialize(device).unwrap()
    };
    let batch = |device: &Device, defs: &[&'static KernelDef]| {
        let batch: Vec<_> = defs.iter().map(|def| program(device, def)).collect();
        device.compile_batch(&batch)
    };
    // Each of them alone, and in another order, is nobody's.
    for defs in [&[front][..], &[back], &[back, front]] {
        assert!(
            batch(&plain, defs)
                .iter()
                .all(|code| matches!(code, Some(Ok(_))))
        );
    }
    let codes = batch(&plain, &[front, back]);
    for code in &codes {
        let error = code.as_ref().unwrap().as_ref().unwrap_err();
        assert!(matches!(error, Error::NotEligible { .. }), "{error}");
        let text = error.to_string();
        assert!(
            text.contains("`fused` has claimed") && text.contains("front, back"),
            "{text}"
        );
    }
    assert_eq!(codes.len(), 2);
    assert!(
        batch(&fused, &[front, back])
            .iter()
            .all(|code| matches!(code, Some(Ok(_))))
    );
    // A graph is such a program, too.
    for (device, is_refused) in [(&plain, true), (&fused, false)] {
        let (x, mut y) = (Vector::filled(4, 1.0), Vector::filled(4, 1.0));
        let mut recording = device.record_graph();
        recording.launch(call(front, &x, &mut y).over(4)).unwrap();
        recording.launch(call(back, &x, &mut y).over(4)).unwrap();
        let replayed = recording.finish().replay((&x, &mut y));
        let found = matches!(replayed, Err(Error::NotEligible { .. }));
        assert_eq!(found, is_refused, "{device}: {replayed:?}");
    }
}
