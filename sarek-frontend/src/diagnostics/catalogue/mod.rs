//! The catalogue of codes: what each means, why it is so, and an example of the mistake and of its mending.
//!
//! Codes stay: a number is never given to another mistake. `docs/errors` is generated of this (`SAREK_BLESS=1 cargo test -p sarek-frontend
//! --test errors`), and the same test holds each example to its code.

mod control;
mod derive;
mod functions;
mod items;
mod kernel_tests;
mod launch;
mod memory;
mod native;
mod output;
mod syntax;
mod threads;
mod types;

use std::fmt::{self, Display};

/// What each code is called here.
pub mod codes {
    pub use super::control::*;
    pub use super::derive::*;
    pub use super::functions::*;
    pub use super::items::*;
    pub use super::kernel_tests::*;
    pub use super::launch::*;
    pub use super::memory::*;
    pub use super::native::*;
    pub use super::output::*;
    pub use super::syntax::*;
    pub use super::threads::*;
    pub use super::types::*;
}

/// A kind of mistake.
#[derive(Clone, Copy)]
pub struct Code(&'static Entry);

/// What the catalogue has of a code.
pub struct Entry {
    /// 501 for `SRK0501`.
    pub number: u32,
    /// The mistake, in a few words.
    pub title: &'static str,
    /// What is meant by it, in sentences.
    pub means: &'static str,
    /// Why kernels do not have it: which devices cannot.
    pub why: &'static str,
    /// Items with the mistake.
    pub wrong: &'static str,
    /// The same without it.
    pub right: &'static str,
    /// Who finds it.
    pub reporter: Reporter,
}

/// Who finds a mistake.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reporter {
    /// The macro, from the tokens alone.
    Macro,
    /// rustc, which knows types and other items, by what the macro had it check.
    Rustc,
}

impl Code {
    const TABLES: [&'static [Code]; 12] = [
        items::ALL,
        syntax::ALL,
        types::ALL,
        control::ALL,
        memory::ALL,
        threads::ALL,
        functions::ALL,
        native::ALL,
        output::ALL,
        derive::ALL,
        launch::ALL,
        kernel_tests::ALL,
    ];

    /// All codes, in the order of their numbers.
    pub fn all() -> impl Iterator<Item = Code> {
        Code::TABLES.into_iter().flatten().copied()
    }

    /// The code that a message begins with.
    pub fn of(message: &str) -> Option<Code> {
        Code::all().find(|code| {
            let rest = message.strip_prefix(&code.to_string());
            rest.is_some_and(|rest| rest.starts_with(':'))
        })
    }

    /// What the catalogue has of it.
    pub fn entry(self) -> &'static Entry {
        self.0
    }

    pub(super) fn why(self) -> &'static str {
        self.0.why
    }
}

impl Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SRK{:04}", self.0.number)
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Display::fmt(self, f)
    }
}

impl PartialEq for Code {
    fn eq(&self, other: &Code) -> bool {
        self.0.number == other.0.number
    }
}

impl Eq for Code {}

/// A part of the catalogue.
macro_rules! catalogue {
    ($($name:ident = $number:literal by $reporter:ident {
        title: $title:literal,
        means: $means:literal,
        why: $why:literal,
        wrong: $wrong:literal,
        right: $right:literal,
    })*) => {
        $(
            #[doc = $title]
            pub const $name: super::Code = super::Code(&super::Entry {
                number: $number,
                title: $title,
                means: $means,
                why: $why,
                wrong: $wrong,
                right: $right,
                reporter: super::Reporter::$reporter,
            });
        )*

        pub(super) const ALL: &[super::Code] = &[$($name),*];
    };
}
use catalogue;
