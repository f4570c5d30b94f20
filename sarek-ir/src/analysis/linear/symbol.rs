//! The symbols of polynomials: values that one launch fixes.

use crate::{Builtin, ExprId, LinkId, LocalId, Memory, ParamId, Scalar};

/// A value that is the same for all threads of a launch or, in the analysis of a single block, of that block.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Symbol {
    /// A scalar parameter. The flag is true if its type is unsigned.
    Param(ParamId, bool),
    /// The length of a slice.
    Len(Memory),
    /// A constant that the user's crate names, such as a tile size. rustc gives its value. The flag is true if its
    /// type is unsigned.
    Link(LinkId, bool),
    /// An extent of the block, the grid or the launch, along an axis.
    Extent(Extent, u8),
    /// The index of the block along an axis, in the analysis of a single block.
    Block(u8),
    /// The value that a local has in all threads of a block after one assignment. The number identifies the
    /// assignment; the flag is true if the type is unsigned.
    Local(LocalId, u32, bool),
    /// The slack variable of a launch requirement, by the requirement's number; never negative.
    Excess(u32),
    /// Any other expression of such values, named by the first expression of its shape. The flag is true if its
    /// type is unsigned.
    Opaque(ExprId, bool),
    /// A value with a definition, see [`Terms`](super::Terms), that all threads have in common. The flag is true if its
    /// type is unsigned.
    Term(u32, bool),
}

/// The kind of an extent.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Extent {
    /// Threads of a block.
    Block,
    /// Blocks of the grid.
    Grid,
    /// Threads of the launch.
    Global,
}

impl Symbol {
    /// The symbol of a builtin that is the same for the whole launch.
    pub fn of_builtin(builtin: Builtin) -> Option<Symbol> {
        let axis = |a: crate::Axis| a.index() as u8;
        match builtin {
            Builtin::BlockDim(a) => Some(Symbol::Extent(Extent::Block, axis(a))),
            Builtin::GridDim(a) => Some(Symbol::Extent(Extent::Grid, axis(a))),
            Builtin::GlobalDim(a) => Some(Symbol::Extent(Extent::Global, axis(a))),
            Builtin::ThreadIdx(_)
            | Builtin::BlockIdx(_)
            | Builtin::GlobalIdx(_)
            | Builtin::GlobalThreadId
            | Builtin::SubgroupSize
            | Builtin::SubgroupLane => None,
        }
    }

    /// True if it is never negative.
    pub fn is_natural(self) -> bool {
        match self {
            Symbol::Len(_) | Symbol::Extent(..) | Symbol::Block(_) | Symbol::Excess(_) => true,
            Symbol::Param(_, unsigned)
            | Symbol::Link(_, unsigned)
            | Symbol::Local(_, _, unsigned)
            | Symbol::Opaque(_, unsigned)
            | Symbol::Term(_, unsigned) => unsigned,
        }
    }
}

/// True if the type is an unsigned integer.
pub(in crate::analysis) fn is_unsigned(ty: Scalar) -> bool {
    ty.is_int() && !ty.is_signed()
}
