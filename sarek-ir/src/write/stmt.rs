//! Writes statements.

use std::collections::{BTreeSet, HashMap};

use crate::analysis::uniformity::Uniformity;
use crate::facts::Reads;
use crate::{
    BinaryOp, Block, ExprId, Intrinsic, Kernel, LabelId, Length, Loc, LocalId, Memory, Native,
    ParamId, ParamKind, Piece, Scalar, SiteId, Stmt, StmtId, Unroll, Value,
};

use super::ids::Ids;
use super::legalize::Legalized;
use super::namer::Namer;
use super::text::Lines;
use super::vectorize_memory::{Group, Parts, Taken};
use super::{Argument, Dialect, Iterations, Precedence, Shared, SlotKind, Text, Unsupported};

/// Writes the body of a lowered kernel.
pub(super) struct Writer<'a> {
    pub(super) kernel: &'a Kernel,
    pub(super) index: Scalar,
    pub(super) dialect: &'a dyn Dialect,
    pub(super) arguments: &'a [Argument],
    pub(super) shared: &'a [Shared],
    /// The names of tables that the text declares.
    pub(super) tables: Vec<String>,
    pub(super) ids: &'a Ids,
    /// True if barriers order accesses to buffers, too.
    exchanges: bool,
    /// The uniformity of control flow, if the kernel has subgroup operations.
    pub(super) uniformity: Option<Uniformity>,
    groups: &'a HashMap<StmtId, Group>,
    predicates: &'a BTreeSet<LocalId>,
    pub(super) namer: Namer,
    pub(super) out: Lines,
    /// The current nesting depth of blocks, as the target counts it.
    pub(super) depth: u32,
}

impl<'a> Writer<'a> {
    pub fn new(
        lowered: &'a Legalized<'a>,
        dialect: &'a dyn Dialect,
        (arguments, shared): (&'a [Argument], &'a [Shared]),
        (tables, ids): (Vec<String>, &'a Ids),
        namer: Namer,
    ) -> Writer<'a> {
        Writer {
            kernel: &lowered.kernel,
            index: lowered.index(),
            dialect,
            arguments,
            shared,
            tables,
            ids,
            uniformity: (lowered.usage.subgroups).then(|| Uniformity::of(&lowered.kernel)),
            exchanges: lowered.usage.exchanges,
            groups: &lowered.groups,
            predicates: &lowered.predicates,
            namer,
            out: Lines::default(),
            depth: 0,
        }
    }

    /// Declares the tables from which the kernel loads.
    pub fn tables(&mut self) {
        let mut used = BTreeSet::new();
        for id in self.kernel.used_exprs() {
            if let Reads::Memory(Memory::Table(table)) = self.kernel.expr(id).facts().reads {
                used.insert(table);
            }
        }
        for id in used {
            let table = &self.kernel.tables[id.index()];
            let values = table.values().iter();
            let values: Vec<Text> = values.map(|v| self.dialect.literal(*v)).collect();
            let name = &self.tables[id.index()];
            let line = self.dialect.declare_table(name, table.elem(), &values);
            self.out.line(line);
            self.out.line("\n");
        }
    }

    /// Writes the statements of a block in a scope of names.
    pub fn block(&mut self, block: Block) -> Result<(), Unsupported> {
        if let Some(most) = self.dialect.max_depth().filter(|most| self.depth >= *most) {
            let construct = format!("room for more than {most} blocks in one another");
            return Err(Unsupported::new(self.dialect.name(), construct));
        }
        self.depth += 1;
        self.namer.open();
        let kernel = self.kernel;
        let around = self.out.statement.clone();
        let mut stmts = kernel.block(block);
        while let Some(id) = stmts.next() {
            let origin = kernel.origin_of(kernel.stmt_locs[id.index()]);
            if origin.line > 0 {
                self.out.statement = Some(origin);
            }
            match self.groups.get(&id) {
                Some(group) => {
                    self.together(group)?;
                    // Skips the other statements of the group.
                    stmts.by_ref().take(group.count() - 1).for_each(drop);
                }
                None => self.stmt(id)?,
            }
        }
        self.out.statement = around;
        self.namer.close();
        self.depth -= 1;
        Ok(())
    }

    fn stmt(&mut self, id: StmtId) -> Result<(), Unsupported> {
        match self.kernel.stmt(id) {
            Stmt::Let { local, init } => self.declare(local, init)?,
            Stmt::Assign { local, value } => {
                let value = self.expr(value)?;
                let name = self.namer.local(local);
                self.out.line(format!("{name} = {};", value.text));
            }
            Stmt::Store {
                memory,
                index,
                value,
                site,
            } => self.store(memory, index, value, site)?,
            Stmt::Assert { cond, site } => {
                let cond = self.expr(cond)?;
                let check = self.checked("srk_assert", [cond], site);
                self.out.line(format!("{};", check.text));
            }
            Stmt::If {
                cond,
                then,
                otherwise,
            } => self.branch(cond, then, otherwise)?,
            Stmt::Loop { label, cond, body } => {
                self.repeat(label, cond, body, self.kernel.stmt_locs[id.index()])?;
            }
            Stmt::For {
                label,
                local,
                start,
                end,
                body,
            } => {
                let loc = self.kernel.stmt_locs[id.index()];
                self.count((label, local), (start, end), body, loc)?;
            }
            Stmt::Break { .. } => self.out.line("break;"),
            Stmt::Continue { .. } => self.out.line("continue;"),
            Stmt::Return => self.out.line("return;"),
            Stmt::Update { .. } | Stmt::Call { .. } => unreachable!("linking leaves no compound"),
            Stmt::Panic { .. } => unreachable!("a panic is lowered"),
            Stmt::Print { .. } => unreachable!("what is printed is a record"),
            Stmt::Barrier => self.out.line(self.dialect.barrier(self.exchanges)?),
            Stmt::Fence { scope } => self.out.line(self.dialect.fence(scope)?),
            Stmt::Atomic {
                op,
                memory,
                index,
                args,
                result,
                site,
            } => self.atomic(op, (memory, index, site), args, result)?,
            Stmt::Subgroup { op, args, result } => self.subgroup(id, (op, args), result)?,
            Stmt::Native { native } => self.native(&self.kernel.natives[native.index()])?,
        }
        Ok(())
    }

    fn declare(&mut self, local: LocalId, init: Option<ExprId>) -> Result<(), Unsupported> {
        let mut init = init.map(|init| self.expr(init)).transpose()?;
        let decl = &self.kernel.locals[local.index()];
        if let Some(constant) = &mut init
            && constant.constant
            && !decl.mutable
        {
            // naga treats the name of a constant as the constant.
            *constant = self.dialect.runtime(constant.clone(), decl.ty.scalar());
        }
        let name = self.namer.declare(local, &decl.name);
        if let Some((elem, len)) = self.kernel.array(local) {
            let len = fixed(len).max(1);
            let line = self.dialect.declare_array(&name, elem.scalar(), len);
            self.out.line(format!("{line};"));
            return Ok(());
        }
        let init = init.as_ref().map(|i| i.text.as_str());
        let line = self
            .dialect
            .declare(&name, decl.ty.scalar(), decl.mutable, init);
        let qualifier = self.dialect.predicate();
        let line = match qualifier.filter(|_| self.predicates.contains(&local)) {
            Some(qualifier) => format!("{qualifier} {line}"),
            None => line,
        };
        self.out.line(format!("{line};"));
        Ok(())
    }

    fn store(
        &mut self,
        memory: Memory,
        index: ExprId,
        value: ExprId,
        site: Option<SiteId>,
    ) -> Result<(), Unsupported> {
        let ty = self.kernel.scalar_of(value);
        let value = self.expr(value)?;
        let index = self.index_of(memory, index)?;
        let assign = match self.packed_element(memory, &index) {
            Some(packed) => self.dialect.packed_store(&packed, value),
            None => {
                let value = match memory {
                    Memory::Local(_) => value,
                    Memory::Slice(_) | Memory::Shared(_) | Memory::Table(_) => {
                        self.dialect.stored(value, ty)
                    }
                };
                let memory = self.memory(memory);
                let place = self.dialect.element(memory, &index, self.index);
                format!("{place} = {};", value.text)
            }
        };
        let Some(site) = site else {
            self.out.line(assign);
            return Ok(());
        };
        self.open_checked(memory, index, site);
        self.out.line(assign);
        self.out.close("}");
        Ok(())
    }

    /// Writes a group as one access.
    fn together(&mut self, group: &Group) -> Result<(), Unsupported> {
        let wide = group.wide(self.dialect);
        let memory = self.memory(group.memory);
        let index = self.expr(group.index)?;
        let writes = matches!(group.parts, Parts::Store(_));
        let place = match (group.memory, self.dialect.wide_shared()) {
            (Memory::Shared(_), Some(before)) => {
                format!("(({before}{}*){memory})[{}]", wide.name, index.text)
            }
            (_, _) => self
                .dialect
                .wide_element(memory, wide.name, writes, &index, self.index),
        };
        match &group.parts {
            Parts::Store(values) => {
                let mut texts = vec![];
                for &value in values {
                    texts.push(self.dialect.stored(self.expr(value)?, group.ty));
                }
                if wide.packed > 1 {
                    let words = texts.chunks(wide.packed);
                    texts = words.map(|parts| self.packed(parts, group.ty)).collect();
                }
                let value = match texts.as_slice() {
                    [word] => word.clone(),
                    _ => self.dialect.wide_value(wide.name, &texts),
                };
                self.out.line(format!("{place} = {};", value.text));
            }
            Parts::Load(taken) => {
                let whole = self.namer.fresh("wide");
                let line = self.dialect.declare_wide(&whole, wide.name, &place);
                self.out.line(format!("{line};"));
                for (k, taken) in taken.iter().enumerate() {
                    let mut part = wide.component(&whole, k / wide.packed);
                    if wide.packed > 1 {
                        let (ty, shift) = (group.ty, k % wide.packed * group.ty.size() * 8);
                        part = format!("({})({part} >> {shift})", self.dialect.storage_type(ty)?);
                    }
                    self.take(*taken, self.dialect.loaded(part, group.ty), group.ty);
                }
            }
        }
        Ok(())
    }

    /// A word of small elements, the first in the lowest bits.
    fn packed(&self, parts: &[Text], ty: Scalar) -> Text {
        let word = self.dialect.type_name(Scalar::U32);
        let unsigned = match ty.size() {
            1 => Scalar::U8,
            _ => Scalar::U16,
        };
        let unsigned = self.dialect.type_name(unsigned);
        let shifted = parts.iter().enumerate().map(|(k, part)| {
            let bits = format!("({word})({unsigned})({})", part.text);
            match k {
                0 => bits,
                _ => format!("{bits} << {}", 8 * k * ty.size()),
            }
        });
        Text::primary(format!("({})", shifted.collect::<Vec<_>>().join(" | ")))
    }

    /// Stores a loaded element of type `ty` in its destination.
    fn take(&mut self, taken: Taken, mut value: Text, ty: Scalar) {
        if taken.from_bits {
            let function = self.dialect.function(Intrinsic::FromBits, ty);
            let function = function.unwrap_or_else(|| unreachable!("every dialect has it"));
            value = Text::call(&function, &[value]);
        }
        let decl = &self.kernel.locals[taken.local.index()];
        let line = if taken.declares {
            let name = self.namer.declare(taken.local, &decl.name);
            let ty = decl.ty.scalar();
            self.dialect
                .declare(&name, ty, decl.mutable, Some(&value.text))
        } else {
            format!("{} = {}", self.namer.local(taken.local), value.text)
        };
        self.out.line(format!("{line};"));
    }

    /// Opens a block that runs if an index is in bounds.
    pub(super) fn open_checked(&mut self, memory: Memory, index: Text, site: SiteId) {
        let helper = format!("srk_in_bounds_{}", self.index);
        let check = self.checked(&helper, [index, self.len(memory)], site);
        self.out.open(format!("if ({}) {{", check.text));
    }

    fn repeat(
        &mut self,
        label: LabelId,
        cond: Option<ExprId>,
        body: Block,
        loc: Loc,
    ) -> Result<(), Unsupported> {
        let head = match cond {
            Some(cond) => format!("while ({}) {{", self.expr(cond)?.text),
            None => format!("{} {{", self.dialect.forever()),
        };
        self.unroll(label);
        self.out.open(head);
        self.body(body, loc)
    }

    /// Writes the rest of a loop: its body and the closing brace.
    fn body(&mut self, body: Block, loc: Loc) -> Result<(), Unsupported> {
        self.iterate("srk_iteration", loc);
        self.block(body)?;
        self.out.close("}");
        self.iterate("srk_iterated", loc);
        Ok(())
    }

    /// Counts the iterations of the loop at this location, if the device ends loops by itself.
    fn iterate(&mut self, helper: &str, loc: Loc) {
        if self.dialect.max_iterations().is_some() {
            let detail = Iterations::detail(loc);
            let words = [(detail >> 32) as u32, detail as u32];
            let words = words.map(|word| self.dialect.literal(Value::U32(word)));
            self.out
                .line(format!("{};", Text::call(helper, &words).text));
        }
    }

    /// Writes the unroll hint right before the head of a loop.
    fn unroll(&mut self, label: LabelId) {
        let times = match self.kernel.unroll(label) {
            None => return,
            Some(Unroll::Whole) => None,
            Some(Unroll::Times(times)) => Some(times),
            Some(Unroll::Link(_)) => unreachable!("only closed kernels are written"),
        };
        if let Some(line) = self.dialect.unroll(times) {
            self.out.line(line);
        }
    }

    fn count(
        &mut self,
        (label, local): (LabelId, LocalId),
        (start, end): (ExprId, ExprId),
        body: Block,
        loc: Loc,
    ) -> Result<(), Unsupported> {
        let decl = &self.kernel.locals[local.index()];
        let (ty, wanted) = (decl.ty.scalar(), &decl.name);
        let start = self.expr(start)?;
        // Both bounds are evaluated once, the start first. Their names are outside the loop's scope.
        let (start, limit) = if self.kernel.is_fixed_leaf(end) {
            (start, self.expr(end)?)
        } else {
            let end_text = self.expr(end)?;
            let first = self.bind(&format!("{wanted}_start"), ty, start);
            (first, self.bind(&format!("{wanted}_end"), ty, end_text))
        };
        self.namer.open();
        let name = self.namer.declare(local, wanted);
        let place = Text::primary(&name);
        let one = Value::int(ty, 1).expect("a for loop counts integers");
        let test = self.dialect.binary(BinaryOp::Lt, ty, &place, &limit);
        self.unroll(label);
        self.out.open(format!(
            "for ({}; {}; {name} += {}) {{",
            self.dialect.declare(&name, ty, true, Some(&start.text)),
            test.text,
            self.dialect.literal(one).text,
        ));
        self.body(body, loc)?;
        self.namer.close();
        Ok(())
    }

    /// Binds a value to a new local, unless it is a constant.
    fn bind(&mut self, wanted: &str, ty: Scalar, value: Text) -> Text {
        if value.constant {
            return value;
        }
        let name = self.namer.fresh(wanted);
        let line = self.dialect.declare(&name, ty, false, Some(&value.text));
        self.out.line(format!("{line};"));
        Text::primary(name)
    }

    /// Writes the target's text, and records which lines it occupies.
    fn native(&mut self, native: &Native) -> Result<(), Unsupported> {
        let target = self.dialect.name();
        let text = native.texts.iter().find(|t| t.target == target);
        let text = text.ok_or_else(|| {
            Unsupported::new(target, "text in a `native!` of this kernel, nor a fallback")
        })?;
        let mut out = String::new();
        for piece in text.pieces.iter() {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Local(local) => out.push_str(self.namer.local(*local)),
                Piece::Param(param) => match self.kernel.params[param.index()].kind {
                    ParamKind::Slice { .. } => {
                        if let Some(ty) = self.packed_type(*param) {
                            let construct = format!("buffers of `{ty}` that a `native!` can name");
                            return Err(Unsupported::new(target, construct));
                        }
                        out.push_str(self.argument(*param));
                    }
                    ParamKind::Value(_) | ParamKind::Reference(_) => {
                        unreachable!("linking leaves no compound")
                    }
                    ParamKind::Scalar(_) => {
                        out.push_str(&self.param(*param).at_least(Precedence::Primary));
                    }
                },
                Piece::Shared(shared) => out.push_str(self.memory(Memory::Shared(*shared))),
                Piece::Place(_) => unreachable!("linking leaves no compound"),
            }
        }
        if let Some(result) = native.result {
            let ty = self.kernel.locals[result.index()].ty.scalar();
            let value = Text::new(Precedence::Loose, out);
            // A value held in a wider type must be within its bounds, whatever the text yields.
            let value = match ty.widened() {
                Some(wide) => self.dialect.cast(&value, wide, ty),
                None => value,
            };
            out = format!("{} = {};", self.namer.local(result), value.text);
        }
        self.out.foreign(out, &text.origin);
        Ok(())
    }

    /// The name of the argument for a parameter.
    pub(super) fn argument(&self, param: ParamId) -> &'a str {
        self.name_of(|kind| match kind {
            SlotKind::Buffer { param: p, .. } | SlotKind::Scalar(p) | SlotKind::Output(p) => {
                p == param
            }
            SlotKind::Len(_)
            | SlotKind::Extent(_)
            | SlotKind::Grid(_)
            | SlotKind::Shared(_)
            | SlotKind::Faults => false,
        })
    }

    /// The name of a memory.
    pub(super) fn memory(&self, memory: Memory) -> &str {
        match memory {
            Memory::Slice(param) => self.argument(param),
            Memory::Local(local) => self.namer.local(local),
            Memory::Shared(shared) => &self.shared[shared.index()].name,
            Memory::Table(table) => &self.tables[table.index()],
        }
    }

    /// The length of a memory.
    pub(super) fn len(&self, memory: Memory) -> Text {
        match self.fixed_len(memory) {
            Some(n) => {
                let n = Value::int(self.index, n.into());
                self.dialect.literal(n.expect("an index is an integer"))
            }
            None => {
                let name = self.name_of(|kind| kind == SlotKind::Len(memory));
                Text::primary(self.dialect.scalar_argument(name))
            }
        }
    }

    /// The length of a memory whose length is constant.
    pub(super) fn fixed_len(&self, memory: Memory) -> Option<u64> {
        match memory {
            Memory::Slice(_) => None,
            Memory::Shared(shared) => match self.kernel.shared[shared.index()].len {
                Length::Fixed(n) => Some(n),
                Length::Launch(_) | Length::Link(_) => None,
            },
            Memory::Local(local) => self.kernel.array(local).map(|(_, len)| fixed(len)),
            Memory::Table(table) => {
                let values = self.kernel.tables[table.index()].values();
                Some(values.len() as u64)
            }
        }
    }

    fn name_of(&self, is: impl Fn(SlotKind) -> bool) -> &'a str {
        let found = self.arguments.iter().find(|a| is(a.slot.kind));
        &found.expect("the slots follow from the same kernel").name
    }
}

/// The length of a local array.
fn fixed(len: Length) -> u64 {
    match len {
        Length::Fixed(n) => n,
        Length::Launch(_) | Length::Link(_) => {
            unreachable!("a local array of a closed kernel has a fixed length")
        }
    }
}
