//! What an `Option` or a `Result` holds, where the macro does not see which of the two a value is.

/// `Option` and `Result`.
#[diagnostic::on_unimplemented(
    message = "SRK0701: `{Self}` is neither an `Option` nor a `Result`",
    label = "has no such method of theirs",
    note = "why: where a kernel does not see a value's type, this method is taken for that of `Option` and `Result`",
    note = "instead: bind the value with its type, as in `let value: {Self} = …;`, and call the method on that"
)]
pub trait Held: Copy {
    /// The type of what it holds.
    type Value;

    /// What it holds, if it is `Some` or `Ok`.
    fn held(self) -> Option<Self::Value>;
}

impl<T: Copy> Held for Option<T> {
    type Value = T;

    #[inline(always)]
    fn held(self) -> Option<T> {
        self
    }
}

impl<T: Copy, E: Copy> Held for Result<T, E> {
    type Value = T;

    #[inline(always)]
    fn held(self) -> Option<T> {
        self.ok()
    }
}

/// True for `Some` and `Ok`.
#[inline(always)]
pub fn is_held(value: impl Held) -> bool {
    value.held().is_some()
}

/// What a value holds that is `Some` or `Ok`.
#[inline(always)]
#[track_caller]
pub fn held<T: Held>(value: T) -> T::Value {
    match value.held() {
        Some(held) => held,
        None => unreachable!("the kernel has tested it"),
    }
}
