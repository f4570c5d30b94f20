use std::mem::MaybeUninit;

use sarek_ir::EncodedKernel;
use sarek_ir::link::{Function, Links};

use super::formula::Formula;
use super::{Block, RawFault, Scratch};

/// The trait that `#[device]` implements, for a struct next to the function.
///
/// # Safety
/// The function's compiled body does what [`DeviceFn::IR`] says, and has the number of sites in
/// [`FunctionFacts::sites`] of [`DeviceFn::FACTS`].
#[diagnostic::on_unimplemented(
    message = "SRK0701: `{Self}` is not a `#[device]` function",
    label = "not marked",
    note = "why: a function is translated for devices where it is defined, and only if it is marked `#[device]`",
    note = "instead: write `#[device]` before the function"
)]
pub unsafe trait DeviceFn {
    /// The function's IR, possibly with open links.
    const IR: &'static EncodedKernel;

    /// The facts that its callers need.
    const FACTS: FunctionFacts;

    /// The items of the user's crate that the function refers to.
    fn links() -> Links;

    /// The function's IR with its links.
    fn function() -> Function {
        Function {
            ir: Self::IR,
            links: Self::links(),
        }
    }

    /// The compiled body for one lane of a trait's method. Its argument and result types are type
    /// parameters. So if an impl has other types, rustc compares the user's signature alone, and
    /// reports only that.
    ///
    /// # Safety
    /// That of the body; `A` and `R` are its argument and result types.
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

/// Replaces the macro of a trait without the attribute: a compile error.
#[doc(hidden)]
#[macro_export]
macro_rules! __unmarked {
    ([$message:literal] $($items:tt)*) => {
        ::core::compile_error! { $message }
    };
}

/// The facts about a `#[device]` function that callers need; each instance has its own.
#[derive(Clone, Copy, Debug)]
pub struct FunctionFacts {
    /// The number of sites in the function and in all functions that it calls.
    pub sites: u32,
    /// True if the threads of a block cooperate in it, by barriers, shared arrays or subgroups.
    pub collective: bool,
    /// True if it has a loop that the CPU runs for many threads at a time, if all threads of a block
    /// call the function together.
    pub strips: bool,
    /// True if its results are the same to the bit on every device, as strict kernels require.
    pub exact: bool,
    /// True if it changes its receiver.
    pub mutates: bool,
    /// The parameters that must have the same value in all threads of a block, because barriers
    /// depend on them.
    pub uniform: ParameterSet,
    /// The parameters for which safe callers must pass the same value in all threads of a block.
    /// Otherwise the function is not known to be free of races on shared arrays.
    pub agreed: ParameterSet,
    /// The parameters to which a safe kernel may pass a shared array.
    pub takes: ParameterSet,
    /// The result, if it is an integer.
    pub result: Formula,
}

impl FunctionFacts {
    /// The facts about a placeholder for a missing function.
    pub const NONE: FunctionFacts = FunctionFacts {
        sites: 0,
        collective: false,
        strips: false,
        exact: true,
        mutates: false,
        uniform: ParameterSet(0),
        agreed: ParameterSet(0),
        takes: ParameterSet(u128::MAX),
        result: Formula::MISSING,
    };
}

/// A set of a function's parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ParameterSet(u128);

impl ParameterSet {
    /// The set of parameters whose flag is true, by position.
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

    /// True if the parameter at this position is in the set.
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
