//! Settings that were once ignored: environment variables, claims, storages, intrinsics, environments.
//!
//! Each must take effect, or else produce a clear error or a line on standard error.

use std::process::{Command, Output};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use sarek::Error;
use sarek::backend::claims::Subject;
use sarek::backend::{Backend, BackendDevice, Claims};
use sarek::environment::{self, Environment, Parts};
use sarek::prelude::*;
use sarek::tag::{StorageKind, Tag};

use crate::devices;

/// The environment variable that tells a child process what to do.
const CHILD: &str = "SAREK_SETTINGS_CHILD";

#[kernel]
fn ones(y: &mut [u32]) {
    let i = global_idx_x();
    y[i] = 1;
}

#[kernel]
unsafe fn racy(y: &mut [u32]) {
    y[0] = global_idx_x() as u32;
}

/// Runs a test of this module in a child process with other environment variables.
fn child(test: &str, act: &str, variables: &[(&str, &str)]) -> Output {
    let mut child = Command::new(std::env::current_exe().expect("this program"));
    child
        .args([&format!("settings::{test}"), "--exact", "--nocapture"])
        .env_remove("SAREK_BACKEND")
        .env_remove("SAREK_SANITIZE")
        .env(CHILD, act)
        .envs(variables.iter().copied());
    child.output().expect("a child process")
}

fn act() -> Option<String> {
    std::env::var(CHILD).ok()
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout)
}

#[test]
fn misspelt_values_are_reported() {
    if act().is_some() {
        let mut y = Vector::zeros(8);
        match ones(&mut y).over(8).run() {
            Ok(()) => assert_eq!(y.to_vec().expect("it ran"), [1; 8]),
            Err(error) => println!("{error}"),
        }
        println!("{:?}", sarek::cache::status().problem);
        let native = Device::of("native").expect("it is there");
        if let Err(error) = ones(&mut y).over(8).run_on(&native) {
            println!(
                "refused on native too: {}",
                matches!(error, Error::Setting { .. })
            );
        }
        return;
    }
    let test = "misspelt_values_are_reported";
    for (name, value, fails) in [
        ("SAREK_SANITIZE", "overfow", true),
        ("SAREK_SANITIZE", "seed=seven", true),
        ("SAREK_SANITIZE", "1,,seed", true),
        ("SAREK_SANITIZE", "yes", true),
        ("SAREK_BACKEND", "natvie", true),
        ("SAREK_CACHE_MIB", "lots", false),
        ("SAREK_OPTIMIZE", "max", false),
        ("SAREK_OPTIMIZE", "seed:one", false),
        ("SAREK_NATIVE_ISA", "avx5l2", false),
        ("SAREK_SANITISE", "1", false),
    ] {
        let said = text(&child(test, "run", &[(name, value)]));
        let words = said.contains(name) && (said.contains(value) || name == "SAREK_SANITISE");
        assert!(words, "{name}={value}: {said}");
        let refused = said.contains("refused on native too: true");
        assert_eq!(
            refused,
            fails && name == "SAREK_SANITIZE",
            "{name}={value}: {said}"
        );
    }
    // Valid values print nothing.
    for (name, value) in [
        ("SAREK_SANITIZE", " 1, seed=4,overflow "),
        ("SAREK_SANITIZE", "0"),
        ("SAREK_SANITIZE", ""),
        ("SAREK_BACKEND", "native, interpreter"),
        ("SAREK_CACHE_MIB", "64"),
        ("SAREK_OPTIMIZE", "all"),
        ("SAREK_OPTIMIZE", "seed:7"),
        ("SAREK_CACHE", "off"),
        ("SAREK_NATIVE_ISA", "baseline"),
    ] {
        let output = child(test, "run", &[(name, value)]);
        let errors = String::from_utf8_lossy(&output.stderr);
        let said: Vec<&str> = errors.lines().filter(|line| line.contains(name)).collect();
        // `run_on(native)` bypasses the sanitizer, which prints one line.
        let expected = usize::from(value.contains("overflow"));
        assert_eq!(said.len(), expected, "{name}={value}: {said:?}");
    }
}

#[test]
fn the_sanitizer_reports_unwatched_devices() {
    if let Some(act) = act() {
        let mut y = Vector::zeros(1);
        for _ in 0..3 {
            // SAFETY: not upheld: it races, which the sanitizer must find.
            let launch = unsafe { racy(&mut y) }.over(64);
            let ran = match act.as_str() {
                "run" => launch.run(),
                backend => launch.run_on(&Device::of(backend).expect("it is there")),
            };
            if let Err(error) = ran {
                println!("found: {}", matches!(error, Error::Sanitizer { .. }));
            }
            // Waits for devices that run asynchronously.
            let _ = y.to_vec();
        }
        return;
    }
    let test = "the_sanitizer_reports_unwatched_devices";
    let reports = |output: &str| {
        output
            .matches("SAREK_SANITIZE is set, but launches on")
            .count()
    };
    let sanitize = ("SAREK_SANITIZE", "1");
    let plain = text(&child(test, "run", &[sanitize]));
    assert!(
        plain.contains("found: true") && reports(&plain) == 0,
        "{plain}"
    );
    let named = text(&child(
        test,
        "run",
        &[sanitize, ("SAREK_BACKEND", "native")],
    ));
    assert_eq!(reports(&named), 1, "{named}");
    for backend in ["native", "opencl", "wgpu", "cuda"] {
        if !devices().iter().any(|device| device.backend() == backend) {
            continue;
        }
        let on = text(&child(test, backend, &[sanitize]));
        assert_eq!(reports(&on), 1, "{backend}: {on}");
        assert!(on.contains("launches on ") && on.contains(backend), "{on}");
        let off = text(&child(test, backend, &[("SAREK_SANITIZE", "0")]));
        assert_eq!(reports(&off), 0, "{backend}: {off}");
    }
}

/// `native` under another name, with claims.
struct Other {
    name: &'static str,
    native: Arc<dyn Backend>,
    claims: Box<dyn Fn(&mut Claims) + Send + Sync>,
}

impl Backend for Other {
    fn name(&self) -> &'static str {
        self.name
    }

    fn count(&self) -> Result<usize, String> {
        self.native.count()
    }

    fn open(&self, ordinal: usize) -> sarek::Result<Arc<dyn BackendDevice>> {
        self.native.open(ordinal)
    }

    fn priority(&self) -> i32 {
        1
    }

    fn claims(&self, claims: &mut Claims) {
        (self.claims)(claims);
    }
}

/// Registers `native` under another name.
fn other(name: &'static str, claims: impl Fn(&mut Claims) + Send + Sync + 'static) {
    let mut linked = sarek::registry::LINKED.iter().flat_map(|all| all());
    let native = linked.find(|backend| backend.name() == "native");
    let native = native.expect("it is linked");
    let claims = Box::new(claims);
    let other = Arc::new(Other {
        name,
        native,
        claims,
    });
    sarek::registry::register(other).expect("the name is free");
}

/// Held by tests that check where a launch ran: a device's profile contains the work of all threads.
static ALONE: Mutex<()> = Mutex::new(());

/// True if `run` launches the kernel on the first device of a backend.
fn ran_on(backend: &str, kernel: &str, run: impl FnOnce() -> sarek::Result<()>) -> bool {
    let device = Device::of(backend).expect("it is there");
    let (_, profile) = device.profile(run).expect("it runs");
    profile.to_string().contains(kernel)
}

#[kernel]
fn claimed(y: &mut [u32]) {
    let i = global_idx_x();
    y[i] = 1;
}

#[test]
fn explain_names_the_device_that_runs() {
    let _alone = ALONE.lock().unwrap_or_else(|e| e.into_inner());
    let mut y = Vector::zeros(8);
    let chosen = |explanation: &str| {
        let mut lines = explanation.lines();
        lines
            .find(|line| line.ends_with(": chosen"))
            .map(str::to_owned)
    };
    assert!(chosen(&claimed::explain()).is_some());
    other("claimant", |claims| {
        claims.by_predicate(Subject::Kernels, |asked| {
            asked.kernels.iter().all(|kernel| kernel.name == "claimed")
        });
    });
    let launch = claimed(&mut y).over(8);
    for explanation in [launch.explain(), claimed::explain()] {
        let line = chosen(&explanation);
        assert!(
            line.is_some_and(|line| line.contains("claimant")),
            "{explanation}"
        );
        assert!(
            explanation.contains("`claimant` has claimed the kernel"),
            "{explanation}"
        );
    }
    assert!(ran_on("claimant", "claimed", || launch.run()));
    let unclaimed = chosen(&ones(&mut y).over(8).explain());
    assert!(unclaimed.is_some_and(|line| !line.contains("claimant")));
    sarek::registry::unregister("claimant");
}

#[kernel]
fn banked(y: &mut [u32]) {
    let i = global_idx_x();
    y[i] = 1;
}

#[test]
fn launches_run_where_their_storage_is() {
    let _alone = ALONE.lock().unwrap_or_else(|e| e.into_inner());
    let bank: Tag<StorageKind> = sarek::tag::register("settings/bank").expect("the name is free");
    let native = Device::of("native").expect("it is there");
    let mut plain = Vector::zeros(8);
    let mut stored = Vector::zeros(8)
        .stored_in(&bank)
        .expect("any storage will do");
    // A cached decision for plain vectors must not apply to stored ones.
    banked(&mut plain).over(8).run().expect("it is plain");
    banked(&mut plain)
        .over(8)
        .run_on(&native)
        .expect("it is plain");
    let nowhere = banked(&mut stored).over(8).run();
    assert!(
        matches!(nowhere, Err(Error::Unclaimed { .. })),
        "{nowhere:?}"
    );
    let own = bank.clone();
    other("vault", move |claims| {
        claims.storage(own.clone());
    });
    for device in devices() {
        let refused = banked(&mut stored).over(8).run_on(&device);
        match device.backend() {
            "vault" => assert!(refused.is_ok(), "{refused:?}"),
            _ => {
                let error = refused.expect_err("it has not claimed the storage");
                let words = error.to_string();
                assert!(
                    matches!(error, Error::NotEligible { .. }),
                    "{device}: {words}"
                );
                assert!(
                    words.contains("`y` is in the storage `settings/bank`"),
                    "{words}"
                );
            }
        }
        if device.info().host_memory && device.backend() != "vault" {
            let stream = device.new_stream().expect("a stream");
            assert!(stored.prefetch(&stream).is_err(), "{device}");
        }
    }
    for _ in 0..2 {
        let explanation = banked(&mut stored).over(8).explain();
        let line = explanation.lines().find(|line| line.ends_with(": chosen"));
        assert!(
            line.is_some_and(|line| line.contains("vault")),
            "{explanation}"
        );
        let launch = banked(&mut stored).over(8);
        assert!(ran_on("vault", "banked", || launch.run()));
    }
    banked(&mut plain)
        .over(8)
        .run_on(&native)
        .expect("it is plain");
    sarek::registry::unregister("vault");
}

#[test]
fn a_refused_launch_does_not_set_up_the_device() {
    static SET_UP: AtomicBool = AtomicBool::new(false);
    let asks = Environment::new("settings/asks", |_| {
        Ok(Parts::new().flag("-no-such-flag").library("none"))
    });
    let asks = asks.init(|_| {
        SET_UP.store(true, Ordering::Relaxed);
        Ok(Box::new(()))
    });
    environment::register(asks).expect("the name is free");
    for device in devices() {
        SET_UP.store(false, Ordering::Relaxed);
        let mut y = Vector::zeros(8);
        let launch = ones(&mut y).environment("settings/asks").over(8);
        let refused = launch.run_on(&device).is_err();
        assert_eq!(SET_UP.load(Ordering::Relaxed), !refused, "{device}");
        // Devices in host memory compile no text, so they ignore flags and libraries.
        assert_eq!(refused, !device.info().host_memory, "{device}");
    }
}

#[device(intrinsic)]
fn half_of(x: f32) -> f32 {
    x / 2.0
}

#[kernel]
fn halve(x: &[f32], y: &mut [f32]) {
    let i = global_idx_x();
    y[i] = half_of(x[i]);
}

#[test]
fn an_unused_text_is_an_error() {
    for (target, word) in [
        ("native", "`intrinsic::register_host`"),
        ("interpreter", "`intrinsic::register_host`"),
        ("metal", "no registered backend renders this target"),
        ("open_cl", "there are cuda, opencl, wgsl"),
    ] {
        // SAFETY: the text computes from its argument alone; it is refused.
        let error = unsafe { sarek::intrinsic::register("half_of", target, "({0} * 100.0f)") };
        let error = error.expect_err("nobody uses it");
        assert!(matches!(error, Error::Intrinsic { .. }), "{error}");
        assert!(error.to_string().contains(word), "{error}");
        assert!(sarek::intrinsic::registered(target).is_empty());
    }
    if devices().iter().any(|device| device.backend() == "wgpu") {
        // SAFETY: as above.
        let error = unsafe { sarek::intrinsic::register("half_of", "wgpu", "({0} * 100.0f)") };
        let error = error.expect_err("the target has another name");
        assert!(error.to_string().contains("`wgsl`"), "{error}");
    }
    let x = Vector::filled(4, 8.0f32);
    for device in devices() {
        let (target, text) = match device.backend() {
            "cuda" | "opencl" => (device.backend(), "({0} * 100.0f)"),
            "wgpu" => ("wgsl", "({0} * 100.0)"),
            _ => continue,
        };
        if !sarek::intrinsic::registered(target).contains(&"half_of".to_owned()) {
            // SAFETY: the text halves its argument, as the function does.
            let registered = unsafe { sarek::intrinsic::register("half_of", target, text) };
            registered.expect("it renders texts");
        }
        let mut y = Vector::zeros(4);
        let ran = halve(&x, &mut y).over(4).run_on(&device);
        assert_eq!(
            ran.and_then(|()| y.get(0)).expect("it runs"),
            800.0,
            "{device}"
        );
    }
}
