//! The kernel under construction, and the mapping from the names of the function being walked to it.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use super::leaf::{Known, Part, Storage, Unit};
use super::shape::{Shape, length, resolve_all};
use super::{Function, Links};
use crate::{
    Access, Call, CallableArg, ClosureId, Expr, ExprId, FileId, Kernel, LabelId, Length, Link,
    LinkId, Loc, Local, LocalId, Memory, Param, ParamId, ParamKind, Precondition, Scalar,
    SharedArray, SharedId, Site, SiteId, SiteKind, Stmt, StmtId, Table, TableId, TableValues, Type,
    TypeDef, Value,
};

/// Builds a closed kernel.
pub(super) struct Linker {
    pub out: Kernel,
    /// The open blocks, innermost last.
    pub blocks: Vec<Vec<StmtId>>,
    labels: u32,
}

/// A kernel or function being walked, with its mapping to the output.
#[derive(Clone)]
pub(super) struct Frame<'a> {
    pub ir: &'a Kernel,
    /// The function's own file, and the others that its locations refer to.
    files: Rc<[FileId]>,
    pub links: &'a Links,
    pub shapes: Vec<Shape>,
    pub params: Vec<Part>,
    pub shared: Vec<Part>,
    /// The constants resolved so far.
    pub constants: HashMap<LinkId, Part>,
    pub locals: Vec<Option<Part>>,
    pub labels: HashMap<LabelId, LabelId>,
    /// The output's site for each site.
    pub sites: Vec<SiteId>,
    /// The first output site of each call's callee.
    pub call_sites: Vec<u32>,
    /// The translation of `return`.
    pub exit: Exit,
    /// The callable arguments.
    pub callables: Vec<BoundCallable<'a>>,
    /// The output expressions of each scalar expression: one, or in a closure one for each call of it.
    pub made: Rc<RefCell<HashMap<ExprId, Vec<ExprId>>>>,
}

/// A callable argument of a function.
#[derive(Clone)]
pub(super) enum BoundCallable<'a> {
    /// A closure of the function with this frame.
    Closure(Rc<Frame<'a>>, ClosureId),
    /// A function, and its first output site.
    Function(&'a Function, u32),
}

/// The translation of a `return` in a body.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Exit {
    /// It ends the thread.
    Thread,
    /// It leaves this loop.
    Loop(LabelId),
    /// It is dropped, since nothing follows it.
    End,
}

impl Linker {
    pub fn new(out: Kernel) -> Linker {
        Linker {
            out,
            blocks: vec![],
            labels: 0,
        }
    }

    /// Walks the kernel itself.
    pub fn kernel(mut self, ir: &Kernel, links: &Links) -> Kernel {
        let mut frame = self.frame(ir, links);
        self.blocks.push(vec![]);
        for param in ir.params.iter() {
            let part = self.param(param, &frame);
            frame.params.push(part);
        }
        self.shared(&mut frame);
        self.preludes(ir, links);
        self.spill_array_params(&mut frame);
        self.tables(&mut frame);
        self.block_stmts(&mut frame, ir.body);
        let body = self.blocks.pop().unwrap_or_default();
        self.out.body = self.out.push_block(&body);
        self.preconditions(&frame);
        debug_assert_eq!(crate::validate(&self.out), Ok(()), "{}", self.out);
        self.out
    }

    /// Adopts the preconditions of a kernel or function.
    pub fn preconditions(&mut self, frame: &Frame<'_>) {
        for precondition in frame.ir.preconditions.iter() {
            let found = match *precondition {
                Precondition::NoOverflow(e) => {
                    let made = frame.made.borrow();
                    let made = made.get(&e).into_iter().flatten();
                    made.map(|e| Precondition::NoOverflow(*e)).collect()
                }
                Precondition::SubgroupSizeIs(link) => {
                    let value = frame.links.constants[link.index()].first();
                    let size = value.and_then(|value| value.as_int());
                    // No device has subgroups of 0 threads.
                    let size = size.and_then(|size| u32::try_from(size).ok());
                    vec![Precondition::SubgroupSize(size.unwrap_or(0))]
                }
                Precondition::Positive(param) => {
                    let part = &frame.params[param.index()];
                    let param = match &part.storage {
                        Storage::Params(params) => params[part.first],
                        Storage::Slice(param, _) => *param,
                        Storage::Locals(_) | Storage::Constant(_) | Storage::Shared(_) => {
                            unreachable!("only kernels ask for positive arguments")
                        }
                    };
                    vec![Precondition::Positive(param)]
                }
                Precondition::SingleThread(_)
                | Precondition::ExtentAtMost(..)
                | Precondition::BlockAtMost(..)
                | Precondition::GridAtMost(..)
                | Precondition::BlockMultipleOf(_)
                | Precondition::SubgroupSize(_)
                | Precondition::EqualSubgroups
                | Precondition::WholeSubgroups
                | Precondition::BlockOfSubgroups => vec![*precondition],
                Precondition::Holds(site) => vec![Precondition::Holds(frame.sites[site.index()])],
            };
            for found in found {
                if !self.out.preconditions.contains(&found) {
                    self.out.preconditions.to_mut().push(found);
                }
            }
        }
    }

    /// The frame of a kernel or function, with its parameters still unbound.
    pub fn frame<'a>(&mut self, ir: &'a Kernel, links: &'a Links) -> Frame<'a> {
        let mut frame = Frame {
            ir,
            files: self.files_of(ir),
            links,
            shapes: resolve_all(ir, links),
            params: vec![],
            shared: vec![],
            constants: HashMap::new(),
            locals: vec![None; ir.locals.len()],
            labels: HashMap::new(),
            sites: vec![],
            call_sites: vec![],
            exit: Exit::Thread,
            callables: vec![],
            made: Rc::default(),
        };
        if self.out.sites.is_empty() && self.out.name == ir.name {
            self.number_sites(ir, links);
            frame.sites = (0..ir.sites.len() as u32).map(SiteId).collect();
            frame.call_sites = call_sites(ir, links, 0);
        }
        frame
    }

    /// Adds the sites of a function and of all its callees. The walk fills in their checks.
    fn number_sites(&mut self, ir: &Kernel, links: &Links) {
        let files = self.files_of(ir);
        for site in ir.sites.iter() {
            self.out.push_site(Site {
                loc: among(&files, site.loc),
                ..site.clone()
            });
        }
        for function in ir.calls.iter().flat_map(|call| functions(call, links)) {
            self.number_sites(function.ir, &function.links);
        }
    }

    fn param(&mut self, param: &Param, frame: &Frame<'_>) -> Part {
        match param.kind {
            ParamKind::Scalar(scalar) => {
                let id = self.push_param(param.name.clone(), param.kind);
                Part::whole(Storage::Params(Rc::new([id])), Shape::Scalar(scalar))
            }
            ParamKind::Value(id) => {
                let shape = frame.shapes[id.index()].clone();
                let mut ids = vec![];
                for leaf in shape.leaves() {
                    let name = named(&param.name, &leaf.name);
                    let kind = ParamKind::Scalar(leaf.scalar);
                    for k in 0..leaf.count() {
                        let name = match leaf.dims.is_empty() {
                            true => name.clone(),
                            false => format!("{name}_{k}").into(),
                        };
                        ids.push(self.push_param(name, kind));
                    }
                }
                Part::whole(Storage::Params(ids.into()), shape)
            }
            ParamKind::Slice { elem, access } => {
                let shape = frame.resolve(elem);
                let unit = match access {
                    Access::Atomic => Unit {
                        scalar: shape.scalar(),
                        per: 1,
                    },
                    Access::Read | Access::Write => Unit::of(&shape),
                };
                let elem = unit.scalar.into();
                let id = self.push_param(param.name.clone(), ParamKind::Slice { elem, access });
                // Vectors are aligned so, and so are their parts, which consist of whole elements.
                self.out.params.to_mut()[id.index()].align =
                    1 << shape.size().max(1).trailing_zeros().min(4);
                Part::whole(Storage::Slice(id, unit), shape)
            }
            ParamKind::Reference(_) => unreachable!("a kernel takes no references to values"),
        }
    }

    fn push_param(&mut self, name: Cow<'static, str>, kind: ParamKind) -> ParamId {
        let align = 0;
        self.out.params.to_mut().push(Param { name, kind, align });
        ParamId(self.out.params.len() as u32 - 1)
    }

    /// Copies parameters that contain arrays to locals, which can be indexed.
    fn spill_array_params(&mut self, frame: &mut Frame<'_>) {
        for i in 0..frame.params.len() {
            let Storage::Params(params) = frame.params[i].storage.clone() else {
                continue;
            };
            let shape = frame.params[i].shape.clone();
            if !has_arrays(&shape) {
                continue;
            }
            let name = frame.ir.params[i].name.clone();
            let scalars: Vec<Expr> = params.iter().map(|param| Expr::Param(*param)).collect();
            frame.params[i] = self.spill(&name, &shape, &scalars);
        }
    }

    /// Resolves the constants that are indexed.
    pub fn tables(&mut self, frame: &mut Frame<'_>) {
        for table in frame.ir.tables.iter() {
            if let TableValues::Link(link) = table.values {
                self.constant(frame, link);
            }
        }
    }

    /// Resolves a constant: values, and tables for the leaves inside arrays.
    pub fn constant(&mut self, frame: &mut Frame<'_>, link: LinkId) -> Part {
        if let Some(part) = frame.constants.get(&link) {
            return part.clone();
        }
        let Link { path, ty } = &frame.ir.links[link.index()];
        let shape = frame.resolve(*ty);
        let mut rest = frame.links.constants[link.index()].as_slice();
        let mut leaves = vec![];
        for leaf in shape.leaves() {
            let (own, others) = rest.split_at(leaf.count() as usize);
            rest = others;
            leaves.push(match leaf.dims.is_empty() {
                true => Known::One(own[0]),
                false => {
                    let name = named(constant_name(path), &leaf.name);
                    Known::Table(self.table(name, leaf.scalar, own))
                }
            });
        }
        let part = Part::whole(Storage::Constant(leaves.into()), shape);
        frame.constants.insert(link, part.clone());
        part
    }

    /// Finds or adds the table with these values. Functions that are called several times name the same one.
    fn table(&mut self, name: Cow<'static, str>, elem: Scalar, values: &[Value]) -> TableId {
        let is_same =
            |table: &Table| table.name == name && table.elem() == elem && table.values() == values;
        let known = self.out.tables.iter().position(is_same);
        let index = known.unwrap_or_else(|| {
            let values = values.into();
            self.out.tables.to_mut().push(Table {
                name,
                values: TableValues::Known { elem, values },
            });
            self.out.tables.len() - 1
        });
        TableId(index as u32)
    }

    /// Declares locals for a value with these scalars, ordered by leaf.
    fn spill(&mut self, name: &str, shape: &Shape, scalars: &[Expr]) -> Part {
        let loc = Loc::default();
        let part = self.declare(name, shape, loc);
        let Storage::Locals(locals) = &part.storage else {
            unreachable!("locals were declared")
        };
        let mut next = scalars.iter();
        for (leaf, &local) in shape.leaves().iter().zip(locals.iter()) {
            for k in 0..leaf.count() {
                let scalar = next.next().expect("one for each scalar");
                let value = self.out.push_expr(*scalar, leaf.scalar, loc);
                match leaf.dims.is_empty() {
                    true => self.push(Stmt::Assign { local, value }, loc),
                    false => {
                        let index = self.literal(Value::Usize(k), loc);
                        self.store(Memory::Local(local), (index, None), value, loc);
                    }
                }
            }
        }
        part
    }

    /// Declares the shared arrays of a function; each call has its own.
    pub fn shared(&mut self, frame: &mut Frame<'_>) {
        for array in frame.ir.shared.iter() {
            let shape = frame.resolve(array.elem);
            let mut ids = vec![];
            for leaf in shape.leaves() {
                let len = match array.len {
                    Length::Launch(len) => {
                        let len = self.expr(frame, len);
                        let loc = self.out.expr_locs[len.index()];
                        Length::Launch(self.scale(len, leaf.count(), loc))
                    }
                    Length::Fixed(_) | Length::Link(_) => {
                        Length::Fixed(length(array.len, frame.links) * leaf.count())
                    }
                };
                self.out.shared.to_mut().push(SharedArray {
                    name: named(&array.name, &leaf.name),
                    elem: leaf.scalar.into(),
                    len,
                    atomic: array.atomic,
                });
                ids.push(SharedId(self.out.shared.len() as u32 - 1));
            }
            let part = Part::whole(Storage::Shared(ids.into()), shape);
            frame.shared.push(part);
        }
    }

    // Statements and locals of the output.

    pub fn push(&mut self, stmt: Stmt, loc: Loc) {
        let id = self.out.push_stmt(stmt, loc);
        let open = self.blocks.last_mut();
        open.unwrap_or_else(|| unreachable!("a block is open"))
            .push(id);
    }

    /// The statements that `fill` pushes, as a block.
    pub fn in_block(&mut self, fill: impl FnOnce(&mut Linker)) -> crate::Block {
        self.blocks.push(vec![]);
        fill(self);
        let stmts = self.blocks.pop().unwrap_or_default();
        self.out.push_block(&stmts)
    }

    pub fn fresh_label(&mut self) -> LabelId {
        self.labels += 1;
        LabelId(self.labels - 1)
    }

    pub fn literal(&mut self, value: Value, loc: Loc) -> ExprId {
        self.out.push_literal(value, loc)
    }

    pub fn read_local(&mut self, local: LocalId, loc: Loc) -> ExprId {
        self.out.push_local_read(local, loc)
    }

    /// An immutable local for a scalar.
    pub fn bind(&mut self, name: &'static str, init: ExprId, loc: Loc) -> LocalId {
        let local = self.out.push_local(Local {
            name: name.into(),
            ty: self.out.type_of(init),
            mutable: false,
        });
        let init = Some(init);
        self.push(Stmt::Let { local, init }, loc);
        local
    }

    /// Declares locals for a value of any type.
    pub fn declare(&mut self, name: &str, shape: &Shape, loc: Loc) -> Part {
        let mut locals = vec![];
        for leaf in shape.leaves() {
            let ty = match leaf.dims.is_empty() {
                true => leaf.scalar.into(),
                false => self.array_type(leaf.scalar, leaf.count()),
            };
            let local = self.out.push_local(Local {
                name: named(name, &leaf.name),
                ty,
                mutable: true,
            });
            // Copies of an enum include the leaves of inactive variants, so these need a value.
            let zero = (shape.has_variants() && leaf.dims.is_empty())
                .then(|| self.literal(Value::zero(leaf.scalar), loc));
            self.push(Stmt::Let { local, init: zero }, loc);
            locals.push(local);
        }
        Part::whole(Storage::Locals(locals.into()), shape.clone())
    }

    fn array_type(&mut self, elem: crate::Scalar, len: u64) -> Type {
        self.out.push_type(TypeDef::Array {
            elem: elem.into(),
            len: Length::Fixed(len),
        })
    }
}

/// Translates a location of a function. `files` maps the function's files to the output's.
fn among(files: &[FileId], loc: Loc) -> Loc {
    let file = files.get(usize::from(loc.file.0)).or(files.first());
    Loc {
        file: file.copied().unwrap_or_default(),
        ..loc
    }
}

impl Frame<'_> {
    pub fn stmt_loc(&self, id: StmtId) -> Loc {
        among(&self.files, self.ir.stmt_locs[id.index()])
    }

    pub fn expr_loc(&self, id: ExprId) -> Loc {
        among(&self.files, self.ir.expr_locs[id.index()])
    }

    pub fn resolve(&self, ty: Type) -> Shape {
        match ty {
            Type::Scalar(scalar) => Shape::Scalar(scalar),
            Type::Compound(id) => self.shapes[id.index()].clone(),
        }
    }

    /// The output's counterpart of a memory of the function.
    pub fn memory(&self, memory: Memory) -> Part {
        match memory {
            Memory::Slice(param) => self.params[param.index()].clone(),
            Memory::Shared(shared) => self.shared[shared.index()].clone(),
            Memory::Local(local) => self.local(local),
            Memory::Table(table) => match self.ir.tables[table.index()].values {
                TableValues::Link(link) => self.constants[&link].clone(),
                TableValues::Known { .. } => unreachable!("it is not linked yet"),
            },
        }
    }

    pub fn local(&self, local: LocalId) -> Part {
        match &self.locals[local.index()] {
            Some(part) => part.clone(),
            None => unreachable!("a validated kernel declares its locals"),
        }
    }
}

impl Linker {
    /// The output's ids for the files of a kernel or function, its own first.
    fn files_of(&mut self, ir: &Kernel) -> Rc<[FileId]> {
        let all = std::iter::once(&ir.file).chain(ir.files.iter());
        all.map(|file| self.file_id(file)).collect()
    }

    // A borrowed name stays borrowed.
    #[allow(clippy::ptr_arg)]
    fn file_id(&mut self, name: &Cow<'static, str>) -> FileId {
        if *name == self.out.file {
            return FileId::OWN;
        }
        let known = self.out.files.iter().position(|file| file == name);
        let other = known.unwrap_or_else(|| {
            self.out.files.to_mut().push(name.clone());
            self.out.files.len() - 1
        });
        // Locations in further files are reported as if in the kernel's own file.
        u16::try_from(other + 1).map_or(FileId::OWN, FileId)
    }

    /// Adds the preludes that the native blocks of a function need, without duplicates.
    pub fn preludes(&mut self, ir: &Kernel, links: &Links) {
        for prelude in ir.preludes.iter().chain(&links.preludes) {
            if !self.out.preludes.contains(prelude) {
                self.out.preludes.to_mut().push(prelude.clone());
            }
        }
    }

    /// Translates a site, and fills in its check.
    pub fn site(&mut self, frame: &Frame<'_>, site: Option<SiteId>) -> Option<SiteId> {
        let old = site?;
        let new = frame.sites[old.index()];
        let kind = match &frame.ir.sites[old.index()].kind {
            SiteKind::Index(memory) => SiteKind::Index(memory_of(&frame.memory(*memory))),
            SiteKind::Dimension(memory, d) => {
                SiteKind::Dimension(memory_of(&frame.memory(*memory)), *d)
            }
            kind @ (SiteKind::Divisor
            | SiteKind::Overflow(_)
            | SiteKind::Assert(_)
            | SiteKind::Panic(_)) => kind.clone(),
        };
        self.out.sites.to_mut()[new.index()].kind = kind;
        Some(new)
    }
}

/// A memory that contains the part.
pub(super) fn memory_of(part: &Part) -> Memory {
    match &part.storage {
        Storage::Slice(param, _) => Memory::Slice(*param),
        Storage::Shared(arrays) => Memory::Shared(arrays[part.first]),
        Storage::Locals(locals) => Memory::Local(locals[part.first]),
        Storage::Constant(leaves) => {
            let rest = leaves[part.first..].iter().chain(leaves.iter());
            let mut tables = rest.filter_map(|leaf| match leaf {
                Known::Table(table) => Some(*table),
                Known::One(_) => None,
            });
            match tables.next() {
                Some(table) => Memory::Table(table),
                None => unreachable!("what is indexed has an array"),
            }
        }
        Storage::Params(_) => unreachable!("what is indexed was copied to a local"),
    }
}

/// The first output site of each call's callee, if the sites of the function itself begin at `base`.
pub(super) fn call_sites(ir: &Kernel, links: &Links, base: u32) -> Vec<u32> {
    let mut next = base + ir.sites.len() as u32;
    let each = |call: &Call| {
        let first = next;
        let functions = functions(call, links);
        next += functions.map(site_count).sum::<u32>();
        first
    };
    ir.calls.iter().map(each).collect()
}

/// The number of sites of a function and of all its callees.
pub(super) fn site_count(function: &Function) -> u32 {
    let calls = function.ir.calls.iter();
    let inner = calls.flat_map(|call| functions(call, &function.links));
    function.ir.sites.len() as u32 + inner.map(site_count).sum::<u32>()
}

/// The functions whose sites belong to a call: the callee, then the callable arguments.
pub(super) fn functions<'a>(call: &Call, links: &'a Links) -> impl Iterator<Item = &'a Function> {
    let given = call.callable_args.iter().filter_map(|given| match given {
        CallableArg::Function(function) => Some(*function),
        CallableArg::Closure(_) | CallableArg::Callable(_) => None,
    });
    let ids: Vec<_> = call.called.function().into_iter().chain(given).collect();
    ids.into_iter().map(|id| &links.functions[id.index()])
}

/// The last name in a path, or a default.
fn constant_name(path: &str) -> &str {
    let is_of_name = |c: char| c.is_alphanumeric() || c == '_';
    let mut names = path.rsplit(|c| !is_of_name(c)).filter(|n| !n.is_empty());
    names.next().unwrap_or("table")
}

fn named(name: &str, leaf: &str) -> Cow<'static, str> {
    match leaf.is_empty() {
        true => name.to_owned().into(),
        false => format!("{name}_{leaf}").into(),
    }
}

/// True if the type contains an array.
fn has_arrays(shape: &Shape) -> bool {
    shape.leaves().iter().any(|leaf| !leaf.dims.is_empty())
}
