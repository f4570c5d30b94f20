//! Encodes the nodes of the IR: a struct by its fields in order, an enum value by its variant's position and its
//! fields.

use super::wire::{Reader, Wire};
use crate::print::{Align, Format, Notation, PrintPiece, Printer};
use crate::{
    Access, Argument, Arithmetic, AtomicOp, Axis, BinaryOp, Block, Builtin, Call, CallId,
    CallTarget, Callable, CallableArg, CallableId, Closure, ClosureId, Compound, CompoundId,
    DivideOp, Expr, ExprId, FunctionId, Intrinsic, Kernel, LabelId, Length, Link, LinkId, List,
    Loc, Local, LocalId, Memory, NameId, Native, NativeId, NativeText, Origin, Param, ParamId,
    ParamKind, Piece, Place, PlaceId, Precondition, Prelude, Print, PrintId, Root, Scalar, Scope,
    SharedArray, SharedId, Site, SiteId, SiteKind, Step, Stmt, StmtId, SubgroupOp, Table, TableId,
    TableValues, Type, TypeDef, TypeId, TypeLinkId, UnaryOp, Unroll, Value,
};

/// Implements [`Wire`] for newtypes.
macro_rules! wrappers {
    ($($ty:ident),* $(,)?) => {$(
        impl Wire for $ty {
            fn write(&self, to: &mut Vec<u8>) {
                self.0.write(to);
            }

            fn read(from: &mut Reader) -> Option<$ty> {
                Wire::read(from).map($ty)
            }
        }
    )*};
}

wrappers!(
    Block, CallId, CallableId, ClosureId, CompoundId, ExprId, FunctionId, LabelId, LinkId, LocalId,
    NameId, NativeId, ParamId, PlaceId, PrintId, SharedId, SiteId, StmtId, TableId, TypeId,
    TypeLinkId,
);

macro_rules! records {
    ($($ty:ident { $($field:ident),* })*) => {$(
        impl Wire for $ty {
            fn write(&self, to: &mut Vec<u8>) {
                let $ty { $($field),* } = self;
                $($field.write(to);)*
            }

            fn read(from: &mut Reader) -> Option<$ty> {
                $(let $field = Wire::read(from)?;)*
                Some($ty { $($field),* })
            }
        }
    )*};
}

macro_rules! variants {
    ($($ty:ident { $($variant:ident $(($($item:ident),*))? $({ $($field:ident),* })?),* })*) => {$(
        const _: () = {
            enum Tag { $($variant),* }

            impl Wire for $ty {
                fn write(&self, to: &mut Vec<u8>) {
                    match self {
                        $($ty::$variant $(($($item),*))? $({ $($field),* })? => {
                            to.push(Tag::$variant as u8);
                            $($($item.write(to);)*)?
                            $($($field.write(to);)*)?
                        })*
                    }
                }

                fn read(from: &mut Reader) -> Option<$ty> {
                    let tag = from.byte()?;
                    $(if tag == Tag::$variant as u8 {
                        $($(let $item = Wire::read(from)?;)*)?
                        $($(let $field = Wire::read(from)?;)*)?
                        return Some($ty::$variant $(($($item),*))? $({ $($field),* })?);
                    })*
                    None
                }
            }
        };
    )*};
}

impl Wire for Printer {
    fn write(&self, to: &mut Vec<u8>) {
        let link = match *self {
            Printer::Pieces => None,
            Printer::Link(link) => Some(link),
            Printer::Host(_) => unreachable!("linking finds printers"),
        };
        link.write(to);
    }

    fn read(from: &mut Reader) -> Option<Printer> {
        Some(Option::read(from)?.map_or(Printer::Pieces, Printer::Link))
    }
}

impl Wire for TableValues {
    fn write(&self, to: &mut Vec<u8>) {
        match self {
            TableValues::Link(link) => link.write(to),
            TableValues::Known { .. } => unreachable!("linking fills in constants"),
        }
    }

    fn read(from: &mut Reader) -> Option<TableValues> {
        Some(TableValues::Link(Wire::read(from)?))
    }
}

impl Wire for Intrinsic {
    fn write(&self, to: &mut Vec<u8>) {
        to.push(*self as u8);
    }

    fn read(from: &mut Reader) -> Option<Intrinsic> {
        Intrinsic::ALL.get(usize::from(from.byte()?)).copied()
    }
}

variants! {
    Scalar { Bool, I8, U8, I16, U16, I32, U32, I64, U64, Usize, F16, Bf16, F32, F64 }
    Value {
        Bool(a), I8(a), U8(a), I16(a), U16(a), I32(a), U32(a), I64(a), U64(a), Usize(a), F16(a), Bf16(a), F32(a),
        F64(a)
    }
    Type { Scalar(a), Compound(a) }
    TypeDef {
        Array { elem, len }, Tuple(a), Link(a), Field { of, name }, Element { of },
        Payload { of, variant, name }, Result(a), Parameter { of, index }, Callable { of, callable, takes }
    }
    Memory { Slice(a), Shared(a), Local(a), Table(a) }
    Length { Fixed(a), Link(a), Launch(a) }
    Axis { X, Y, Z }
    Builtin {
        ThreadIdx(a), BlockIdx(a), BlockDim(a), GridDim(a), GlobalIdx(a), GlobalDim(a), GlobalThreadId,
        SubgroupSize, SubgroupLane
    }
    UnaryOp { Neg, Not }
    BinaryOp { Add, Sub, Mul, Div, Rem, BitAnd, BitOr, BitXor, Shl, Shr, Eq, Ne, Lt, Le, Gt, Ge }
    DivideOp { Div, Rem, DivEuclid, RemEuclid }
    Expr {
        Literal(a), Link(a), Local(a), Param(a), Len(a), Builtin(a), Load { memory, index, site },
        Bounded { index, len, site }, Unary { op, arg }, Binary { op, lhs, rhs },
        Divide { op, lhs, rhs, site }, And { lhs, rhs }, Or { lhs, rhs }, Cast { arg },
        Call { intrinsic, args }, Compound(a), Faulted
    }
    AtomicOp { Load, Store, Add, Sub, Min, Max, And, Or, Xor, Swap, CompareExchange }
    Scope { Block, Device }
    SubgroupOp {
        Shuffle, ShuffleUp, ShuffleDown, ShuffleXor, Broadcast, All, Any, Ballot, Sum, Product, Min, Max,
        InclusiveSum, ExclusiveSum
    }
    Stmt {
        Let { local, init }, Assign { local, value }, Store { memory, index, value, site },
        Assert { cond, site }, Panic { site }, Print { print }, If { cond, then, otherwise },
        Loop { label, cond, body }, For { label, local, start, end, body }, Break { label },
        Continue { label }, Return, Barrier, Fence { scope },
        Atomic { op, memory, index, args, result, site }, Subgroup { op, args, result },
        Update { place, value }, Call { call }, Native { native }
    }
    Unroll { Whole, Times(a), Link(a) }
    Compound {
        Field { base, name }, Index { base, index, site }, IsVariant { value, variant },
        Payload { value, variant, name }, Construct { variant, fields, rest }, Array { items },
        Repeat { value }, Len { base }, At { view, indices }
    }
    Root { Local(a), Param(a), Element { memory, index, site } }
    Step { Field(a), Index { index, site } }
    Argument { Value(a), Memory(a), Local(a) }
    CallTarget { Function(a), Callable(a) }
    CallableArg { Closure(a), Function(a), Callable(a) }
    ParamKind { Scalar(a), Value(a), Reference(a), Slice { elem, access } }
    Access { Read, Write, Atomic }
    SiteKind { Index(a), Dimension(a, b), Divisor, Overflow(a), Assert(a), Panic(a) }
    Arithmetic { Add, Sub, Mul, Neg, Shl, Shr, Abs, Pow }
    Piece { Text(a), Local(a), Param(a), Shared(a), Place(a) }
    Precondition {
        SingleThread(a), ExtentAtMost(a, b), BlockAtMost(a, b), NoOverflow(a), Holds(a), SubgroupSize(a), SubgroupSizeIs(a),
        EqualSubgroups, WholeSubgroups, BlockOfSubgroups, Positive(a), GridAtMost(a, b), BlockMultipleOf(a)
    }
    PrintPiece { Text(a), Arg { index, format } }
    Align { Left, Center, Right }
    Notation { Display, Debug, LowerHex, UpperHex, Octal, Binary, LowerExp, UpperExp }
}

/// A packed kernel is not linked, so all its locations are in one file.
impl Wire for Loc {
    fn write(&self, to: &mut Vec<u8>) {
        self.line.write(to);
        self.column.write(to);
    }

    fn read(from: &mut Reader) -> Option<Loc> {
        Some(Loc::new(Wire::read(from)?, Wire::read(from)?))
    }
}

records! {
    List { start, len }
    Param { name, kind, align }
    Local { name, ty, mutable }
    SharedArray { name, elem, len, atomic }
    Table { name, values }
    Place { root, steps }
    Call { called, args, callable_args, result }
    Callable { name, params, result }
    Closure { params, result, body }
    Site { kind, loc, provable }
    Native { texts, fallback, result, intrinsic }
    NativeText { target, pieces, origin }
    Origin { file, line, by_line }
    Prelude { texts, origin }
    Link { path, ty }
    Print { pieces, args, printer }
    Format { fill, align, plus, alternate, zero, width, precision, notation }
    Kernel {
        name, file, files, block, strict, params, shared, tables, types, names, compounds, places, calls, closures,
        callables, functions, type_links, result, locals, exprs, expr_types, expr_locs, stmts, stmt_locs,
        lists, unrolls, overflows, body, sites, natives, preludes, prelude_links, prints, links, preconditions, last_strides
    }
}
