//! Memory that is not there.

use sarek::prelude::*;
use sarek::{Error, Result};

use super::triple;
#[cfg(target_os = "linux")]
use super::{apart, backends};

fn is_exhausted<T>(result: Result<T>) -> bool {
    matches!(result, Err(Error::OutOfMemory { device, .. }) if device == "the host")
}

/// More elements than there are addresses for.
const TOO_MANY: usize = usize::MAX / 8;

#[test]
fn vectors_without_memory_tell_at_their_first_use() {
    let native = Device::of("native").expect("it is always there");
    let mut all = [
        Vector::zeros(TOO_MANY),
        Vector::filled(TOO_MANY, 3),
        std::iter::repeat_n(1, TOO_MANY).collect(),
    ];
    for vector in &mut all {
        assert_eq!(vector.len(), TOO_MANY);
        assert!(is_exhausted(vector.get(0)));
        assert!(is_exhausted(vector.to_vec()));
        assert!(is_exhausted(vector.read(..3)));
        assert!(is_exhausted(vector.clone().into_vec()));
        assert!(is_exhausted(vector.part(..3)));
        assert!(is_exhausted(vector.set(0, 1)));
        // Nor is there memory when it is overwritten.
        assert!(is_exhausted(vector.fill(1)));
        let launched = triple(vector).over(8).run_on(&native);
        assert!(is_exhausted(launched));
        *vector = Vector::zeros(8);
        triple(vector).over(8).run_on(&native).expect("a launch");
        assert_eq!(vector.get(7).expect("it was written"), 21);
    }
    assert!(is_exhausted(Vector::<u64>::zeros(usize::MAX).get(0)));
    assert!(is_exhausted(Vector::filled(usize::MAX / 2, true).get(0)));
    let error = Vector::<u32>::zeros(TOO_MANY)
        .get(0)
        .expect_err("no memory");
    assert!(error.to_string().starts_with("the host is out of memory"));
}

/// Where the system gives a process no more addresses: each backend says so, and goes on.
#[test]
#[cfg(target_os = "linux")]
fn a_process_without_room_goes_on() {
    apart(
        "memory::a_process_without_room_goes_on",
        &backends(),
        &[],
        |device| {
            let mut small = Vector::zeros(8);
            triple(&mut small).over(8).run_on(device).expect("a launch");
            limit_addresses(2 << 30);
            let mut large: Vec<Vector<u32>> = (0..3).map(|_| Vector::zeros(120 << 20)).collect();
            let mut refused = 0;
            for y in &mut large {
                let told = triple(y).over(8).run_on(device).and_then(|()| y.read(0..1));
                assert!(
                    // Some devices have no buffers so large.
                    matches!(
                        &told,
                        Ok(_) | Err(Error::OutOfMemory { .. } | Error::NotEligible { .. })
                    ),
                    "{told:?}"
                );
                refused += usize::from(told.is_err());
            }
            // The vectors are copies of those of the host where a device has memory of its own.
            let copies = !device.info().host_memory && device.info().unified;
            assert!(refused > 0 || !copies, "{device}");
            assert!(is_exhausted(Vector::<u32>::zeros(1 << 30).get(0)));
            drop(large);
            triple(&mut small).over(8).run_on(device).expect("a launch");
            assert_eq!(small.get(7).expect("it was written"), 21);
        },
    );
}

/// Lets the process have so many bytes of addresses more.
#[cfg(target_os = "linux")]
fn limit_addresses(more: u64) {
    let status = std::fs::read_to_string("/proc/self/statm").expect("it is there");
    let pages: u64 = status
        .split(' ')
        .next()
        .and_then(|n| n.parse().ok())
        .expect("a number");
    let most = libc::rlimit {
        rlim_cur: pages * 4096 + more,
        rlim_max: libc::RLIM_INFINITY,
    };
    // SAFETY: sets a limit from a live structure.
    let set = unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const most) };
    assert_eq!(set, 0);
}
