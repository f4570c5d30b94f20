//! Backends that come, go and change their priority while other threads launch kernels.
//!
//! `SAREK_STRESS_SECONDS` is the duration in seconds; the default is 1.

use std::any::Any;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

use sarek::backend::{
    Backend, BackendDevice, BackendStream, Claims, Codegen, DeviceInfo, Launch, Mem, Program,
    RawFault, Slice,
};
use sarek::prelude::*;
use sarek::tag::{self, ScheduleKind, Tag};
use sarek::{Error, Result, registry};

#[kernel]
fn mix(factor: u32, x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    y[i] = factor.wrapping_mul(x[i]) ^ y[i];
}

/// The interpreter under another name. It may claim a schedule.
struct Guest {
    name: &'static str,
    priority: Arc<AtomicI32>,
    claims: Option<Tag<ScheduleKind>>,
}

impl Backend for Guest {
    fn name(&self) -> &'static str {
        self.name
    }

    fn count(&self) -> Result<usize, String> {
        Ok(2)
    }

    fn open(&self, _: usize) -> Result<Arc<dyn BackendDevice>> {
        let mut linked = registry::LINKED.iter().flat_map(|make| make());
        let interpreter = linked.find(|backend| backend.name() == "interpreter");
        Ok(Arc::new(Room(
            interpreter.expect("the interpreter").open(0)?,
        )))
    }

    fn priority(&self) -> i32 {
        self.priority.load(Relaxed)
    }

    fn claims(&self, claims: &mut Claims) {
        if let Some(schedule) = &self.claims {
            claims.schedule(schedule.clone());
        }
    }
}

struct Room(Arc<dyn BackendDevice>);

/// The number of launches that guests ran.
static VISITS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: each call is forwarded to another device.
unsafe impl BackendDevice for Room {
    fn info(&self) -> &DeviceInfo {
        self.0.info()
    }

    fn codegen(&self) -> Codegen<'_> {
        self.0.codegen()
    }

    unsafe fn load(&self, program: &Program<'_>) -> Result<Arc<dyn Any + Send + Sync>> {
        // SAFETY: the caller's promise.
        unsafe { self.0.load(program) }
    }

    fn alloc(&self, bytes: usize) -> Result<Arc<dyn Mem>> {
        self.0.alloc(bytes)
    }

    fn stream(&self) -> Arc<dyn BackendStream> {
        Arc::new(Line(self.0.stream()))
    }
}

/// The stream of a guest, which counts its launches.
struct Line(Arc<dyn BackendStream>);

// SAFETY: each call is forwarded to another stream.
unsafe impl BackendStream for Line {
    unsafe fn copy_in(&self, dst: &Slice, src: &[u8]) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.0.copy_in(dst, src) }
    }

    unsafe fn copy_out(&self, src: &Slice, dst: &mut [u8]) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.0.copy_out(src, dst) }
    }

    unsafe fn launch(&self, launch: &Launch<'_>) -> Result<Option<RawFault>> {
        VISITS.fetch_add(1, Relaxed);
        // SAFETY: the caller's promise.
        unsafe { self.0.launch(launch) }
    }

    fn sync(&self) -> Result<()> {
        self.0.sync()
    }
}

/// A pseudo-random number below `n`.
fn random(state: &mut u32, n: u32) -> u32 {
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    *state % n
}

const NAMES: [&str; 3] = ["guest one", "guest two", "guest three"];

/// Registers, unregisters and reorders backends.
fn change(seed: u32, schedule: &Tag<ScheduleKind>, until: Instant) -> usize {
    let mut state = seed;
    let mut changes = 0;
    let priorities = NAMES.map(|_| Arc::new(AtomicI32::new(0)));
    while Instant::now() < until {
        let at = random(&mut state, 3) as usize;
        match random(&mut state, 4) {
            0 => {
                registry::unregister(NAMES[at]);
            }
            1 => priorities[at].store(random(&mut state, 300) as i32, Relaxed),
            _ => {
                let made = registry::register(Arc::new(Guest {
                    name: NAMES[at],
                    priority: priorities[at].clone(),
                    claims: (at == 0).then(|| schedule.clone()),
                }));
                match made {
                    Ok(()) | Err(Error::DuplicateBackend(_)) => {}
                    Err(error) => panic!("{error}"),
                }
            }
        }
        changes += 1;
        // The others get a turn.
        std::thread::sleep(Duration::from_micros(random(&mut state, 300).into()));
    }
    changes
}

/// Launches kernels in every way that chooses a device, and checks the results.
fn launch(seed: u32, schedule: &Tag<ScheduleKind>, until: Instant, ran: &[AtomicUsize; 3]) {
    let mut state = seed;
    let n = 50 + random(&mut state, 200) as usize;
    let x = Vector::from_vec((0..n as u32).collect());
    while Instant::now() < until {
        let mut y = Vector::filled(n, 7u32);
        let mut due = vec![7u32; n];
        for round in 0..6u32 {
            let factor = 3 + random(&mut state, 1000);
            let call = mix(factor, &x, &mut y);
            let outcome = match random(&mut state, 3) {
                // The best device.
                0 => call.over(n).run().map(|()| 0),
                // A device by name, which may go before the launch.
                1 => {
                    let name = NAMES[random(&mut state, 3) as usize];
                    match Device::of(name) {
                        Ok(device) => call.over(n).run_on(&device).map(|()| 1),
                        Err(error) => Err(error),
                    }
                }
                // The device that claims the schedule, if there is one now.
                _ => call.schedule(schedule).over(n).run().map(|()| 2),
            };
            match outcome {
                Ok(way) => {
                    ran[way].fetch_add(1, Relaxed);
                    for (i, due) in due.iter_mut().enumerate() {
                        *due ^= factor.wrapping_mul(i as u32);
                    }
                }
                // The backend is not there now.
                Err(Error::NoBackend { .. } | Error::Unclaimed { .. }) => {}
                // It went, or came anew, between the choice and the launch.
                Err(Error::NotEligible { .. } | Error::NoDevice(_)) => {}
                Err(error) => panic!("round {round}: {error:?}"),
            }
        }
        assert_eq!(y.to_vec().expect("the elements"), due);
    }
}

#[test]
fn backends_come_and_go_while_kernels_run() {
    let seconds = std::env::var("SAREK_STRESS_SECONDS").ok();
    let seconds = seconds.and_then(|s| s.parse().ok()).unwrap_or(1);
    let schedule = &tag::register::<ScheduleKind>("guests' own").unwrap();
    let ran = &[0; 3].map(AtomicUsize::new);
    let begin = &Barrier::new(8);
    let until = || {
        begin.wait();
        Instant::now() + Duration::from_secs(seconds)
    };
    let changes: usize = std::thread::scope(|scope| {
        for thread in 0..6 {
            scope.spawn(move || launch(1 + thread, schedule, until(), ran));
        }
        let changing = [100, 200].map(|seed| scope.spawn(move || change(seed, schedule, until())));
        changing
            .into_iter()
            .map(|thread| thread.join().expect("changes"))
            .sum()
    });
    let ran = ran.each_ref().map(|ran| ran.load(Relaxed));
    println!("{changes} changes; launches by choice, by name, by schedule: {ran:?}");
    assert!(
        changes > 10 && ran.iter().all(|ran| *ran > 0),
        "{changes}, {ran:?}"
    );

    // All is as before.
    for name in NAMES {
        registry::unregister(name);
        assert!(matches!(Device::of(name), Err(Error::NoBackend { .. })));
    }
    let (x, mut y) = (Vector::filled(4, 2u32), Vector::zeros(4));
    mix(3, &x, &mut y).over(4).run().unwrap();

    // The next launch goes to who is the best now.
    let mut visits = || {
        let before = VISITS.load(Relaxed);
        mix(3, &x, &mut y).over(4).run().unwrap();
        VISITS.load(Relaxed) - before
    };
    let guest = |priority| {
        let priority = Arc::new(AtomicI32::new(priority));
        let (name, claims) = (NAMES[1], None);
        registry::register(Arc::new(Guest {
            name,
            priority,
            claims,
        }))
    };
    assert_eq!(visits(), 0);
    guest(10_000).unwrap();
    assert_eq!(visits(), 1, "the guest is preferred");
    registry::unregister(NAMES[1]);
    assert_eq!(visits(), 0, "the guest has gone");
    guest(-10_000).unwrap();
    assert_eq!(visits(), 0, "the guest is the last choice");
    registry::unregister(NAMES[1]);
    let error = mix(3, &x, &mut y).schedule(schedule).over(4).run();
    assert!(matches!(error, Err(Error::Unclaimed { .. })), "{error:?}");
    assert_eq!(y.to_vec().unwrap(), [6; 4], "an odd number of launches");
}
