//! Compiles every case; see the crate's documentation.
//!
//! Cases that are to fail are by themselves: trybuild compiles those of such a test side by side, by one run of cargo.

#[test]
fn fail() {
    trybuild::TestCases::new().compile_fail("fail/*/*.rs");
}

/// Programs without `unsafe` that name what is hidden to change what a compiled body does. Of such names rustc tells by itself.
#[test]
fn refused() {
    trybuild::TestCases::new().compile_fail("refused/*.rs");
}

#[test]
fn pass() {
    trybuild::TestCases::new().pass("pass/*.rs");
}
