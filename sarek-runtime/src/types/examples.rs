//! Values of a type, for a test that its `==` is derived.
//!
//! rustc accepts a constant as a pattern only if `PartialEq` is derived for the type of each part of its value. A kernel that
//! compares values with `==` therefore contains a pattern of these constants.

/// The number of examples of a type.
const COUNT: usize = 16;

/// Values of a type. Only the types in them matter.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Examples<T> {
    /// The values: one for each variant of an enum that has fields. `None` for a type that does not derive `KernelType`.
    all: Option<[T; COUNT]>,
    is_first_whole: bool,
    are_all_whole: bool,
}

impl<T: Copy> Examples<T> {
    /// None, for types that do not derive `KernelType`.
    pub const NONE: Examples<T> = Examples {
        all: None,
        is_first_whole: false,
        are_all_whole: false,
    };

    /// The example of a type whose parts are always there.
    pub const fn one(value: T, is_whole: bool) -> Examples<T> {
        Examples {
            all: Some([value; COUNT]),
            is_first_whole: is_whole,
            are_all_whole: is_whole,
        }
    }

    /// The examples of an enum. If one variant alone has fields, it is the first.
    pub const fn each<const N: usize>(
        values: [T; N],
        is_first_whole: bool,
        are_all_whole: bool,
    ) -> Examples<T> {
        let mut all = [values[0]; COUNT];
        let mut at = 0;
        while at < N && at < COUNT {
            all[at] = values[at];
            at += 1;
        }
        Examples {
            all: Some(all),
            is_first_whole,
            are_all_whole: are_all_whole && N <= COUNT,
        }
    }

    /// The values.
    ///
    /// # Panics
    /// If there are none.
    pub const fn all(self) -> [T; COUNT] {
        match self.all {
            Some(all) => all,
            None => panic!(
                "SRK0314: kernels cannot compare values of a type that does not derive `KernelType`"
            ),
        }
    }

    /// The first value.
    pub const fn first(self) -> Option<T> {
        match self.all {
            Some(all) => Some(all[0]),
            None => None,
        }
    }

    /// True if the first value contains a value of each type that values of this type contain.
    pub const fn is_first_whole(self) -> bool {
        self.is_first_whole
    }

    /// True if all values together do.
    pub const fn are_all_whole(self) -> bool {
        self.are_all_whole
    }
}
