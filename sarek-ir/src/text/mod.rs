//! Prints a kernel in a textual form, for tests and debugging.
//!
//! The form reads like Rust, with these additions: `!3` after an access, an operator or `assert` is its site. `!3?` is
//! a site that depends on data, so that no launch can prove it. A name shared by several locals gets a number, as in
//! `i.1`. The lines before the header are the links (`link`) and preconditions (`requires`).

mod compound;
mod expr;
mod output;
mod spell;
mod stmt;

use std::collections::HashSet;
use std::fmt::{self, Write as _};

use crate::facts::Flow;
use crate::{
    Access, Block, ExprId, Kernel, LabelId, LocalId, Memory, ParamId, ParamKind, Precondition,
    SiteId, TableValues, Type,
};
use spell::Prec;

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = Text::new(self);
        text.kernel();
        f.write_str(&text.out)
    }
}

impl Kernel {
    /// An expression in the kernel's textual form.
    pub fn expr_text(&self, id: ExprId) -> String {
        let mut text = Text::new(self);
        text.expr(id, Prec::Lowest);
        text.out
    }

    /// The same for users' messages, without sites.
    pub fn expr_words(&self, id: ExprId) -> String {
        let mut text = Text::new(self);
        text.has_sites = false;
        text.expr(id, Prec::Lowest);
        text.out
    }
}

struct Text<'a> {
    kernel: &'a Kernel,
    params: Vec<String>,
    locals: Vec<String>,
    shared: Vec<String>,
    tables: Vec<String>,
    links: Vec<String>,
    /// Loops that a `break` or `continue` names.
    labels: HashSet<LabelId>,
    /// True if sites are printed.
    has_sites: bool,
    indent: usize,
    out: String,
}

/// Makes names unique; the first of several equal names keeps its spelling.
fn unique<'n>(names: impl Iterator<Item = &'n str>, taken: &mut HashSet<String>) -> Vec<String> {
    names
        .map(|name| {
            let numbered = (1..).map(|i| format!("{name}.{i}"));
            let spelling = std::iter::once(name.to_owned())
                .chain(numbered)
                .find(|s| !taken.contains(s))
                .unwrap_or_else(|| unreachable!("the numbers never end"));
            taken.insert(spelling.clone());
            spelling
        })
        .collect()
}

impl<'a> Text<'a> {
    fn new(kernel: &'a Kernel) -> Text<'a> {
        let mut taken = HashSet::new();
        let labels = kernel.stmts.iter().filter_map(|s| match s.facts().flow {
            Flow::Break(label) | Flow::Continue(label) => Some(label),
            Flow::Next | Flow::Branch | Flow::Loop(_) | Flow::Return | Flow::Panic => None,
        });
        Text {
            kernel,
            params: unique(kernel.params.iter().map(|p| &*p.name), &mut taken),
            locals: unique(kernel.locals.iter().map(|l| &*l.name), &mut taken),
            shared: unique(kernel.shared.iter().map(|s| &*s.name), &mut taken),
            tables: unique(kernel.tables.iter().map(|t| &*t.name), &mut taken),
            links: unique(kernel.links.iter().map(|l| &*l.path), &mut taken),
            labels: labels.collect(),
            has_sites: true,
            indent: 0,
            out: String::new(),
        }
    }

    fn put(&mut self, text: impl fmt::Display) {
        write!(self.out, "{text}").unwrap_or_else(|_| unreachable!("a String takes all text"));
    }

    fn line_start(&mut self) {
        self.out.extend(std::iter::repeat_n("    ", self.indent));
    }

    fn kernel(&mut self) {
        let kernel = self.kernel;
        for (link, name) in kernel.links.iter().zip(self.links.clone()) {
            self.put(format_args!("link {name}: "));
            self.ty(link.ty);
            self.put("\n");
        }
        for p in kernel.preconditions.iter() {
            match p {
                Precondition::SingleThread(axis) => {
                    self.put(format_args!("requires global_dim_{}() <= 1", axis.name()));
                }
                Precondition::ExtentAtMost(axis, n) => {
                    self.put(format_args!("requires global_dim_{}() <= {n}", axis.name()));
                }
                Precondition::BlockAtMost(axis, n) => {
                    self.put(format_args!("requires block_dim_{}() <= {n}", axis.name()));
                }
                Precondition::GridAtMost(axis, n) => {
                    self.put(format_args!("requires grid_dim_{}() <= {n}", axis.name()));
                }
                Precondition::BlockMultipleOf(n) => {
                    self.put(format_args!("requires blocks_of_multiples({n})"));
                }
                Precondition::Holds(site) => {
                    self.put(format_args!("requires !{}", site.0));
                }
                Precondition::Positive(param) => {
                    self.put(format_args!("requires {} > 0", kernel.size_text(*param)));
                }
                Precondition::SubgroupSize(n) => {
                    self.put(format_args!("requires subgroup_size() == {n}"));
                }
                Precondition::SubgroupSizeIs(link) => {
                    let name = self.links[link.index()].clone();
                    self.put(format_args!("requires subgroup_size() == {name}"));
                }
                Precondition::EqualSubgroups => self.put("requires equal_subgroups"),
                Precondition::WholeSubgroups => self.put("requires whole_subgroups"),
                Precondition::BlockOfSubgroups => self.put("requires block_of_subgroups"),
                Precondition::NoOverflow(e) => {
                    self.put("requires no_overflow(");
                    self.expr(*e, Prec::Lowest);
                    self.put(")");
                }
            }
            self.put("\n");
        }
        if let Some([x, y, z]) = kernel.block {
            self.put(format_args!("block ({x}, {y}, {z})\n"));
        }
        self.constants();
        self.shared_arrays();
        let strict = if kernel.strict { "strict " } else { "" };
        self.put(format_args!("{strict}kernel {}(", kernel.name));
        for (i, param) in kernel.params.iter().enumerate() {
            let separator = if i == 0 { "" } else { ", " };
            self.put(format_args!("{separator}{}: ", self.params[i].clone()));
            match param.kind {
                ParamKind::Scalar(ty) => self.put(ty),
                ParamKind::Value(id) => self.ty(Type::Compound(id)),
                ParamKind::Reference(ty) => {
                    self.put("&mut ");
                    self.ty(ty);
                }
                ParamKind::Slice { elem, access } => {
                    self.put(if access == Access::Write {
                        "&mut ["
                    } else {
                        "&["
                    });
                    self.element(elem, access == Access::Atomic);
                    self.put("]");
                }
            }
        }
        self.put(") ");
        self.block(kernel.body);
        self.put("\n");
    }

    fn block(&mut self, block: Block) {
        if block.is_empty() {
            self.put("{}");
            return;
        }
        self.put("{\n");
        self.indent += 1;
        for stmt in self.kernel.block(block) {
            self.line_start();
            self.stmt(stmt);
            self.put("\n");
        }
        self.indent -= 1;
        self.line_start();
        self.put("}");
    }

    fn site(&mut self, site: Option<SiteId>) {
        if let Some(site) = site
            && self.has_sites
        {
            let data = if self.kernel.sites[site.index()].provable {
                ""
            } else {
                "?"
            };
            self.put(format_args!("!{}{data}", site.0));
        }
    }

    fn label(&mut self, label: LabelId) {
        if self.labels.contains(&label) {
            self.put(format_args!("'l{}: ", label.0));
        }
    }

    fn local(&mut self, local: LocalId) {
        let name = self.locals[local.index()].clone();
        self.put(name);
    }

    fn param(&mut self, param: ParamId) {
        let name = self.params[param.index()].clone();
        self.put(name);
    }

    fn memory(&mut self, memory: Memory) {
        match memory {
            Memory::Slice(param) => self.param(param),
            Memory::Shared(shared) => {
                let name = self.shared[shared.index()].clone();
                self.put(name);
            }
            Memory::Local(local) => self.local(local),
            Memory::Table(table) => {
                let name = self.tables[table.index()].clone();
                self.put(name);
            }
        }
    }

    fn access(&mut self, memory: Memory, index: ExprId, site: Option<SiteId>) {
        self.memory(memory);
        self.put("[");
        self.expr(index, Prec::Lowest);
        self.put("]");
        self.site(site);
    }

    /// Prints the tables of a linked kernel; long ones are truncated.
    fn constants(&mut self) {
        const SHOWN: usize = 16;
        for (i, table) in self.kernel.tables.iter().enumerate() {
            let TableValues::Known { elem, values } = &table.values else {
                continue;
            };
            let name = self.tables[i].clone();
            self.put(format_args!("const {name}: [{elem}; {}] = [", values.len()));
            for (k, value) in values.iter().take(SHOWN).enumerate() {
                let separator = if k == 0 { "" } else { ", " };
                self.put(format_args!("{separator}{}", spell::Literal(*value)));
            }
            let rest = if values.len() > SHOWN { ", …" } else { "" };
            self.put(format_args!("{rest}]\n"));
        }
    }

    fn shared_arrays(&mut self) {
        for (i, array) in self.kernel.shared.iter().enumerate() {
            let name = self.shared[i].clone();
            self.put(format_args!("shared {name}: ["));
            self.element(array.elem, array.atomic);
            self.put("; ");
            self.length(array.len);
            self.put("]\n");
        }
    }
}

#[cfg(test)]
mod tests;
