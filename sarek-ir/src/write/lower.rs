//! A kernel made ready for a dialect and a variant.

use crate::passes;
use crate::{Access, Axis, Kernel, Memory, ParamId, ParamKind, Scalar};

use super::usage::Usage;
use super::{Dialect, IndexWidth, Slot, SlotKind, Variant};

/// A kernel after its passes: no `usize`, no exit from more than one loop, no native block with a
/// fallback that is needed, no site that was proved, only spilled checked stores.
pub(super) struct Lowered<'a> {
    pub kernel: Kernel,
    pub variant: &'a Variant,
    pub usage: Usage,
}

impl<'a> Lowered<'a> {
    pub fn new(kernel: &Kernel, dialect: &dyn Dialect, variant: &'a Variant) -> Lowered<'a> {
        let mut kernel = kernel.clone();
        passes::select_natives(&mut kernel, dialect.name());
        passes::cut_after_exits(&mut kernel);
        passes::elide_checks(&mut kernel, &variant.checked);
        passes::park_returns(&mut kernel);
        match variant.index {
            IndexWidth::Bits32 => passes::narrow_usize(&mut kernel),
            IndexWidth::Bits64 => passes::widen_usize(&mut kernel),
        }
        passes::lower_labels(&mut kernel);
        passes::spill_stores(&mut kernel);
        let mut usage = Usage::of(&kernel);
        if usage.faults {
            passes::guard_loops(&mut kernel);
            usage = Usage::of(&kernel);
        }
        Lowered {
            kernel,
            variant,
            usage,
        }
    }

    /// The unsigned integer that stands for `usize`.
    pub fn index(&self) -> Scalar {
        self.variant.index.scalar()
    }

    /// Has the index space this axis?
    pub fn has(&self, axis: Axis) -> bool {
        axis.index() < usize::from(self.variant.dims)
    }

    /// The arguments of the entry point, in order.
    pub fn slots(&self, dialect: &dyn Dialect) -> Vec<Slot> {
        let index = self.index();
        let mut slots = vec![];
        for (i, param) in self.kernel.params.iter().enumerate() {
            let id = ParamId(i as u32);
            match param.kind {
                ParamKind::Scalar(ty) => slots.push((SlotKind::Scalar(id), ty)),
                ParamKind::Slice { elem, access } => {
                    let (param, mutable) = (id, access != Access::Read);
                    slots.push((SlotKind::Buffer { param, mutable }, elem));
                    if self.usage.lens.contains(&Memory::Slice(id)) {
                        slots.push((SlotKind::Len(id), index));
                    }
                }
            }
        }
        let axes = Axis::ALL.into_iter().filter(|a| self.has(*a));
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
                SlotKind::Buffer { .. } | SlotKind::Faults => 0,
                SlotKind::Len(_)
                | SlotKind::Scalar(_)
                | SlotKind::Extent(_)
                | SlotKind::Grid(_) => 1,
            });
        }
        slots
    }
}
