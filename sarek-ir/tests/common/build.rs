//! A small language for building kernels in tests.

use sarek_ir::{
    Access, Axis, BinaryOp, Builtin, DivideOp, Expr, ExprId, Intrinsic, Kernel, LabelId, Loc,
    Local, LocalId, Param, ParamId, ParamKind, Scalar, Site, SiteId, SiteKind, Stmt, StmtId,
    UnaryOp, Value,
};

/// A kernel under construction; statements go to the innermost open block.
pub struct Build {
    pub kernel: Kernel,
    blocks: Vec<Vec<StmtId>>,
    labels: u32,
}

const LOC: Loc = Loc::new(7, 5);

impl Build {
    pub fn new(name: &str) -> Build {
        let mut kernel = Kernel::new(name.to_owned());
        kernel.file = "src/lib.rs".into();
        Build {
            kernel,
            blocks: vec![vec![]],
            labels: 0,
        }
    }

    pub fn finish(mut self) -> Kernel {
        let body = self.blocks.pop().expect("the body");
        assert!(self.blocks.is_empty(), "every block was closed");
        self.kernel.body = self.kernel.push_block(&body);
        self.kernel
    }

    fn param(&mut self, name: &str, kind: ParamKind) -> ParamId {
        let name = name.to_owned().into();
        self.kernel.params.to_mut().push(Param {
            name,
            kind,
            align: 0,
        });
        ParamId(self.kernel.params.len() as u32 - 1)
    }

    pub fn scalar(&mut self, name: &str, ty: Scalar) -> ParamId {
        self.param(name, ParamKind::Scalar(ty))
    }

    pub fn slice(&mut self, name: &str, elem: Scalar) -> ParamId {
        let access = Access::Read;
        self.param(
            name,
            ParamKind::Slice {
                elem: elem.into(),
                access,
            },
        )
    }

    pub fn slice_mut(&mut self, name: &str, elem: Scalar) -> ParamId {
        let access = Access::Write;
        self.param(
            name,
            ParamKind::Slice {
                elem: elem.into(),
                access,
            },
        )
    }

    // Expressions.

    pub fn expr(&mut self, expr: Expr, ty: Scalar) -> ExprId {
        self.kernel.push_expr(expr, ty, LOC)
    }

    pub fn lit(&mut self, value: Value) -> ExprId {
        self.kernel.push_literal(value, LOC)
    }

    pub fn get(&mut self, local: LocalId) -> ExprId {
        self.kernel.push_local_read(local, LOC)
    }

    pub fn arg(&mut self, param: ParamId) -> ExprId {
        let ParamKind::Scalar(ty) = self.kernel.params[param.index()].kind else {
            panic!("a slice is not a value");
        };
        self.expr(Expr::Param(param), ty)
    }

    pub fn len(&mut self, param: ParamId) -> ExprId {
        self.expr(Expr::Len(param.into()), Scalar::Usize)
    }

    pub fn id(&mut self, builtin: Builtin) -> ExprId {
        self.expr(Expr::Builtin(builtin), Scalar::Usize)
    }

    pub fn global_x(&mut self) -> ExprId {
        self.id(Builtin::GlobalIdx(Axis::X))
    }

    fn elem(&self, param: ParamId) -> Scalar {
        match self.kernel.params[param.index()].kind {
            ParamKind::Slice { elem, .. } => elem.scalar(),
            ParamKind::Scalar(_) | ParamKind::Value(_) | ParamKind::Reference(_) => {
                panic!("a value has no elements")
            }
        }
    }

    fn site(&mut self, kind: SiteKind, provable: bool) -> SiteId {
        let loc = LOC;
        self.kernel.push_site(Site {
            kind,
            loc,
            provable,
        })
    }

    /// A load that a launch can prove.
    pub fn load(&mut self, buffer: ParamId, index: ExprId) -> ExprId {
        self.load_site(buffer, index, true)
    }

    pub fn load_site(&mut self, buffer: ParamId, index: ExprId, provable: bool) -> ExprId {
        let site = Some(self.site(SiteKind::Index(buffer.into()), provable));
        let ty = self.elem(buffer);
        let load = Expr::Load {
            memory: buffer.into(),
            index,
            site,
        };
        self.expr(load, ty)
    }

    pub fn un(&mut self, op: UnaryOp, arg: ExprId) -> ExprId {
        let ty = self.kernel.scalar_of(arg);
        self.expr(Expr::Unary { op, arg }, ty)
    }

    pub fn bin(&mut self, op: BinaryOp, lhs: ExprId, rhs: ExprId) -> ExprId {
        let ty = if op.is_comparison() {
            Scalar::Bool
        } else {
            self.kernel.scalar_of(lhs)
        };
        self.expr(Expr::Binary { op, lhs, rhs }, ty)
    }

    pub fn div(&mut self, op: DivideOp, lhs: ExprId, rhs: ExprId, provable: bool) -> ExprId {
        let ty = self.kernel.scalar_of(lhs);
        let site = Some(self.site(SiteKind::Divisor, provable));
        self.expr(Expr::Divide { op, lhs, rhs, site }, ty)
    }

    pub fn cast(&mut self, arg: ExprId, ty: Scalar) -> ExprId {
        self.expr(Expr::Cast { arg }, ty)
    }

    pub fn call(&mut self, intrinsic: Intrinsic, args: &[ExprId]) -> ExprId {
        let ty = intrinsic.result_type(self.kernel.scalar_of(args[0]));
        let args = self.kernel.push_list(args);
        self.expr(Expr::Call { intrinsic, args }, ty)
    }

    // Statements.

    pub fn stmt(&mut self, stmt: Stmt) {
        let id = self.kernel.push_stmt(stmt, LOC);
        self.blocks.last_mut().expect("an open block").push(id);
    }

    pub fn bind(&mut self, name: &str, mutable: bool, init: ExprId) -> LocalId {
        let local = self.kernel.push_local(Local {
            name: name.to_owned().into(),
            ty: self.kernel.type_of(init),
            mutable,
        });
        let init = Some(init);
        self.stmt(Stmt::Let { local, init });
        local
    }

    pub fn set(&mut self, local: LocalId, value: ExprId) {
        self.stmt(Stmt::Assign { local, value });
    }

    /// A store that a launch can prove.
    pub fn store(&mut self, buffer: ParamId, index: ExprId, value: ExprId) {
        self.store_site(buffer, index, value, true);
    }

    pub fn store_site(&mut self, buffer: ParamId, index: ExprId, value: ExprId, provable: bool) {
        let site = Some(self.site(SiteKind::Index(buffer.into()), provable));
        self.stmt(Stmt::Store {
            memory: buffer.into(),
            index,
            value,
            site,
        });
    }

    pub fn assert(&mut self, cond: ExprId, message: &str) {
        let site = self.site(SiteKind::Assert(message.to_owned().into()), false);
        self.stmt(Stmt::Assert { cond, site });
    }

    fn block(&mut self, f: impl FnOnce(&mut Build)) -> sarek_ir::Block {
        self.blocks.push(vec![]);
        f(self);
        let stmts = self.blocks.pop().expect("pushed above");
        self.kernel.push_block(&stmts)
    }

    pub fn when(&mut self, cond: ExprId, then: impl FnOnce(&mut Build)) {
        self.branch(cond, then, |_| {});
    }

    pub fn branch(
        &mut self,
        cond: ExprId,
        then: impl FnOnce(&mut Build),
        otherwise: impl FnOnce(&mut Build),
    ) {
        let then = self.block(then);
        let otherwise = self.block(otherwise);
        self.stmt(Stmt::If {
            cond,
            then,
            otherwise,
        });
    }

    fn label(&mut self) -> LabelId {
        self.labels += 1;
        LabelId(self.labels - 1)
    }

    pub fn repeat(&mut self, cond: Option<ExprId>, f: impl FnOnce(&mut Build, LabelId)) {
        let label = self.label();
        let body = self.block(|b| f(b, label));
        self.stmt(Stmt::Loop { label, cond, body });
    }

    pub fn count(
        &mut self,
        name: &str,
        start: ExprId,
        end: ExprId,
        f: impl FnOnce(&mut Build, LabelId, LocalId),
    ) {
        let label = self.label();
        let local = self.kernel.push_local(Local {
            name: name.to_owned().into(),
            ty: self.kernel.type_of(start),
            mutable: false,
        });
        let body = self.block(|b| f(b, label, local));
        self.stmt(Stmt::For {
            label,
            local,
            start,
            end,
            body,
        });
    }
}

/// The example kernel of the README.
pub fn saxpy() -> Kernel {
    let mut b = Build::new("saxpy");
    let a = b.scalar("a", Scalar::F32);
    let x = b.slice("x", Scalar::F32);
    let y = b.slice_mut("y", Scalar::F32);
    let init = b.global_x();
    let i = b.bind("i", false, init);
    let (lhs, rhs) = (b.get(i), b.len(y));
    let inside = b.bin(BinaryOp::Lt, lhs, rhs);
    b.when(inside, |b| {
        let (a, at) = (b.arg(a), b.get(i));
        let x = b.load(x, at);
        let product = b.bin(BinaryOp::Mul, a, x);
        let at = b.get(i);
        let old = b.load(y, at);
        let sum = b.bin(BinaryOp::Add, product, old);
        let at = b.get(i);
        b.store(y, at, sum);
    });
    b.finish()
}
