//! Builds kernels by hand, for the tests of analyses, passes, writers and backends.
//!
//! ```
//! use sarek_ir::sketch::Sketch;
//! use sarek_ir::{Axis, Builtin, Scalar};
//!
//! let s = Sketch::new("double");
//! let v = s.slice_mut("v", Scalar::F32);
//! let i = s.let_("i", s.id(Builtin::GlobalIdx(Axis::X)));
//! s.if_(i.get().lt(s.len(v)), || s.store(v, i.get(), s.load(v, i.get()) + s.f32(1.0)));
//! let kernel = s.finish();
//! assert!(sarek_ir::validate(&kernel).is_ok());
//! ```

mod compound;
mod every_node;
mod operators;

pub use every_node::{NodeKernel, RenderedNode, RenderedNodes, every_node, render_all};

use std::cell::RefCell;

use crate::{
    Access, AtomicOp, Block, Builtin, Expr, ExprId, Intrinsic, Kernel, LabelId, Length, Link,
    LinkId, Loc, Local, LocalId, Memory, Native, NativeId, Param, ParamId, ParamKind, PrintId,
    Scalar, Scope, SharedArray, SharedId, Site, SiteId, SiteKind, Stmt, SubgroupOp, Table, TableId,
    TableValues, Type, TypeDef, Unroll, Value,
};

/// A kernel under construction. New statements go to the innermost open block. Each expression may be used only once.
pub struct Sketch(RefCell<State>);

struct State {
    kernel: Kernel,
    blocks: Vec<Vec<crate::StmtId>>,
    labels: u32,
    line: u32,
}

/// An expression of a [`Sketch`].
#[derive(Clone, Copy)]
pub struct SketchExpr<'s> {
    sketch: &'s Sketch,
    /// The expression's handle.
    pub id: ExprId,
}

/// A local of a [`Sketch`].
#[derive(Clone, Copy)]
pub struct SketchLocal<'s> {
    sketch: &'s Sketch,
    /// The local's handle.
    pub id: LocalId,
}

impl Sketch {
    /// An empty kernel.
    pub fn new(name: &'static str) -> Sketch {
        Sketch(RefCell::new(State {
            kernel: Kernel::new(name),
            blocks: vec![vec![]],
            labels: 0,
            line: 1,
        }))
    }

    /// Makes the kernel strict: its floats have the same bits on all targets.
    pub fn strict(&self) {
        self.0.borrow_mut().kernel.strict = true;
    }

    /// Closes the body, and returns the kernel.
    pub fn finish(self) -> Kernel {
        let mut state = self.0.into_inner();
        let body = state.blocks.pop().unwrap_or_default();
        state.kernel.body = state.kernel.push_block(&body);
        state.kernel
    }

    fn expr(&self, expr: Expr, ty: impl Into<Type>) -> SketchExpr<'_> {
        let mut state = self.0.borrow_mut();
        let loc = state.loc();
        let id = state.kernel.push_expr(expr, ty, loc);
        SketchExpr { sketch: self, id }
    }

    fn stmt(&self, stmt: Stmt) {
        let mut state = self.0.borrow_mut();
        let loc = state.loc();
        let id = state.kernel.push_stmt(stmt, loc);
        state.line += 1;
        let block = state.blocks.last_mut();
        block
            .unwrap_or_else(|| unreachable!("the body stays open until the end"))
            .push(id);
    }

    fn block(&self, fill: impl FnOnce()) -> Block {
        self.0.borrow_mut().blocks.push(vec![]);
        fill();
        let mut state = self.0.borrow_mut();
        let stmts = state.blocks.pop().unwrap_or_default();
        state.kernel.push_block(&stmts)
    }

    fn site(&self, kind: SiteKind) -> SiteId {
        let mut state = self.0.borrow_mut();
        let loc = state.loc();
        state.kernel.push_site(Site {
            kind,
            loc,
            provable: true,
        })
    }

    fn param(&self, name: &'static str, kind: ParamKind) -> ParamId {
        let mut state = self.0.borrow_mut();
        state.kernel.params.to_mut().push(Param {
            name: name.into(),
            kind,
            align: 0,
        });
        ParamId(state.kernel.params.len() as u32 - 1)
    }

    fn local(&self, name: &'static str, ty: Scalar, mutable: bool) -> SketchLocal<'_> {
        let id = self.0.borrow_mut().kernel.push_local(Local {
            name: name.into(),
            ty: ty.into(),
            mutable,
        });
        SketchLocal { sketch: self, id }
    }

    /// A scalar parameter.
    pub fn scalar(&self, name: &'static str, ty: Scalar) -> ParamId {
        self.param(name, ParamKind::Scalar(ty))
    }

    /// A `&[elem]` parameter.
    pub fn slice(&self, name: &'static str, elem: impl Into<Type>) -> ParamId {
        let elem = elem.into();
        let access = Access::Read;
        self.param(name, ParamKind::Slice { elem, access })
    }

    /// A `&mut [elem]` parameter.
    pub fn slice_mut(&self, name: &'static str, elem: impl Into<Type>) -> ParamId {
        let elem = elem.into();
        let access = Access::Write;
        self.param(name, ParamKind::Slice { elem, access })
    }

    /// A `&[Atomic<elem>]` parameter.
    pub fn atomics(&self, name: &'static str, elem: Scalar) -> ParamId {
        let elem = elem.into();
        let access = Access::Atomic;
        self.param(name, ParamKind::Slice { elem, access })
    }

    /// A shared array of fixed length.
    pub fn shared(&self, name: &'static str, elem: Scalar, len: u64) -> SharedId {
        self.shared_array(name, elem, Length::Fixed(len), false)
    }

    /// A constant array of these elements, of which there must be at least one.
    pub fn table(&self, name: &'static str, values: &[Value]) -> Memory {
        let tables = &mut self.0.borrow_mut().kernel.tables;
        tables.to_mut().push(Table {
            name: name.into(),
            values: TableValues::Known {
                elem: values[0].scalar(),
                values: values.into(),
            },
        });
        Memory::Table(TableId(tables.len() as u32 - 1))
    }

    /// A shared array whose length the launch determines.
    pub fn shared_slice(&self, name: &'static str, elem: Scalar, len: SketchExpr<'_>) -> SharedId {
        self.shared_array(name, elem, Length::Launch(len.id), false)
    }

    /// A shared array of atomics.
    pub fn shared_atomics(&self, name: &'static str, elem: Scalar, len: u64) -> SharedId {
        self.shared_array(name, elem, Length::Fixed(len), true)
    }

    fn shared_array(
        &self,
        name: &'static str,
        elem: Scalar,
        len: Length,
        atomic: bool,
    ) -> SharedId {
        let elem = elem.into();
        let mut state = self.0.borrow_mut();
        let name = name.into();
        state.kernel.shared.to_mut().push(SharedArray {
            name,
            elem,
            len,
            atomic,
        });
        SharedId(state.kernel.shared.len() as u32 - 1)
    }

    /// `let mut name: [elem; len];`
    pub fn array(&self, name: &'static str, elem: Scalar, len: u64) -> LocalId {
        let def = TypeDef::Array {
            elem: elem.into(),
            len: Length::Fixed(len),
        };
        let local = {
            let mut state = self.0.borrow_mut();
            let ty = state.kernel.push_type(def);
            state.kernel.push_local(Local {
                name: name.into(),
                ty,
                mutable: true,
            })
        };
        self.stmt(Stmt::Let { local, init: None });
        local
    }

    /// `barrier();`
    pub fn barrier(&self) {
        self.stmt(Stmt::Barrier);
    }

    /// `block_fence();` or `device_fence();`
    pub fn fence(&self, scope: Scope) {
        self.stmt(Stmt::Fence { scope });
    }

    /// `index`, checked against the length of a dimension of `memory`.
    pub fn bounded(
        &self,
        memory: impl Into<Memory>,
        dimension: u32,
        index: SketchExpr<'_>,
        len: SketchExpr<'_>,
    ) -> SketchExpr<'_> {
        let site = self.site(SiteKind::Dimension(memory.into(), dimension));
        let bounded = Expr::Bounded {
            index: index.id,
            len: len.id,
            site: Some(site),
        };
        self.expr(bounded, Scalar::Usize)
    }

    /// `memory[index].op(args…);`, checked. The result is stored in a new local.
    pub fn atomic(
        &self,
        op: AtomicOp,
        memory: impl Into<Memory>,
        index: SketchExpr<'_>,
        args: &[SketchExpr<'_>],
    ) -> SketchLocal<'_> {
        let memory = memory.into();
        let elem = self.0.borrow().kernel.element(memory);
        let result = self.let_uninit("old", elem);
        self.atomically(op, (memory, index), args, Some(result.id));
        result
    }

    /// As [`Sketch::atomic`], but ignores the result.
    pub fn atomic_discard(
        &self,
        op: AtomicOp,
        memory: impl Into<Memory>,
        index: SketchExpr<'_>,
        args: &[SketchExpr<'_>],
    ) {
        self.atomically(op, (memory.into(), index), args, None);
    }

    fn atomically(
        &self,
        op: AtomicOp,
        (memory, index): (Memory, SketchExpr<'_>),
        args: &[SketchExpr<'_>],
        result: Option<LocalId>,
    ) {
        let ids: Vec<ExprId> = args.iter().map(|a| a.id).collect();
        let args = self.0.borrow_mut().kernel.push_list(&ids);
        let site = self.site(SiteKind::Index(memory));
        self.stmt(Stmt::Atomic {
            op,
            memory,
            index: index.id,
            args,
            result: result.filter(|_| op != AtomicOp::Store),
            site: Some(site),
        });
    }

    /// `op(args…)`. The result is stored in a new local.
    pub fn subgroup(&self, op: SubgroupOp, args: &[SketchExpr<'_>]) -> SketchLocal<'_> {
        let ty = op.result(args[0].ty());
        let result = self.let_uninit("joined", ty.expect("an operation on this type"));
        let ids: Vec<ExprId> = args.iter().map(|a| a.id).collect();
        let args = self.0.borrow_mut().kernel.push_list(&ids);
        let result_id = result.id;
        self.stmt(Stmt::Subgroup {
            op,
            args,
            result: result_id,
        });
        result
    }

    /// A constant.
    pub fn lit(&self, value: Value) -> SketchExpr<'_> {
        self.expr(Expr::Literal(value), value.scalar())
    }

    /// A `usize` constant.
    pub fn n(&self, v: u64) -> SketchExpr<'_> {
        self.lit(Value::Usize(v))
    }

    /// An `i32` constant.
    pub fn i32(&self, v: i32) -> SketchExpr<'_> {
        self.lit(Value::I32(v))
    }

    /// An `u32` constant.
    pub fn u32(&self, v: u32) -> SketchExpr<'_> {
        self.lit(Value::U32(v))
    }

    /// An `f32` constant.
    pub fn f32(&self, v: f32) -> SketchExpr<'_> {
        self.lit(Value::f32(v))
    }

    /// The value of an id or extent.
    pub fn id(&self, builtin: Builtin) -> SketchExpr<'_> {
        self.expr(Expr::Builtin(builtin), Scalar::Usize)
    }

    /// The value of a scalar parameter.
    pub fn arg(&self, param: ParamId) -> SketchExpr<'_> {
        let kind = self.0.borrow().kernel.params[param.index()].kind;
        match kind {
            ParamKind::Scalar(ty) => self.expr(Expr::Param(param), ty),
            ParamKind::Value(_) | ParamKind::Reference(_) | ParamKind::Slice { .. } => {
                panic!("not a scalar")
            }
        }
    }

    /// A read of a local.
    pub fn read(&self, local: LocalId) -> SketchExpr<'_> {
        let ty = self.0.borrow().kernel.locals[local.index()].ty;
        self.expr(Expr::Local(local), ty.scalar())
    }

    /// The length of a slice or array.
    pub fn len(&self, memory: impl Into<Memory>) -> SketchExpr<'_> {
        self.expr(Expr::Len(memory.into()), Scalar::Usize)
    }

    /// Adds a link, and reads its value.
    pub fn link(&self, path: &'static str, ty: impl Into<Type>) -> SketchExpr<'_> {
        let ty = ty.into();
        let id = {
            let mut state = self.0.borrow_mut();
            let path = path.into();
            state.kernel.links.to_mut().push(Link { path, ty });
            LinkId(state.kernel.links.len() as u32 - 1)
        };
        self.expr(Expr::Link(id), ty)
    }

    /// `memory[index]`, checked.
    pub fn load(&self, memory: impl Into<Memory>, index: SketchExpr<'_>) -> SketchExpr<'_> {
        let memory = memory.into();
        let elem = self.0.borrow().kernel.element(memory);
        let load = Expr::Load {
            memory,
            index: index.id,
            site: Some(self.site(SiteKind::Index(memory))),
        };
        self.expr(load, elem)
    }

    /// A call of an intrinsic; the first argument is the receiver.
    pub fn call(&self, intrinsic: Intrinsic, args: &[SketchExpr<'_>]) -> SketchExpr<'_> {
        let ty = intrinsic.result_type(args[0].ty());
        let ids: Vec<ExprId> = args.iter().map(|a| a.id).collect();
        let args = self.0.borrow_mut().kernel.push_list(&ids);
        self.expr(Expr::Call { intrinsic, args }, ty)
    }

    /// `let name = init;`
    pub fn let_(&self, name: &'static str, init: SketchExpr<'_>) -> SketchLocal<'_> {
        self.declare(name, init, false)
    }

    /// `let mut name = init;`
    pub fn let_mut(&self, name: &'static str, init: SketchExpr<'_>) -> SketchLocal<'_> {
        self.declare(name, init, true)
    }

    fn declare(&self, name: &'static str, init: SketchExpr<'_>, mutable: bool) -> SketchLocal<'_> {
        let local = self.local(name, init.ty(), mutable);
        self.stmt(Stmt::Let {
            local: local.id,
            init: Some(init.id),
        });
        local
    }

    /// `let mut name: ty;`
    pub fn let_uninit(&self, name: &'static str, ty: Scalar) -> SketchLocal<'_> {
        let local = self.local(name, ty, true);
        self.stmt(Stmt::Let {
            local: local.id,
            init: None,
        });
        local
    }

    /// `local = value;`
    pub fn set(&self, local: SketchLocal<'_>, value: SketchExpr<'_>) {
        self.assign(local.id, value);
    }

    /// `local = value;`, by handle.
    pub fn assign(&self, local: LocalId, value: SketchExpr<'_>) {
        let value = value.id;
        self.stmt(Stmt::Assign { local, value });
    }

    /// `memory[index] = value;`, checked.
    pub fn store(&self, memory: impl Into<Memory>, index: SketchExpr<'_>, value: SketchExpr<'_>) {
        let memory = memory.into();
        let site = self.site(SiteKind::Index(memory));
        self.stmt(Stmt::Store {
            memory,
            index: index.id,
            value: value.id,
            site: Some(site),
        });
    }

    /// `assert!(cond, message);`
    pub fn assert(&self, cond: SketchExpr<'_>, message: &'static str) {
        let site = self.site(SiteKind::Assert(message.into()));
        self.stmt(Stmt::Assert {
            cond: cond.id,
            site,
        });
    }

    /// `if cond { then }`
    pub fn if_(&self, cond: SketchExpr<'_>, then: impl FnOnce()) {
        self.if_else(cond, then, || {});
    }

    /// `if cond { then } else { otherwise }`
    pub fn if_else(&self, cond: SketchExpr<'_>, then: impl FnOnce(), otherwise: impl FnOnce()) {
        let then = self.block(then);
        let otherwise = self.block(otherwise);
        self.stmt(Stmt::If {
            cond: cond.id,
            then,
            otherwise,
        });
    }

    fn fresh_label(&self) -> LabelId {
        let mut state = self.0.borrow_mut();
        state.labels += 1;
        LabelId(state.labels - 1)
    }

    /// `while cond { body }`; the body receives the label.
    pub fn while_(&self, cond: SketchExpr<'_>, body: impl FnOnce(LabelId)) {
        self.any_loop(Some(cond.id), body);
    }

    /// `loop { body }`; the body receives the label.
    pub fn loop_(&self, body: impl FnOnce(LabelId)) {
        self.any_loop(None, body);
    }

    fn any_loop(&self, cond: Option<ExprId>, body: impl FnOnce(LabelId)) {
        let label = self.fresh_label();
        let body = self.block(|| body(label));
        self.stmt(Stmt::Loop { label, cond, body });
    }

    /// `for name in start..end { body }`; the body receives the local and the label.
    pub fn for_<'s>(
        &'s self,
        name: &'static str,
        start: SketchExpr<'_>,
        end: SketchExpr<'_>,
        body: impl FnOnce(SketchLocal<'s>, LabelId),
    ) {
        let label = self.fresh_label();
        let local = self.local(name, start.ty(), false);
        let body = self.block(|| body(local, label));
        self.stmt(Stmt::For {
            label,
            local: local.id,
            start: start.id,
            end: end.id,
            body,
        });
    }

    /// Adds an unroll hint for the loop.
    pub fn unroll(&self, label: LabelId, unroll: Unroll) {
        let mut state = self.0.borrow_mut();
        state.kernel.unrolls.to_mut().push((label, unroll));
    }

    /// `break 'label;`
    pub fn break_(&self, label: LabelId) {
        self.stmt(Stmt::Break { label });
    }

    /// `continue 'label;`
    pub fn continue_(&self, label: LabelId) {
        self.stmt(Stmt::Continue { label });
    }

    /// `return;`
    pub fn return_(&self) {
        self.stmt(Stmt::Return);
    }

    /// `panic!(message)`
    pub fn panic(&self, message: &'static str) {
        let site = self.site(SiteKind::Panic(message.into()));
        self.stmt(Stmt::Panic { site });
    }

    /// Prints these pieces and arguments.
    pub fn print(&self, pieces: Vec<crate::print::PrintPiece>, args: &[SketchExpr<'_>]) {
        let print = {
            let mut state = self.0.borrow_mut();
            let args: Vec<ExprId> = args.iter().map(|a| a.id).collect();
            let args = state.kernel.push_list(&args);
            let pieces = pieces.into();
            let prints = state.kernel.prints.to_mut();
            let printer = crate::print::Printer::Pieces;
            prints.push(crate::Print {
                pieces,
                args,
                printer,
            });
            PrintId(prints.len() as u32 - 1)
        };
        self.stmt(Stmt::Print { print });
    }

    /// A native block. `fallback` adds the statements of its portable form, if it has one.
    pub fn native(&self, texts: Vec<crate::NativeText>, fallback: Option<&dyn Fn()>) {
        let fallback = fallback.map(|f| self.block(f));
        let native = {
            let mut state = self.0.borrow_mut();
            let texts = texts.into();
            state.kernel.natives.to_mut().push(Native {
                texts,
                fallback,
                result: None,
                intrinsic: None,
            });
            NativeId(state.kernel.natives.len() as u32 - 1)
        };
        self.stmt(Stmt::Native { native });
    }
}

impl State {
    fn loc(&self) -> Loc {
        Loc::new(self.line, 1)
    }
}
