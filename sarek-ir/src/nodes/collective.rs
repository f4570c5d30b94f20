//! Operations by which the threads of a block, a subgroup or a launch cooperate.

use crate::Scalar;

/// An atomic operation on an element. All are relaxed. Each yields the element's previous value, except
/// [`AtomicOp::Store`], which yields nothing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AtomicOp {
    /// Reads.
    Load,
    /// Writes.
    Store,
    /// Adds, wrapping on integers.
    Add,
    /// Subtracts, wrapping on integers.
    Sub,
    /// Keeps the smaller value, as the type's `min`.
    Min,
    /// Keeps the larger value, as the type's `max`.
    Max,
    /// Bitwise, integers only.
    And,
    /// Bitwise, integers only.
    Or,
    /// Bitwise, integers only.
    Xor,
    /// Replaces.
    Swap,
    /// Replaces by the second operand if the bits are those of the first.
    CompareExchange,
}

impl AtomicOp {
    /// Every operation with the method of `Atomic<T>` that users call.
    pub const ALL: [(&'static str, AtomicOp); 11] = [
        ("load", AtomicOp::Load),
        ("store", AtomicOp::Store),
        ("fetch_add", AtomicOp::Add),
        ("fetch_sub", AtomicOp::Sub),
        ("fetch_min", AtomicOp::Min),
        ("fetch_max", AtomicOp::Max),
        ("fetch_and", AtomicOp::And),
        ("fetch_or", AtomicOp::Or),
        ("fetch_xor", AtomicOp::Xor),
        ("swap", AtomicOp::Swap),
        ("compare_exchange", AtomicOp::CompareExchange),
    ];

    /// The name of the method that users call.
    pub fn name(self) -> &'static str {
        let found = AtomicOp::ALL.into_iter().find(|(_, op)| *op == self);
        found.expect("every operation stands in AtomicOp::ALL").0
    }

    /// The operation whose method has this name.
    pub fn from_name(name: &str) -> Option<AtomicOp> {
        let found = AtomicOp::ALL.into_iter().find(|(n, _)| *n == name);
        found.map(|(_, op)| op)
    }

    /// True if the order of several such operations with one element does not matter, for integers and if no result is used.
    pub const fn commutes(self) -> bool {
        match self {
            AtomicOp::Add
            | AtomicOp::Sub
            | AtomicOp::Min
            | AtomicOp::Max
            | AtomicOp::And
            | AtomicOp::Or
            | AtomicOp::Xor => true,
            AtomicOp::Load | AtomicOp::Store | AtomicOp::Swap | AtomicOp::CompareExchange => false,
        }
    }

    /// The number of operands.
    pub const fn arity(self) -> u32 {
        match self {
            AtomicOp::Load => 0,
            AtomicOp::CompareExchange => 2,
            AtomicOp::Store
            | AtomicOp::Add
            | AtomicOp::Sub
            | AtomicOp::Min
            | AtomicOp::Max
            | AtomicOp::And
            | AtomicOp::Or
            | AtomicOp::Xor
            | AtomicOp::Swap => 1,
        }
    }
}

/// The threads that observe a fence: any of them that sees memory operations after it also sees those before it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Scope {
    /// The threads of the block.
    Block,
    /// All threads of the device.
    Device,
}

/// A cooperation of the threads of a subgroup.
///
/// The operands have one scalar type, which is `bool` or has 32 or 64 bits; lanes are `usize`. The threads of a
/// subgroup are consecutive in `thread_idx`, x fastest. Threads that have returned, or take another path, do not
/// participate. A thread that reads a lane which does not participate or does not exist gets its own value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SubgroupOp {
    /// The value of lane `arg1`.
    Shuffle,
    /// The value of the lane `arg1` below its own.
    ShuffleUp,
    /// The value of the lane `arg1` above its own.
    ShuffleDown,
    /// The value of the lane whose number is its own `^ arg1`.
    ShuffleXor,
    /// The value of lane `arg1`, which is the same in all participating threads.
    Broadcast,
    /// True if the `bool` is true in all lanes.
    All,
    /// True if the `bool` is true in some lane.
    Any,
    /// The lanes in which the `bool` is true, as bits of a `u64`, lane 0 lowest.
    Ballot,
    /// The sum over all lanes.
    Sum,
    /// The product over all lanes.
    Product,
    /// The smallest of all lanes.
    Min,
    /// The largest of all lanes.
    Max,
    /// The sum over the lanes up to and including its own.
    InclusiveSum,
    /// The sum over the lanes below its own.
    ExclusiveSum,
}

impl SubgroupOp {
    /// Every operation with the function that users call.
    pub const ALL: [(&'static str, SubgroupOp); 14] = [
        ("subgroup_shuffle", SubgroupOp::Shuffle),
        ("subgroup_shuffle_up", SubgroupOp::ShuffleUp),
        ("subgroup_shuffle_down", SubgroupOp::ShuffleDown),
        ("subgroup_shuffle_xor", SubgroupOp::ShuffleXor),
        ("subgroup_broadcast", SubgroupOp::Broadcast),
        ("subgroup_all", SubgroupOp::All),
        ("subgroup_any", SubgroupOp::Any),
        ("subgroup_ballot", SubgroupOp::Ballot),
        ("subgroup_sum", SubgroupOp::Sum),
        ("subgroup_product", SubgroupOp::Product),
        ("subgroup_min", SubgroupOp::Min),
        ("subgroup_max", SubgroupOp::Max),
        ("subgroup_inclusive_sum", SubgroupOp::InclusiveSum),
        ("subgroup_exclusive_sum", SubgroupOp::ExclusiveSum),
    ];

    /// The name of the function that users call.
    pub fn name(self) -> &'static str {
        let found = SubgroupOp::ALL.into_iter().find(|(_, op)| *op == self);
        found.expect("every operation stands in SubgroupOp::ALL").0
    }

    /// The operation whose function has this name.
    pub fn from_name(name: &str) -> Option<SubgroupOp> {
        let found = SubgroupOp::ALL.into_iter().find(|(n, _)| *n == name);
        found.map(|(_, op)| op)
    }

    /// The type of the result for operands of type `ty`; `None` if the operation does not take that type.
    pub const fn result(self, ty: Scalar) -> Option<Scalar> {
        let (takes, result) = match self {
            SubgroupOp::Shuffle
            | SubgroupOp::ShuffleUp
            | SubgroupOp::ShuffleDown
            | SubgroupOp::ShuffleXor
            | SubgroupOp::Broadcast => (true, ty),
            SubgroupOp::All | SubgroupOp::Any => (ty.is_bool(), Scalar::Bool),
            SubgroupOp::Ballot => (ty.is_bool(), Scalar::U64),
            SubgroupOp::Sum
            | SubgroupOp::Product
            | SubgroupOp::Min
            | SubgroupOp::Max
            | SubgroupOp::InclusiveSum
            | SubgroupOp::ExclusiveSum => (!ty.is_bool(), ty),
        };
        // No target has subgroup operations on 8- or 16-bit numbers.
        if takes && ty.widened().is_none() {
            Some(result)
        } else {
            None
        }
    }

    /// True if the second operand is the number of a lane, a distance or a mask.
    pub const fn takes_lane(self) -> bool {
        match self {
            SubgroupOp::Shuffle
            | SubgroupOp::ShuffleUp
            | SubgroupOp::ShuffleDown
            | SubgroupOp::ShuffleXor
            | SubgroupOp::Broadcast => true,
            SubgroupOp::All
            | SubgroupOp::Any
            | SubgroupOp::Ballot
            | SubgroupOp::Sum
            | SubgroupOp::Product
            | SubgroupOp::Min
            | SubgroupOp::Max
            | SubgroupOp::InclusiveSum
            | SubgroupOp::ExclusiveSum => false,
        }
    }
}
