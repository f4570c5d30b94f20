//! Calls of `#[device]` functions. Where the threads of a block work together in one, it is called once for all lanes, with
//! an array of each argument.

use std::marker::PhantomData;
use std::mem::{ManuallyDrop, MaybeUninit};

use sarek_ir::link::Function;

use crate::{DeviceFn, FunctionFacts};

/// An array of lanes as an argument, or as the place of a result.
///
/// # Safety
/// All elements hold a value when the borrow ends.
///
/// ```
/// let mut words = [String::new()];
/// // SAFETY: nothing is put there.
/// assert_eq!(unsafe { sarek_runtime::direct::lent(&mut words) }.len(), 1);
/// ```
///
/// ```compile_fail,E0133
/// let mut words = [String::new()];
/// assert_eq!(sarek_runtime::direct::lent(&mut words).len(), 1);
/// ```
#[inline(always)]
pub unsafe fn lent<T>(lanes: &mut [T]) -> &mut [MaybeUninit<T>] {
    // SAFETY: the layouts are the same, and the caller promises values.
    unsafe { &mut *(std::ptr::from_mut(lanes) as *mut [MaybeUninit<T>]) }
}

/// What was lent.
///
/// # Safety
/// All elements hold a value.
#[inline(always)]
pub unsafe fn given<T>(lanes: &mut [MaybeUninit<T>]) -> &mut [T] {
    // SAFETY: the layouts are the same, and the caller promises values.
    unsafe { &mut *(std::ptr::from_mut(lanes) as *mut [T]) }
}

/// A lane that takes part, where all or those of `active` do.
#[inline(always)]
pub fn first(full: bool, active: &[bool]) -> usize {
    match full {
        true => 0,
        false => active.iter().position(|here| *here).unwrap_or(0),
    }
}

/// A value beside itself, so that a method is found through its type while the value is lent.
///
/// # Safety
/// It is plain data, which may be copied. The type need not say so where it is a parameter.
///
/// ```
/// // SAFETY: it is a number.
/// assert_eq!(unsafe { sarek_runtime::direct::again(&7) }, 7);
/// ```
///
/// ```compile_fail,E0133
/// assert_eq!(sarek_runtime::direct::again(&7), 7);
/// ```
#[inline(always)]
pub unsafe fn again<T>(value: &T) -> T {
    // SAFETY: the caller's promise.
    unsafe { std::ptr::read(value) }
}

/// A value by another name of its type, where rustc need not see that both are one.
///
/// # Safety
/// They are.
#[inline(always)]
pub unsafe fn same<A, B>(value: A) -> B {
    const { assert!(size_of::<A>() == size_of::<B>()) };
    let value = ManuallyDrop::new(value);
    // SAFETY: it is read once, as what it is.
    unsafe { std::mem::transmute_copy(&value) }
}

/// The function that a call calls, told by the types of its arguments. The closure is not called.
pub fn function_of<F: DeviceFn, R, H>(
    _: impl FnOnce() -> (PhantomData<F>, R, PhantomData<H>),
) -> Function {
    F::function()
}

/// What a caller has to know of it. The closure is not called.
pub const fn facts_of<F: DeviceFn, R, H>(
    instance: impl FnOnce() -> (PhantomData<F>, R, PhantomData<H>),
) -> FunctionFacts {
    std::mem::forget(instance);
    F::FACTS
}

/// What a function takes and yields that another is given to call: twelve arguments at most.
pub trait Called {
    /// The types of its arguments, a tuple.
    type Takes;
    /// The type of its result.
    type Yields;
}

macro_rules! called {
    ($($ty:ident)*) => {
        impl<$($ty,)* R> Called for fn($($ty),*) -> R {
            type Takes = ($($ty,)*);
            type Yields = R;
        }
    };
}

called!();
called!(A);
called!(A B);
called!(A B C);
called!(A B C D);
called!(A B C D E);
called!(A B C D E F);
called!(A B C D E F G);
called!(A B C D E F G H);
called!(A B C D E F G H I);
called!(A B C D E F G H I J);
called!(A B C D E F G H I J K);
called!(A B C D E F G H I J K L);

/// The instance of a function that is given to another, told by what that calls: a value of its type, and the function that
/// yields the instance. Never called.
pub fn given_instance<C: Called, F, H, I>(_: C, _: I) -> (PhantomData<F>, C::Yields, PhantomData<H>)
where
    I: FnOnce(C::Takes) -> (PhantomData<F>, C::Yields, PhantomData<H>),
{
    unreachable!("only its type is asked for")
}

/// A constant that chooses an instance of a compiled body, as an argument: so rustc infers the body's other parameters.
#[derive(Clone, Copy, Debug)]
pub struct Flag<const ON: bool>;

/// The instance that calls of a function with errors are of.
#[derive(Debug)]
pub struct Unmarked;

// SAFETY: it is never called.
unsafe impl DeviceFn for Unmarked {
    const IR: &'static sarek_ir::Packed = sarek_ir::Packed::EMPTY;
    const FACTS: FunctionFacts = FunctionFacts::NONE;

    fn links() -> sarek_ir::link::Links {
        sarek_ir::link::Links::default()
    }
}
