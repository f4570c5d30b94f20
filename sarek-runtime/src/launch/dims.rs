use std::fmt;

/// A size along one, two or three axes: `n`, `(w, h)` or `(w, h, d)`. x is first and runs fastest.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Dims(pub(super) [usize; 3]);

impl Dims {
    /// The sizes along x, y and z.
    pub fn sizes(self) -> [usize; 3] {
        self.0
    }
}

/// Types that convert to [`Dims`].
#[diagnostic::on_unimplemented(
    message = "SRK1101: `{Self}` is not the size of an index space",
    label = "expected `n`, `(w, h)` or `(w, h, d)` of `usize`",
    note = "why: an index space has one to three dimensions, and sizes are `usize` as all lengths are",
    note = "instead: convert other integers with `as usize` or `usize::try_from`"
)]
pub trait IntoDims {
    /// Converts to sizes; missing axes have size 1.
    fn into_dims(self) -> Dims;
}

impl IntoDims for Dims {
    fn into_dims(self) -> Dims {
        self
    }
}

impl IntoDims for usize {
    fn into_dims(self) -> Dims {
        Dims([self, 1, 1])
    }
}

impl IntoDims for (usize, usize) {
    fn into_dims(self) -> Dims {
        Dims([self.0, self.1, 1])
    }
}

impl IntoDims for (usize, usize, usize) {
    fn into_dims(self) -> Dims {
        Dims([self.0, self.1, self.2])
    }
}

impl fmt::Display for Dims {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.0;
        match (y, z) {
            (1, 1) => write!(f, "{x}"),
            (_, 1) => write!(f, "({x}, {y})"),
            _ => write!(f, "({x}, {y}, {z})"),
        }
    }
}
