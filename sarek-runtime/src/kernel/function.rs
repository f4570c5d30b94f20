use std::mem::MaybeUninit;

use sarek_ir::Packed;
use sarek_ir::link::{Function, Links};

use crate::host::{Block, RawFault, Scratch};

/// What `#[device]` implements for the struct that it puts beside a function.
///
/// # Safety
/// The function's compiled body does what [`DeviceFn::IR`] says, and has as many sites as
/// [`FunctionFacts::sites`] of [`DeviceFn::FACTS`] tells.
#[diagnostic::on_unimplemented(
    message = "SRK0701: `{Self}` is no `#[device]` function",
    label = "not marked",
    note = "why: a function is translated for devices where it is defined, and only if `#[device]` says so",
    note = "instead: write `#[device]` before the function"
)]
pub unsafe trait DeviceFn {
    /// The function as data, perhaps with links open.
    const IR: &'static Packed;

    /// What its callers have to know.
    const FACTS: FunctionFacts;

    /// What it names of the user's crate.
    fn links() -> Links;

    /// The function with what it names.
    fn function() -> Function {
        Function {
            ir: Self::IR,
            links: Self::links(),
        }
    }

    /// The compiled body for one lane of a trait's method: what it takes and yields is not said, so that of an impl with other types rustc compares
    /// the user's signature alone.
    ///
    /// # Safety
    /// That of the body, and `A` and `R` are what that takes and yields.
    #[doc(hidden)]
    #[inline(always)]
    unsafe fn __body<const CHECK: bool, A, R>(
        _block: &Block,
        _thread: [usize; 3],
        _dim: [usize; 3],
        _base: u32,
        _args: A,
    ) -> Result<R, RawFault> {
        unreachable!("it is no method of a trait")
    }

    /// The same for all lanes of a block.
    ///
    /// # Safety
    /// As above.
    #[doc(hidden)]
    #[inline(always)]
    #[expect(clippy::too_many_arguments, reason = "those of a compiled body")]
    unsafe fn __block<const CHECK: bool, const FULL: bool, A, R, Y>(
        _block: &Block,
        _lanes: [usize; 3],
        _dim: [usize; 3],
        _scratch: &Scratch,
        _base: u32,
        _active: &[bool],
        _args: A,
        _result: &mut [MaybeUninit<R>],
    ) -> Result<Y, RawFault> {
        unreachable!("it is no method of a trait")
    }
}

/// What stands for the macro of a trait that is not marked: an error.
#[doc(hidden)]
#[macro_export]
macro_rules! __unmarked {
    ([$message:literal] $($items:tt)*) => {
        ::core::compile_error! { $message }
    };
    (else [$($error:tt)*]) => { $($error)* };
}

/// What callers of a `#[device]` function have to know, each instance having its own.
#[derive(Clone, Copy, Debug)]
pub struct FunctionFacts {
    /// The sites of the function and of all that it calls.
    pub sites: u32,
    /// Do the threads of a block work together in it, by barriers, shared arrays or subgroups?
    pub collective: bool,
    /// Is all that it computes the same to the bit on every device, as strict kernels ask?
    pub exact: bool,
    /// Does it change its receiver?
    pub mutates: bool,
    /// The parameters for which all threads of a block must give the same, because barriers depend on them.
    pub uniform: ParameterSet,
    /// The parameters for which safe callers must give all threads of a block the same, because only then is the function known to be free
    /// of races on shared arrays.
    pub agreed: ParameterSet,
    /// The parameters that may be lent a shared array in a safe kernel.
    pub takes: ParameterSet,
}

impl FunctionFacts {
    /// Of what stands for a function that is not there.
    pub const NONE: FunctionFacts = FunctionFacts {
        sites: 0,
        collective: false,
        exact: true,
        mutates: false,
        uniform: ParameterSet(0),
        agreed: ParameterSet(0),
        takes: ParameterSet(u128::MAX),
    };
}

/// Some of a function's parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ParameterSet(u128);

impl ParameterSet {
    /// Those of which it holds, by position.
    ///
    /// # Panics
    /// If there are more than 128.
    pub const fn new(parameters: &[bool]) -> ParameterSet {
        assert!(
            parameters.len() <= 128,
            "a function has up to 128 parameters"
        );
        let (mut set, mut at) = (0, 0);
        while at < parameters.len() {
            set |= (parameters[at] as u128) << at;
            at += 1;
        }
        ParameterSet(set)
    }

    /// Is it one of them?
    pub const fn has(self, at: usize) -> bool {
        at < 128 && self.0 >> at & 1 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_has_what_it_was_made_of() {
        let set = ParameterSet::new(&[true, false, true]);
        let has = [0, 1, 2, 3, 127, 128].map(|at| set.has(at));
        assert_eq!(has, [true, false, true, false, false, false]);
        assert!((0..128).all(|at| FunctionFacts::NONE.takes.has(at)));
    }
}
