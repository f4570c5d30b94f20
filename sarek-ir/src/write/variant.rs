use std::collections::BTreeSet;
use std::fmt::Write;

use super::file::SourceFile;
use super::join::Joint;
use super::text::Sourced;
use crate::passes::BoundTables;
use crate::{Axis, FileId, Loc, Memory, ParamId, Scalar, SharedId, SiteId};

/// Selects one rendering of a kernel. A kernel has a few, chosen from the properties of a launch.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Variant {
    /// Dimensions of the index space, 1 to 3. Ids along further axes are constants.
    pub dims: u8,
    /// True if the device cannot start the grid directly. Then a physical grid of another shape numbers the blocks
    /// linearly, and the logical grid is an argument.
    pub folded: bool,
    /// True if the logical blocks may outnumber the physical ones: each physical block then executes several, in a
    /// grid-stride loop. Implies `folded`. Only for kernels whose threads do not cooperate.
    pub strided: bool,
    /// The width of `usize` in the text.
    pub index: IndexWidth,
    /// The sites that are checked; all others are proved.
    pub checked: BTreeSet<SiteId>,
    /// True if the last strides of all views are 1, which holds unless a view has gaps.
    pub dense: bool,
}

/// The width of `usize` in a rendering.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum IndexWidth {
    /// 64 bits, as on the host.
    Bits64,
    /// 32 bits: every value of the launch is proved to fit.
    Bits32,
}

impl IndexWidth {
    /// The unsigned integer type that represents `usize`.
    pub const fn scalar(self) -> Scalar {
        match self {
            IndexWidth::Bits64 => Scalar::U64,
            IndexWidth::Bits32 => Scalar::U32,
        }
    }
}

/// One argument of a rendered kernel's entry point. The runtime fills the slots in order, and a backend passes them in
/// order.
///
/// On wgpu, buffers are bindings 0, 1, … of group 0 in the order of their slots. All scalar slots are fields of one
/// uniform block, bound after the buffers, each at its natural alignment, `bool` as `u32`. Shared arrays are neither.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Slot {
    /// Its meaning.
    pub kind: SlotKind,
    /// The scalar's type, or the element type of a buffer. Never `usize`. A scalar `bool` is passed as a `u32` of 0 or
    /// 1.
    pub ty: Scalar,
}

/// The meaning of a slot.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SlotKind {
    /// The memory of a slice parameter.
    Buffer {
        /// The parameter.
        param: ParamId,
        /// True if the kernel may write it.
        mutable: bool,
    },
    /// The number of elements of a slice parameter, or of a shared array whose length the launch determines.
    Len(Memory),
    /// A scalar parameter.
    Scalar(ParamId),
    /// The number of threads along an axis. Threads beyond it do not run.
    Extent(Axis),
    /// The number of blocks of the logical grid along an axis; only in folded variants.
    Grid(Axis),
    /// The memory of a shared array that the text cannot declare by itself. Either the launch determines its length, or
    /// the kernel's arrays exceed [`super::Dialect::max_declared_shared`] bytes. The form depends on the target: a
    /// local pointer, an offset, or an `override` constant with the length.
    Shared(SharedId),
    /// The memory for printed output: [`OUTPUT_WORDS`](crate::passes::OUTPUT_WORDS) words after a head of two words,
    /// which starts as zeros. The head counts the words requested and the records dropped.
    ///
    /// A record is `[print + 1, x, y, z, arguments…]`, where x, y, z are the low words of the thread's global ids. An
    /// argument is one word, or two for 64-bit types, the low one first. The records follow each other, up to the
    /// number of words requested or a zero in the place of a print. [`crate::passes::expand_prints`] adds this
    /// parameter.
    Output(ParamId),
    /// The fault record, see [`FAULT_WORDS`]; present only if a site is checked.
    Faults,
}

/// Length in `u32` words of a fault record, which starts as zeros:
/// `[claimed, site, detail low, detail high, x low, x high, y low, y high, z low, z high]`,
/// where x, y, z are the global ids of the thread that faulted first.
pub const FAULT_WORDS: usize = 10;

/// The fault of a thread whose loops take more iterations than the device executes, see
/// [`super::Dialect::max_iterations`].
pub struct Iterations;

impl Iterations {
    /// The site in its fault record. No kernel has it.
    pub const SITE: SiteId = SiteId(u32::MAX);

    /// Encodes the loop's location as the detail of the fault.
    pub fn detail(loop_at: Loc) -> u64 {
        let Loc { line, column, file } = loop_at;
        u64::from(line) << 32 | u64::from(file.0) << 16 | u64::from(column)
    }

    /// Decodes the loop's location.
    pub fn place(detail: u64) -> Loc {
        Loc {
            line: (detail >> 32) as u32,
            column: detail as u16,
            file: FileId((detail >> 16) as u16),
        }
    }
}

/// A rendered kernel.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Source {
    /// The text.
    pub text: String,
    /// The name of the entry point.
    pub entry: String,
    /// Its arguments.
    pub slots: Vec<Slot>,
    /// Constants of the kernel that are too large for its text. Each is a read-only buffer of these bytes, for a
    /// parameter after the kernel's own.
    pub tables: Vec<BoundTables>,
    /// Origins of lines, in order. All other lines are the writer's own.
    pub sourced: Vec<Sourced>,
    /// The names of environments of the runtime that the target adds to this text, besides those of the kernel and of
    /// the launch.
    pub environments: Vec<String>,
    /// Further files of the program: headers, and texts to link.
    pub files: Vec<SourceFile>,
    /// The parts of the text, if it can stand in one file with the texts of other kernels.
    pub joint: Option<Joint>,
}

impl Source {
    /// The user's file and line from which a line of the text comes, unless it is the writer's own. The kernel's own
    /// file has the empty name.
    pub fn origin(&self, line: u32) -> Option<(&str, u32)> {
        let before = self.sourced.partition_point(|s| s.lines.end <= line);
        let sourced = self.sourced.get(before)?;
        let further = line.checked_sub(sourced.lines.start)?;
        let origin = &sourced.origin;
        // An unknown line is 0.
        let line = (origin.line > 0).then_some(origin.line)?;
        Some((
            &origin.file,
            line + if origin.by_line { further } else { 0 },
        ))
    }

    /// The text with `#line` directives, for a language with the C preprocessor. Compilers, debuggers and profilers
    /// then attribute each line to the user's file, or to the unmarked text under the name `name`.
    pub fn with_line_markers(&self, own_file: &str, name: &str) -> Source {
        let all = (1..).zip(self.text.lines());
        // The lines of the body are the last ones.
        let lines = self.text.lines().count();
        let joint = self.joint.as_ref().map(|joint| {
            let before = lines.saturating_sub(joint.body.lines().count());
            Joint {
                body: self.marked(all.clone().skip(before), own_file, name, ("", 0)),
                ..joint.clone()
            }
        });
        Source {
            text: self.marked(all, own_file, name, (name, 1)),
            joint,
            sourced: vec![],
            ..self.clone()
        }
    }

    /// These lines with `#line` directives. The compiler takes the next line to be the one at `next`.
    fn marked<'a>(
        &'a self,
        lines: impl Iterator<Item = (u32, &'a str)>,
        own_file: &'a str,
        name: &'a str,
        (mut told, mut next): (&'a str, u32),
    ) -> String {
        let mut text = String::with_capacity(2 * self.text.len());
        for (number, line) in lines {
            let (file, at) = match self.origin(number) {
                Some(("", at)) => (own_file, at),
                Some(origin) => origin,
                None => (name, number),
            };
            if (file, at) != (told, next) {
                // A file name must not end the directive, whatever characters it contains.
                let file = file.replace(char::is_control, "?");
                let file = file.replace('\\', "\\\\").replace('"', "\\\"");
                // Writing to a string cannot fail.
                let _ = writeln!(text, "#line {at} \"{file}\"");
            }
            text.push_str(line);
            text.push('\n');
            (told, next) = (file, at + 1);
        }
        text
    }
}
