//! The features that a kernel needs of a device, beyond 32-bit arithmetic.
//!
//! The result describes the kernel as it was written. `usize` does not count as a 64-bit integer, because a
//! launch may prove that 32 bits suffice. Both the texts and the fallback of a native block count.

use crate::facts::{Effect, Reads, Work};
use crate::{Access, Intrinsic, Kernel, ParamKind, Piece, Scalar};

/// The features that a kernel needs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Requirements {
    /// `f64` arithmetic or buffers.
    pub f64: bool,
    /// An elementary function on `f64`; `sqrt`, rounding and the like are arithmetic.
    pub f64_math: bool,
    /// `i64` or `u64`.
    pub i64: bool,
    /// Buffers of 8-bit elements.
    pub storage8: bool,
    /// Buffers of 16-bit integers or `bf16`.
    pub storage16: bool,
    /// Buffers or shared arrays of `f16`.
    pub f16: bool,
    /// Atomic operations on 64-bit elements.
    pub atomics64: bool,
    /// Subgroup operations, or subgroup ids.
    pub subgroups: bool,
    /// Fences.
    pub fences: bool,
    /// Barriers, for which a launch must consist of whole blocks.
    pub barriers: bool,
    /// For each native block without a fallback, the targets for which it has a text.
    pub native: Vec<Vec<String>>,
    /// The names of the intrinsics with texts registered at run time that the kernel uses, each once.
    pub intrinsics: Vec<String>,
    /// The number of buffer parameters.
    pub buffers: u32,
    /// Float results that are the same to the bit on every device.
    pub strict: bool,
    /// True if the kernel prints, for which accelerators take one more buffer.
    pub prints: bool,
}

impl Requirements {
    /// The requirements of a linked kernel.
    pub fn of(kernel: &Kernel) -> Requirements {
        let mut needs = Requirements {
            strict: kernel.strict,
            ..Requirements::default()
        };
        for param in kernel.params.iter() {
            match param.kind {
                ParamKind::Scalar(ty) => needs.ty(ty),
                ParamKind::Value(_) | ParamKind::Reference(_) => {
                    unreachable!("linking leaves no compound")
                }
                ParamKind::Slice { elem, access } => {
                    let elem = elem.scalar();
                    needs.ty(elem);
                    needs.atomics64 |= access == Access::Atomic && elem.size() == 8;
                    needs.buffers += 1;
                    needs.storage8 |= elem.size() == 1;
                    needs.storage16 |= elem.size() == 2 && elem != Scalar::F16;
                    needs.f16 |= elem == Scalar::F16;
                }
            }
        }
        for array in kernel.shared.iter() {
            let elem = array.elem.scalar();
            needs.ty(elem);
            needs.atomics64 |= array.atomic && elem.size() == 8;
            needs.f16 |= elem == Scalar::F16;
        }
        for local in kernel.locals.iter() {
            needs.ty(kernel.local_scalar(local));
        }
        for (expr, ty) in kernel.exprs.iter().zip(kernel.expr_types.iter()) {
            needs.ty(ty.scalar());
            let facts = expr.facts();
            if let Work::Call(intrinsic) = facts.work {
                // `powi` is not elementary, but a loop of multiplications instead of an instruction.
                let is_math = intrinsic.is_elementary() || intrinsic == Intrinsic::Powi;
                needs.f64_math |= *ty == Scalar::F64 && is_math;
            }
            if let Reads::Id(builtin) = facts.reads {
                needs.subgroups |= builtin.is_of_subgroup();
            }
        }
        for stmt in kernel.stmts.iter() {
            match stmt.facts().effect {
                Effect::Barrier => needs.barriers = true,
                Effect::Fence => needs.fences = true,
                Effect::Subgroup(..) => needs.subgroups = true,
                Effect::Print(_) => needs.prints = true,
                Effect::None
                | Effect::Store(_)
                | Effect::Atomic(..)
                | Effect::Place(_)
                | Effect::Call(_)
                | Effect::Native(_) => {}
            }
        }
        let bare = kernel.natives.iter().filter(|n| n.fallback.is_none());
        needs.native = bare
            .map(|n| n.texts.iter().map(|t| t.target.to_string()).collect())
            .collect();
        for name in kernel.natives.iter().filter_map(|n| n.intrinsic.as_ref()) {
            if !needs.intrinsics.iter().any(|known| known == name) {
                needs.intrinsics.push(name.to_string());
            }
        }
        needs
    }

    /// True if some native block has neither a text for this target nor a fallback.
    pub fn native_missing(&self, target: &str) -> bool {
        self.native
            .iter()
            .any(|targets| !targets.iter().any(|t| t == target))
    }

    fn ty(&mut self, ty: Scalar) {
        match ty {
            Scalar::F64 => self.f64 = true,
            Scalar::I64 | Scalar::U64 => self.i64 = true,
            Scalar::Bool
            | Scalar::I8
            | Scalar::U8
            | Scalar::I16
            | Scalar::U16
            | Scalar::I32
            | Scalar::U32
            | Scalar::Usize
            | Scalar::F16
            | Scalar::Bf16
            | Scalar::F32 => {}
        }
    }
}

/// A parameter with 8- or 16-bit elements other than `f16` that a native text for `target` names, and their type.
pub fn small_in_natives<'k>(kernel: &'k Kernel, target: &str) -> Option<(&'k str, Scalar)> {
    let natives = kernel.natives.iter();
    let texts = natives.filter_map(|native| native.texts.iter().find(|t| t.target == target));
    let mut pieces = texts.flat_map(|text| text.pieces.iter());
    pieces.find_map(|piece| {
        let Piece::Param(param) = piece else {
            return None;
        };
        let param = &kernel.params[param.index()];
        let ParamKind::Slice { elem, .. } = param.kind else {
            return None;
        };
        let elem = elem.scalar();
        (elem.size() < 4 && elem != Scalar::F16).then_some((&*param.name, elem))
    })
}

#[cfg(test)]
mod tests {
    use super::Requirements;
    use crate::sketch::Sketch;
    use crate::{AtomicOp, Builtin, Intrinsic, NativeText, Scalar, Scope, Value};

    #[test]
    fn plain_kernels_need_nothing() {
        let s = Sketch::new("k");
        let x = s.slice_mut("x", Scalar::F32);
        s.store(x, s.n(0), s.load(x, s.n(1)));
        let buffers = 1;
        let expected = Requirements {
            buffers,
            ..Default::default()
        };
        assert_eq!(Requirements::of(&s.finish()), expected);
    }

    #[test]
    fn types_are_found_wherever_they_stand() {
        let in_param = Sketch::new("k");
        in_param.slice("b", Scalar::Bool);
        in_param.scalar("a", Scalar::I64);
        let needs = Requirements::of(&in_param.finish());
        assert!(needs.storage8 && needs.i64 && !needs.f64);
        let in_cast = Sketch::new("k");
        in_cast.let_("a", in_cast.f32(1.0).cast(Scalar::F64).cast(Scalar::F32));
        let needs = Requirements::of(&in_cast.finish());
        assert!(needs.f64 && !needs.f64_math && !needs.i64);
    }

    #[test]
    fn what_threads_do_together_is_found() {
        let s = Sketch::new("k");
        let sums = s.atomics("sums", Scalar::F32);
        let one = s.f32(1.0);
        s.atomic_discard(AtomicOp::Add, sums, s.n(0), &[one]);
        let needs = Requirements::of(&s.finish());
        assert!(!needs.atomics64 && !needs.barriers && !needs.fences && !needs.subgroups);
        let s = Sketch::new("k");
        s.shared_atomics("tile", Scalar::F64, 3);
        s.barrier();
        s.fence(Scope::Block);
        s.let_("lane", s.id(Builtin::SubgroupLane));
        let needs = Requirements::of(&s.finish());
        assert!(needs.atomics64 && needs.barriers && needs.fences && needs.subgroups);
    }

    #[test]
    fn elementary_functions_count_on_f64_only() {
        let needs = |intrinsic, of: f64, ty: Scalar| {
            let s = Sketch::new("k");
            s.let_("a", s.call(intrinsic, &[s.lit(Value::f64(of)).cast(ty)]));
            Requirements::of(&s.finish()).f64_math
        };
        assert!(needs(Intrinsic::Exp, 1.0, Scalar::F64));
        assert!(!needs(Intrinsic::Exp, 1.0, Scalar::F32));
        assert!(!needs(Intrinsic::Sqrt, 1.0, Scalar::F64));
    }

    #[test]
    fn native_blocks_without_fallback_bind_to_their_targets() {
        let text = |target: &'static str| NativeText {
            target: target.into(),
            pieces: vec![].into(),
            origin: Default::default(),
        };
        let s = Sketch::new("k");
        s.native(vec![text("cuda"), text("opencl")], None);
        s.native(vec![text("cuda")], Some(&|| {}));
        let needs = Requirements::of(&s.finish());
        assert!(!needs.native_missing("cuda") && !needs.native_missing("opencl"));
        assert!(needs.native_missing("wgsl"));
    }
}
