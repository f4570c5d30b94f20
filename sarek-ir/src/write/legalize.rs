//! Legalizes a kernel for a dialect and a variant by running the passes.

use std::collections::{BTreeSet, HashMap};

use crate::passes::{self, BoundTables};
use crate::{
    Access, Axis, Builtin, Kernel, Length, LocalId, Memory, ParamId, ParamKind, Scalar, SharedId,
    StmtId,
};

use super::usage::Usage;
use super::vectorize_memory::{self, Group};
use super::{Dialect, IndexWidth, Slot, SlotKind, Variant};

/// A kernel after its passes. It has no `usize`, no arithmetic on 8 and 16 bits, and no exit from more than one loop.
/// No native block has a fallback that the target needs, and no proved site is left. All checked stores are spilled,
/// and the target has all the atomic operations.
pub(super) struct Legalized<'a> {
    pub kernel: Kernel,
    pub variant: &'a Variant,
    pub usage: Usage,
    /// True for each shared array that is an argument, see [`SlotKind::Shared`].
    pub given: Vec<bool>,
    /// The parameter for printed output.
    pub output: Option<ParamId>,
    /// The constant arrays passed as parameters.
    pub tables: Vec<BoundTables>,
    /// The locals that predicate barriers, see [`Dialect::predicate`].
    pub predicates: BTreeSet<LocalId>,
    /// Groups of statements written as one access, by their first statement.
    pub groups: HashMap<StmtId, Group>,
}

impl<'a> Legalized<'a> {
    pub fn new(kernel: &Kernel, dialect: &dyn Dialect, variant: &'a Variant) -> Legalized<'a> {
        let mut kernel = kernel.clone();
        passes::select_natives(&mut kernel, dialect.name());
        passes::lower_panics(&mut kernel);
        let output = passes::expand_prints(&mut kernel);
        passes::cut_after_exits(&mut kernel);
        passes::elide_checks(&mut kernel, &variant.checked);
        if variant.dense {
            passes::settle_strides(&mut kernel);
        }
        passes::park_returns(&mut kernel);
        let predicates = match dialect.predicate() {
            Some(_) => passes::predicate_barriers(&mut kernel),
            None => BTreeSet::new(),
        };
        if variant.strided {
            passes::contain_returns(&mut kernel);
        }
        match variant.index {
            IndexWidth::Bits32 => passes::narrow_usize(&mut kernel),
            IndexWidth::Bits64 => passes::widen_usize(&mut kernel),
        }
        let tables = passes::place_tables(&mut kernel, dialect.max_declared_tables());
        passes::widen_small(&mut kernel);
        passes::lower_labels(&mut kernel);
        passes::fold_continues(&mut kernel);
        passes::spill_stores(&mut kernel);
        let counts = |kernel: &Kernel| {
            let mut usage = Usage::of(kernel);
            usage.faults |= usage.loops && dialect.max_iterations().is_some();
            usage
        };
        if counts(&kernel).faults {
            passes::guard_loops(&mut kernel);
        }
        passes::expand_atomics(&mut kernel, &|op, ty| dialect.is_native(op, ty));
        let usage = counts(&kernel);
        let given = given(&kernel, dialect);
        Legalized {
            groups: vectorize_memory::groups(&mut kernel, dialect, &given),
            given,
            kernel,
            variant,
            usage,
            output,
            predicates,
            tables,
        }
    }

    /// The unsigned integer type that represents `usize`.
    pub fn index(&self) -> Scalar {
        self.variant.index.scalar()
    }

    /// True if the index space has this axis.
    pub fn has(&self, axis: Axis) -> bool {
        axis.index() < usize::from(self.variant.dims)
    }

    /// True if the text needs the extent along an axis, also to end threads beyond it.
    pub fn needs_extent(&self, axis: Axis) -> bool {
        let asked = self.usage.uses(Builtin::GlobalDim(axis))
            || self.usage.uses(Builtin::GlobalThreadId)
            || !self.usage.barriers;
        asked && self.has(axis)
    }

    /// True if the text needs the global id along an axis.
    pub fn needs_global_idx(&self, axis: Axis) -> bool {
        let asked = self.usage.uses(Builtin::GlobalIdx(axis))
            || self.usage.uses(Builtin::GlobalThreadId)
            || self.usage.faults
            || !self.usage.barriers;
        asked && self.has(axis)
    }

    /// The arguments of the entry point, in order.
    pub fn slots(&self, dialect: &dyn Dialect) -> Vec<Slot> {
        let index = self.index();
        let mut slots = vec![];
        for (i, param) in self.kernel.params.iter().enumerate() {
            let id = ParamId(i as u32);
            match param.kind {
                ParamKind::Scalar(ty) => slots.push((SlotKind::Scalar(id), ty)),
                ParamKind::Value(_) | ParamKind::Reference(_) => {
                    unreachable!("linking leaves no compound")
                }
                ParamKind::Slice { elem, .. } if Some(id) == self.output => {
                    slots.push((SlotKind::Output(id), elem.scalar()));
                }
                ParamKind::Slice { elem, access } => {
                    let (param, mutable) = (id, access != Access::Read);
                    slots.push((SlotKind::Buffer { param, mutable }, elem.scalar()));
                    if self.usage.lens.contains(&Memory::Slice(id)) {
                        slots.push((SlotKind::Len(Memory::Slice(id)), index));
                    }
                }
            }
        }
        for (i, array) in self.kernel.shared.iter().enumerate() {
            let id = SharedId(i as u32);
            let memory = Memory::Shared(id);
            if self.given[i] {
                slots.push((SlotKind::Shared(id), array.elem.scalar()));
            }
            if matches!(array.len, Length::Launch(_)) && self.usage.lens.contains(&memory) {
                slots.push((SlotKind::Len(memory), index));
            }
        }
        let axes = Axis::ALL.into_iter().filter(|a| self.needs_extent(*a));
        slots.extend(axes.map(|a| (SlotKind::Extent(a), index)));
        if self.variant.folded {
            slots.extend(Axis::ALL.map(|a| (SlotKind::Grid(a), index)));
        }
        if self.usage.faults {
            slots.push((SlotKind::Faults, Scalar::U32));
        }
        let mut slots: Vec<Slot> = slots
            .into_iter()
            .map(|(kind, ty)| Slot { kind, ty })
            .collect();
        if dialect.buffers_first() {
            slots.sort_by_key(|slot| match slot.kind {
                SlotKind::Buffer { .. } | SlotKind::Output(_) => 0,
                SlotKind::Faults => 1,
                SlotKind::Len(_)
                | SlotKind::Scalar(_)
                | SlotKind::Extent(_)
                | SlotKind::Grid(_)
                | SlotKind::Shared(_) => 2,
            });
        }
        slots
    }
}

/// Marks the shared arrays that are arguments: those whose length the launch determines, or all if the fixed ones
/// exceed the size that the dialect can declare.
fn given(kernel: &Kernel, dialect: &dyn Dialect) -> Vec<bool> {
    let too_large = kernel.fixed_shared_bytes(1) > dialect.max_declared_shared();
    let is_given = |len| match len {
        Length::Launch(_) => true,
        Length::Fixed(_) => too_large,
        Length::Link(_) => unreachable!("only closed kernels are written"),
    };
    kernel.shared.iter().map(|a| is_given(a.len)).collect()
}
