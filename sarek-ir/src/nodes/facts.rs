//! Facts of each node by itself, without its operands and blocks. [`Kernel::exprs_in`] and [`Kernel::stmts_in`] lead from
//! a node to those inside of it.
//!
//! A new node gets its facts here and its parts in `visit.rs`. Predicates over nodes match on facts, so they need no list
//! of all nodes. A predicate that *allows* a few nodes may name them with `matches!`, which rejects a new node. A
//! predicate that *rejects* a few nodes matches on facts.
//!
//! Expressions are pure: a node has no effect but the fault of its check, and it never depends on the order of
//! evaluation. [`Reads`] tells what else its value depends on.

use crate::{
    Arithmetic, AtomicOp, BinaryOp, Builtin, CallId, Expr, ExprId, Intrinsic, Kernel, LabelId,
    List, LocalId, Memory, NativeId, ParamId, PlaceId, PrintId, SiteId, Stmt, SubgroupOp, UnaryOp,
    Value,
};

/// Facts of an expression's node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ExprFacts {
    /// The state that the node reads.
    pub reads: Reads,
    /// The check that the node makes.
    pub check: Check,
    /// The arithmetic of the node, if its operands are integers. [`Kernel::arithmetic`] asks for their type, too.
    pub arithmetic: Option<Arithmetic>,
    /// The amount and kind of work.
    pub work: Work,
}

/// The state that a node of an expression reads, besides its operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reads {
    /// Nothing but the operands.
    Operands,
    /// Nothing: a constant, perhaps one that linking fills in.
    Constant,
    /// A parameter. The value of one by reference may change.
    Param(ParamId),
    /// A length, which a launch fixes.
    Len(Memory),
    /// An id or an extent, which is fixed for a thread.
    Id(Builtin),
    /// A local.
    Local(LocalId),
    /// An element.
    Memory(Memory),
    /// The faults of the thread so far.
    Faults,
}

impl Reads {
    /// The memory from which the node loads.
    pub const fn memory(self) -> Option<Memory> {
        match self {
            Reads::Memory(memory) => Some(memory),
            Reads::Operands
            | Reads::Constant
            | Reads::Param(_)
            | Reads::Len(_)
            | Reads::Id(_)
            | Reads::Local(_)
            | Reads::Faults => None,
        }
    }
}

/// The work of a node of an expression, without its operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Work {
    /// Names a value.
    Leaf,
    /// One operation, or a few.
    Operator,
    /// Evaluates the right operand only if the left one does not decide.
    ShortCircuit,
    /// Reads memory.
    Load,
    /// Calls a numeric method, which may be long.
    Call(Intrinsic),
    /// Takes compound values apart, or constructs them.
    Compound,
}

/// The check that a node makes. A site of `None` means that the check is proved or unwanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Check {
    /// The node itself cannot fault.
    None,
    /// The index is below a length.
    Bounds(Option<SiteId>),
    /// The divisor is not zero, and the quotient fits.
    Divisor(Option<SiteId>),
    /// The indices inside a place or a compound value are in bounds. [`Kernel::places`] and [`Kernel::compounds`] have
    /// their sites.
    Parts,
    /// A condition holds.
    Assertion(SiteId),
    /// The statement always faults, and ends the thread.
    Panic(SiteId),
}

impl Check {
    /// The site of the node itself.
    pub const fn site(self) -> Option<SiteId> {
        match self {
            Check::Bounds(site) | Check::Divisor(site) => site,
            Check::Assertion(site) | Check::Panic(site) => Some(site),
            Check::None | Check::Parts => None,
        }
    }
}

/// The way in which a node of an expression may fail, given its operands. [`Kernel::hazard`] computes it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Hazard {
    /// It cannot fail.
    None,
    /// Integer arithmetic may overflow: a fault or panic in a debug build, else it wraps.
    Overflow(Arithmetic),
    /// An index may be out of bounds, or a divisor unsuitable.
    Fault,
}

/// Facts of a statement by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StmtFacts {
    /// The next statement.
    pub flow: Flow,
    /// The effect beyond the thread's own locals.
    pub effect: Effect,
    /// The local that the statement declares.
    pub declares: Option<LocalId>,
    /// The local that the statement sets. [`Effect::Place`], [`Effect::Call`] and [`Effect::Native`] may set others.
    pub assigns: Option<LocalId>,
    /// The check that the statement makes.
    pub check: Check,
    /// The rough number of instructions, without blocks.
    pub cost: u32,
}

/// The successor of a statement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flow {
    /// The next statement of the block. A closure or a fallback may run before it.
    Next,
    /// One of two blocks.
    Branch,
    /// The body of the loop, or the statement after the loop.
    Loop(LabelId),
    /// The statement after the loop.
    Break(LabelId),
    /// The next iteration of the loop.
    Continue(LabelId),
    /// The end of the thread or function.
    Return,
    /// The end of the thread.
    Panic,
}

impl Flow {
    /// True for a jump to another statement, or to the end of the thread or function. A panic is not one: no thread that
    /// goes on misses anything.
    pub const fn is_jump(self) -> bool {
        match self {
            Flow::Break(_) | Flow::Continue(_) | Flow::Return => true,
            Flow::Next | Flow::Branch | Flow::Loop(_) | Flow::Panic => false,
        }
    }

    /// True if the next statement of the block never follows. A branch may end its block that way, too.
    pub const fn ends_block(self) -> bool {
        matches!(self, Flow::Panic) || self.is_jump()
    }
}

/// The effect of a statement beyond the locals that it names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// None.
    None,
    /// Stores an element.
    Store(Memory),
    /// Reads and writes an element.
    Atomic(AtomicOp, Memory),
    /// Changes a part of a local, parameter or element.
    Place(PlaceId),
    /// Prints.
    Print(PrintId),
    /// Orders memory operations.
    Fence,
    /// Waits for the other threads of the block.
    Barrier,
    /// Exchanges values with the other threads of the subgroup.
    Subgroup(SubgroupOp, List),
    /// The effects of the callee and of closures.
    Call(CallId),
    /// Unknown: code of the target.
    Native(NativeId),
}

impl Effect {
    /// True if threads wait for each other, or exchange values.
    pub const fn is_cooperative(self) -> bool {
        match self {
            Effect::Barrier | Effect::Subgroup(..) => true,
            Effect::None
            | Effect::Store(_)
            | Effect::Atomic(..)
            | Effect::Place(_)
            | Effect::Print(_)
            | Effect::Fence
            | Effect::Call(_)
            | Effect::Native(_) => false,
        }
    }

    /// True if all threads of a block wait for each other.
    pub const fn waits_for_block(self) -> bool {
        match self {
            Effect::Barrier => true,
            Effect::None
            | Effect::Store(_)
            | Effect::Atomic(..)
            | Effect::Place(_)
            | Effect::Print(_)
            | Effect::Fence
            | Effect::Subgroup(..)
            | Effect::Call(_)
            | Effect::Native(_) => false,
        }
    }

    /// The memory of which the statement itself changes an element that it names by an index.
    pub const fn memory(self) -> Option<Memory> {
        match self {
            Effect::Store(memory) | Effect::Atomic(_, memory) => Some(memory),
            Effect::None
            | Effect::Place(_)
            | Effect::Print(_)
            | Effect::Fence
            | Effect::Barrier
            | Effect::Subgroup(..)
            | Effect::Call(_)
            | Effect::Native(_) => None,
        }
    }
}

/// The kind of an infix operator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BinaryKind {
    /// May overflow on integers.
    Arithmetic(Arithmetic),
    /// Division of floats.
    Division,
    /// Bitwise, or logical on `bool`.
    Bits,
    /// Yields `bool`.
    Comparison,
}

impl BinaryOp {
    /// The kind of the operator.
    pub const fn kind(self) -> BinaryKind {
        match self {
            BinaryOp::Add => BinaryKind::Arithmetic(Arithmetic::Add),
            BinaryOp::Sub => BinaryKind::Arithmetic(Arithmetic::Sub),
            BinaryOp::Mul => BinaryKind::Arithmetic(Arithmetic::Mul),
            BinaryOp::Shl => BinaryKind::Arithmetic(Arithmetic::Shl),
            BinaryOp::Shr => BinaryKind::Arithmetic(Arithmetic::Shr),
            BinaryOp::Div | BinaryOp::Rem => BinaryKind::Division,
            BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor => BinaryKind::Bits,
            BinaryOp::Eq
            | BinaryOp::Ne
            | BinaryOp::Lt
            | BinaryOp::Le
            | BinaryOp::Gt
            | BinaryOp::Ge => BinaryKind::Comparison,
        }
    }
}

impl Expr {
    /// The facts of the node.
    pub const fn facts(self) -> ExprFacts {
        match self {
            Expr::Literal(_) | Expr::Link(_) => ExprFacts::leaf(Reads::Constant),
            Expr::Local(local) => ExprFacts::leaf(Reads::Local(local)),
            Expr::Param(param) => ExprFacts::leaf(Reads::Param(param)),
            Expr::Len(memory) => ExprFacts::leaf(Reads::Len(memory)),
            Expr::Builtin(builtin) => ExprFacts::leaf(Reads::Id(builtin)),
            Expr::Faulted => ExprFacts::leaf(Reads::Faults),
            Expr::Load { memory, site, .. } => ExprFacts {
                reads: Reads::Memory(memory),
                check: Check::Bounds(site),
                ..ExprFacts::of(Work::Load)
            },
            Expr::Bounded { site, .. } => ExprFacts {
                check: Check::Bounds(site),
                ..ExprFacts::of(Work::Operator)
            },
            Expr::Divide { site, .. } => ExprFacts {
                check: Check::Divisor(site),
                ..ExprFacts::of(Work::Operator)
            },
            Expr::Unary { op, .. } => ExprFacts {
                arithmetic: match op {
                    UnaryOp::Neg => Some(Arithmetic::Neg),
                    UnaryOp::Not => None,
                },
                ..ExprFacts::of(Work::Operator)
            },
            Expr::Binary { op, .. } => ExprFacts {
                arithmetic: match op.kind() {
                    BinaryKind::Arithmetic(arithmetic) => Some(arithmetic),
                    BinaryKind::Division | BinaryKind::Bits | BinaryKind::Comparison => None,
                },
                ..ExprFacts::of(Work::Operator)
            },
            Expr::And { .. } | Expr::Or { .. } => ExprFacts::of(Work::ShortCircuit),
            Expr::Cast { .. } => ExprFacts::of(Work::Operator),
            Expr::Call { intrinsic, .. } => ExprFacts {
                arithmetic: Arithmetic::of_method(intrinsic),
                ..ExprFacts::of(Work::Call(intrinsic))
            },
            Expr::Compound(_) => ExprFacts {
                check: Check::Parts,
                ..ExprFacts::of(Work::Compound)
            },
        }
    }

    /// The node without its check.
    pub const fn unchecked(mut self) -> Expr {
        if let Some(site) = self.site_mut() {
            *site = None;
        }
        self
    }

    /// The site of the node itself.
    pub const fn site_mut(&mut self) -> Option<&mut Option<SiteId>> {
        match self {
            Expr::Load { site, .. } | Expr::Bounded { site, .. } | Expr::Divide { site, .. } => {
                Some(site)
            }
            Expr::Literal(_)
            | Expr::Link(_)
            | Expr::Local(_)
            | Expr::Param(_)
            | Expr::Len(_)
            | Expr::Builtin(_)
            | Expr::Unary { .. }
            | Expr::Binary { .. }
            | Expr::And { .. }
            | Expr::Or { .. }
            | Expr::Cast { .. }
            | Expr::Call { .. }
            | Expr::Compound(_)
            | Expr::Faulted => None,
        }
    }
}

impl ExprFacts {
    /// The facts of a node that neither reads nor checks anything.
    const fn of(work: Work) -> ExprFacts {
        ExprFacts {
            reads: Reads::Operands,
            check: Check::None,
            arithmetic: None,
            work,
        }
    }

    const fn leaf(reads: Reads) -> ExprFacts {
        ExprFacts {
            reads,
            ..ExprFacts::of(Work::Leaf)
        }
    }
}

impl Stmt {
    /// The facts of the statement.
    pub const fn facts(self) -> StmtFacts {
        match self {
            Stmt::Let { local, .. } => StmtFacts {
                declares: Some(local),
                ..StmtFacts::costing(4)
            },
            Stmt::Assign { local, .. } => StmtFacts {
                assigns: Some(local),
                ..StmtFacts::costing(4)
            },
            Stmt::Store { memory, site, .. } => StmtFacts {
                effect: Effect::Store(memory),
                check: Check::Bounds(site),
                ..StmtFacts::costing(4)
            },
            Stmt::Update { place, .. } => StmtFacts {
                effect: Effect::Place(place),
                check: Check::Parts,
                ..StmtFacts::costing(4)
            },
            Stmt::Assert { site, .. } => StmtFacts {
                check: Check::Assertion(site),
                ..StmtFacts::costing(4)
            },
            Stmt::Panic { site } => StmtFacts {
                check: Check::Panic(site),
                ..StmtFacts::leading(Flow::Panic)
            },
            Stmt::If { .. } => StmtFacts {
                flow: Flow::Branch,
                ..StmtFacts::costing(4)
            },
            Stmt::Loop { label, .. } => StmtFacts::leading(Flow::Loop(label)),
            Stmt::For { label, local, .. } => StmtFacts {
                declares: Some(local),
                ..StmtFacts::leading(Flow::Loop(label))
            },
            Stmt::Break { label } => StmtFacts::leading(Flow::Break(label)),
            Stmt::Continue { label } => StmtFacts::leading(Flow::Continue(label)),
            Stmt::Return => StmtFacts::leading(Flow::Return),
            Stmt::Print { print } => StmtFacts::acting(Effect::Print(print), 1),
            Stmt::Fence { .. } => StmtFacts::acting(Effect::Fence, 1),
            Stmt::Barrier => StmtFacts::acting(Effect::Barrier, 1),
            Stmt::Atomic {
                op,
                memory,
                result,
                site,
                ..
            } => StmtFacts {
                assigns: result,
                check: Check::Bounds(site),
                ..StmtFacts::acting(Effect::Atomic(op, memory), 16)
            },
            Stmt::Subgroup { op, args, result } => StmtFacts {
                assigns: Some(result),
                ..StmtFacts::acting(Effect::Subgroup(op, args), 16)
            },
            Stmt::Call { call } => StmtFacts::acting(Effect::Call(call), 16),
            Stmt::Native { native } => StmtFacts::acting(Effect::Native(native), 1),
        }
    }

    /// The site of the statement itself.
    pub const fn site_mut(&mut self) -> Option<&mut SiteId> {
        match self {
            Stmt::Store { site, .. } | Stmt::Atomic { site, .. } => site.as_mut(),
            Stmt::Assert { site, .. } | Stmt::Panic { site } => Some(site),
            Stmt::Let { .. }
            | Stmt::Assign { .. }
            | Stmt::Update { .. }
            | Stmt::If { .. }
            | Stmt::Loop { .. }
            | Stmt::For { .. }
            | Stmt::Break { .. }
            | Stmt::Continue { .. }
            | Stmt::Return
            | Stmt::Barrier
            | Stmt::Fence { .. }
            | Stmt::Print { .. }
            | Stmt::Subgroup { .. }
            | Stmt::Call { .. }
            | Stmt::Native { .. } => None,
        }
    }

    /// The statement without the check of its index.
    pub const fn unchecked(mut self) -> Stmt {
        if let Stmt::Store { site, .. } | Stmt::Atomic { site, .. } = &mut self {
            *site = None;
        }
        self
    }

    /// True if all threads of a block wait for each other here. A callee's barriers do not count.
    pub const fn waits_for_block(self) -> bool {
        self.facts().effect.waits_for_block()
    }

    /// The label, if this is a loop.
    pub const fn loop_label(self) -> Option<LabelId> {
        match self.facts().flow {
            Flow::Loop(label) => Some(label),
            Flow::Next
            | Flow::Branch
            | Flow::Break(_)
            | Flow::Continue(_)
            | Flow::Return
            | Flow::Panic => None,
        }
    }
}

impl StmtFacts {
    /// The facts of a statement that only computes.
    const fn costing(cost: u32) -> StmtFacts {
        StmtFacts {
            flow: Flow::Next,
            effect: Effect::None,
            declares: None,
            assigns: None,
            check: Check::None,
            cost,
        }
    }

    const fn leading(flow: Flow) -> StmtFacts {
        StmtFacts {
            flow,
            ..StmtFacts::costing(1)
        }
    }

    const fn acting(effect: Effect, cost: u32) -> StmtFacts {
        StmtFacts {
            effect,
            ..StmtFacts::costing(cost)
        }
    }
}

impl Arithmetic {
    /// The arithmetic of the methods that overflow as operators do.
    const fn of_method(intrinsic: Intrinsic) -> Option<Arithmetic> {
        if matches!(intrinsic, Intrinsic::Abs) {
            Some(Arithmetic::Abs)
        } else if matches!(intrinsic, Intrinsic::Pow) {
            Some(Arithmetic::Pow)
        } else {
            None
        }
    }
}

impl Kernel {
    /// True for a leaf with one value wherever in its scope it is evaluated: reading it again is as good as storing it.
    pub fn is_fixed_leaf(&self, id: ExprId) -> bool {
        match self.expr(id).facts().reads {
            Reads::Constant | Reads::Param(_) | Reads::Len(_) | Reads::Id(_) => true,
            Reads::Local(local) => !self.locals[local.index()].mutable,
            Reads::Operands | Reads::Memory(_) | Reads::Faults => false,
        }
    }

    /// The hazard of the node itself. A divisor that is a suitable constant, or counts threads or blocks, is none. A site
    /// makes no difference: a check that a launch proved may be needed where other threads evaluate the expression.
    pub fn hazard(&self, id: ExprId) -> Hazard {
        match self.expr(id).facts().check {
            Check::None => match self.arithmetic(id) {
                Some(arithmetic) => Hazard::Overflow(arithmetic),
                None => Hazard::None,
            },
            Check::Divisor(_) if self.divides_safely(self.operands(id)[1]) => Hazard::None,
            Check::Divisor(_)
            | Check::Bounds(_)
            | Check::Parts
            | Check::Assertion(_)
            | Check::Panic(_) => Hazard::Fault,
        }
    }

    /// True if no division of integers by this divisor faults.
    pub fn divides_safely(&self, divisor: ExprId) -> bool {
        if let Expr::Builtin(builtin) = self.expr(divisor) {
            return builtin.is_count();
        }
        let value = self.literal(divisor).and_then(Value::as_int);
        value.is_some_and(|value| value != 0 && value != -1)
    }

    /// The arithmetic that an expression performs, if its result may not fit. Its type is an integer, or not known yet.
    pub fn arithmetic(&self, id: ExprId) -> Option<Arithmetic> {
        let ty = self.type_of(id).as_scalar();
        let may_be_int = ty.is_none_or(|ty| ty.is_int());
        self.expr(id).facts().arithmetic.filter(|_| may_be_int)
    }
}

#[cfg(test)]
mod tests;
