//! Builds kernels with every operation on every type.

use sarek_ir::{
    BinaryOp, DivideOp, ExprId, Intrinsic, Kernel, ParamId, Scalar, TypeClass, UnaryOp, Value,
};

use super::build::Build;

/// An operation on receivers of a type.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Operation {
    Unary(UnaryOp),
    Binary(BinaryOp),
    Divide(DivideOp),
    Cast(Scalar),
    Call(Intrinsic),
}

/// The types of numbers.
pub const NUMBERS: [Scalar; 12] = [
    Scalar::I8,
    Scalar::U8,
    Scalar::I16,
    Scalar::U16,
    Scalar::I32,
    Scalar::U32,
    Scalar::I64,
    Scalar::U64,
    Scalar::F16,
    Scalar::Bf16,
    Scalar::F32,
    Scalar::F64,
];

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

/// Every operation on `ty`.
pub fn operations(ty: Scalar) -> Vec<Operation> {
    let mut all = vec![];
    if !TypeClass::UnsignedInt.contains(ty) {
        all.push(Operation::Unary(UnaryOp::Neg));
    }
    if ty.is_int() {
        all.push(Operation::Unary(UnaryOp::Not));
        all.extend(DIVIDE.map(Operation::Divide));
    }
    for op in BINARY {
        let floats_only = matches!(op, BinaryOp::Div | BinaryOp::Rem);
        let ints_only =
            op.is_shift() || matches!(op, BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor);
        if !(floats_only && ty.is_int() || ints_only && ty.is_float()) {
            all.push(Operation::Binary(op));
        }
    }
    all.extend(NUMBERS.map(Operation::Cast));
    let methods = Intrinsic::ALL.iter().filter(|i| i.stands_on(ty));
    all.extend(methods.map(|i| Operation::Call(*i)));
    all
}

/// The type in which a result is stored: `bool` as `u32`.
pub fn result_type(op: Operation, ty: Scalar) -> Scalar {
    let result = match op {
        Operation::Unary(_) | Operation::Divide(_) => ty,
        Operation::Binary(op) if op.is_comparison() => Scalar::Bool,
        Operation::Binary(_) => ty,
        Operation::Cast(to) => to,
        Operation::Call(intrinsic) => intrinsic.result_type(ty),
    };
    match result {
        Scalar::Bool => Scalar::U32,
        other => other,
    }
}

/// `out[i * n + k] = operation_k(a[i], b[i], c[i])`, with `counts[i]` for operands of another type than `ty`.
pub fn kernel(name: &str, ty: Scalar, operations: &[Operation]) -> Kernel {
    let mut b = Build::new(name);
    let operands = ["a", "b", "c"].map(|name| b.slice(name, ty));
    let counts = b.slice("counts", Scalar::I32);
    let out = b.slice_mut("out", result_type(operations[0], ty));
    for (k, &op) in operations.iter().enumerate() {
        let value = value(&mut b, op, ty, operands, counts);
        let value = match b.kernel.scalar_of(value) {
            Scalar::Bool => b.cast(value, Scalar::U32),
            _ => value,
        };
        let (i, n) = (b.global_x(), b.lit(Value::Usize(operations.len() as u64)));
        let row = b.bin(BinaryOp::Mul, i, n);
        let k = b.lit(Value::Usize(k as u64));
        let at = b.bin(BinaryOp::Add, row, k);
        b.store(out, at, value);
    }
    b.finish()
}

fn value(
    b: &mut Build,
    op: Operation,
    ty: Scalar,
    operands: [ParamId; 3],
    counts: ParamId,
) -> ExprId {
    let load = |b: &mut Build, from| {
        let i = b.global_x();
        let value = b.load(from, i);
        match from == counts || b.kernel.type_of(value) == ty {
            true => value,
            false => b.cast(value, ty),
        }
    };
    let first = load(b, operands[0]);
    match op {
        Operation::Unary(op) => b.un(op, first),
        Operation::Binary(op) => {
            let from = if op.is_shift() { counts } else { operands[1] };
            let second = load(b, from);
            b.bin(op, first, second)
        }
        Operation::Divide(op) => {
            let second = load(b, operands[1]);
            b.div(op, first, second, false)
        }
        Operation::Cast(to) => b.cast(first, to),
        Operation::Call(Intrinsic::Clamp) => {
            let [low, high] = [Intrinsic::Min, Intrinsic::Max].map(|bound| {
                let bounds = [load(b, operands[1]), load(b, operands[2])];
                b.call(bound, &bounds)
            });
            b.call(Intrinsic::Clamp, &[first, low, high])
        }
        Operation::Call(intrinsic) => {
            let mut args = vec![first];
            for (arg, &from) in intrinsic.args().iter().zip(&operands[1..]) {
                args.push(match arg {
                    sarek_ir::ArgType::Same => load(b, from),
                    sarek_ir::ArgType::Fixed(_) | sarek_ir::ArgType::Counterpart => {
                        let (count, ty) = (load(b, counts), arg.of(ty));
                        if ty == Scalar::I32 {
                            count
                        } else {
                            b.cast(count, ty)
                        }
                    }
                });
            }
            b.call(intrinsic, &args)
        }
    }
}

/// The operations on a type, in groups of one result type.
pub fn groups(ty: Scalar) -> Vec<(String, Vec<Operation>)> {
    let all = operations(ty);
    NUMBERS
        .iter()
        .map(|&result| {
            let group = all
                .iter()
                .copied()
                .filter(|op| result_type(*op, ty) == result);
            (format!("{ty}_gives_{result}"), group.collect::<Vec<_>>())
        })
        .filter(|(_, group)| !group.is_empty())
        .collect()
}
