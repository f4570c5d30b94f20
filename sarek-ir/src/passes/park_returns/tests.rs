use super::park_returns;
use crate::analysis::barriers;
use crate::analysis::random::blocks::{self, Launch};
use crate::eval::{OnFault, Stop, cases};
use crate::passes::{elide_checks, guard_loops, lower_labels};
use crate::{Kernel, Stmt};

fn parked(kernel: &Kernel) -> Kernel {
    let mut parked = kernel.clone();
    park_returns(&mut parked);
    assert_eq!(crate::validate(&parked), Ok(()), "{kernel}\n{parked}");
    parked
}

/// As an accelerator gets it.
fn lowered(kernel: &Kernel) -> Kernel {
    let mut lowered = parked(kernel);
    lower_labels(&mut lowered);
    guard_loops(&mut lowered, crate::Scalar::Usize);
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
    assert_eq!(barriers::check(&kernel), Ok(()), "seed {seed} in\n{kernel}");
    let launch = Launch::new(seed, lanes);
    let (memory, ends) = launch.run(&kernel, OnFault::Stop);
    // As a launch gets it, with the checks that it proved left out.
    let mut proved = kernel.clone();
    let checked = launch.unproved(&kernel);
    tally.elided += (kernel.sites.len() - checked.len()) as u32;
    elide_checks(&mut proved, &checked);
    for kernel in [&kernel, &proved] {
        compare(kernel, &launch, (&memory, &ends), tally);
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
    let (got, got_ends) = launch.run(&parked, OnFault::GoOn);
    let clean = ends.iter().all(Result::is_ok);
    for (end, got) in ends.iter().zip(&got_ends) {
        let (end, got) = (end.is_ok(), *got);
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
            let got = cases::run(&kernel, n, OnFault::GoOn);
            let expected = Ok((case.expected)(n));
            assert_eq!(got, expected, "{} with {n} lanes\n{kernel}", case.name);
        }
    }
}

#[test]
fn without_barriers_nothing_changes() {
    for seed in 0..50 {
        let kernel = crate::analysis::random::kernel(seed);
        assert!(!kernel.stmts.contains(&Stmt::Barrier));
        assert_eq!(parked(&kernel), kernel);
    }
}
