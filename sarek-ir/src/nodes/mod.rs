//! Data types for the nodes of a kernel: expressions, statements, types, values and the tables that they refer to.

pub mod bfloat16;
pub mod binary16;
pub mod builder;
mod closure;
mod collective;
mod compound;
mod expr;
pub mod facts;
mod ids;
mod info;
mod kernel;
mod memory;
mod overflow;
pub mod print;
mod scalar;
mod stmt;
mod ty;
mod value;
mod visit;
pub(crate) mod word;

pub use closure::{CallTarget, Callable, CallableArg, Closure};
pub use collective::{AtomicOp, Scope, SubgroupOp};
pub use compound::{Argument, Call, Compound, HELD, Place, Root, Step, ViewPart};
pub use expr::{Axis, BinaryOp, Builtin, DivideOp, Expr, UnaryOp};
pub use ids::{Ids, SUBGROUP};
pub use info::{EnumInfo, FieldInfo, StructInfo, TypeInfo, VariantInfo};
pub use kernel::{
    Access, Block, CallId, CallableId, ClosureId, CompoundId, ExprId, FileId, FunctionId, Kernel,
    LabelId, Link, LinkId, List, Loc, Local, LocalId, NameId, Native, NativeId, NativeText, Origin,
    Param, ParamId, ParamKind, Piece, PlaceId, Precondition, Prelude, PrintId, SharedId, Site,
    SiteId, SiteKind, StmtId, TableId, TypeId, TypeLinkId,
};
pub use memory::{Length, Memory, SHARED_ALIGNMENT, SharedArray, Table, TableValues};
pub use overflow::Arithmetic;
pub use print::Print;
pub use scalar::Scalar;
pub use stmt::{Stmt, Unroll};
pub use ty::{Type, TypeDef};
pub use value::Value;
