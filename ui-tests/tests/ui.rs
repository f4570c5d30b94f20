//! Compiles every case; see the crate's documentation.
//!
//! The cases that must fail have tests of their own, since trybuild compiles the cases of such a test together, in one run of cargo.

#[test]
fn fail() {
    trybuild::TestCases::new().compile_fail("fail/*/*.rs");
}

/// Programs without `unsafe` that use hidden items to change what a compiled body does. rustc refuses them with errors of its own.
#[test]
fn refused() {
    trybuild::TestCases::new().compile_fail("refused/*.rs");
}

#[test]
fn pass() {
    trybuild::TestCases::new().pass("pass/*.rs");
}
