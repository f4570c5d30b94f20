//! Kernels with known mistakes, as they stand in forums and in reviews, under the sanitizer. All of them are `unsafe fn`, since the
//! proof refuses them otherwise (`ui-tests/fail/races`), or overflow, or read what was not written.

use sarek::prelude::*;
use sarek::{Error, Result};

#[path = "places/elsewhere.rs"]
#[allow(dead_code)]
mod elsewhere;

/// What the sanitizer says of a launch, for several orders of threads the same kind of thing.
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

/// A tile that is read before all of it was written.
#[kernel]
unsafe fn reversed_without_barrier(x: &[u32], y: &mut [u32]) {
    let tile = shared_array::<u32, 64>();
    let t = thread_idx_x();
    tile[t] = x[global_idx_x()];
    y[global_idx_x()] = tile[63 - t];
    barrier();
}

/// Bins that are counted without atomics.
#[kernel]
unsafe fn histogram(x: &[u32], bins: &mut [u32]) {
    let i = global_idx_x();
    if i < x.len() {
        bins[(x[i] % 4) as usize] += 1;
    }
}

/// A stencil in place: each thread reads what its neighbour writes.
#[kernel]
unsafe fn smooth_in_place(x: &mut [u32]) {
    let i = global_idx_x();
    if i > 0 && i + 1 < x.len() {
        x[i] = (x[i - 1] + x[i] + x[i + 1]) / 3;
    }
}

/// A scan by doubling in one array, without a barrier between reading and writing.
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

/// The last 32 threads go on without barriers, as if they ran in lockstep.
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

/// A shared counter that nobody sets to zero.
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

/// The last block adds up what the others left, without a fence before it is told that they did.
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

/// The same with the fence: nothing is wrong.
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

/// Both threads of a pair exchange its elements.
#[kernel]
unsafe fn exchanged_twice(x: &mut [u32]) {
    let i = global_idx_x();
    let other = i ^ 1;
    let a = x[i];
    x[i] = x[other];
    x[other] = a;
}

/// A mask for all bits of a word, by a shift of its whole width.
#[kernel]
fn all_bits(width: u32, y: &mut [u32]) {
    y[global_idx_x()] = (1 << width) - 1;
}

/// An index in 32 bits.
#[kernel]
unsafe fn signed_index(width: i32, y: &mut [u32]) {
    let i = global_idx_x() as i32;
    let at = i * width / width;
    y[at as usize] = 1;
}

/// As [`signed_index`], by a function of another file.
#[kernel]
unsafe fn index_elsewhere(width: i32, y: &mut [u32]) {
    y[elsewhere::wide(global_idx_x() as i32, width) as usize % 4] = 1;
}

/// One test, since the environment is of the whole process.
#[test]
fn known_mistakes_are_found() -> Result<()> {
    // SAFETY: no other thread of this process reads or writes the environment.
    unsafe { std::env::set_var("SAREK_SANITIZE", "overflow,seed=3") };
    let x = Vector::from_vec((0..128).map(|i| i * 7 % 11).collect::<Vec<u32>>());
    // A launch that fails poisons what it wrote, so that each one has its own.
    let zeros = || Vector::filled(128, 0u32);
    let race = "data race";
    macro_rules! tiled {
        ($launch:expr) => {
            $launch.grid(2).block(64).run()
        };
    }
    // SAFETY: they run in the interpreter, which stops at the first mistake.
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
    // SAFETY: a fence stands between the parts and the counter.
    unsafe { tiled!(last_block(&x, &mut y, &mut zeros()))? };
    assert_eq!(y.get(2)?, x.get(0)? + x.get(64)?);
    all_bits(31, &mut y).over(4).run()?;
    assert_eq!(y.get(3)?, u32::MAX >> 1);
    Ok(())
}
