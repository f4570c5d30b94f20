//! Access to the value in an `Option` or a `Result`, where the macro does not see which of the two it is.

/// `Option` and `Result`.
#[diagnostic::on_unimplemented(
    message = "SRK0701: `{Self}` is neither an `Option` nor a `Result`",
    label = "taken for that of `Option` and `Result`",
    note = "why: where a kernel does not see a value's type, this method is taken for that of `Option` and `Result`",
    note = "instead: bind the value with its type, as in `let value: {Self} = …;`, and call the method on that"
)]
pub trait Held: Copy {
    /// The type of the value in it.
    type Value;

    /// True for `Some` and `Ok`.
    fn is_held(self) -> bool;

    /// Returns the value in it, which is `Some` or `Ok`.
    fn held(self) -> Self::Value;
}

impl<T: Copy> Held for Option<T> {
    type Value = T;

    #[inline(always)]
    fn is_held(self) -> bool {
        self.is_some()
    }

    #[inline(always)]
    fn held(self) -> T {
        match self {
            Some(held) => held,
            None => unreachable!("the kernel has tested it"),
        }
    }
}

impl<T: Copy, E: Copy> Held for Result<T, E> {
    type Value = T;

    #[inline(always)]
    fn is_held(self) -> bool {
        self.is_ok()
    }

    #[inline(always)]
    fn held(self) -> T {
        match self {
            Ok(held) => held,
            Err(_) => unreachable!("the kernel has tested it"),
        }
    }
}
