//! Coverage of the suite: it has a kernel for every operation of the language on every type that has the operation. The test
//! names the operations that lack a kernel.

use std::collections::BTreeSet;

use sarek_ir::link::link;
use sarek_ir::{
    AtomicOp, BinaryOp, Builtin, DivideOp, Expr, Intrinsic, Kernel, Memory, Scalar, Stmt,
    SubgroupOp, UnaryOp,
};

/// Adds the operations of a kernel to the set, each with its type.
fn done(kernel: &Kernel, all: &mut BTreeSet<String>) {
    for (expr, ty) in kernel.exprs.iter().zip(kernel.expr_types.iter()) {
        match *expr {
            Expr::Builtin(builtin) => {
                all.insert(format!("{builtin:?}"));
            }
            Expr::Unary { op, arg } => {
                all.insert(format!("{op:?} {}", kernel.scalar_of(arg)));
            }
            Expr::Binary { op, lhs, .. } => {
                all.insert(format!("{op:?} {}", kernel.scalar_of(lhs)));
            }
            Expr::Divide { op, lhs, .. } => {
                all.insert(format!("{op:?} {}", kernel.scalar_of(lhs)));
            }
            Expr::Cast { arg } => {
                all.insert(format!("{} as {}", kernel.scalar_of(arg), ty.scalar()));
            }
            Expr::Call { intrinsic, args } => {
                let receiver = kernel.list(args).next().expect("a method has a receiver");
                all.insert(format!("{intrinsic:?} {}", kernel.scalar_of(receiver)));
            }
            _ => {}
        }
    }
    for stmt in kernel.stmts.iter() {
        match *stmt {
            Stmt::Atomic { op, memory, .. } => {
                all.insert(atomic(
                    op,
                    kernel.element(memory),
                    matches!(memory, Memory::Shared(_)),
                ));
            }
            Stmt::Subgroup { op, args, .. } => {
                let value = kernel.list(args).next().expect("it is of a value");
                all.insert(format!("{op:?} {}", kernel.scalar_of(value)));
            }
            Stmt::Fence { scope } => {
                all.insert(format!("{scope:?} fence"));
            }
            _ => {}
        }
    }
}

fn atomic(op: AtomicOp, ty: Scalar, shared: bool) -> String {
    let space = if shared { "shared" } else { "global" };
    format!("atomic {op:?} {ty} {space}")
}

/// All operations of the language, each with its type.
fn wanted() -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for (_, builtin) in Builtin::ALL {
        all.insert(format!("{builtin:?}"));
    }
    let scalars = Scalar::ALL;
    let numbers = || scalars.into_iter().filter(|ty| *ty != Scalar::Bool);
    let ints = || numbers().filter(|ty| ty.is_int());
    for ty in scalars {
        for intrinsic in Intrinsic::ALL.iter().filter(|i| i.stands_on(ty)) {
            all.insert(format!("{intrinsic:?} {ty}"));
        }
        for op in [BinaryOp::Eq, BinaryOp::Ne] {
            all.insert(format!("{op:?} {ty}"));
        }
    }
    for ty in numbers() {
        use BinaryOp::*;
        for op in [Add, Sub, Mul, Lt, Le, Gt, Ge] {
            all.insert(format!("{op:?} {ty}"));
        }
        if ty.is_float() {
            all.extend([Div, Rem].map(|op| format!("{op:?} {ty}")));
        }
        if ty.is_float() || ty.is_signed() {
            all.insert(format!("{:?} {ty}", UnaryOp::Neg));
        }
    }
    for ty in ints() {
        use BinaryOp::*;
        for op in [BitAnd, BitOr, BitXor, Shl, Shr] {
            all.insert(format!("{op:?} {ty}"));
        }
        all.insert(format!("{:?} {ty}", UnaryOp::Not));
        for op in [
            DivideOp::Div,
            DivideOp::Rem,
            DivideOp::DivEuclid,
            DivideOp::RemEuclid,
        ] {
            all.insert(format!("{op:?} {ty}"));
        }
        all.insert(format!("bool as {ty}"));
    }
    // Rust has no `as` for 16-bit floats.
    let cast = || numbers().filter(|ty| !ty.is_half());
    for from in cast() {
        all.extend(
            cast()
                .filter(|to| *to != from)
                .map(|to| format!("{from} as {to}")),
        );
    }
    for ty in [
        Scalar::I32,
        Scalar::U32,
        Scalar::I64,
        Scalar::U64,
        Scalar::F32,
        Scalar::F64,
    ] {
        for (_, op) in AtomicOp::ALL {
            let is_bitwise = matches!(op, AtomicOp::And | AtomicOp::Or | AtomicOp::Xor);
            if ty.is_int() || !is_bitwise {
                all.extend([false, true].map(|shared| atomic(op, ty, shared)));
            }
        }
    }
    for ty in scalars {
        for (_, op) in SubgroupOp::ALL
            .iter()
            .filter(|(_, op)| op.result(ty).is_some())
        {
            all.insert(format!("{op:?} {ty}"));
        }
    }
    all.extend(["Block fence", "Device fence"].map(str::to_owned));
    all
}

#[test]
fn every_operation_has_a_kernel_for_each_of_its_types() {
    let mut found = BTreeSet::new();
    for def in super::KERNELS.iter() {
        done(&link(def.ir, &(def.links)()), &mut found);
    }
    let wanted = wanted();
    assert!(wanted.len() > 500, "{}", wanted.len());
    let missing: Vec<&String> = wanted.difference(&found).collect();
    assert!(
        missing.is_empty(),
        "{} of {}: {missing:?}",
        missing.len(),
        wanted.len()
    );
}
