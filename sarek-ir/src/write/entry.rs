//! Assembles the whole text: head, prelude, entry point, body.

use crate::{Access, Kernel, Length, Memory, Scalar, SharedId};

use super::ids::Ids;
use super::legalize::Legalized;
use super::namer::Namer;
use super::prelude::prelude;
use super::stmt::Writer;
use super::text::Lines;
use super::vectorize_memory::Group;
use super::{Dialect, Slot, SlotKind, Source, Unsupported};

/// The information from which a dialect writes the head of a kernel.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// The name of the entry point.
    pub name: &'a str,
    /// The arguments in the order of their slots.
    pub arguments: &'a [Argument],
    /// The shared arrays.
    pub shared: &'a [Shared],
    /// [`Dialect::shared_prefix`] of the dialect that renders the kernel: for any array, and for an aligned one.
    pub shared_prefix: [&'static str; 2],
    /// True if the kernel uses [`Dialect::subgroup_ids`] or [`Dialect::subgroup`].
    pub subgroups: bool,
    /// The block size, where it is fixed.
    pub block: Option<[u32; 3]>,
}

/// An argument of the entry point.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Argument {
    /// Its meaning.
    pub slot: Slot,
    /// Its name.
    pub name: String,
    /// True for memory that atomic operations change.
    pub atomic: bool,
    /// The number of elements in the [`Dialect::wide_type`] of a buffer that is declared with it.
    pub wide: Option<usize>,
}

/// A shared array.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shared {
    /// Its name; also that of its argument, if it has one.
    pub name: String,
    /// The type of an element.
    pub elem: Scalar,
    /// The number of elements, at least one. `None` if it is an argument of [`SlotKind::Shared`].
    pub len: Option<u64>,
    /// True if only atomic operations change it.
    pub atomic: bool,
    /// True if it must begin at a multiple of [`crate::SHARED_ALIGNMENT`], because wide types access it.
    pub wide: bool,
}

impl Shared {
    /// The type of an element in memory.
    ///
    /// # Errors
    /// Those of [`Dialect::shared_type`] and [`Dialect::atomic_type`].
    pub fn element_type<D: Dialect + ?Sized>(
        &self,
        dialect: &D,
    ) -> Result<&'static str, Unsupported> {
        match self.atomic {
            true => dialect.atomic_type(self.elem),
            false => dialect.shared_type(self.elem),
        }
    }
}

impl Argument {
    /// The type of a buffer's elements in memory.
    ///
    /// # Errors
    /// Those of [`Dialect::storage_type`] and [`Dialect::atomic_type`].
    pub fn element_type<D: Dialect + ?Sized>(
        &self,
        dialect: &D,
    ) -> Result<&'static str, Unsupported> {
        if let Some(wide) = self.wide.and_then(|n| dialect.wide_type(self.slot.ty, n)) {
            return Ok(wide);
        }
        match self.atomic {
            true => dialect.atomic_type(self.slot.ty),
            false => dialect.storage_type(self.slot.ty),
        }
    }

    /// The type in which a scalar is passed.
    pub fn passed_as(&self) -> Scalar {
        match self.slot.ty {
            Scalar::Bool => Scalar::U32,
            other => other,
        }
    }
}

/// The name of the argument that holds the fault record.
const FAULTS: &str = "srk_faults";

pub(super) fn render(
    lowered: &Legalized<'_>,
    dialect: &dyn Dialect,
) -> Result<Source, Unsupported> {
    let slots = lowered.slots(dialect);
    let mut namer = Namer::new(dialect.reserved());
    let name = namer.fresh(&lowered.kernel.name);
    let params: Vec<String> = lowered
        .kernel
        .params
        .iter()
        .map(|p| namer.fresh(&p.name))
        .collect();
    let shared = name_shared(lowered, &mut namer);
    let mut arguments = name_arguments(&lowered.kernel, &slots, (&params, &shared), &mut namer);
    if dialect.wide_buffers() {
        widen(&mut arguments, lowered);
    }
    let tables: Vec<String> = lowered
        .kernel
        .tables
        .iter()
        .map(|table| namer.fresh(&table.name))
        .collect();
    let ids = Ids::new(lowered, dialect, &arguments, &mut namer)?;
    let entry = dialect.entry(&Entry {
        name: &name,
        arguments: &arguments,
        shared: &shared,
        shared_prefix: [false, true].map(|aligned| dialect.shared_prefix(aligned)),
        subgroups: lowered.usage.subgroups,
        block: lowered.kernel.block,
    })?;
    let arguments = (&arguments[..], &shared[..]);
    let mut writer = Writer::new(lowered, dialect, arguments, (tables, &ids), namer);
    writer.tables();
    writer.out.open(&entry);
    ids.before().iter().for_each(|line| writer.out.line(line));
    if lowered.variant.strided {
        writer.out.open(format!("{} {{", dialect.forever()));
    }
    ids.prologue().iter().for_each(|line| writer.out.line(line));
    writer.block(lowered.kernel.body)?;
    if lowered.variant.strided {
        writer.out.close("}");
    }
    writer.out.close("}");
    let (body, sourced) = writer.out.finish();
    let mut text = Lines::default();
    text.line(head(&lowered.kernel));
    if lowered.kernel.strict {
        for line in dialect.strict_head()?.lines() {
            text.line(format!("{line}\n"));
        }
    }
    own_preludes(&lowered.kernel, dialect, &mut text);
    let prelude = prelude(dialect, &body);
    text.line(format!("\n{}", prelude.text()));
    // What stands at the level of the file, besides helpers and the entry point, may have the names of others.
    let alone = lowered.kernel.strict
        || !lowered.kernel.preludes.is_empty()
        || !lowered.kernel.tables.is_empty()
        || body.lines().any(|line| line.trim_start().starts_with('#'));
    let joint = (!alone).then(|| prelude.joint(&body));
    text.append(&body, sourced);
    let (text, sourced) = text.finish();
    Ok(Source {
        text,
        entry: name,
        slots,
        tables: lowered.tables.clone(),
        sourced,
        environments: vec![],
        files: vec![],
        joint,
    })
}

/// Writes the preludes that the user's native blocks need before the kernel.
fn own_preludes(kernel: &Kernel, dialect: &dyn Dialect, out: &mut Lines) {
    for prelude in kernel.preludes.iter() {
        let mut texts = prelude.texts.iter();
        if let Some((_, text)) = texts.find(|(target, _)| target == dialect.name()) {
            out.line("\n");
            out.foreign(text, &prelude.origin);
        }
    }
}

/// Names the shared arrays.
fn name_shared(lowered: &Legalized<'_>, namer: &mut Namer) -> Vec<Shared> {
    let arrays = (0..).zip(lowered.kernel.shared.iter()).zip(&lowered.given);
    let is_wide = |memory| {
        let mut groups = lowered.groups.values();
        groups.any(|group| group.memory == memory)
    };
    arrays
        .map(|((id, array), given)| Shared {
            name: namer.fresh(&array.name),
            elem: array.elem.scalar(),
            len: match array.len {
                Length::Fixed(n) if !given => Some(n.max(1)),
                Length::Fixed(_) | Length::Launch(_) => None,
                Length::Link(_) => unreachable!("only closed kernels are written"),
            },
            atomic: array.atomic,
            wide: is_wide(Memory::Shared(SharedId(id))),
        })
        .collect()
}

/// Names the arguments, those from the user's source first, so that they keep their names.
fn name_arguments(
    kernel: &Kernel,
    slots: &[Slot],
    (params, shared): (&[String], &[Shared]),
    namer: &mut Namer,
) -> Vec<Argument> {
    let own = |SharedId(i): SharedId| shared[i as usize].name.clone();
    slots
        .iter()
        .map(|&slot| Argument {
            slot,
            wide: None,
            atomic: match slot.kind {
                SlotKind::Buffer { param, .. } => {
                    kernel.access(Memory::Slice(param)) == Access::Atomic
                }
                SlotKind::Shared(shared) => kernel.shared[shared.index()].atomic,
                SlotKind::Output(_) => true,
                SlotKind::Len(_)
                | SlotKind::Scalar(_)
                | SlotKind::Extent(_)
                | SlotKind::Grid(_)
                | SlotKind::Faults => false,
            },
            name: match slot.kind {
                SlotKind::Buffer { param, .. }
                | SlotKind::Scalar(param)
                | SlotKind::Output(param) => params[param.index()].clone(),
                SlotKind::Shared(shared) => own(shared),
                SlotKind::Len(Memory::Slice(param)) => {
                    namer.fresh(&format!("{}_len", params[param.index()]))
                }
                SlotKind::Len(Memory::Shared(shared)) => {
                    namer.fresh(&format!("{}_len", own(shared)))
                }
                SlotKind::Len(Memory::Local(_) | Memory::Table(_)) => {
                    unreachable!("its length is fixed")
                }
                SlotKind::Extent(axis) => namer.fresh(&format!("global_dim_{}", axis.name())),
                SlotKind::Grid(axis) => namer.fresh(&format!("grid_dim_{}", axis.name())),
                SlotKind::Faults => FAULTS.into(),
            },
        })
        .collect()
}

/// Marks the buffers that are declared with wide elements.
fn widen(arguments: &mut [Argument], lowered: &Legalized<'_>) {
    for argument in arguments {
        if let SlotKind::Buffer { param, .. } = argument.slot.kind {
            let mut groups = lowered.groups.values();
            let group = groups.find(|group| group.memory == Memory::Slice(param));
            argument.wide = group.map(Group::count);
        }
    }
}

fn head(kernel: &Kernel) -> String {
    let first = kernel.block(kernel.body).next();
    let line = first.map_or(0, |id| kernel.stmt_locs[id.index()].line);
    let file = kernel.file.replace(['\n', '\r'], " ");
    let place = match (file.is_empty(), line) {
        (true, _) => String::new(),
        (false, 0) => format!(" from {file}"),
        (false, line) => format!(" from {file}:{line}"),
    };
    format!("// {}, generated by sarek{place}\n", kernel.name)
}
