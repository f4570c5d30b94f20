//! Computes ids of the index space from those that a target provides.
//!
//! Only ids that the kernel uses are computed, in the type that represents `usize`. `global_idx` is
//! `block_idx * block_dim + thread_idx`. A thread beyond the extent returns at once, unless the kernel has barriers.
//! In a folded variant, the physical grid only numbers the blocks; the logical block follows from the number and the
//! logical grid. In a strided variant, a loop around the kernel does so for one block after the other.

use crate::{Axis, BinaryOp, Builtin, DivideOp, Scalar, Value};

use super::legalize::Legalized;
use super::namer::Namer;
use super::{Argument, Dialect, Precedence, RawId, SlotKind, Text, Unsupported};

/// The text of every builtin that a kernel uses, and the lines that compute them.
pub(super) struct Ids {
    texts: Vec<(Builtin, Text)>,
    /// The lines before the loop over blocks; only in a strided variant.
    before: Vec<String>,
    lines: Vec<String>,
}

impl Ids {
    pub fn new(
        lowered: &Legalized<'_>,
        dialect: &dyn Dialect,
        arguments: &[Argument],
        namer: &mut Namer,
    ) -> Result<Ids, Unsupported> {
        let mut build = Build {
            lowered,
            dialect,
            arguments,
            namer,
            index: lowered.index(),
            ids: Ids {
                texts: vec![],
                before: vec![],
                lines: vec![],
            },
        };
        if lowered.variant.folded {
            build.unfold();
        }
        build.plain();
        build.global();
        build.thread_id();
        build.subgroup()?;
        build.faults();
        Ok(build.ids)
    }

    /// The text of a builtin.
    pub fn text(&self, builtin: Builtin) -> &Text {
        let found = self.texts.iter().find(|(b, _)| *b == builtin);
        &found.expect("every builtin in use was computed").1
    }

    /// The lines before the loop over the blocks of a strided variant.
    pub fn before(&self) -> &[String] {
        &self.before
    }

    /// The first lines of the kernel, or of each iteration over blocks.
    pub fn prologue(&self) -> &[String] {
        &self.lines
    }
}

struct Build<'a> {
    lowered: &'a Legalized<'a>,
    dialect: &'a dyn Dialect,
    arguments: &'a [Argument],
    namer: &'a mut Namer,
    index: Scalar,
    ids: Ids,
}

impl Build<'_> {
    /// Computes the logical block from the physical one; x runs fastest.
    fn unfold(&mut self) {
        let raw = |id, axis| self.dialect.raw_id(id, axis, self.index);
        let [x, y, z] = Axis::ALL.map(|a| raw(RawId::BlockIdx, a));
        let [dx, dy] = [Axis::X, Axis::Y].map(|a| raw(RawId::GridDim, a));
        let row = self.add(&self.multiply(&z, &dy), &y);
        let number = self.add(&self.multiply(&row, &dx), &x);
        let number = match self.lowered.variant.strided {
            false => self.local("block_number", &number),
            true => self.turn(&number),
        };
        let [gx, gy, gz] = Axis::ALL.map(|a| self.argument(SlotKind::Grid(a)));
        let row = self.divide(DivideOp::Div, &number, &gx);
        let row = self.local("block_row", &row);
        let x = self.divide(DivideOp::Rem, &number, &gx);
        let y = self.divide(DivideOp::Rem, &row, &gy);
        let z = self.divide(DivideOp::Div, &row, &gy);
        let end = if self.lowered.variant.strided {
            "break"
        } else {
            "return"
        };
        let surplus = self.compare(&z, &gz, end);
        self.ids.lines.push(surplus);
        for (axis, text) in Axis::ALL.into_iter().zip([x, y, z]) {
            if self.lowered.has(axis) {
                let text = self.local(&format!("block_idx_{}", axis.name()), &text);
                self.set(Builtin::BlockIdx(axis), text);
            }
        }
        for (axis, text) in Axis::ALL.into_iter().zip([gx, gy, gz]) {
            self.set(Builtin::GridDim(axis), text);
        }
    }

    /// The number of the block in this iteration of the loop over blocks. The next number is larger by the number of
    /// physical blocks.
    fn turn(&mut self, first: &Text) -> Text {
        let next = self.namer.fresh("block_next");
        let declared = (self.dialect).declare(&next, self.index, true, Some(&first.text));
        self.ids.before.push(format!("{declared};"));
        let [x, y, z] = Axis::ALL.map(|a| self.dialect.raw_id(RawId::GridDim, a, self.index));
        let count = self.multiply(&self.multiply(&x, &y), &z);
        let number = self.local("block_number", &Text::primary(next.clone()));
        let after = self.add(&number, &count);
        self.ids.lines.push(format!("{next} = {};", after.text));
        number
    }

    /// Computes the ids of threads, blocks and grid.
    fn plain(&mut self) {
        for axis in Axis::ALL {
            let at = |name: &str| format!("{name}_{}", axis.name());
            for (builtin, raw, name, absent) in [
                (
                    Builtin::ThreadIdx(axis),
                    RawId::ThreadIdx,
                    at("thread_idx"),
                    0,
                ),
                (Builtin::BlockIdx(axis), RawId::BlockIdx, at("block_idx"), 0),
                (Builtin::BlockDim(axis), RawId::BlockDim, at("block_dim"), 1),
                (Builtin::GridDim(axis), RawId::GridDim, at("grid_dim"), 1),
            ] {
                if self.ids.texts.iter().any(|(b, _)| *b == builtin) {
                    continue;
                }
                let mut text = if self.lowered.has(axis) {
                    self.dialect.raw_id(raw, axis, self.index)
                } else {
                    self.number(absent)
                };
                if self.lowered.has(axis) && self.lowered.usage.uses(builtin) {
                    // WGSL knows the block size at compile time.
                    if raw == RawId::BlockDim {
                        text = self.dialect.runtime(text, self.index);
                    }
                    text = self.local(&name, &text);
                }
                self.set(builtin, text);
            }
        }
    }

    /// Computes global ids and extents, and ends threads outside the index space.
    fn global(&mut self) {
        for axis in Axis::ALL {
            if !self.lowered.has(axis) {
                let (idx, dim) = (self.number(0), self.number(1));
                self.set(Builtin::GlobalIdx(axis), idx);
                self.set(Builtin::GlobalDim(axis), dim);
                continue;
            }
            if self.lowered.needs_global_idx(axis) {
                let block = self.ids.text(Builtin::BlockIdx(axis)).clone();
                let dim = self.ids.text(Builtin::BlockDim(axis)).clone();
                let thread = self.ids.text(Builtin::ThreadIdx(axis)).clone();
                let text = self.add(&self.multiply(&block, &dim), &thread);
                let text = self.local(&format!("global_idx_{}", axis.name()), &text);
                self.set(Builtin::GlobalIdx(axis), text);
            }
            if self.lowered.needs_extent(axis) {
                let extent = self.argument(SlotKind::Extent(axis));
                self.set(Builtin::GlobalDim(axis), extent);
            }
            // A kernel with barriers runs whole blocks, so its threads must not return before the barriers.
            if !self.lowered.usage.barriers {
                let idx = self.ids.text(Builtin::GlobalIdx(axis));
                let end = if self.lowered.variant.strided {
                    "continue"
                } else {
                    "return"
                };
                let outside = self.compare(idx, self.ids.text(Builtin::GlobalDim(axis)), end);
                self.ids.lines.push(outside);
            }
        }
    }

    fn thread_id(&mut self) {
        if !self.lowered.usage.uses(Builtin::GlobalThreadId) {
            return;
        }
        let mut axes = Axis::ALL.into_iter().filter(|a| self.lowered.has(*a)).rev();
        let highest = axes.next().unwrap_or(Axis::X);
        let mut text = self.ids.text(Builtin::GlobalIdx(highest)).clone();
        for axis in axes {
            let rows = self.multiply(&text, self.ids.text(Builtin::GlobalDim(axis)));
            text = self.add(&rows, self.ids.text(Builtin::GlobalIdx(axis)));
        }
        let text = self.local("global_thread_id", &text);
        self.set(Builtin::GlobalThreadId, text);
    }

    fn subgroup(&mut self) -> Result<(), Unsupported> {
        let builtins = [Builtin::SubgroupSize, Builtin::SubgroupLane];
        if builtins.iter().any(|b| self.lowered.usage.uses(*b)) {
            let texts = self.dialect.subgroup_ids(self.index)?;
            for (builtin, text) in builtins.into_iter().zip(texts) {
                if self.lowered.usage.uses(builtin) {
                    let text = self.local(builtin.name(), &text);
                    self.set(builtin, text);
                }
            }
        }
        Ok(())
    }

    fn faults(&mut self) {
        if self.lowered.usage.faults {
            let ids = Axis::ALL.map(|a| self.ids.text(Builtin::GlobalIdx(a)).text.clone());
            let [x, y, z] = &ids;
            let setup = self.dialect.fault_setup([x, y, z], self.index);
            self.ids.lines.push(setup);
        }
    }

    fn set(&mut self, builtin: Builtin, text: Text) {
        self.ids.texts.push((builtin, text));
    }

    /// Declares a local and adds its line.
    fn local(&mut self, name: &str, init: &Text) -> Text {
        let name = self.namer.fresh(name);
        let line = self
            .dialect
            .declare(&name, self.index, false, Some(&init.text));
        self.ids.lines.push(format!("{line};"));
        Text::primary(name)
    }

    fn argument(&self, kind: SlotKind) -> Text {
        let found = self.arguments.iter().find(|a| a.slot.kind == kind);
        let name = &found.expect("the slots follow from the same variant").name;
        Text::primary(self.dialect.scalar_argument(name))
    }

    fn number(&self, n: u8) -> Text {
        let value = Value::int(self.index, i128::from(n));
        self.dialect
            .literal(value.expect("ids are unsigned integers"))
    }

    fn add(&self, a: &Text, b: &Text) -> Text {
        self.dialect.binary(BinaryOp::Add, self.index, a, b)
    }

    fn multiply(&self, a: &Text, b: &Text) -> Text {
        self.dialect.binary(BinaryOp::Mul, self.index, a, b)
    }

    fn divide(&self, op: DivideOp, a: &Text, b: &Text) -> Text {
        self.dialect.divide(op, self.index, a, b)
    }

    /// The line that ends a thread, or its iteration, unless `id` is below `most`.
    fn compare(&self, id: &Text, most: &Text, end: &str) -> String {
        let outside = Text::infix(Precedence::Compare, ">=", id, most);
        format!("if ({}) {{ {end}; }}", outside.text)
    }
}
