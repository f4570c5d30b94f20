use std::borrow::Cow;
use std::sync::Arc;

use crate::{
    Access, ExprId, Kernel, LinkId, Local, LocalId, ParamId, ParamKind, Scalar, SharedId, TableId,
    Type, TypeDef, Value,
};

/// An operand of loads, stores and atomic operations: memory with elements of one type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Memory {
    /// A slice parameter.
    Slice(ParamId),
    /// An array that the threads of a block share.
    Shared(SharedId),
    /// A local of array type, private to each thread.
    Local(LocalId),
    /// A constant array, common to all threads and never written.
    Table(TableId),
}

impl From<ParamId> for Memory {
    fn from(param: ParamId) -> Memory {
        Memory::Slice(param)
    }
}

impl From<SharedId> for Memory {
    fn from(shared: SharedId) -> Memory {
        Memory::Shared(shared)
    }
}

impl From<LocalId> for Memory {
    fn from(local: LocalId) -> Memory {
        Memory::Local(local)
    }
}

/// An array that the threads of a block share. Its elements have unspecified valid values when a
/// block begins.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SharedArray {
    /// The name in the source.
    pub name: Cow<'static, str>,
    /// The type of an element.
    pub elem: Type,
    /// The number of elements.
    pub len: Length,
    /// True if it is used by atomic operations only.
    pub atomic: bool,
}

/// A constant array.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Table {
    /// The constant's name in the source.
    pub name: Cow<'static, str>,
    /// Its elements.
    pub values: TableValues,
}

/// The elements of a constant array.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TableValues {
    /// Not known yet; [`crate::link::link`] fills them in from the user's crate.
    Link(LinkId),
    /// Known values of one type.
    Known {
        /// The type of an element.
        elem: Scalar,
        /// One for each element of the array.
        values: Arc<[Value]>,
    },
}

impl Table {
    /// The type of an element, in a closed kernel.
    pub fn elem(&self) -> Scalar {
        match &self.values {
            TableValues::Known { elem, .. } => *elem,
            TableValues::Link(_) => unreachable!("linking fills in constants"),
        }
    }

    /// The elements, in a closed kernel.
    pub fn values(&self) -> &[Value] {
        match &self.values {
            TableValues::Known { values, .. } => values,
            TableValues::Link(_) => unreachable!("linking fills in constants"),
        }
    }

    /// The least and the largest element of an integer table of a closed kernel. `None` for other types, and for tables
    /// too large to scan at a launch.
    pub fn range(&self) -> Option<(i128, i128)> {
        const MOST: usize = 1 << 16;
        let values = self.values();
        if values.len() > MOST {
            return None;
        }
        let all = || values.iter().map(|value| value.as_int());
        Some((all().min()??, all().max()??))
    }

    /// The size in bytes, in a closed kernel.
    pub fn bytes(&self) -> u64 {
        self.values().len() as u64 * self.elem().size() as u64
    }
}

/// The alignment of shared arrays, in bytes.
pub const SHARED_ALIGNMENT: u64 = 16;

/// The length of an array.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Length {
    /// A known length.
    Fixed(u64),
    /// A `usize` that only the user's crate knows; [`crate::link::link`] fills it in.
    Link(LinkId),
    /// A `usize` that the launch determines: an expression of scalar parameters, lengths of slices and extents. Shared
    /// arrays only.
    Launch(ExprId),
}

impl Kernel {
    /// The type of a memory's elements, a scalar in a closed kernel.
    pub fn element(&self, memory: Memory) -> Scalar {
        self.element_type(memory).scalar()
    }

    /// The type of a memory's elements.
    pub fn element_type(&self, memory: Memory) -> Type {
        match memory {
            Memory::Slice(param) => match self.params[param.index()].kind {
                ParamKind::Slice { elem, .. } => elem,
                ParamKind::Scalar(_) | ParamKind::Value(_) | ParamKind::Reference(_) => {
                    unreachable!("only slices have elements")
                }
            },
            Memory::Shared(shared) => self.shared[shared.index()].elem,
            Memory::Local(local) => match self.array(local) {
                Some((elem, _)) => elem,
                None => unreachable!("only arrays have elements"),
            },
            Memory::Table(table) => self.tables[table.index()].elem().into(),
        }
    }

    /// The scalar type of a local, or of its elements if it is an array.
    pub fn local_scalar(&self, local: &Local) -> Scalar {
        match local.ty {
            Type::Scalar(scalar) => scalar,
            Type::Compound(_) => match self.array_of(local.ty) {
                Some((elem, _)) => elem.scalar(),
                None => unreachable!("a local of a closed kernel is a scalar or an array of them"),
            },
        }
    }

    /// The element type and length of a local that is an array.
    pub fn array(&self, local: LocalId) -> Option<(Type, Length)> {
        self.array_of(self.locals[local.index()].ty)
    }

    /// The element type and length of an array type.
    pub fn array_of(&self, ty: Type) -> Option<(Type, Length)> {
        match self.types[ty.def()?.index()] {
            TypeDef::Array { elem, len } => Some((elem, len)),
            TypeDef::Tuple(_)
            | TypeDef::Link(_)
            | TypeDef::Field { .. }
            | TypeDef::Element { .. }
            | TypeDef::Payload { .. }
            | TypeDef::Result(_)
            | TypeDef::Parameter { .. }
            | TypeDef::Callable { .. } => None,
        }
    }

    /// The permitted access: loads, loads and stores, or atomic operations only.
    pub fn access(&self, memory: Memory) -> Access {
        match memory {
            Memory::Slice(param) => match self.params[param.index()].kind {
                ParamKind::Slice { access, .. } => access,
                ParamKind::Scalar(_) | ParamKind::Value(_) | ParamKind::Reference(_) => {
                    unreachable!("only slices are memory")
                }
            },
            Memory::Shared(shared) if self.shared[shared.index()].atomic => Access::Atomic,
            Memory::Shared(_) | Memory::Local(_) => Access::Write,
            Memory::Table(_) => Access::Read,
        }
    }

    /// The name of a memory in the source.
    pub fn memory_name(&self, memory: Memory) -> &str {
        match memory {
            Memory::Slice(param) => &self.params[param.index()].name,
            Memory::Shared(shared) => &self.shared[shared.index()].name,
            Memory::Local(local) => &self.locals[local.index()].name,
            Memory::Table(table) => &self.tables[table.index()].name,
        }
    }

    /// The integer of an argument as it stands in the source: the name of a scalar, or `x.len()` of a slice.
    pub fn size_text(&self, param: ParamId) -> String {
        let of = &self.params[param.index()];
        match of.kind {
            ParamKind::Slice { .. } => format!("{}.len()", of.name),
            ParamKind::Scalar(_) | ParamKind::Value(_) | ParamKind::Reference(_) => {
                of.name.to_string()
            }
        }
    }

    /// True if other threads of the kernel may see a thread's writes to it.
    pub fn is_shared_between_threads(&self, memory: Memory) -> bool {
        match memory {
            Memory::Slice(_) => self.access(memory) != Access::Read,
            Memory::Shared(_) => true,
            Memory::Local(_) | Memory::Table(_) => false,
        }
    }

    /// The bytes of shared memory of a block, where `lens` are the lengths of the arrays. Each array begins at a
    /// multiple of [`SHARED_ALIGNMENT`], and an element has at least `smallest` bytes.
    pub fn shared_bytes(&self, lens: &[u64], smallest: u64) -> u64 {
        let bytes = |(array, len): (&SharedArray, &u64)| {
            let bytes = len.checked_mul(smallest.max(array.elem.scalar().size() as u64));
            bytes.and_then(|b| b.checked_next_multiple_of(SHARED_ALIGNMENT))
        };
        let all = self.shared.iter().zip(lens).map(bytes);
        all.fold(0, |sum, b| b.unwrap_or(u64::MAX).saturating_add(sum))
    }

    /// As [`Kernel::shared_bytes`], of the arrays whose length does not depend on the launch.
    pub fn fixed_shared_bytes(&self, smallest: u64) -> u64 {
        let fixed = |array: &SharedArray| match array.len {
            Length::Fixed(n) => n,
            Length::Launch(_) | Length::Link(_) => 0,
        };
        let lens: Vec<u64> = self.shared.iter().map(fixed).collect();
        self.shared_bytes(&lens, smallest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Value;
    use crate::analysis::range::{ArgFact, LaunchFacts};
    use crate::sketch::Sketch;
    use crate::{Axis, Builtin};

    #[test]
    fn a_launch_gives_lengths() {
        let s = Sketch::new("k");
        let n = s.scalar("n", Scalar::U32);
        let v = s.slice("v", Scalar::F32);
        s.shared("fixed", Scalar::F64, 3);
        let dim = s.id(Builtin::BlockDim(Axis::X));
        let len = s.arg(n).cast(Scalar::Usize) * dim + s.len(v);
        s.shared_slice("rows", Scalar::Bool, len);
        let kernel = s.finish();
        let facts = LaunchFacts {
            grid: [2, 1, 1],
            block: [32, 1, 1],
            extent: [64, 1, 1],
            args: &[ArgFact::Scalar(Value::U32(3)), ArgFact::Len(7)],
        };
        let lens = kernel.shared_lens(&facts).expect("nothing is divided");
        assert_eq!(lens, [3, 103]);
        assert_eq!(kernel.shared_bytes(&lens, 1), 32 + 112);
        assert_eq!(kernel.shared_bytes(&lens, 4), 32 + 416);
        assert_eq!(kernel.shared_bytes(&[3, u64::MAX], 1), u64::MAX);
        assert_eq!(kernel.fixed_shared_bytes(1), 32);
    }
}
