//! Compiles every case; see the crate's documentation.
//!
//! Cases that are to fail are by themselves: trybuild compiles those of such a test side by side, by one run of cargo.

#[test]
fn fail() {
    trybuild::TestCases::new().compile_fail("fail/*/*.rs");
}

#[test]
fn pass() {
    trybuild::TestCases::new().pass("pass/*.rs");
}
