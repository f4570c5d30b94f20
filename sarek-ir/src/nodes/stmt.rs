use crate::{
    AtomicOp, Block, CallId, ExprId, LabelId, LinkId, List, LocalId, Memory, NativeId, PlaceId,
    PrintId, Scope, SiteId, SubgroupOp,
};

/// A structured statement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)] // each variant's sentence explains its fields
pub enum Stmt {
    /// Declares a local in the enclosing block.
    Let {
        local: LocalId,
        init: Option<ExprId>,
    },
    /// `local = value`
    Assign { local: LocalId, value: ExprId },
    /// `memory[index] = value`; the value is evaluated first. Faults when out of bounds, and then
    /// stores nothing.
    Store {
        memory: Memory,
        index: ExprId,
        value: ExprId,
        site: Option<SiteId>,
    },
    /// Faults when `cond` is false.
    Assert { cond: ExprId, site: SiteId },
    /// Faults and ends the thread, also from inside a function.
    Panic { site: SiteId },
    /// Prints a line, or a part of one.
    Print { print: PrintId },
    /// `if cond { then } else { otherwise }`
    If {
        cond: ExprId,
        then: Block,
        otherwise: Block,
    },
    /// `while cond { body }`, or `loop { body }` without a condition.
    Loop {
        label: LabelId,
        cond: Option<ExprId>,
        body: Block,
    },
    /// `for local in start..end { body }`, ascending by one.
    For {
        label: LabelId,
        local: LocalId,
        start: ExprId,
        end: ExprId,
        body: Block,
    },
    /// Leaves the loop `label`.
    Break { label: LabelId },
    /// Continues with the next iteration of the loop `label`.
    Continue { label: LabelId },
    /// Ends the thread, or the function that contains it.
    Return,
    /// Waits for all threads of the block that have not returned.
    Barrier,
    /// Orders this thread's memory operations as others see them.
    Fence { scope: Scope },
    /// `result = memory[index].op(args…)`, indivisibly; the operands are evaluated first. When out of bounds it faults,
    /// changes nothing and yields zero.
    Atomic {
        op: AtomicOp,
        memory: Memory,
        index: ExprId,
        args: List,
        result: Option<LocalId>,
        site: Option<SiteId>,
    },
    /// `result = op(args…)` with the threads of the subgroup that execute this statement.
    Subgroup {
        op: SubgroupOp,
        args: List,
        result: LocalId,
    },
    /// `place = value`, inside a local or an element; the value is evaluated first, then the place.
    Update { place: PlaceId, value: ExprId },
    /// A call of a `#[device]` function.
    Call { call: CallId },
    /// Code in the target's own language.
    Native { native: NativeId },
}

/// A hint to a target's compiler to unroll a loop. It changes no result.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Unroll {
    /// Unroll completely, if the trip count is a constant.
    Whole,
    /// Unroll by this factor, up to [`Unroll::MOST`]; 1 forbids unrolling.
    Times(u32),
    /// Unroll by the factor of a constant that is known when the kernel is linked.
    Link(LinkId),
}

impl Unroll {
    /// The largest factor.
    pub const MOST: u32 = 1024;
}
