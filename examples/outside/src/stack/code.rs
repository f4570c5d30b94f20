//! The machine code: one byte for the operation, and its operands.

use sarek::ir::{BinaryOp, DivideOp, Scalar, UnaryOp, Value};

/// The site of an access or an operation that is not checked, since its launch proved it.
pub(super) const PROVED: u32 = u32::MAX;

/// An instruction. It takes its operands from the stack, and leaves its result there.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Code {
    /// Pushes a constant.
    Push(Value),
    /// Pushes a local.
    Get(u32),
    /// Pops into a local.
    Set(u32),
    /// Pushes a scalar argument.
    Param(u32),
    /// Pushes the number of elements of an argument.
    Len(u32),
    /// Pushes the thread's index along an axis.
    Index(u8),
    /// Pushes the number of threads along an axis.
    Extent(u8),
    /// Pops an index, and pushes that element of an argument. Faults at the site if there is none.
    Load(u32, u32),
    /// Pops an index and a value, and stores the value.
    Store(u32, u32),
    /// Applies an operator.
    Unary(UnaryOp),
    /// Applies an operator. Faults at the site if the result overflows.
    Binary(BinaryOp, u32),
    /// Divides. Faults at the site if there is no result.
    Divide(DivideOp, u32),
    /// Converts to another type.
    Cast(Scalar),
    /// Continues at an instruction.
    Jump(u32),
    /// Pops a condition, and continues at an instruction if it is false.
    Unless(u32),
}

const SCALARS: [Scalar; 14] = [
    Scalar::Bool,
    Scalar::I8,
    Scalar::U8,
    Scalar::I16,
    Scalar::U16,
    Scalar::I32,
    Scalar::U32,
    Scalar::I64,
    Scalar::U64,
    Scalar::Usize,
    Scalar::F16,
    Scalar::Bf16,
    Scalar::F32,
    Scalar::F64,
];
const UNARY: [UnaryOp; 2] = [UnaryOp::Neg, UnaryOp::Not];
const BINARY: [BinaryOp; 16] = [
    BinaryOp::Add,
    BinaryOp::Sub,
    BinaryOp::Mul,
    BinaryOp::Div,
    BinaryOp::Rem,
    BinaryOp::BitAnd,
    BinaryOp::BitOr,
    BinaryOp::BitXor,
    BinaryOp::Shl,
    BinaryOp::Shr,
    BinaryOp::Eq,
    BinaryOp::Ne,
    BinaryOp::Lt,
    BinaryOp::Le,
    BinaryOp::Gt,
    BinaryOp::Ge,
];
const DIVIDE: [DivideOp; 4] = [
    DivideOp::Div,
    DivideOp::Rem,
    DivideOp::DivEuclid,
    DivideOp::RemEuclid,
];

fn number<T: PartialEq>(table: &[T], of: &T) -> u64 {
    let at = table.iter().position(|known| known == of);
    at.expect("each is in its table") as u64
}

/// The instructions as bytes: for each the operation, and two operands of 8 bytes.
pub(super) fn encode(program: &[Code]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for code in program {
        let (operation, first, second) = match *code {
            Code::Push(value) => (0, number(&SCALARS, &value.scalar()), value.bits()),
            Code::Get(local) => (1, local.into(), 0),
            Code::Set(local) => (2, local.into(), 0),
            Code::Param(param) => (3, param.into(), 0),
            Code::Len(param) => (4, param.into(), 0),
            Code::Index(axis) => (5, axis.into(), 0),
            Code::Extent(axis) => (6, axis.into(), 0),
            Code::Load(param, site) => (7, param.into(), site.into()),
            Code::Store(param, site) => (8, param.into(), site.into()),
            Code::Unary(op) => (9, number(&UNARY, &op), 0),
            Code::Binary(op, site) => (10, number(&BINARY, &op), site.into()),
            Code::Divide(op, site) => (11, number(&DIVIDE, &op), site.into()),
            Code::Cast(scalar) => (12, number(&SCALARS, &scalar), 0),
            Code::Jump(to) => (13, to.into(), 0),
            Code::Unless(to) => (14, to.into(), 0),
        };
        bytes.push(operation);
        bytes.extend(u64::to_le_bytes(first));
        bytes.extend(u64::to_le_bytes(second));
    }
    bytes
}

/// The instructions of a program; `None` for anything else.
pub(super) fn decode(bytes: &[u8]) -> Option<Vec<Code>> {
    let (instructions, rest) = bytes.as_chunks::<17>();
    let decode = |[operation, operands @ ..]: &[u8; 17]| {
        let (words, _) = operands.as_chunks::<8>();
        let [first, second] = [0, 1].map(|at| u64::from_le_bytes(words[at]));
        let small = u32::try_from(first).ok();
        let axis = u8::try_from(first).ok().filter(|axis| *axis < 3);
        let at = usize::try_from(first).ok()?;
        let site = u32::try_from(second).ok()?;
        Some(match operation {
            0 => Code::Push(Value::of_bits(*SCALARS.get(at)?, second)),
            1 => Code::Get(small?),
            2 => Code::Set(small?),
            3 => Code::Param(small?),
            4 => Code::Len(small?),
            5 => Code::Index(axis?),
            6 => Code::Extent(axis?),
            7 => Code::Load(small?, site),
            8 => Code::Store(small?, site),
            9 => Code::Unary(*UNARY.get(at)?),
            10 => Code::Binary(*BINARY.get(at)?, site),
            11 => Code::Divide(*DIVIDE.get(at)?, site),
            12 => Code::Cast(*SCALARS.get(at)?),
            13 => Code::Jump(small?),
            14 => Code::Unless(small?),
            _ => return None,
        })
    };
    let program = instructions.iter().map(decode).collect();
    if rest.is_empty() { program } else { None }
}
