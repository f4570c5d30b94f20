//! Collective functions, by which the threads of a block cooperate.
//!
//! Like the ids, kernels recognise them by name, and expansions check that the names mean these
//! functions. They run in [`crate::Kernel::reference`]; outside of a kernel they panic.

use std::sync::atomic::{Ordering, fence};

use sarek_ir::{SubgroupOp, Value};

use super::reference::{self, Shared, position};
use crate::{Atomic, AtomicElement, KernelType, ScalarArg};

/// The subgroup size of the reference.
pub(super) const REFERENCE_SUBGROUP: usize = 32;

/// Waits for all threads of the block that have not returned. Writes before the barrier are visible
/// to all of them after it.
///
/// All threads of the block must reach it together: it must not depend on a condition that differs
/// among them.
pub fn barrier() {
    reference::barrier();
}

/// A memory fence: orders the thread's reads and writes for other threads of the block.
pub fn block_fence() {
    let _ = position("block_fence");
    fence(Ordering::SeqCst);
}

/// A memory fence: orders the thread's reads and writes for all threads of the device.
pub fn device_fence() {
    let _ = position("device_fence");
    fence(Ordering::SeqCst);
}

/// Makes an array of `N` elements that the threads of a block share; each place in the source makes
/// its own. The initial contents are unspecified. Call it at the head of a kernel, and bind the
/// result to a name: `let tile = shared_array::<f32, 256>();`.
pub fn shared_array<T: SharedElement, const N: usize>() -> &'static mut Shared<T> {
    const {
        assert!(
            T::ANY_BITS,
            "any bits are a value of what a shared array holds"
        )
    };
    reference::make_shared("shared_array", N)
}

/// The same as [`shared_array`], with a length that is fixed at launch: an expression of scalar
/// arguments, lengths and extents.
pub fn shared_slice<T: SharedElement>(len: usize) -> &'static mut Shared<T> {
    const {
        assert!(
            T::ANY_BITS,
            "any bits are a value of what a shared array holds"
        )
    };
    reference::make_shared("shared_slice", len)
}

/// A type that shared arrays can hold: numbers, structs, tuples and arrays of them, [`Atomic`]s and
/// arrays of those. Any bits must be a valid value, as [`sarek_ir::TypeInfo::takes_any_bits`]
/// determines; other element types do not compile.
#[diagnostic::on_unimplemented(
    message = "SRK0510: a shared array does not hold `{Self}`",
    label = "not a number, an `Atomic`, a struct with `#[derive(KernelType)]`, or an array of them",
    note = "why: its elements contain arbitrary bits until they are written, so every bit pattern must be a value",
    note = "instead: hold numbers, or write `#[derive(Clone, Copy, KernelType)]` and `#[repr(C)]` before the struct"
)]
pub trait SharedElement: sealed::Shared {
    /// True if any bits are a valid value.
    const ANY_BITS: bool;
}

/// A type that subgroup operations can move between lanes.
#[diagnostic::on_unimplemented(
    message = "SRK0314: subgroup operations do not move `{Self}`",
    label = "not a number or `bool`",
    note = "why: such a value is passed in one word between the lanes of a subgroup",
    note = "instead: move its parts one by one"
)]
pub trait SubgroupElement: ScalarArg + sealed::Subgroup {}

/// A number that subgroup operations can add and compare.
#[diagnostic::on_unimplemented(
    message = "SRK0314: subgroup operations do not add `{Self}`",
    label = "not a number",
    note = "why: such a value is passed in one word between the lanes of a subgroup",
    note = "instead: convert it to a number, as in `x as u32`"
)]
pub trait SubgroupNumber: SubgroupElement {}

mod sealed {
    use super::Join;

    pub trait Shared {}

    pub trait Subgroup {
        const JOIN: Join;
    }
}

/// Combines two values by an operation.
pub(super) type Join = fn(SubgroupOp, Value, Value) -> Value;

impl<T: KernelType> sealed::Shared for T {}
impl<T: KernelType> SharedElement for T {
    const ANY_BITS: bool = T::TYPE.takes_any_bits();
}

/// Atomics and arrays of them; vectors do not hold these.
macro_rules! atomics {
    ($(($($n:ident)*) $ty:ty;)*) => {$(
        impl<T: AtomicElement, $(const $n: usize),*> sealed::Shared for $ty {}
        impl<T: AtomicElement, $(const $n: usize),*> SharedElement for $ty {
            const ANY_BITS: bool = true;
        }
    )*};
}

atomics! {
    () Atomic<T>;
    (A) [Atomic<T>; A];
    (A B) [[Atomic<T>; A]; B];
    (A B C) [[[Atomic<T>; A]; B]; C];
}

macro_rules! numbers {
    ($($ty:ident: $add:expr, $mul:expr;)*) => {$(
        impl sealed::Subgroup for $ty {
            const JOIN: Join = |op, a, b| {
                let number = |value| <$ty as ScalarArg>::from_value(value);
                let (Some(a), Some(b)) = (number(a), number(b)) else {
                    unreachable!("lanes of one call have one type");
                };
                let (add, mul): (fn($ty, $ty) -> $ty, fn($ty, $ty) -> $ty) = ($add, $mul);
                let joined = match op {
                    SubgroupOp::Sum | SubgroupOp::InclusiveSum | SubgroupOp::ExclusiveSum => add(a, b),
                    SubgroupOp::Product => mul(a, b),
                    SubgroupOp::Min => a.min(b),
                    SubgroupOp::Max => a.max(b),
                    SubgroupOp::Shuffle
                    | SubgroupOp::ShuffleUp
                    | SubgroupOp::ShuffleDown
                    | SubgroupOp::ShuffleXor
                    | SubgroupOp::Broadcast
                    | SubgroupOp::All
                    | SubgroupOp::Any
                    | SubgroupOp::Ballot => unreachable!("this operation joins no values"),
                };
                joined.value()
            };
        }
        impl SubgroupElement for $ty {}
        impl SubgroupNumber for $ty {}
    )*};
}

macro_rules! integers {
    ($($ty:ident)*) => { numbers! {$($ty: <$ty>::wrapping_add, <$ty>::wrapping_mul;)*} };
}

integers! { i32 u32 i64 u64 usize }
numbers! {
    f32: |a, b| a + b, |a, b| a * b;
    f64: |a, b| a + b, |a, b| a * b;
}

impl sealed::Subgroup for bool {
    const JOIN: Join = |_, _, _| unreachable!("a `bool` is not joined");
}
impl SubgroupElement for bool {}

/// The result for a lane of an operation on `values`, in which inactive lanes are `None`.
pub(super) fn join(
    op: SubgroupOp,
    join: Join,
    values: &[Option<Value>],
    lane: usize,
    other: usize,
) -> Value {
    let own = values[lane].unwrap_or_else(|| unreachable!("the lane takes part"));
    let of = |lane: Option<usize>| {
        let value = lane.and_then(|lane| values.get(lane).copied().flatten());
        value.unwrap_or(own)
    };
    let set = |value: &&Value| **value == Value::Bool(true);
    let fold = |values: &[Option<Value>]| {
        let values = values.iter().copied().flatten();
        values.reduce(|a, b| join(op, a, b))
    };
    match op {
        SubgroupOp::Shuffle | SubgroupOp::Broadcast => of(Some(other)),
        SubgroupOp::ShuffleUp => of(lane.checked_sub(other)),
        SubgroupOp::ShuffleDown => of(lane.checked_add(other)),
        SubgroupOp::ShuffleXor => of(Some(lane ^ other)),
        SubgroupOp::All => Value::Bool(values.iter().flatten().all(|v| set(&v))),
        SubgroupOp::Any => Value::Bool(values.iter().flatten().any(|v| set(&v))),
        SubgroupOp::Ballot => {
            let bits = values.iter().enumerate();
            let bits = bits.filter(|(_, v)| v.as_ref().is_some_and(|v| set(&v)));
            Value::U64(bits.map(|(lane, _)| 1 << lane).sum())
        }
        SubgroupOp::Sum | SubgroupOp::Product | SubgroupOp::Min | SubgroupOp::Max => {
            halving(values, |a, b| join(op, a, b)).unwrap_or(own)
        }
        SubgroupOp::InclusiveSum => fold(&values[..=lane]).unwrap_or(own),
        SubgroupOp::ExclusiveSum => {
            fold(&values[..lane]).unwrap_or_else(|| Value::zero(own.scalar()))
        }
    }
}

/// Combines values by a tree, in the order of the interpreter.
fn halving(values: &[Option<Value>], f: impl Fn(Value, Value) -> Value) -> Option<Value> {
    let mut values = values.to_vec();
    values.resize(REFERENCE_SUBGROUP.next_power_of_two(), None);
    while let [_, _, ..] = values[..] {
        let upper = values.split_off(values.len() / 2);
        for (low, high) in values.iter_mut().zip(upper) {
            *low = match (*low, high) {
                (Some(low), Some(high)) => Some(f(low, high)),
                (low, high) => low.or(high),
            };
        }
    }
    values[0]
}

fn call<T: SubgroupElement, R: ScalarArg>(op: SubgroupOp, value: T, lane: usize) -> R {
    let answer = reference::subgroup(op, T::JOIN, value.value(), lane);
    R::from_value(answer).unwrap_or_else(|| unreachable!("the answer has the result's type"))
}

macro_rules! moves {
    ($($(#[$doc:meta])* $name:ident $op:ident;)*) => {$(
        $(#[$doc])*
        pub fn $name<T: SubgroupElement>(value: T, lane: usize) -> T {
            call(SubgroupOp::$op, value, lane)
        }
    )*};
}

moves! {
    /// The value of lane `lane` of the subgroup; the own value if that lane is inactive.
    subgroup_shuffle Shuffle;
    /// The value of the lane that is `lane` below; the own value if that lane is inactive.
    subgroup_shuffle_up ShuffleUp;
    /// The value of the lane that is `lane` above; the own value if that lane is inactive.
    subgroup_shuffle_down ShuffleDown;
    /// The value of the lane whose number is the own one `^ lane`; the own value if that lane is
    /// inactive.
    subgroup_shuffle_xor ShuffleXor;
    /// The value of lane `lane`, which must be the same for all lanes; the own value if that lane
    /// is inactive.
    subgroup_broadcast Broadcast;
}

macro_rules! joins {
    ($($(#[$doc:meta])* $name:ident $op:ident;)*) => {$(
        $(#[$doc])*
        pub fn $name<T: SubgroupNumber>(value: T) -> T {
            call(SubgroupOp::$op, value, 0)
        }
    )*};
}

joins! {
    /// The sum over all lanes of the subgroup. Floats are added in an unspecified order.
    subgroup_sum Sum;
    /// The product over all lanes of the subgroup.
    subgroup_product Product;
    /// The minimum over all lanes of the subgroup.
    subgroup_min Min;
    /// The maximum over all lanes of the subgroup.
    subgroup_max Max;
    /// The inclusive prefix sum: over the lanes up to and including the own one.
    subgroup_inclusive_sum InclusiveSum;
    /// The exclusive prefix sum: over the lanes below the own one.
    subgroup_exclusive_sum ExclusiveSum;
}

/// True if the condition is true in all lanes of the subgroup.
pub fn subgroup_all(condition: bool) -> bool {
    call(SubgroupOp::All, condition, 0)
}

/// True if the condition is true in any lane of the subgroup.
pub fn subgroup_any(condition: bool) -> bool {
    call(SubgroupOp::Any, condition, 0)
}

/// The lanes in which the condition is true, as bits; lane 0 is the lowest bit.
pub fn subgroup_ballot(condition: bool) -> u64 {
    call(SubgroupOp::Ballot, condition, 0)
}
