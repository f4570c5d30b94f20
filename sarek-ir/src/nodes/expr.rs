use crate::facts::BinaryKind;
use crate::{CompoundId, ExprId, Intrinsic, LinkId, List, LocalId, Memory, ParamId, SiteId, Value};

/// A pure expression. [`crate::Kernel::expr_types`] holds its type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)] // each variant's sentence explains its fields
pub enum Expr {
    /// A constant.
    Literal(Value),
    /// A constant that only the user's crate knows; [`crate::link::link`] fills it in.
    Link(LinkId),
    /// The current value of a local.
    Local(LocalId),
    /// The value of a scalar parameter.
    Param(ParamId),
    /// The number of elements of a slice or array, a `usize`.
    Len(Memory),
    /// An id or extent, a `usize`.
    Builtin(Builtin),
    /// `memory[index]`; `index` is a `usize`. Faults when out of bounds.
    Load {
        memory: Memory,
        index: ExprId,
        site: Option<SiteId>,
    },
    /// `index`, which must be below `len`; both are `usize`. Faults otherwise. It checks one dimension of an index into
    /// an array of arrays or a strided view.
    Bounded {
        index: ExprId,
        len: ExprId,
        site: Option<SiteId>,
    },
    /// A prefix operator.
    Unary { op: UnaryOp, arg: ExprId },
    /// An infix operator that cannot fault. Both sides have one type, except for shifts, whose
    /// right side is any integer; a comparison yields `bool`.
    Binary {
        op: BinaryOp,
        lhs: ExprId,
        rhs: ExprId,
    },
    /// Integer division. Faults on a zero divisor and on `MIN / -1`.
    Divide {
        op: DivideOp,
        lhs: ExprId,
        rhs: ExprId,
        site: Option<SiteId>,
    },
    /// `lhs && rhs`, short-circuiting.
    And { lhs: ExprId, rhs: ExprId },
    /// `lhs || rhs`, short-circuiting.
    Or { lhs: ExprId, rhs: ExprId },
    /// `arg as T`, `T` being this expression's type.
    Cast { arg: ExprId },
    /// A numeric method or function; see [`Intrinsic`] for each one's signature.
    Call { intrinsic: Intrinsic, args: List },
    /// An operation on compound values.
    Compound(CompoundId),
    /// True if this thread has faulted; a `bool`. Introduced by [`crate::passes::guard_loops`].
    Faulted,
}

/// A dimension of the index space; `X` runs fastest.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[allow(missing_docs)]
pub enum Axis {
    X,
    Y,
    Z,
}

impl Axis {
    /// The three axes in order.
    pub const ALL: [Axis; 3] = [Axis::X, Axis::Y, Axis::Z];

    /// 0, 1 or 2.
    pub const fn index(self) -> usize {
        self as usize
    }

    /// `x`, `y` or `z`.
    pub const fn name(self) -> &'static str {
        match self {
            Axis::X => "x",
            Axis::Y => "y",
            Axis::Z => "z",
        }
    }
}

/// Ids and extents of the index space, all `usize`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Builtin {
    /// Index of the thread in its block.
    ThreadIdx(Axis),
    /// Index of the block in the grid.
    BlockIdx(Axis),
    /// Number of threads of a block.
    BlockDim(Axis),
    /// Number of blocks of the grid.
    GridDim(Axis),
    /// Index of the thread in the whole launch: `block_idx * block_dim + thread_idx`.
    GlobalIdx(Axis),
    /// Number of threads of the whole launch: the extent of `.over(…)`, else `grid_dim * block_dim`.
    GlobalDim(Axis),
    /// `(global_idx_z * global_dim_y + global_idx_y) * global_dim_x + global_idx_x`.
    GlobalThreadId,
    /// The largest number of threads of a subgroup.
    SubgroupSize,
    /// Index of the thread in its subgroup.
    SubgroupLane,
}

impl Builtin {
    /// Every builtin with the function that users call for it.
    pub const ALL: [(&'static str, Builtin); 21] = [
        ("thread_idx_x", Builtin::ThreadIdx(Axis::X)),
        ("thread_idx_y", Builtin::ThreadIdx(Axis::Y)),
        ("thread_idx_z", Builtin::ThreadIdx(Axis::Z)),
        ("block_idx_x", Builtin::BlockIdx(Axis::X)),
        ("block_idx_y", Builtin::BlockIdx(Axis::Y)),
        ("block_idx_z", Builtin::BlockIdx(Axis::Z)),
        ("block_dim_x", Builtin::BlockDim(Axis::X)),
        ("block_dim_y", Builtin::BlockDim(Axis::Y)),
        ("block_dim_z", Builtin::BlockDim(Axis::Z)),
        ("grid_dim_x", Builtin::GridDim(Axis::X)),
        ("grid_dim_y", Builtin::GridDim(Axis::Y)),
        ("grid_dim_z", Builtin::GridDim(Axis::Z)),
        ("global_idx_x", Builtin::GlobalIdx(Axis::X)),
        ("global_idx_y", Builtin::GlobalIdx(Axis::Y)),
        ("global_idx_z", Builtin::GlobalIdx(Axis::Z)),
        ("global_dim_x", Builtin::GlobalDim(Axis::X)),
        ("global_dim_y", Builtin::GlobalDim(Axis::Y)),
        ("global_dim_z", Builtin::GlobalDim(Axis::Z)),
        ("global_thread_id", Builtin::GlobalThreadId),
        ("subgroup_size", Builtin::SubgroupSize),
        ("subgroup_lane", Builtin::SubgroupLane),
    ];

    /// Aliases of builtins: the id of an item of a kernel over items is the id of its thread.
    pub const ALIASES: [(&'static str, Builtin); 1] = [("item_id", Builtin::GlobalIdx(Axis::X))];

    /// The builtin that a function of this name stands for.
    pub fn from_name(name: &str) -> Option<Builtin> {
        let all = Builtin::ALL.into_iter().chain(Builtin::ALIASES);
        all.into_iter().find(|(n, _)| *n == name).map(|(_, b)| b)
    }

    /// The name of the function that users call.
    pub fn name(self) -> &'static str {
        let found = Builtin::ALL.into_iter().find(|(_, b)| *b == self);
        found.expect("every builtin stands in Builtin::ALL").0
    }

    /// The axis, if the builtin has one.
    pub const fn axis(self) -> Option<Axis> {
        match self {
            Builtin::ThreadIdx(a)
            | Builtin::BlockIdx(a)
            | Builtin::BlockDim(a)
            | Builtin::GridDim(a)
            | Builtin::GlobalIdx(a)
            | Builtin::GlobalDim(a) => Some(a),
            Builtin::GlobalThreadId | Builtin::SubgroupSize | Builtin::SubgroupLane => None,
        }
    }

    /// True if it describes the thread's subgroup.
    pub const fn is_of_subgroup(self) -> bool {
        matches!(self, Builtin::SubgroupSize | Builtin::SubgroupLane)
    }

    /// True if it is the same for all threads of a block.
    pub const fn is_uniform(self) -> bool {
        match self {
            Builtin::BlockIdx(_)
            | Builtin::BlockDim(_)
            | Builtin::GridDim(_)
            | Builtin::GlobalDim(_)
            | Builtin::SubgroupSize => true,
            Builtin::ThreadIdx(_)
            | Builtin::GlobalIdx(_)
            | Builtin::GlobalThreadId
            | Builtin::SubgroupLane => false,
        }
    }

    /// True if it is the same for all threads of a row of a block; a row extends along x.
    pub const fn is_of_row(self) -> bool {
        match self {
            Builtin::ThreadIdx(axis) | Builtin::GlobalIdx(axis) => !matches!(axis, Axis::X),
            Builtin::BlockIdx(_)
            | Builtin::BlockDim(_)
            | Builtin::GridDim(_)
            | Builtin::GlobalDim(_)
            | Builtin::SubgroupSize => true,
            Builtin::GlobalThreadId | Builtin::SubgroupLane => false,
        }
    }

    /// True if it counts threads or blocks. Then it is never zero.
    pub const fn is_count(self) -> bool {
        match self {
            Builtin::BlockDim(_)
            | Builtin::GridDim(_)
            | Builtin::GlobalDim(_)
            | Builtin::SubgroupSize => true,
            Builtin::ThreadIdx(_)
            | Builtin::BlockIdx(_)
            | Builtin::GlobalIdx(_)
            | Builtin::GlobalThreadId
            | Builtin::SubgroupLane => false,
        }
    }
}

/// Prefix operators.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum UnaryOp {
    /// `-x`, wrapping on integers.
    Neg,
    /// `!x`: logical on `bool`, bitwise on integers.
    Not,
}

/// Infix operators that cannot fault.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    /// Floats only; integers use [`Expr::Divide`].
    Div,
    /// Floats only: C's `fmod`, as in Rust.
    Rem,
    BitAnd,
    BitOr,
    BitXor,
    /// The count is masked to the width of the left side.
    Shl,
    /// Arithmetic for signed types; the count is masked.
    Shr,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

impl BinaryOp {
    /// The operator in Rust.
    pub const fn symbol(self) -> &'static str {
        match self {
            BinaryOp::Add => "+",
            BinaryOp::Sub => "-",
            BinaryOp::Mul => "*",
            BinaryOp::Div => "/",
            BinaryOp::Rem => "%",
            BinaryOp::BitAnd => "&",
            BinaryOp::BitOr => "|",
            BinaryOp::BitXor => "^",
            BinaryOp::Shl => "<<",
            BinaryOp::Shr => ">>",
            BinaryOp::Eq => "==",
            BinaryOp::Ne => "!=",
            BinaryOp::Lt => "<",
            BinaryOp::Le => "<=",
            BinaryOp::Gt => ">",
            BinaryOp::Ge => ">=",
        }
    }

    /// True if it yields `bool` for any operand type.
    pub const fn is_comparison(self) -> bool {
        matches!(self.kind(), BinaryKind::Comparison)
    }

    /// True for a shift, whose two sides may differ in type.
    pub const fn is_shift(self) -> bool {
        matches!(self, BinaryOp::Shl | BinaryOp::Shr)
    }
}

/// The forms of integer division.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DivideOp {
    /// `a / b`, towards zero.
    Div,
    /// `a % b`, with the sign of `a`.
    Rem,
    /// `a.div_euclid(b)`
    DivEuclid,
    /// `a.rem_euclid(b)`
    RemEuclid,
}

impl DivideOp {
    /// The name in IR text and in the names of helpers.
    pub const fn name(self) -> &'static str {
        match self {
            DivideOp::Div => "div",
            DivideOp::Rem => "rem",
            DivideOp::DivEuclid => "div_euclid",
            DivideOp::RemEuclid => "rem_euclid",
        }
    }
}
