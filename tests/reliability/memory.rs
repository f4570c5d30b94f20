//! Out of memory.

use sarek::prelude::*;
use sarek::{Error, Result};

use super::{aborted, triple};
#[cfg(target_os = "linux")]
use super::{backends, in_child_process};

fn is_exhausted<T>(result: Result<T>) -> bool {
    matches!(result, Err(Error::OutOfMemory { device, .. }) if device == "the host")
}

/// More elements than the address space can hold.
const TOO_MANY: usize = usize::MAX / 8;

#[test]
fn vectors_without_memory_fail_at_their_first_use() {
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
        // Overwriting needs memory too.
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

/// A vector whose size in bytes overflows `usize` is out of memory on every device.
#[test]
fn lengths_whose_bytes_overflow_are_out_of_memory() {
    let most = |size: usize| usize::MAX / size + 2;
    fn refused<T>(what: &str, device: &Device, result: Result<T>) {
        let error = result.err();
        let is_memory = matches!(
            &error,
            Some(Error::OutOfMemory { .. } | Error::NotEligible { .. })
        );
        assert!(is_memory, "{what} on {device}: {error:?}");
    }
    for device in Device::all() {
        let mut v = Vector::<u32>::zeros(most(4));
        for value in [0, 7] {
            refused("fill_on", &device, v.fill_on(&device.stream(), value));
            refused("a read", &device, v.read(1 << 10..(1 << 10) + 16));
            let mut recording = device.record_graph();
            let filled = recording.fill(&mut v, value).map(drop);
            let filled = filled.and_then(|()| recording.finish().replay(&mut v));
            refused("a fill in a graph", &device, filled);
        }
        let mut w = Vector::<u32>::zeros(most(4));
        let mut recording = device.record_graph();
        let copied = recording.copy(&mut w, 0, &v, ..).map(drop);
        let copied = copied.and_then(|()| recording.finish().replay((&mut w, &v)));
        refused("a copy in a graph", &device, copied);
        refused("a copy", &device, w.copy_from(0, &v, ..));
        refused("a launch", &device, triple(&mut v).over(8).run_on(&device));
        refused("a prefetch", &device, v.prefetch(&device.stream()));
        refused("a write", &device, v.write(1 << 40, &[1]));
        let mut pairs = Vector::<[u64; 2]>::filled(most(16), [1; 2]);
        let pinned = pairs.fill_on(&device.new_stream().expect("a stream"), [2; 2]);
        refused("a fill of arrays", &device, pinned);
        device.sync().expect("nothing is queued");
    }
}

/// The vector that `with_slice_mut` lends must be in its place when the closure returns; otherwise the process aborts.
mod borrowed {
    use super::*;

    const TAKEN: &str = "the vector that `with_slice_mut` lent was taken away";

    #[test]
    fn a_vector_at_the_same_address_is_another() {
        aborted(
            "memory::borrowed::a_vector_at_the_same_address_is_another",
            TAKEN,
            || {
                let mut all = [1u32; 4];
                let (empty, own) = all.split_at_mut(0);
                assert_eq!(empty.as_ptr(), own.as_ptr());
                let _ = Vector::with_slice_mut(empty, |outer| {
                    let _ = Vector::with_slice_mut(own, |inner| std::mem::swap(outer, inner));
                    std::process::exit(0);
                });
            },
        );
    }

    #[test]
    fn a_vector_of_as_many_elements_is_another() {
        aborted(
            "memory::borrowed::a_vector_of_as_many_elements_is_another",
            TAKEN,
            || {
                let (mut one, mut other) = ([1u32; 4], [1u32; 4]);
                let _ = Vector::with_slice_mut(&mut one, |outer| {
                    let _ =
                        Vector::with_slice_mut(&mut other, |inner| std::mem::swap(outer, inner));
                    std::process::exit(0);
                });
            },
        );
    }

    #[test]
    fn a_vector_of_the_same_elements_is_another() {
        aborted(
            "memory::borrowed::a_vector_of_the_same_elements_is_another",
            TAKEN,
            || {
                let mut own = [1u32; 4];
                let mut kept = Vector::<u32>::zeros(0);
                let _ = Vector::with_slice_mut(&mut own, |lent| {
                    kept = std::mem::replace(lent, lent.clone());
                });
                std::process::exit(0);
            },
        );
    }

    #[test]
    fn swapped_vectors_may_be_swapped_back() {
        let (mut one, mut other) = ([1u32; 4], [2u32; 4]);
        Vector::with_slice_mut(&mut one, |outer| {
            Vector::with_slice_mut(&mut other, |inner| {
                std::mem::swap(outer, inner);
                outer.fill(7).expect("it is on the host");
                std::mem::swap(outer, inner);
            })
        })
        .and_then(|inner| inner)
        .expect("nothing failed");
        assert_eq!((one, other), ([1; 4], [7; 4]));
    }
}

/// If the process reaches its address-space limit, each backend reports an error and stays usable.
#[test]
#[cfg(target_os = "linux")]
fn a_process_without_room_goes_on() {
    in_child_process(
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
                let result = triple(y).over(8).run_on(device).and_then(|()| y.read(0..1));
                assert!(
                    // Some devices do not support buffers of this size.
                    matches!(
                        &result,
                        Ok(_) | Err(Error::OutOfMemory { .. } | Error::NotEligible { .. })
                    ),
                    "{result:?}"
                );
                refused += usize::from(result.is_err());
            }
            // Such a device allocates its copies of the vectors in the host's memory, so the limit applies to it.
            let copies = !device.info().host_memory && device.info().unified;
            assert!(refused > 0 || !copies, "{device}");
            assert!(is_exhausted(Vector::<u32>::zeros(1 << 30).get(0)));
            drop(large);
            triple(&mut small).over(8).run_on(device).expect("a launch");
            assert_eq!(small.get(7).expect("it was written"), 21);
        },
    );
}

/// Limits the address space of the process to `more` bytes beyond its current size.
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
