//! Calls of `#[device]` functions from compiled bodies. A function in which the threads of a block
//! cooperate is called once for all lanes, with an array for each argument.

use std::any::TypeId;
use std::marker::PhantomData;
use std::mem::{ManuallyDrop, MaybeUninit};

use sarek_ir::link::Function;

use super::{DeviceFn, FunctionFacts, RawFault};

/// Lends the lanes' values as an argument, or as memory for a result.
///
/// # Safety
/// All elements are initialised when the borrow ends.
///
/// ```
/// let mut words = [String::new()];
/// // SAFETY: nothing is put there.
/// assert_eq!(unsafe { sarek_runtime::host::as_uninit(&mut words) }.len(), 1);
/// ```
///
/// ```compile_fail,E0133
/// let mut words = [String::new()];
/// assert_eq!(sarek_runtime::host::as_uninit(&mut words).len(), 1);
/// ```
#[inline(always)]
pub unsafe fn as_uninit<T>(lanes: &mut [T]) -> &mut [MaybeUninit<T>] {
    // SAFETY: the layouts are the same, and the caller promises values.
    unsafe { &mut *(std::ptr::from_mut(lanes) as *mut [MaybeUninit<T>]) }
}

/// Takes back such values, which are initialised again; the inverse of [`as_uninit`].
///
/// # Safety
/// All elements are initialised.
#[inline(always)]
pub unsafe fn assume_all_init<T>(lanes: &mut [MaybeUninit<T>]) -> &mut [T] {
    // SAFETY: the layouts are the same, and the caller promises values.
    unsafe { &mut *(std::ptr::from_mut(lanes) as *mut [T]) }
}

/// An active lane: of all lanes if `full`, otherwise of those in `active`.
#[inline(always)]
pub fn first(full: bool, active: &[bool]) -> usize {
    match full {
        true => 0,
        false => active.iter().position(|here| *here).unwrap_or(0),
    }
}

/// Copies a value, so that a method is found through its type while the value is lent.
///
/// # Safety
/// It is plain data, which may be copied. A type parameter need not be declared `Copy`.
///
/// ```
/// // SAFETY: it is a number.
/// assert_eq!(unsafe { sarek_runtime::host::again(&7) }, 7);
/// ```
///
/// ```compile_fail,E0133
/// assert_eq!(sarek_runtime::host::again(&7), 7);
/// ```
#[inline(always)]
pub unsafe fn again<T>(value: &T) -> T {
    // SAFETY: the caller's promise.
    unsafe { std::ptr::read(value) }
}

/// Converts a value to the same type under another name, where rustc cannot see that they are the
/// same. Lifetimes may differ.
///
/// # Safety
/// The value is valid for the lifetimes of `B`.
///
/// # Panics
/// If the types differ: a hand-written impl of a `#[device]` trait names the compiled body of
/// another method. Release builds optimise the comparison away if the types are the same.
#[inline(always)]
pub unsafe fn same<A, B>(value: A) -> B {
    assert!(
        type_id::<A>() == type_id::<B>(),
        "an impl without `#[device]` names the compiled body of another method"
    );
    let value = ManuallyDrop::new(value);
    // SAFETY: the types are the same except for lifetimes; the value is read once.
    unsafe { std::mem::transmute_copy(&value) }
}

/// The identity of a type, ignoring lifetimes.
#[inline(always)]
fn type_id<T>() -> TypeId {
    trait Typed {
        fn id(&self) -> TypeId
        where
            Self: 'static;
    }

    impl<T> Typed for PhantomData<T> {
        #[inline(always)]
        fn id(&self) -> TypeId
        where
            Self: 'static,
        {
            TypeId::of::<T>()
        }
    }

    let of = PhantomData::<T>;
    let of: &dyn Typed = &of;
    // SAFETY: only the lifetime bound is extended; a type's id does not depend on it, and nothing
    // of `T` is read.
    let of = unsafe { std::mem::transmute::<&dyn Typed, &(dyn Typed + 'static)>(of) };
    of.id()
}

/// The function that a call calls, determined by the types of its arguments. The closure is not
/// called.
pub fn function_of<F: DeviceFn, R, H>(
    _: impl FnOnce() -> (PhantomData<F>, R, PhantomData<H>),
) -> Function {
    F::function()
}

/// The facts about the function that a call calls. The closure is not called.
pub const fn facts_of<F: DeviceFn, R, H>(
    instance: impl FnOnce() -> (PhantomData<F>, R, PhantomData<H>),
) -> FunctionFacts {
    std::mem::forget(instance);
    F::FACTS
}

/// The numbers of fault sites before each of the functions in `order`, which are indices of `facts`, and after the
/// last.
pub const fn sites_before<const N: usize>(facts: &[FunctionFacts], order: &[usize]) -> [u32; N] {
    let mut before = [0; N];
    let mut i = 0;
    while i < order.len() {
        before[i + 1] = before[i] + facts[order[i]].sites;
        i += 1;
    }
    before
}

/// The function that a call calls: `F`, which returns an `R`. `H` describes how it takes its
/// receiver.
///
/// A call finds a compiled body by the function's name, but other items may have that name. So only
/// the right function can return a [`Returned`] of the instance, and the callables passed to it
/// require a [`Call`]. Any other item can at most fail to return.
pub struct Instance<F, R, H>(PhantomData<(F, R, H)>);

impl<F, R, H> Clone for Instance<F, R, H> {
    #[inline(always)]
    fn clone(&self) -> Instance<F, R, H> {
        *self
    }
}

impl<F, R, H> Copy for Instance<F, R, H> {}

/// The function that a call calls. The closure is not called.
#[inline(always)]
pub fn instance<F: DeviceFn, R, H>(
    _: impl FnOnce() -> (PhantomData<F>, R, PhantomData<H>),
) -> Instance<F, R, H> {
    Instance(PhantomData)
}

/// A token that compiled bodies pass when they call closures and functions that they were given.
/// Safe code cannot make one.
#[derive(Debug)]
pub struct Call(());

impl Call {
    /// Makes a token.
    ///
    /// # Safety
    /// The caller is a compiled body, which passes the arguments that its function passes.
    #[inline(always)]
    pub unsafe fn new() -> Call {
        Call(())
    }
}

/// The result of a compiled body of `F`.
#[repr(transparent)]
pub struct Returned<F, H, R> {
    value: R,
    of: PhantomData<(F, H)>,
}

impl<F, H, R> Returned<F, H, R> {
    /// Wraps a result.
    ///
    /// # Safety
    /// A compiled body of `F` has computed it. For a result of type [`PhantomData`], it has written
    /// the results of all lanes.
    #[inline(always)]
    pub unsafe fn new(value: R) -> Returned<F, H, R> {
        Returned {
            value,
            of: PhantomData,
        }
    }
}

/// Unwraps the result of a function's body.
#[inline(always)]
pub fn returned<F, R, H>(
    _: Instance<F, R, H>,
    returned: Result<Returned<F, H, R>, RawFault>,
) -> Result<R, RawFault> {
    returned.map(|returned| returned.value)
}

/// Unwraps the result of a function's body for one lane, in its body for all lanes.
///
/// # Safety
/// The body is that of the same function.
#[inline(always)]
pub unsafe fn returned_by_lane<F, R, H>(
    returned: Result<Returned<F, H, R>, RawFault>,
) -> Result<R, RawFault> {
    returned.map(|returned| returned.value)
}

/// True if a value is the same in all lanes.
///
/// # Safety
/// The elements of all `lanes` of a block of `dim` threads are initialised.
#[inline(always)]
pub unsafe fn all_agree<T: Copy + PartialEq>(
    values: &[MaybeUninit<T>],
    lanes: [usize; 3],
    dim: [usize; 3],
) -> bool {
    let mut agree = true;
    for z in 0..lanes[2] {
        for y in 0..lanes[1] {
            let row = (z * dim[1] + y) * dim[0];
            // SAFETY: these are lanes of the block, which are initialised.
            let row = unsafe { assume_row(&values[row..row + lanes[0]]) };
            // SAFETY: the same, for the first lane; without lanes, no row is compared.
            let first = unsafe { values[0].assume_init() };
            agree &= row.iter().fold(true, |agree, v| agree & (*v == first));
        }
    }
    agree
}

/// Initialised values.
///
/// # Safety
/// They are initialised.
#[inline(always)]
unsafe fn assume_row<T>(values: &[MaybeUninit<T>]) -> &[T] {
    // SAFETY: the layouts are the same, and the caller promises values.
    unsafe { &*(std::ptr::from_ref(values) as *const [T]) }
}

/// Checks that a function's body has run for all lanes.
#[inline(always)]
pub fn returned_by_all<F, R, H>(
    _: Instance<F, R, H>,
    returned: Result<Returned<F, H, PhantomData<R>>, RawFault>,
) -> Result<(), RawFault> {
    returned.map(|_| ())
}

/// The argument and result types of a function that is passed to another one; at most twelve
/// arguments.
pub trait FnSignature {
    /// The argument types, as a tuple.
    type Args;
    /// The result type.
    type Output;
}

macro_rules! called {
    ($($ty:ident)*) => {
        impl<$($ty,)* R> FnSignature for fn($($ty),*) -> R {
            type Args = ($($ty,)*);
            type Output = R;
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

/// The instance of a function that is passed to another one. It is inferred from a value of the
/// callable's type, and from a function that returns the instance. Never called.
pub fn given_instance<C: FnSignature, F, H, I>(
    _: C,
    _: I,
) -> (PhantomData<F>, C::Output, PhantomData<H>)
where
    I: FnOnce(C::Args) -> (PhantomData<F>, C::Output, PhantomData<H>),
{
    unreachable!("only its type is asked for")
}

/// A constant that selects an instance of a compiled body, passed as an argument so that rustc
/// infers the body's other parameters.
#[derive(Clone, Copy, Debug)]
pub struct Flag<const ON: bool>;

/// The instance for calls of a function with errors.
#[derive(Debug)]
pub struct Unmarked;

// SAFETY: it is never called.
unsafe impl DeviceFn for Unmarked {
    const IR: &'static sarek_ir::EncodedKernel = sarek_ir::EncodedKernel::EMPTY;
    const FACTS: FunctionFacts = FunctionFacts::NONE;

    fn links() -> sarek_ir::link::Links {
        sarek_ir::link::Links::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_told_apart_but_for_lifetimes() {
        fn of<'a>(_: &'a u32) -> TypeId {
            type_id::<(&'a u32, [f32; 2])>()
        }
        let local = 1;
        assert_eq!(of(&local), type_id::<(&'static u32, [f32; 2])>());
        assert_ne!(of(&local), type_id::<(&'static i32, [f32; 2])>());
        // SAFETY: the value has no lifetimes.
        assert_eq!(unsafe { same::<u32, u32>(7) }, 7);
    }

    #[test]
    #[should_panic(expected = "another method")]
    fn another_type_of_the_size_is_refused() {
        // SAFETY: it panics.
        let _: f32 = unsafe { same(1u32) };
    }
}
