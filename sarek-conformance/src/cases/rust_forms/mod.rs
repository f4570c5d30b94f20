//! Forms that Rust programmers write first: elements that may be missing, references with names, iterators, methods of `Option`, and
//! items in bodies. The expected values come from loops over indices.

// The forms stand here as users write them.
#![allow(
    clippy::manual_clamp,
    clippy::manual_range_contains,
    clippy::needless_range_loop
)]

mod bodies;
mod elements;
mod iterators;
mod layouts;
mod operators;
mod options;

use crate::Case;
use crate::check::{Check, ensure};
use crate::input::Random;
use sarek::prelude::*;

pub const CASES: &[&[Case]] = &[
    elements::CASES,
    iterators::CASES,
    options::CASES,
    bodies::CASES,
    layouts::CASES,
    operators::CASES,
];

/// Runs a kernel on `n` random elements and as many results, and compares each result
/// with that of `expected` for its index and its value before.
fn each(
    what: &str,
    run: impl Fn(&Vector<u32>, &mut Vector<u32>, usize) -> sarek::Result<()>,
    expected: impl Fn(&[u32], usize, u32) -> u32,
) -> Check {
    for n in [1usize, 3, 4, 64, 67] {
        let mut random = Random::new(n as u64);
        let x: Vec<u32> = (0..n).map(|_| random.below(20) as u32).collect();
        let before: Vec<u32> = (0..n).map(|_| random.below(20) as u32).collect();
        let mut y = Vector::from_slice(&before);
        run(&Vector::from_slice(&x), &mut y, n)?;
        let got = y.to_vec()?;
        for i in 0..n {
            let wanted = expected(&x, i, before[i]);
            ensure(got[i] == wanted, || {
                format!(
                    "{what}, {n} elements: [{i}] is {} instead of {wanted}",
                    got[i]
                )
            })?;
        }
    }
    Ok(())
}
