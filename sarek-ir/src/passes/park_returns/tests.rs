use super::park_returns;
use crate::analysis::barriers;
use crate::analysis::random::blocks::{self, Launch};
use crate::interp::{Like, Stop, cases};
use crate::passes::{elide_checks, guard_loops, lower_labels};
use crate::sketch::Sketch;
use crate::{Kernel, ParamId, Scalar, Stmt};

fn parked(kernel: &Kernel) -> Kernel {
    let mut parked = kernel.clone();
    park_returns(&mut parked);
    assert_eq!(crate::validate(&parked), Ok(()), "{kernel}\n{parked}");
    parked
}

/// The kernel as an accelerator runs it.
fn lowered(kernel: &Kernel) -> Kernel {
    let mut lowered = parked(kernel);
    lower_labels(&mut lowered);
    guard_loops(&mut lowered);
    assert_eq!(crate::validate(&lowered), Ok(()), "{kernel}\n{lowered}");
    lowered
}

#[derive(Default, Debug)]
struct Tally {
    sound: u32,
    faulted: u32,
    parks: u32,
    votes: u32,
    elided: u32,
}

fn try_one(seed: u64, lanes: &[u64], tally: &mut Tally) {
    let kernel = blocks::kernel(seed);
    assert_eq!(crate::validate(&kernel), Ok(()), "{kernel}");
    assert_eq!(
        barriers::check(&kernel, false),
        Ok(()),
        "seed {seed} in\n{kernel}"
    );
    let launch = Launch::new(seed, lanes);
    try_launch(&kernel, &launch, tally);
    // As in a debug build.
    let mut exact = kernel;
    exact.check_overflows();
    try_launch(&exact, &launch, tally);
}

fn try_launch(kernel: &Kernel, launch: &Launch, tally: &mut Tally) {
    let (memory, ends) = launch.run(kernel, Like::Host);
    // As launched, without the checks that the launch proves.
    let mut proved = kernel.clone();
    let checked = launch.unproved(kernel);
    tally.elided += (kernel.sites.len() - checked.len()) as u32;
    elide_checks(&mut proved, &checked);
    for kernel in [kernel, &proved] {
        compare(kernel, launch, (&memory, &ends), tally);
    }
}

fn compare(
    kernel: &Kernel,
    launch: &Launch,
    (memory, ends): (&[u32], &[Result<(), Stop>]),
    tally: &mut Tally,
) {
    let say = |other: &Kernel| format!("{launch:?}\n{kernel}\n{other}");
    let parked = lowered(kernel);
    tally.parks += u32::from(parked.locals.iter().any(|l| l.name == "active"));
    tally.votes += u32::from(parked.shared.len() > kernel.shared.len());
    let (got, got_ends) = launch.run(&parked, Like::Accelerator);
    let clean = ends.iter().all(Result::is_ok);
    for (end, got) in ends.iter().zip(&got_ends) {
        let (end, got) = (end.is_ok(), got.clone());
        let divergence = matches!(got, Err(Stop::Divergence { .. }));
        assert!(!divergence, "{got:?} {}", say(&parked));
        assert_eq!(end, got.is_ok(), "{got:?} {}", say(&parked));
    }
    if clean {
        tally.sound += 1;
        assert_eq!(got, memory, "{}", say(&parked));
    } else {
        tally.faulted += 1;
    }
}

#[test]
fn random_kernels_compute_the_same() {
    let mut tally = Tally::default();
    for seed in 0..1500 {
        try_one(seed, &[1, 3, 5, 32, 33], &mut tally);
    }
    for seed in 1500..1520 {
        try_one(seed, &[255, 256, 1024], &mut tally);
    }
    let Tally {
        sound,
        faulted,
        parks,
        votes,
        elided,
    } = tally;
    assert!(
        sound > 500 && faulted > 500 && parks > 500 && votes > 500 && elided > 500,
        "{tally:?}"
    );
}

#[test]
fn every_case_computes_what_it_should() {
    for case in cases::cases() {
        let kernel = lowered(&case.kernel);
        for n in cases::LANES {
            let got = cases::run(&kernel, n, Like::Accelerator);
            let expected = Ok((case.expected)(n));
            assert_eq!(got, expected, "{} with {n} lanes\n{kernel}", case.name);
        }
    }
}

/// Asserts that the kernel ends with a fault in each of two blocks of `n` threads.
fn ends_with_a_fault(fill: impl FnOnce(&Sketch, ParamId)) {
    let s = Sketch::new("faults");
    let v = s.slice_mut("v", Scalar::U32);
    fill(&s, v);
    let kernel = lowered(&s.finish());
    for n in cases::LANES {
        let got = cases::run(&kernel, n, Like::Accelerator);
        assert!(matches!(got, Err(Stop::Fault { .. })), "{got:?}\n{kernel}");
    }
}

#[test]
fn loops_that_only_a_fault_ends() {
    // Each thread reaches the end of the slice at a different time.
    ends_with_a_fault(|s, v| {
        let k = s.let_mut("k", cases::thread(s));
        s.loop_(|_| {
            s.store(v, k.get(), cases::u32(s, 1));
            s.set(k, k.get() + s.n(100));
            s.barrier();
        });
    });
    // Only one thread faults.
    ends_with_a_fault(|s, v| {
        s.loop_(|_| {
            s.if_(cases::thread(s).eq(s.n(0)), || {
                s.store(v, s.len(v), cases::u32(s, 1))
            });
            s.barrier();
        });
    });
    // All threads fault together.
    ends_with_a_fault(|s, v| {
        let k = s.let_mut("k", s.len(v) - s.n(2));
        s.while_((s.len(v) / (s.len(v) - k.get())).ge(s.n(0)), |_| {
            s.set(k, k.get() + s.n(1));
            s.barrier();
        });
    });
    // A loop without a barrier inside, but before one.
    ends_with_a_fault(|s, v| {
        let k = s.let_mut("k", cases::thread(s));
        s.while_(s.load(v, k.get()).eq(cases::u32(s, 0)), |_| {
            s.set(k, k.get() + s.n(100));
        });
        s.barrier();
    });
}

#[test]
fn loops_that_end_do_not_vote() {
    let votes = |half: bool| {
        let s = Sketch::new("counts");
        let v = s.slice_mut("v", Scalar::U32);
        let left = s.let_mut("left", s.len(v));
        s.while_(left.get().gt(s.n(0)), |_| {
            s.set(left, if half { left.get() >> s.u32(1) } else { s.n(7) });
            s.barrier();
        });
        s.store(v, s.len(v) / left.get(), cases::u32(&s, 1));
        lowered(&s.finish()).to_string().contains("last_round")
    };
    assert!(!votes(true));
    assert!(votes(false));
}

#[test]
fn made_up_values_decide_nothing_about_barriers() {
    // With the harmless divisor alone, the loop would never end.
    ends_with_a_fault(|s, v| {
        let none = s.len(v) - s.len(v);
        let end = s.let_("end", s.n(u64::MAX) / none);
        s.for_("k", s.n(0), end.get(), |_, _| s.barrier());
    });
    ends_with_a_fault(|s, v| {
        let none = || s.len(v) - s.len(v);
        let lazy = (s.n(1) / none()).gt(s.n(0));
        let taken = none().eq(s.n(0)).and(lazy);
        s.if_(taken, || s.loop_(|_| s.barrier()));
    });
}

#[test]
fn checks_that_are_not_come_to_stop_nobody() {
    let s = Sketch::new("lazy");
    let v = s.slice_mut("v", Scalar::U32);
    let none = || s.len(v) - s.len(v);
    let beyond = || (s.n(1) / none()).gt(s.n(0));
    let no = || none().gt(s.n(0));
    s.if_(no().and(beyond()), || s.barrier());
    s.if_((!no()).or(beyond()), || {
        s.barrier();
        s.store(v, cases::global(&s), cases::u32(&s, 1));
    });
    let kernel = lowered(&s.finish());
    for n in cases::LANES {
        let got = cases::run(&kernel, n, Like::Accelerator);
        assert_eq!(got, Ok(vec![1; 2 * n as usize]), "{kernel}");
    }
}

#[test]
fn returns_that_all_take_stay() {
    let s = Sketch::new("uniform");
    let v = s.slice_mut("v", Scalar::U32);
    s.if_(s.len(v).eq(s.n(7)), || s.return_());
    s.barrier();
    // No barrier follows this `return`.
    s.if_(cases::thread(&s).eq(s.n(3)), || s.return_());
    s.let_("x", s.len(v));
    let kernel = s.finish();
    assert_eq!(parked(&kernel).to_string(), kernel.to_string());
}

#[test]
fn without_barriers_nothing_changes() {
    for seed in 0..50 {
        let kernel = crate::analysis::random::kernel(seed);
        assert!(!kernel.stmts.contains(&Stmt::Barrier));
        assert_eq!(parked(&kernel), kernel);
    }
}
