//! The results of atomic and subgroup operations on [`Value`]s.

use crate::{AtomicOp, BinaryOp, Intrinsic, SubgroupOp, Value, operators};

/// The value of an element after an atomic operation.
pub fn atomic(op: AtomicOp, old: Value, args: &[Value]) -> Value {
    match op {
        AtomicOp::Load => old,
        AtomicOp::Store | AtomicOp::Swap => args[0],
        AtomicOp::Add => operators::binary(BinaryOp::Add, old, args[0]),
        AtomicOp::Sub => operators::binary(BinaryOp::Sub, old, args[0]),
        AtomicOp::Min => operators::call(Intrinsic::Min, &[old, args[0]]),
        AtomicOp::Max => operators::call(Intrinsic::Max, &[old, args[0]]),
        AtomicOp::And => operators::binary(BinaryOp::BitAnd, old, args[0]),
        AtomicOp::Or => operators::binary(BinaryOp::BitOr, old, args[0]),
        AtomicOp::Xor => operators::binary(BinaryOp::BitXor, old, args[0]),
        AtomicOp::CompareExchange if old == args[0] => args[1],
        AtomicOp::CompareExchange => old,
    }
}

/// The operands of one thread in a subgroup operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Brought {
    /// The thread's lane.
    pub lane: u64,
    /// The first operand.
    pub value: Value,
    /// The second operand, or 0 if there is none.
    pub other: u64,
}

/// The result of a subgroup operation for one thread. `here` are the threads that take part, in the order of
/// their lanes, and `of` is the thread's index among them. Sums, products, minima and maxima are computed by [`halving`],
/// and prefix sums in the order of lanes.
pub fn subgroup(op: SubgroupOp, here: &[Brought], of: usize) -> Value {
    let me = here[of];
    let lane = |lane: Option<u64>| {
        let found = here.iter().find(|b| Some(b.lane) == lane);
        found.map(|b| b.value)
    };
    let fold =
        |of: &[Brought], f: &dyn Fn(Value, Value) -> Value| of.iter().map(|b| b.value).reduce(f);
    let of_all = |f: &dyn Fn(Value, Value) -> Value| halving(here, f).unwrap_or(me.value);
    let add = |a, b| operators::binary(BinaryOp::Add, a, b);
    match op {
        SubgroupOp::Shuffle | SubgroupOp::Broadcast => lane(Some(me.other)).unwrap_or(me.value),
        SubgroupOp::ShuffleUp => lane(me.lane.checked_sub(me.other)).unwrap_or(me.value),
        SubgroupOp::ShuffleDown => lane(me.lane.checked_add(me.other)).unwrap_or(me.value),
        SubgroupOp::ShuffleXor => lane(Some(me.lane ^ me.other)).unwrap_or(me.value),
        SubgroupOp::All => Value::Bool(here.iter().all(|b| b.value == Value::Bool(true))),
        SubgroupOp::Any => Value::Bool(here.iter().any(|b| b.value == Value::Bool(true))),
        SubgroupOp::Ballot => {
            let said = here.iter().filter(|b| b.value == Value::Bool(true));
            Value::U64(said.fold(0, |bits, b| bits | 1 << b.lane))
        }
        SubgroupOp::Sum => of_all(&add),
        SubgroupOp::Product => of_all(&|a, b| operators::binary(BinaryOp::Mul, a, b)),
        SubgroupOp::Min => of_all(&|a, b| operators::call(Intrinsic::Min, &[a, b])),
        SubgroupOp::Max => of_all(&|a, b| operators::call(Intrinsic::Max, &[a, b])),
        SubgroupOp::InclusiveSum => fold(&here[..=of], &add).unwrap_or(me.value),
        SubgroupOp::ExclusiveSum => {
            fold(&here[..of], &add).unwrap_or(Value::zero(me.value.scalar()))
        }
    }
}

/// Combines values by a tree, as GPUs do: each lane's with the one 32 lanes above, then 16, 8, 4, 2 and 1. Lanes that do not
/// take part have no value.
fn halving(here: &[Brought], f: &dyn Fn(Value, Value) -> Value) -> Option<Value> {
    let mut values = [None; 64];
    for brought in here {
        values[brought.lane as usize] = Some(brought.value);
    }
    let mut half = values.len() / 2;
    while half > 0 {
        for lane in 0..half {
            values[lane] = match (values[lane], values[lane + half]) {
                (Some(low), Some(high)) => Some(f(low, high)),
                (low, high) => low.or(high),
            };
        }
        half /= 2;
    }
    values[0]
}
