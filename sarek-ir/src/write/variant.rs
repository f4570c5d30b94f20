use std::collections::BTreeSet;
use std::fmt::Write;

use super::text::Sourced;
use crate::passes::BoundTables;
use crate::{Axis, FileId, Loc, Memory, ParamId, Scalar, SharedId, SiteId};

/// Which of a kernel's renderings is meant. One kernel has a few, chosen by the facts of a launch.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Variant {
    /// Dimensions of the index space, 1 to 3: ids along further axes are constants.
    pub dims: u8,
    /// The device cannot start the grid as it is: blocks are numbered linearly over a physical
    /// grid of another shape, and the logical grid is an argument.
    pub folded: bool,
    /// Blocks are numbered as in a folded variant, which this is as well, and may be more than those of the physical grid:
    /// each of that takes turns. For kernels whose threads do not work together.
    pub strided: bool,
    /// How wide a `usize` is in the text.
    pub index: IndexWidth,
    /// The sites that are checked; the others were proved.
    pub checked: BTreeSet<SiteId>,
    /// Are the last strides of all views 1, as they are unless a view has gaps?
    pub dense: bool,
}

/// The width of `usize` in a rendering.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum IndexWidth {
    /// As on the host.
    Bits64,
    /// Every value of the launch was proved to fit 32 bits.
    Bits32,
}

impl IndexWidth {
    /// The unsigned integer that stands for `usize`.
    pub const fn scalar(self) -> Scalar {
        match self {
            IndexWidth::Bits64 => Scalar::U64,
            IndexWidth::Bits32 => Scalar::U32,
        }
    }
}

/// One argument of a rendered kernel's entry point. The runtime fills the slots in order; a
/// backend passes them in order (wgpu: buffers are bindings 0, 1, … of group 0 in the order of
/// their slots, and all scalar slots are fields of one uniform block, bound after the buffers, each
/// at its natural alignment, `bool` as `u32`; shared arrays are neither).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Slot {
    /// What it carries.
    pub kind: SlotKind,
    /// The scalar's type, or the element type of a buffer. Never `usize`; a scalar `bool` is
    /// passed as a `u32` of 0 or 1.
    pub ty: Scalar,
}

/// What a slot carries.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SlotKind {
    /// The memory of a slice parameter, with whether the kernel may write it.
    Buffer {
        /// Which parameter.
        param: ParamId,
        /// May the kernel write it?
        mutable: bool,
    },
    /// The number of elements of a slice parameter, or of a shared array whose length the launch gives.
    Len(Memory),
    /// A scalar parameter.
    Scalar(ParamId),
    /// Threads along an axis; threads beyond it do not run.
    Extent(Axis),
    /// Blocks of the logical grid along an axis; only in folded variants.
    Grid(Axis),
    /// The memory of a shared array that the text cannot declare by itself, because the launch gives its
    /// length or because the kernel's arrays are too many bytes to be declared ([`super::Dialect::max_declared_shared`]).
    /// How it gets there is the target's: a local pointer, an offset, an `override` constant of the length.
    Shared(SharedId),
    /// The memory for what is printed, [`OUTPUT_WORDS`](crate::passes::OUTPUT_WORDS) words behind a head of two: how many words were asked for, and how
    /// many records were not written. The head starts out as zeros. A record is `[print + 1, x, y, z, arguments…]`, where x,
    /// y, z are the low words of the thread's global ids, and an argument is one word, or two for types of 64 bits, the low
    /// one first; the records follow each other, up to the words asked for or a zero in the place of a print. The
    /// parameter is the one that [`crate::passes::expand_prints`] adds.
    Output(ParamId),
    /// The fault record, see [`FAULT_WORDS`]; only where a site is checked.
    Faults,
}

/// Length in `u32` words of a fault record, which starts out as zeros:
/// `[claimed, site, detail low, detail high, x low, x high, y low, y high, z low, z high]`,
/// where x, y, z are the global ids of the thread that faulted first.
pub const FAULT_WORDS: usize = 10;

/// The fault of a thread whose loops take more iterations than the device runs, see [`super::Dialect::max_iterations`].
pub struct Iterations;

impl Iterations {
    /// The site in its fault record, which no kernel has.
    pub const SITE: SiteId = SiteId(u32::MAX);

    /// The detail of the fault: where the loop stands.
    pub fn detail(loop_at: Loc) -> u64 {
        let Loc { line, column, file } = loop_at;
        u64::from(line) << 32 | u64::from(file.0) << 16 | u64::from(column)
    }

    /// The loop's place, from the detail.
    pub fn place(detail: u64) -> Loc {
        Loc {
            line: (detail >> 32) as u32,
            column: detail as u16,
            file: FileId((detail >> 16) as u16),
        }
    }
}

/// A rendered kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Source {
    /// The text.
    pub text: String,
    /// The name of the entry point.
    pub entry: String,
    /// Its arguments.
    pub slots: Vec<Slot>,
    /// Constants of the kernel that are too large for its text, by parameters that follow the kernel's own: each is a read-only
    /// buffer of these bytes.
    pub tables: Vec<BoundTables>,
    /// Where lines come from, in order; those of none are the writer's own.
    pub sourced: Vec<Sourced>,
}

impl Source {
    /// Where the user wrote what a line of the text says, if it is not the writer's own: file and line. The kernel's own file has no name.
    pub fn origin(&self, line: u32) -> Option<(&str, u32)> {
        let before = self.sourced.partition_point(|s| s.lines.end <= line);
        let sourced = self.sourced.get(before)?;
        let further = line.checked_sub(sourced.lines.start)?;
        let origin = &sourced.origin;
        // A line that nobody knows is 0.
        let line = (origin.line > 0).then_some(origin.line)?;
        Some((
            &origin.file,
            line + if origin.by_line { further } else { 0 },
        ))
    }

    /// The same for a language with the C preprocessor, whose `#line`s tell compilers, debuggers and profilers where lines
    /// come from: in the user's files, or, under this name, in the text as it was.
    pub fn with_line_markers(&self, own_file: &str, name: &str) -> Source {
        let mut text = String::with_capacity(2 * self.text.len());
        let (mut told, mut next) = (name, 1);
        for (number, line) in (1..).zip(self.text.lines()) {
            let (file, at) = match self.origin(number) {
                Some(("", at)) => (own_file, at),
                Some(origin) => origin,
                None => (name, number),
            };
            if (file, at) != (told, next) {
                // A name of a file is no text of the target, whatever stands in it.
                let file = file.replace(char::is_control, "?");
                let file = file.replace('\\', "\\\\").replace('"', "\\\"");
                // Writing to a string cannot fail.
                let _ = writeln!(text, "#line {at} \"{file}\"");
            }
            text.push_str(line);
            text.push('\n');
            (told, next) = (file, at + 1);
        }
        Source {
            text,
            sourced: vec![],
            ..self.clone()
        }
    }
}
