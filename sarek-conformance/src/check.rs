//! Comparison of a device's results with the expected ones.

use std::fmt;

use sarek::testing::tolerance::Tolerance;
use sarek::{Error, Vector};

use crate::input::Sample;

/// The result of a case's body.
pub type Check = Result<(), CaseError>;

/// The reason why a case ends early.
#[derive(Debug)]
pub enum CaseError {
    /// A result is wrong; the text describes it.
    Wrong(String),
    /// sarek returned an unexpected error.
    Error(Error),
}

impl fmt::Display for CaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CaseError::Wrong(text) => f.write_str(text),
            CaseError::Error(error) => write!(f, "unexpected error: {error}"),
        }
    }
}

impl From<Error> for CaseError {
    fn from(error: Error) -> CaseError {
        CaseError::Error(error)
    }
}

/// Ends the case with a message.
pub fn wrong<T>(text: impl Into<String>) -> Result<T, CaseError> {
    Err(CaseError::Wrong(text.into()))
}

/// Ends the case unless `condition` holds.
pub fn ensure(condition: bool, text: impl FnOnce() -> String) -> Check {
    if condition { Ok(()) } else { wrong(text()) }
}

/// The expected value of one element.
#[derive(Clone, Copy, Debug)]
pub enum Expected<T> {
    /// This value, as [`Sample::same`] compares.
    Exactly(T),
    /// A value that compares equal to this one, such as either zero.
    Equal(T),
    /// A float within the tolerance of this value, which is exact or nearly so.
    Near(f64, Tolerance),
    /// Any value: the operation's result is not specified for this input.
    Anything,
}

impl<T: Sample> Expected<T> {
    /// True if the element may have this value.
    pub fn accepts(self, got: T) -> bool {
        match self {
            Expected::Exactly(want) => got.same(want),
            Expected::Equal(want) => got == want,
            Expected::Near(want, tolerance) => got.is_near(want, tolerance),
            Expected::Anything => true,
        }
    }
}

impl<T> From<T> for Expected<T> {
    fn from(value: T) -> Expected<T> {
        Expected::Exactly(value)
    }
}

/// Length of an output's tail, which the kernel does not write.
pub const TAIL: usize = 5;

/// An output of `n` elements and a tail, all filled with [`Sample::SENTINEL`].
pub fn sentinel_filled<T: Sample>(n: usize) -> Vector<T> {
    Vector::filled(n + TAIL, T::SENTINEL)
}

/// The elements of a [`sentinel_filled`] output before its tail. Checks that the tail was not written.
pub fn checked_output<T: Sample>(output: &Vector<T>) -> Result<Vec<T>, CaseError> {
    let mut got = output.to_vec()?;
    let tail = got.split_off(got.len() - TAIL);
    ensure(tail.iter().all(|t| t.same(T::SENTINEL)), || {
        format!("elements behind the last one were written: {tail:?}")
    })?;
    Ok(got)
}

/// Compares a [`sentinel_filled`] output with the expected elements, and checks that its tail was not written.
pub fn expect<T: Sample>(what: &str, output: &Vector<T>, expected: &[T]) -> Check {
    let expected: Vec<Expected<T>> = expected.iter().map(|&d| Expected::Exactly(d)).collect();
    expect_within(what, output, &expected, &|_| String::new())
}

/// As [`expect`], but with tolerances; `inputs` describes the inputs of an element.
pub fn expect_within<T: Sample>(
    what: &str,
    output: &Vector<T>,
    expected: &[Expected<T>],
    inputs: &dyn Fn(usize) -> String,
) -> Check {
    let got = output.to_vec()?;
    ensure(got.len() == expected.len() + TAIL, || {
        format!(
            "{what}: the output has {} elements, not {}",
            got.len(),
            expected.len() + TAIL
        )
    })?;
    let bad: Vec<usize> = (0..expected.len())
        .filter(|&i| !expected[i].accepts(got[i]))
        .collect();
    if !bad.is_empty() {
        let mut text = format!(
            "{what}: {} of {} elements are wrong",
            bad.len(),
            expected.len()
        );
        for &i in bad.iter().take(4) {
            text += &format!(
                "\n  [{i}]{}: {:?} instead of {:?}",
                inputs(i),
                got[i],
                expected[i]
            );
            if got[i].same(T::SENTINEL) {
                text += " (not written)";
            }
        }
        return wrong(text);
    }
    let stray = got[expected.len()..]
        .iter()
        .position(|t| !t.same(T::SENTINEL));
    ensure(stray.is_none(), || {
        format!("{what}: an element beyond the kernel's was written")
    })
}

/// Splits pairs into two vectors.
pub fn split<A: Sample, B: Sample>(pairs: &[(A, B)]) -> (Vector<A>, Vector<B>) {
    (
        Vector::from_vec(pairs.iter().map(|p| p.0).collect()),
        Vector::from_vec(pairs.iter().map(|p| p.1).collect()),
    )
}

/// Runs a kernel that writes `K` results for each input, at `out[K * i + k]`.
pub fn unary<A: Sample, O: Sample, const K: usize>(
    names: [&str; K],
    inputs: &[A],
    launch: impl Fn(&Vector<A>, &mut Vector<O>, usize) -> sarek::Result<()>,
    reference: impl Fn(A) -> [Expected<O>; K],
) -> Check {
    let mut out = sentinel_filled::<O>(K * inputs.len());
    launch(&Vector::from_slice(inputs), &mut out, inputs.len())?;
    let expected: Vec<Expected<O>> = inputs.iter().flat_map(|&a| reference(a)).collect();
    expect_within(&names.join(" "), &out, &expected, &|i| {
        format!(" {} of {:?}", names[i % K], inputs[i / K])
    })
}

/// As [`unary`], for two inputs.
pub fn binary<A: Sample, B: Sample, O: Sample, const K: usize>(
    names: [&str; K],
    inputs: &[(A, B)],
    launch: impl Fn(&Vector<A>, &Vector<B>, &mut Vector<O>, usize) -> sarek::Result<()>,
    reference: impl Fn(A, B) -> [Expected<O>; K],
) -> Check {
    let mut out = sentinel_filled::<O>(K * inputs.len());
    let (a, b) = split(inputs);
    launch(&a, &b, &mut out, inputs.len())?;
    let expected: Vec<Expected<O>> = inputs.iter().flat_map(|&(a, b)| reference(a, b)).collect();
    expect_within(&names.join(" "), &out, &expected, &|i| {
        format!(" {} of {:?}", names[i % K], inputs[i / K])
    })
}

/// True if a plain `+`, `-` or `*` that overflows is a fault, as in rustc's debug builds.
pub fn reports_overflow() -> bool {
    cfg!(debug_assertions)
}
