//! Finds the operations of a kernel or function whose results may differ in bits between devices.
//!
//! IEEE 754 or Rust defines `+ - * / %`, comparisons, conversions, square roots, fused multiply-add, rounding
//! and bit manipulation to the bit. The generated text of a [strict](crate::Kernel::strict) kernel preserves
//! these results. The others are:
//!
//! - functions for which targets promise only a number of ulps;
//! - `min` and `max` of two zeros, of which either may be returned;
//! - sums and products in an order that the device chooses, in atomic and subgroup operations;
//! - native text, about which nothing is known.
//!
//! The bits of a NaN are never guaranteed, not even in strict kernels. A number whose type is not known yet
//! counts as a float.

use crate::facts::Effect;
use crate::{
    AtomicOp, Exactness, Expr, ExprId, Intrinsic, Kernel, Memory, StmtId, SubgroupOp, Type,
};

/// An operation whose result may differ in bits between devices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stray {
    /// A function that is not correctly rounded on every device.
    Function(ExprId, Intrinsic),
    /// `min` or `max`: for zeros with different signs, either may be returned.
    Zeros(ExprId, Intrinsic),
    /// An atomic operation whose result depends on the order of threads, by its rounding or by the sign of a
    /// zero.
    Atomic(StmtId, AtomicOp),
    /// A subgroup operation that combines lanes in an order that the device chooses.
    Subgroup(StmtId, SubgroupOp),
    /// Native text.
    Text(StmtId),
}

/// All such operations. In a kernel that is not linked, those of its callees are not included.
pub fn strays(kernel: &Kernel) -> Vec<Stray> {
    let exprs = (0..kernel.exprs.len() as u32).map(ExprId);
    let stmts = (0..kernel.stmts.len() as u32).map(StmtId);
    let of_exprs = exprs.filter_map(|id| stray_expr(kernel, id));
    of_exprs
        .chain(stmts.filter_map(|id| stray_stmt(kernel, id)))
        .collect()
}

fn may_be_float(ty: Type) -> bool {
    ty.as_scalar().is_none_or(crate::Scalar::is_float)
}

fn stray_expr(kernel: &Kernel, id: ExprId) -> Option<Stray> {
    let Expr::Call { intrinsic, args } = kernel.expr(id) else {
        return None;
    };
    let receiver = kernel.list(args).next()?;
    if !may_be_float(kernel.type_of(receiver)) {
        return None;
    }
    match intrinsic.exactness() {
        Exactness::Exact | Exactness::Rounded => None,
        Exactness::Composed | Exactness::Elementary => Some(Stray::Function(id, intrinsic)),
        Exactness::Zeros => Some(Stray::Zeros(id, intrinsic)),
    }
}

fn stray_stmt(kernel: &Kernel, id: StmtId) -> Option<Stray> {
    match kernel.stmt(id).facts().effect {
        Effect::Atomic(op, memory) => {
            let is_float = may_be_float(element(kernel, memory));
            (is_float && depends_on_order(op)).then_some(Stray::Atomic(id, op))
        }
        Effect::Subgroup(op, args) => {
            let is_float = kernel
                .list(args)
                .next()
                .is_some_and(|arg| may_be_float(kernel.type_of(arg)));
            (is_float && combines(op)).then_some(Stray::Subgroup(id, op))
        }
        Effect::Native(_) => Some(Stray::Text(id)),
        Effect::None
        | Effect::Store(_)
        | Effect::Place(_)
        | Effect::Print(_)
        | Effect::Fence
        | Effect::Barrier
        | Effect::Call(_) => None,
    }
}

fn element(kernel: &Kernel, memory: Memory) -> Type {
    match memory {
        Memory::Slice(param) => match kernel.params[param.index()].kind {
            crate::ParamKind::Slice { elem, .. } => elem,
            crate::ParamKind::Scalar(_)
            | crate::ParamKind::Value(_)
            | crate::ParamKind::Reference(_) => unreachable!("a slice is a parameter of slices"),
        },
        Memory::Shared(shared) => kernel.shared[shared.index()].elem,
        Memory::Local(local) => kernel.locals[local.index()].ty,
        Memory::Table(table) => kernel.tables[table.index()].elem().into(),
    }
}

/// True if combining the same values in another order may leave other bits in the element. An operation that
/// leaves one of the values as it is does not count.
fn depends_on_order(op: AtomicOp) -> bool {
    match op {
        AtomicOp::Add | AtomicOp::Sub | AtomicOp::Min | AtomicOp::Max => true,
        AtomicOp::Load
        | AtomicOp::Store
        | AtomicOp::And
        | AtomicOp::Or
        | AtomicOp::Xor
        | AtomicOp::Swap
        | AtomicOp::CompareExchange => false,
    }
}

/// True if the result combines the values of several lanes.
fn combines(op: SubgroupOp) -> bool {
    match op {
        SubgroupOp::Sum
        | SubgroupOp::Product
        | SubgroupOp::Min
        | SubgroupOp::Max
        | SubgroupOp::InclusiveSum
        | SubgroupOp::ExclusiveSum => true,
        SubgroupOp::Shuffle
        | SubgroupOp::ShuffleUp
        | SubgroupOp::ShuffleDown
        | SubgroupOp::ShuffleXor
        | SubgroupOp::Broadcast
        | SubgroupOp::All
        | SubgroupOp::Any
        | SubgroupOp::Ballot => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sketch::Sketch;
    use crate::{NativeText, Scalar};

    fn found(build: impl FnOnce(&Sketch)) -> Vec<Stray> {
        let s = Sketch::new("k");
        build(&s);
        strays(&s.finish())
    }

    #[test]
    fn functions_of_floats_stray_and_arithmetic_does_not() {
        let of = |intrinsic| found(|s| _ = s.let_("a", s.call(intrinsic, &[s.f32(2.0)])));
        assert!(of(Intrinsic::Sqrt).is_empty() && of(Intrinsic::Floor).is_empty());
        assert!(matches!(
            of(Intrinsic::Exp)[..],
            [Stray::Function(_, Intrinsic::Exp)]
        ));
        assert!(matches!(of(Intrinsic::Rsqrt)[..], [Stray::Function(..)]));
        let sum = found(|s| _ = s.let_("a", s.f32(1.0) * s.f32(2.0) + s.f32(3.0)));
        assert!(sum.is_empty());
    }

    #[test]
    fn zeros_have_signs_in_floats_only() {
        let of = |ty| {
            found(|s| {
                let [a, b] = [1.0, 2.0].map(|x| s.f32(x).cast(ty));
                s.let_("a", s.call(Intrinsic::Min, &[a, b]));
            })
        };
        assert!(of(Scalar::I32).is_empty());
        assert!(matches!(
            of(Scalar::F64)[..],
            [Stray::Zeros(_, Intrinsic::Min)]
        ));
    }

    #[test]
    fn orders_that_the_device_chooses_stray() {
        let of = |ty, op| {
            found(|s| {
                let sums = s.atomics("sums", ty);
                let one = s.f32(1.0).cast(ty);
                s.atomic_discard(op, sums, s.n(0), &[one]);
            })
        };
        assert!(of(Scalar::I32, AtomicOp::Add).is_empty());
        assert!(of(Scalar::F32, AtomicOp::Swap).is_empty());
        assert!(matches!(
            of(Scalar::F32, AtomicOp::Add)[..],
            [Stray::Atomic(_, AtomicOp::Add)]
        ));
    }

    #[test]
    fn texts_stray() {
        let text = NativeText {
            target: "cuda".into(),
            pieces: vec![].into(),
            origin: Default::default(),
        };
        let strays = found(|s| s.native(vec![text], Some(&|| {})));
        assert!(matches!(strays[..], [Stray::Text(_)]));
    }
}
