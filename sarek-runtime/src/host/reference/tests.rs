use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use super::for_each_block;
use crate::host::IndexSpace;
use crate::host::collective::*;
use crate::host::ids::*;

fn space(grid: u64, block: u32) -> IndexSpace {
    IndexSpace {
        grid: [grid, 1, 1],
        block: [block, 1, 1],
        extent: [grid * u64::from(block), 1, 1],
    }
}

/// The values that the threads return, by global index.
fn said<T: Default + Clone + Send>(space: &IndexSpace, body: impl Fn() -> T + Sync) -> Vec<T> {
    let out = Mutex::new(vec![T::default(); space.threads() as usize]);
    // SAFETY: the bodies of the tests keep no references, and access only their own elements
    // between barriers.
    unsafe {
        for_each_block(space, || {
            let value = body();
            out.lock().unwrap()[global_idx_x()] = value;
        });
    }
    out.into_inner().unwrap()
}

#[test]
fn a_barrier_waits_for_those_that_have_not_returned() {
    for block in [1, 3, 32, 33, 255] {
        let got = said(&space(2, block), || {
            let tile = shared_array::<u32, 256>();
            let t = thread_idx_x();
            tile[t] = (global_idx_x() * 10) as u32;
            if t % 3 == 2 {
                return 7;
            }
            barrier();
            let before = tile[block_dim_x() - 1 - t];
            barrier();
            tile[t] = 1;
            before
        });
        let n = block as usize;
        let due: Vec<u32> = (0..2 * n)
            .map(|i| {
                let (b, t) = (i / n, i % n);
                let last = (b * n + n - 1 - t) as u32 * 10;
                if t % 3 == 2 { 7 } else { last }
            })
            .collect();
        assert_eq!(got, due, "{block}");
    }
}

#[test]
fn each_site_and_block_has_an_array_of_its_own() {
    let first = said(&space(3, 2), || {
        let a = shared_array::<u32, 2>();
        let b = shared_slice::<u64>(block_dim_x());
        let fresh = a[thread_idx_x()];
        a[thread_idx_x()] = 1;
        b[thread_idx_x()] = 2;
        barrier();
        (fresh, a[1 - thread_idx_x()], b[1 - thread_idx_x()])
    });
    assert!(
        first
            .iter()
            .all(|(fresh, a, b)| *fresh != 1 && (*a, *b) == (1, 2)),
        "{first:?}"
    );
}

#[test]
fn subgroups_are_runs_of_32_threads() {
    let got = said(&space(1, 40), || {
        let t = thread_idx_x() as u32;
        let below = subgroup_shuffle_up(t, 1);
        (
            subgroup_sum(t),
            subgroup_exclusive_sum(1u32),
            below,
            subgroup_ballot(t.is_multiple_of(2)),
        )
    });
    assert_eq!(got[0], (31 * 16, 0, 0, 0x5555_5555));
    assert_eq!(got[31], (31 * 16, 31, 30, 0x5555_5555));
    assert_eq!(got[33], ((32..40).sum(), 1, 32, 0x55));
}

#[test]
fn lanes_on_different_paths_take_no_part_in_each_others_operations() {
    let got = said(&space(1, 8), || {
        if subgroup_lane() < 3 {
            subgroup_sum(1u32)
        } else {
            subgroup_max(thread_idx_x() as u32)
        }
    });
    assert_eq!(got, [3, 3, 3, 7, 7, 7, 7, 7]);
}

#[test]
fn a_panic_ends_all_threads_and_is_the_launchs() {
    let ran = AtomicU32::new(0);
    let panic = std::panic::catch_unwind(|| {
        // SAFETY: it has no arrays.
        unsafe {
            for_each_block(&space(2, 4), || {
                ran.fetch_add(1, Ordering::Relaxed);
                if thread_idx_x() == 2 {
                    panic!("thread 2");
                }
                barrier();
            });
        }
    });
    assert_eq!(panic.unwrap_err().downcast_ref(), Some(&"thread 2"));
    assert_eq!(ran.into_inner(), 3);
}

#[test]
#[should_panic(expected = "`barrier()` was called outside of a kernel")]
fn outside_of_a_kernel_they_panic() {
    barrier();
}

/// Work that the user's own code does.
type Work = fn();

/// Runs `work` in user code on the threads of two blocks, and counts how often a thread reaches the
/// end. Its panics are stored.
fn in_user_code(work: Work, user: fn(Work)) -> u32 {
    let ended = AtomicU32::new(0);
    // SAFETY: the body keeps no references. The test is that the code it calls does not either.
    unsafe {
        for_each_block(&space(2, 2), || {
            barrier();
            user(work);
            barrier();
            ended.fetch_add(1, Ordering::Relaxed);
        });
    }
    ended.into_inner()
}

struct Formats(Work);

impl std::fmt::Debug for Formats {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        (self.0)();
        f.write_str("formatted")
    }
}

struct Drops(Work);

impl Drop for Drops {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// User code that could keep an array of a block, or let its other threads run, must not use the
/// kernel's functions.
#[test]
fn the_users_own_code_has_nothing_of_a_block() {
    static REACHED: AtomicU32 = AtomicU32::new(0);
    fn reached() {
        REACHED.fetch_add(1, Ordering::Relaxed);
    }
    let works: [Work; 4] = [
        || {
            shared_slice::<u32>(1 << 20);
            reached();
        },
        || {
            shared_array::<u32, 16>();
            reached();
        },
        || {
            barrier();
            reached();
        },
        || {
            subgroup_sum(1u32);
            reached();
        },
    ];
    let users: [fn(Work); 2] = [
        |work| crate::output::print(format_args!("{:?}", Formats(work))),
        // The value is dropped after the panic that holds it.
        |work| {
            let bomb = move || -> () { std::panic::panic_any(Drops(work)) };
            assert!(crate::output::guarded(bomb).is_none());
        },
    ];
    for work in works {
        for user in users {
            assert_eq!(in_user_code(work, user), 4);
            // Other code may have caught the panic, for example in a destructor.
            assert_eq!(REACHED.load(Ordering::Relaxed), 0);
        }
    }
}

#[test]
fn what_runs_at_the_end_of_a_thread_has_nothing_of_a_block() {
    static TOLD: Mutex<Vec<bool>> = Mutex::new(Vec::new());
    thread_local! {
        static LAST: Drops = const {
            Drops(|| {
                let made = std::panic::catch_unwind(|| shared_slice::<u32>(4).len());
                TOLD.lock().unwrap().push(made.is_err());
            })
        };
    }
    // SAFETY: the body keeps no references.
    unsafe {
        for_each_block(&space(1, 3), || {
            // Variables are destroyed in the opposite order of their first uses.
            shared_slice::<u32>(4);
            LAST.with(|_| ());
        });
    }
    // Destructors may run after the end of the scope.
    let start = std::time::Instant::now();
    let told = || TOLD.lock().unwrap().clone();
    while told().len() < 3 && start.elapsed().as_secs() < 20 {
        std::thread::yield_now();
    }
    assert_eq!(told(), [true; 3]);
}

#[test]
#[should_panic(expected = "an array fits memory")]
fn arrays_beyond_memory_panic() {
    said(&space(1, 1), || shared_slice::<u32>((1 << 62) + 1).len());
}
