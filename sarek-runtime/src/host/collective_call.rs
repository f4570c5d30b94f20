//! Calls of `#[device]` functions. Where the threads of a block work together in one, it is called once for all lanes, with
//! an array of each argument.

use std::any::TypeId;
use std::marker::PhantomData;
use std::mem::{ManuallyDrop, MaybeUninit};

use sarek_ir::link::Function;

use super::RawFault;
use crate::{DeviceFn, FunctionFacts};

/// An array of lanes as an argument, or as the place of a result.
///
/// # Safety
/// All elements hold a value when the borrow ends.
///
/// ```
/// let mut words = [String::new()];
/// // SAFETY: nothing is put there.
/// assert_eq!(unsafe { sarek_runtime::host::lent(&mut words) }.len(), 1);
/// ```
///
/// ```compile_fail,E0133
/// let mut words = [String::new()];
/// assert_eq!(sarek_runtime::host::lent(&mut words).len(), 1);
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

/// A value by another name of its type, where rustc need not see that both are one. Lifetimes may differ.
///
/// # Safety
/// The value is good for the lifetimes that it is given.
///
/// # Panics
/// If the types are two: an impl by hand of a `#[device]` trait names what is another method's. Where they are one, nothing is left of the
/// comparison in release builds.
#[inline(always)]
pub unsafe fn same<A, B>(value: A) -> B {
    assert!(
        type_id::<A>() == type_id::<B>(),
        "an impl without `#[device]` names the compiled body of another method"
    );
    let value = ManuallyDrop::new(value);
    // SAFETY: the types are one but for lifetimes; it is read once.
    unsafe { std::mem::transmute_copy(&value) }
}

/// An identity of types, whatever lifetimes are in them.
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
    // SAFETY: only how long a type may live is taken to be more; a type's id does not depend on that, and nothing of `T` is read.
    let of = unsafe { std::mem::transmute::<&dyn Typed, &(dyn Typed + 'static)>(of) };
    of.id()
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

/// The function that a call is of: `F`, which yields an `R` and takes its receiver as `H` says.
///
/// A call finds a compiled body by the function's name, and items of that name may be others than the function's. So what a body yields is
/// [`Yielded`] by one function, and what it is given to call asks for a [`Call`]: all that others can do is not to return.
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

/// An argument of the calls that compiled bodies make of closures and functions they are given. Safe code cannot make one.
#[derive(Debug)]
pub struct Call(());

impl Call {
    /// A call.
    ///
    /// # Safety
    /// The caller is a compiled body, and gives what its function does.
    #[inline(always)]
    pub unsafe fn new() -> Call {
        Call(())
    }
}

/// A result of a compiled body of `F`.
#[repr(transparent)]
pub struct Yielded<F, H, R> {
    value: R,
    of: PhantomData<(F, H)>,
}

impl<F, H, R> Yielded<F, H, R> {
    /// Wraps it.
    ///
    /// # Safety
    /// A compiled body of `F` has computed it, or where that is the type of a result, filled the results of all lanes.
    #[inline(always)]
    pub unsafe fn new(value: R) -> Yielded<F, H, R> {
        Yielded {
            value,
            of: PhantomData,
        }
    }
}

/// The value that the body of a function yielded.
#[inline(always)]
pub fn yielded<F, R, H>(
    _: Instance<F, R, H>,
    yielded: Result<Yielded<F, H, R>, RawFault>,
) -> Result<R, RawFault> {
    yielded.map(|yielded| yielded.value)
}

/// The body of a function has run for all lanes.
#[inline(always)]
pub fn yielded_by_all<F, R, H>(
    _: Instance<F, R, H>,
    yielded: Result<Yielded<F, H, PhantomData<R>>, RawFault>,
) -> Result<(), RawFault> {
    yielded.map(|_| ())
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
        // SAFETY: the value owns what it is.
        assert_eq!(unsafe { same::<u32, u32>(7) }, 7);
    }

    #[test]
    #[should_panic(expected = "another method")]
    fn another_type_of_the_size_is_refused() {
        // SAFETY: it panics.
        let _: f32 = unsafe { same(1u32) };
    }
}
