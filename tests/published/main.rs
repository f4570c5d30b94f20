//! Published kernels with known bugs: tests which check finds each, as `book/src/published.md` says.
//!
//! Each is an `unsafe fn` in [`kernels`], for which race freedom need not be proved. It runs under the sanitizer. The frontend also
//! gets its text as a plain `fn`.

mod kernels;

use std::process::Command;

use kernels::{Published, SECTION_5_3_2};
use sarek::prelude::*;
use sarek::{Error, Fault, Result};
use sarek_frontend::expand::messages;

const PAGE: &str = include_str!("../../book/src/published.md");

/// Checks that the macro refuses a kernel as a plain `fn`, with this code and word in a message.
#[track_caller]
fn refused<K: Published>(code: &str, word: &str) {
    let messages = messages(K::AS_FN);
    let is_it = |message: &String| message.starts_with(code) && message.contains(word);
    assert!(
        messages.iter().any(is_it),
        "no {code} with `{word}`: {messages:#?}"
    );
}

/// Checks that the page quotes this message as rustc prints it.
#[track_caller]
fn shown(message: &str) {
    let printed = format!("error: {}", message.replace('\n', "\n       "));
    assert!(PAGE.contains(&printed), "not on the page:\n{printed}");
}

/// Checks that the macro accepts a kernel as a plain `fn`.
#[track_caller]
fn accepted<K: Published>() {
    assert_eq!(messages(K::AS_FN), [""; 0]);
}

/// There are more than ten kernels, and each has a row on the page.
#[test]
fn the_page_lists_every_kernel() {
    let source = include_str!("kernels.rs");
    let kernels =
        source.matches("\npublished! {").count() + source.matches("pub const SECTION").count();
    let rows = PAGE
        .lines()
        .filter(|line| line.starts_with("| "))
        .skip(1)
        .count();
    assert_eq!(kernels, rows);
    assert!(kernels > 10, "{kernels}");
}

#[test]
fn races_are_errors_at_the_access() {
    shown(&messages(kernels::surfel_render_tile::AS_FN)[0]);
    refused::<kernels::surfel_render_tile>("SRK0604", "tile");
    refused::<kernels::dot_kernel>("SRK0604", "red");
    // With any block size, the kernel is accepted on the condition that blocks are small, which each launch checks.
    let any_block = kernels::dot_kernel::AS_FN.replacen("(block = 64)", "", 1);
    assert_eq!(messages(&any_block), [""; 0]);
    refused::<kernels::gaussian_count>("SRK0603", "counts");
    refused::<kernels::sum_of_all>("SRK0603", "parts");
    refused::<kernels::locked_dot>("SRK0603", "result");
}

#[test]
fn a_divergent_barrier_is_an_error_in_any_kernel() {
    for source in [SECTION_5_3_2, &SECTION_5_3_2.replace("fn ", "unsafe fn ")] {
        let messages = messages(source);
        let [barrier] = &messages[..] else {
            panic!("{messages:#?}");
        };
        assert!(barrier.starts_with("SRK0601: some threads of the block may miss this barrier"));
        shown(barrier);
    }
}

#[test]
fn race_free_kernels_are_accepted() {
    accepted::<kernels::dd_kernel>();
    accepted::<kernels::scan>();
    accepted::<kernels::has_invalid_below>();
    accepted::<kernels::gather>();
    accepted::<kernels::pruning_lengths>();
}

/// The fault of a launch on a device. The next read reports it at the latest.
fn fault<T: sarek::Element>(launched: Result<()>, written: &Vector<T>) -> Option<Fault> {
    match launched.and_then(|()| written.to_vec().map(drop)) {
        Err(Error::Fault(fault)) => Some(*fault),
        Err(other) => panic!("{other}"),
        Ok(()) => None,
    }
}

#[test]
fn an_index_past_the_end_is_a_fault_everywhere() {
    let x = Vector::from_vec((0..64).map(|i| i as f32).collect::<Vec<_>>());
    for device in Device::all() {
        let mut out = Vector::filled(64, 0.0f32);
        // SAFETY: each thread writes its own element.
        let launched = unsafe { kernels::dd_kernel(0.5, &x, &mut out) }
            .over(64)
            .run_on(&device);
        let fault = fault(launched, &out).unwrap_or_else(|| panic!("{device} finds nothing"));
        println!("{device}: {fault}");
        assert_eq!(fault.kernel, "dd_kernel", "{device}");
        assert!(fault.file.ends_with("kernels.rs"), "{device}: {fault}");
        assert!([0, 63].contains(&fault.thread[0]), "{device}: {fault}");
    }
}

#[test]
fn an_index_that_overflows_reaches_no_memory() {
    // The issue reports a table of 262144 rows of 8960 elements; this is one of its rows.
    let rows = Vector::from_vec(vec![255_999]);
    let table = Vector::from_vec(vec![1.0f32; 8960]);
    for device in Device::all() {
        let mut out = Vector::filled(8960, 0.0f32);
        // SAFETY: each thread writes its own element.
        let launched = unsafe { kernels::gather(8960, &rows, &table, &mut out) }
            .over(8960)
            .run_on(&device);
        let fault = fault(launched, &out).unwrap_or_else(|| panic!("{device} finds nothing"));
        assert_eq!(fault.kernel, "gather", "{device}");
    }
}

#[test]
fn threads_that_returned_are_no_matter_to_a_barrier() -> Result<()> {
    let pruned = Vector::from_vec((0..100).map(|i| i % 3).collect::<Vec<u32>>());
    for device in Device::all() {
        let mut lengths = Vector::filled(2, 0u32);
        // SAFETY: one thread of each block writes the block's element.
        unsafe { kernels::pruning_lengths(&pruned, &mut lengths) }
            .grid(2)
            .block(64)
            .run_on(&device)?;
        let kept = |of: std::ops::Range<u32>| of.filter(|i| i % 3 != 0).count() as u32;
        assert_eq!(lengths.to_vec()?, [kept(0..64), kept(64..100)], "{device}");
    }
    Ok(())
}

/// Checks that the sanitizer reports a finding with these words.
#[track_caller]
fn found(words: &[&str], result: Result<()>) {
    let Err(Error::Sanitizer { finding, .. }) = result else {
        panic!("{words:?} was not found: {result:?}");
    };
    println!("{finding}");
    for word in words {
        assert!(finding.contains(word), "no `{word}` in: {finding}");
    }
    assert!(finding.contains("kernels.rs:"), "{finding}");
}

/// Runs in child processes, since the environment is read once per process, with several thread orders.
#[test]
fn the_sanitizer_finds_them() {
    for settings in ["1,overflow", "overflow,seed=3", "overflow,seed=12"] {
        let this = std::env::current_exe().expect("this test");
        let child = Command::new(this)
            .args(["under_the_sanitizer", "--exact", "--ignored"])
            .env("SAREK_SANITIZE", settings)
            .output()
            .expect("it runs");
        let said = String::from_utf8_lossy(&child.stdout);
        assert!(child.status.success(), "{settings}: {said}");
        assert!(said.contains("1 passed"), "{settings}: {said}");
    }
}

#[test]
#[ignore = "a part of `the_sanitizer_finds_them`"]
fn under_the_sanitizer() {
    let zeros = || Vector::filled(128, 0u32);
    let floats = || Vector::filled(128, 1.0f32);
    let x = Vector::from_vec((0..128).map(|i| i * 7 % 11).collect::<Vec<u32>>());
    let rows = Vector::from_vec(vec![255_999]);
    let race = "data race";
    // SAFETY: the kernels run in the interpreter, which stops at the first error.
    unsafe {
        found(
            &[race, "`tile["],
            kernels::surfel_render_tile(128, &floats(), &mut floats())
                .grid(2)
                .block(32)
                .run(),
        );
        found(
            &[race, "`red["],
            kernels::dot_kernel(&floats(), &floats(), &mut floats())
                .grid(2)
                .run(),
        );
        found(
            &[race, "`counts["],
            kernels::gaussian_count(&x, &mut zeros()).over(128).run(),
        );
        found(
            &["uninitialised", "`temp["],
            kernels::scan(&floats(), &mut floats()).grid(1).run(),
        );
        found(
            &[race, "`parts["],
            kernels::sum_of_all(&x, &mut zeros(), &mut zeros())
                .grid(2)
                .block(64)
                .run(),
        );
        found(
            &[race, "`result["],
            kernels::locked_dot(&x, &mut zeros(), &mut zeros())
                .grid(2)
                .block(64)
                .run(),
        );
        found(
            &["overflow", "`votes[i] << 32u32 - lane` leaves `u32`"],
            kernels::has_invalid_below(&x, &mut zeros())
                .grid(4)
                .block(32)
                .run(),
        );
        found(
            &["overflow", "* width` leaves `i32`"],
            kernels::gather(8960, &rows, &floats(), &mut floats())
                .over(128)
                .run(),
        );
    }
}
