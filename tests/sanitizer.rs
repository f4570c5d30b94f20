//! Runs kernels with typical bugs, as seen in forums and reviews, under the sanitizer.
//!
//! Most are `unsafe fn`, since the proof of race freedom refuses them as plain `fn` (`ui-tests/fail/races`). Others overflow or read
//! uninitialised memory.

use sarek::prelude::*;
use sarek::{Error, Result};

#[path = "places/elsewhere.rs"]
#[allow(dead_code)]
mod elsewhere;

/// Checks that the sanitizer reports a finding with these words, at a line of these files.
#[track_caller]
fn found(words: &[&str], result: Result<()>) {
    match result {
        Err(Error::Sanitizer { finding, .. }) => {
            for word in words {
                assert!(finding.contains(word), "no `{word}` in: {finding}");
            }
            let files = ["sanitizer.rs:", "elsewhere.rs:"];
            assert!(files.iter().any(|f| finding.contains(f)), "{finding}");
        }
        other => panic!("{words:?} was not found: {other:?}"),
    }
}

/// A tree reduction without the barrier after each step.
#[kernel]
unsafe fn sum_without_barriers(x: &[u32], sums: &mut [u32]) {
    let tile = shared_array::<u32, 64>();
    let t = thread_idx_x();
    tile[t] = x[global_idx_x()];
    barrier();
    let mut half = 32;
    while half > 0 {
        if t < half {
            tile[t] += tile[t + half];
        }
        half /= 2;
    }
    if t == 0 {
        sums[block_idx_x()] = tile[0];
    }
}

/// A tile that is read before all its elements are written.
#[kernel]
unsafe fn reversed_without_barrier(x: &[u32], y: &mut [u32]) {
    let tile = shared_array::<u32, 64>();
    let t = thread_idx_x();
    tile[t] = x[global_idx_x()];
    y[global_idx_x()] = tile[63 - t];
    barrier();
}

/// Counts into bins without atomics.
#[kernel]
unsafe fn histogram(x: &[u32], bins: &mut [u32]) {
    let i = global_idx_x();
    if i < x.len() {
        bins[(x[i] % 4) as usize] += 1;
    }
}

/// An in-place stencil: each thread reads an element that its neighbour writes.
#[kernel]
unsafe fn smooth_in_place(x: &mut [u32]) {
    let i = global_idx_x();
    if i > 0 && i + 1 < x.len() {
        x[i] = (x[i - 1] + x[i] + x[i + 1]) / 3;
    }
}

/// A Hillis–Steele scan in one array, without a barrier between reads and writes.
#[kernel]
unsafe fn scan_in_place(x: &mut [u32]) {
    let tile = shared_array::<u32, 64>();
    let t = thread_idx_x();
    tile[t] = x[t];
    barrier();
    let mut d = 1;
    while d < 64 {
        if t >= d {
            tile[t] += tile[t - d];
        }
        barrier();
        d *= 2;
    }
    x[t] = tile[t];
}

/// The last 32 threads continue without barriers, as if they ran in lockstep.
#[kernel]
unsafe fn last_warp(x: &[u32], sums: &mut [u32]) {
    let tile = shared_array::<u32, 64>();
    let t = thread_idx_x();
    tile[t] = x[global_idx_x()];
    barrier();
    if t < 32 {
        tile[t] += tile[t + 32];
        tile[t] += tile[t + 16];
        tile[t] += tile[t + 8];
    }
    if t == 0 {
        sums[block_idx_x()] = tile[0];
    }
}

/// A shared counter that is never set to zero.
#[kernel]
unsafe fn counter_not_set(x: &[u32], y: &mut [u32]) {
    let count = shared_array::<Atomic<u32>, 1>();
    if x[global_idx_x()] > 3 {
        count[0].fetch_add(1);
    }
    barrier();
    if thread_idx_x() == 0 {
        y[block_idx_x()] = count[0].load();
    }
}

/// The last block adds the partial results of the others, without a fence between their stores and the counter.
#[kernel]
unsafe fn last_block_without_fence(x: &[u32], parts: &mut [u32], done: &[Atomic<u32>]) {
    let t = thread_idx_x();
    if t == 0 {
        parts[block_idx_x()] = x[global_idx_x()];
        let before = done[0].fetch_add(1);
        if before as usize + 1 == grid_dim_x() {
            let mut sum = 0;
            for k in 0..grid_dim_x() {
                sum += parts[k];
            }
            parts[grid_dim_x()] = sum;
        }
    }
}

/// The same with the fence, which is correct.
#[kernel]
unsafe fn last_block(x: &[u32], parts: &mut [u32], done: &[Atomic<u32>]) {
    let t = thread_idx_x();
    if t == 0 {
        parts[block_idx_x()] = x[global_idx_x()];
        device_fence();
        let before = done[0].fetch_add(1);
        if before as usize + 1 == grid_dim_x() {
            let mut sum = 0;
            for k in 0..grid_dim_x() {
                sum += parts[k];
            }
            parts[grid_dim_x()] = sum;
        }
    }
}

/// Both threads of a pair swap the same two elements.
#[kernel]
unsafe fn exchanged_twice(x: &mut [u32]) {
    let i = global_idx_x();
    let other = i ^ 1;
    let a = x[i];
    x[i] = x[other];
    x[other] = a;
}

/// A mask of `width` ones. For all bits of a word, the shift count equals the width of the type.
#[kernel]
fn all_bits(width: u32, y: &mut [u32]) {
    y[global_idx_x()] = (1 << width) - 1;
}

/// A 32-bit index that overflows.
#[kernel]
unsafe fn signed_index(width: i32, y: &mut [u32]) {
    let i = global_idx_x() as i32;
    let at = i * width / width;
    y[at as usize] = 1;
}

/// Like [`signed_index`], in a function of another file.
#[kernel]
unsafe fn index_elsewhere(width: i32, y: &mut [u32]) {
    y[elsewhere::wide(global_idx_x() as i32, width) as usize % 4] = 1;
}

/// A single test, since environment variables belong to the whole process.
#[test]
fn known_mistakes_are_found() -> Result<()> {
    // SAFETY: no other thread of this process reads or writes the environment.
    unsafe { std::env::set_var("SAREK_SANITIZE", "overflow,seed=3") };
    let x = Vector::from_vec((0..128).map(|i| i * 7 % 11).collect::<Vec<u32>>());
    // A failed launch poisons the vectors that it writes, so each launch gets its own.
    let zeros = || Vector::filled(128, 0u32);
    let race = "data race";
    macro_rules! tiled {
        ($launch:expr) => {
            $launch.grid(2).block(64).run()
        };
    }
    // SAFETY: the kernels run in the interpreter, which stops at the first error.
    unsafe {
        found(
            &[race, "`tile["],
            tiled!(sum_without_barriers(&x, &mut zeros())),
        );
        found(
            &["`tile["],
            tiled!(reversed_without_barrier(&x, &mut zeros())),
        );
        found(
            &[race, "`bins["],
            histogram(&x, &mut zeros()).over(128).run(),
        );
        found(
            &[race, "`x["],
            smooth_in_place(&mut zeros()).over(128).run(),
        );
        found(&[race, "`tile["], tiled!(scan_in_place(&mut zeros())));
        found(&[race, "`tile["], tiled!(last_warp(&x, &mut zeros())));
        let counter = tiled!(counter_not_set(&x, &mut zeros()));
        found(&["uninitialised", "updates `count[0]`"], counter);
        let blocks = tiled!(last_block_without_fence(&x, &mut zeros(), &mut zeros()));
        found(&[race, "`parts["], blocks);
        found(
            &[race, "`x["],
            exchanged_twice(&mut zeros()).over(128).run(),
        );
        let overflow = signed_index(1 << 30, &mut zeros()).over(4).run();
        found(&["overflow", "i * width"], overflow);
        let overflow = index_elsewhere(1 << 30, &mut zeros()).over(4).run();
        found(&["overflow", "elsewhere.rs:14:5"], overflow);
    }
    found(
        &["overflow", "1u32 << width"],
        all_bits(32, &mut zeros()).over(4).run(),
    );
    let mut y = zeros();
    // SAFETY: a fence orders the stores to `parts` before the counter.
    unsafe { tiled!(last_block(&x, &mut y, &mut zeros()))? };
    assert_eq!(y.get(2)?, x.get(0)? + x.get(64)?);
    all_bits(31, &mut y).over(4).run()?;
    assert_eq!(y.get(3)?, u32::MAX >> 1);
    Ok(())
}
