//! Types and literals are settled, and the IR is completed.

use std::collections::HashMap;

use sarek_ir::{
    Argument, BinaryOp, DivideOp, Expr, ExprId, Piece, Root, Scalar, SiteId, Stmt, TypeDef,
    Value as Constant,
};

use super::{Lowered, Lowerer, PendingLiteral, Ty};

impl Lowerer<'_> {
    /// Replaces type variables by types. `None` when something was or is reported.
    pub(super) fn finish(mut self, name: syn::Ident) -> Option<Lowered> {
        let open = self.blocks.pop().expect("the body's block");
        self.kernel.body = self.close(open);
        if !self.errors.is_empty() {
            return None;
        }
        self.settle_types();
        if self.errors.is_empty() {
            self.settle_literals();
        }
        if !self.errors.is_empty() {
            return None;
        }
        self.float_divisions();
        self.compact_sites();
        self.mark_provable_sites();
        let marks: HashMap<u32, Scalar> = self
            .marks
            .iter()
            .filter_map(|(m, ty)| Some((*m, self.types.resolve(*ty)?)))
            .collect();
        Some(Lowered {
            name,
            kernel: self.kernel,
            expr_spans: self.expr_spans,
            stmt_spans: self.stmt_spans,
            links: self.links,
            audits: self.audits,
            marks,
        })
    }

    fn settle_types(&mut self) {
        for (unsigned, of) in std::mem::take(&mut self.unsigned_of) {
            if let Some(scalar) = self.types.resolve(of).and_then(Scalar::unsigned) {
                let known = self.types.known(scalar);
                self.types
                    .unify(unsigned, known)
                    .expect("nothing else unifies with it");
            }
        }
        for ty in std::mem::take(&mut self.unreachable) {
            if self.types.resolve(ty).is_none() {
                let bool_ty = self.types.known(Scalar::Bool);
                // A failure leaves the type unknown, which is reported below.
                let _ = self.types.unify(ty, bool_ty);
            }
        }
        for (i, ty) in self.link_types.clone().into_iter().enumerate() {
            match self.types.resolve(ty) {
                Some(scalar) => self.kernel.links.to_mut()[i].ty = scalar.into(),
                None => self.report_link(i),
            }
        }
        for (i, ty) in self.local_types.iter().enumerate() {
            let Some(elem) = self.types.resolve(*ty) else {
                continue;
            };
            let array = self.arrays.iter().find(|(local, _)| local.index() == i);
            let ty = match array {
                Some(&(_, len)) => self.kernel.push_type(TypeDef::Array {
                    elem: elem.into(),
                    len,
                }),
                None => elem.into(),
            };
            self.kernel.locals.to_mut()[i].ty = ty;
        }
        for (i, ty) in self.shared_types.iter().enumerate() {
            if let Some(elem) = self.types.resolve(*ty) {
                self.kernel.shared.to_mut()[i].elem = elem.into();
            }
        }
        let mut reported: Vec<Ty> = vec![];
        for i in 0..self.expr_types.len() {
            match self.types.resolve(self.expr_types[i]) {
                Some(scalar) => self.kernel.expr_types.to_mut()[i] = scalar.into(),
                None if self.errors.is_empty() && reported.is_empty() => {
                    reported.push(self.expr_types[i]);
                    self.errors.at(
                        self.expr_spans[i],
                        "the type of this is not known: annotate it",
                    );
                }
                None => {}
            }
        }
    }

    fn report_link(&mut self, index: usize) {
        let expr = self
            .kernel
            .exprs
            .iter()
            .position(|e| matches!(e, Expr::Link(l) if l.index() == index));
        let span = self.expr_spans[expr.expect("a link is used")];
        let path = self.kernel.links[index].path.to_string();
        Self::untyped_constant(self.errors, span, &path);
    }

    fn settle_literals(&mut self) {
        for pending in std::mem::take(&mut self.literals) {
            let ty = self.kernel.scalar_of(pending.expr);
            match literal_value(&pending, ty) {
                Ok(value) => {
                    self.kernel.exprs.to_mut()[pending.expr.index()] = Expr::Literal(value)
                }
                Err(message) => self.errors.at(pending.lit.span(), message),
            }
        }
    }

    /// `/` and `%` on floats cannot fault.
    fn float_divisions(&mut self) {
        for i in 0..self.kernel.exprs.len() {
            let Expr::Divide { op, lhs, rhs, .. } = self.kernel.exprs[i] else {
                continue;
            };
            if self.kernel.expr_types[i].scalar().is_float() {
                let op = match op {
                    DivideOp::Div => BinaryOp::Div,
                    DivideOp::Rem => BinaryOp::Rem,
                    DivideOp::DivEuclid | DivideOp::RemEuclid => {
                        unreachable!("lowered for integers only")
                    }
                };
                self.kernel.exprs.to_mut()[i] = Expr::Binary { op, lhs, rhs };
            }
        }
    }

    /// Drops sites that nothing has.
    fn compact_sites(&mut self) {
        let old = std::mem::take(self.kernel.sites.to_mut());
        let mut sites = vec![];
        let mut renumber = |site: &mut SiteId| {
            sites.push(old[site.index()].clone());
            *site = SiteId(sites.len() as u32 - 1);
        };
        for expr in self.kernel.exprs.to_mut() {
            if let Expr::Load {
                site: Some(site), ..
            }
            | Expr::Bounded {
                site: Some(site), ..
            }
            | Expr::Divide {
                site: Some(site), ..
            } = expr
            {
                renumber(site);
            }
        }
        for stmt in self.kernel.stmts.to_mut() {
            if let Stmt::Store {
                site: Some(site), ..
            }
            | Stmt::Atomic {
                site: Some(site), ..
            }
            | Stmt::Assert { site, .. } = stmt
            {
                renumber(site);
            }
        }
        self.kernel.sites = sites.into();
    }

    /// A site is not provable when what it checks depends on memory or on floats.
    fn mark_provable_sites(&mut self) {
        let mut data = DataDependence {
            locals: vec![false; self.kernel.locals.len()],
        };
        while data.grow(&self.kernel) {}
        let kernel = &self.kernel;
        let mut unprovable = vec![];
        for expr in kernel.exprs.iter() {
            if let Expr::Load {
                index,
                site: Some(site),
                ..
            } = *expr
                && data.expr(kernel, index)
            {
                unprovable.push(site);
            }
            if let Expr::Bounded {
                index,
                len,
                site: Some(site),
            } = *expr
                && (data.expr(kernel, index) || data.expr(kernel, len))
            {
                unprovable.push(site);
            }
            if let Expr::Divide {
                lhs,
                rhs,
                site: Some(site),
                ..
            } = *expr
                && data.divisor(kernel, lhs, rhs)
            {
                unprovable.push(site);
            }
        }
        for stmt in kernel.stmts.iter() {
            if let Stmt::Store {
                index,
                site: Some(site),
                ..
            }
            | Stmt::Atomic {
                index,
                site: Some(site),
                ..
            } = *stmt
                && data.expr(kernel, index)
            {
                unprovable.push(site);
            }
            if let Stmt::Assert { cond, site } = *stmt
                && data.expr(kernel, cond)
            {
                unprovable.push(site);
            }
        }
        for site in unprovable {
            self.kernel.sites.to_mut()[site.index()].provable = false;
        }
    }
}

/// Which locals depend on memory or on floats.
struct DataDependence {
    locals: Vec<bool>,
}

impl DataDependence {
    /// Does it depend on data whether `lhs / rhs` is defined?
    fn divisor(&self, kernel: &sarek_ir::Kernel, lhs: ExprId, rhs: ExprId) -> bool {
        let literal = kernel.literal(rhs).and_then(Constant::as_int);
        if literal.is_some_and(|d| d != 0 && d != -1) {
            return false;
        }
        let signed = kernel
            .type_of(rhs)
            .as_scalar()
            .is_none_or(Scalar::is_signed);
        self.expr(kernel, rhs) || signed && self.expr(kernel, lhs)
    }

    fn expr(&self, kernel: &sarek_ir::Kernel, id: ExprId) -> bool {
        match kernel.expr(id) {
            Expr::Load { .. } => true,
            Expr::Local(local) => {
                let ty = kernel.type_of(id).as_scalar();
                self.locals[local.index()] || ty.is_none_or(Scalar::is_float)
            }
            Expr::Literal(_) | Expr::Link(_) | Expr::Len(_) | Expr::Builtin(_) | Expr::Faulted => {
                false
            }
            Expr::Param(_) => false,
            Expr::Bounded { .. }
            | Expr::Unary { .. }
            | Expr::Binary { .. }
            | Expr::Divide { .. }
            | Expr::And { .. }
            | Expr::Or { .. }
            | Expr::Cast { .. }
            | Expr::Call { .. }
            | Expr::Compound(_) => kernel
                .operands(id)
                .into_iter()
                .any(|o| self.expr(kernel, o)),
        }
    }

    /// Spreads along assignments; `true` when that found more.
    fn grow(&mut self, kernel: &sarek_ir::Kernel) -> bool {
        let before = self.locals.iter().filter(|l| **l).count();
        for stmt in kernel.stmts.iter() {
            match *stmt {
                Stmt::Let {
                    local,
                    init: Some(value),
                }
                | Stmt::Assign { local, value } => {
                    self.locals[local.index()] |= self.expr(kernel, value);
                }
                Stmt::For {
                    local, start, end, ..
                } => {
                    self.locals[local.index()] |=
                        self.expr(kernel, start) || self.expr(kernel, end);
                }
                Stmt::Native { native } => {
                    for text in kernel.natives[native.index()].texts.iter() {
                        for piece in text.pieces.iter() {
                            if let Piece::Local(local) = piece {
                                self.locals[local.index()] |= kernel.locals[local.index()].mutable;
                            }
                        }
                    }
                }
                Stmt::Atomic {
                    result: Some(result),
                    ..
                }
                | Stmt::Subgroup { result, .. } => self.locals[result.index()] = true,
                Stmt::Update { place, .. } => {
                    if let Root::Local(local) = kernel.places[place.index()].root {
                        self.locals[local.index()] = true;
                    }
                }
                Stmt::Call { call } => {
                    let call = &kernel.calls[call.index()];
                    let changed = call.args.iter().filter_map(|arg| match arg {
                        Argument::Local(local) => Some(*local),
                        Argument::Value(_) | Argument::Memory(_) => None,
                    });
                    for local in changed.chain(call.result) {
                        self.locals[local.index()] = true;
                    }
                }
                Stmt::Let { init: None, .. }
                | Stmt::Barrier
                | Stmt::Fence { .. }
                | Stmt::Atomic { result: None, .. }
                | Stmt::Store { .. }
                | Stmt::Assert { .. }
                | Stmt::If { .. }
                | Stmt::Loop { .. }
                | Stmt::Break { .. }
                | Stmt::Continue { .. }
                | Stmt::Return => {}
            }
        }
        self.locals.iter().filter(|l| **l).count() > before
    }
}

fn literal_value(pending: &PendingLiteral, ty: Scalar) -> Result<Constant, String> {
    match &pending.lit {
        syn::Lit::Int(int) => {
            let digits: u128 = int.base10_parse().map_err(|e| e.to_string())?;
            if ty.is_float() {
                // `1f32`: an integer literal with a float's suffix.
                return float(int.base10_digits(), pending.negative, ty);
            }
            let magnitude = i128::try_from(digits).map_err(|e| e.to_string())?;
            let value = if pending.negative {
                -magnitude
            } else {
                magnitude
            };
            let exact = Constant::int(ty, value).filter(|v| v.as_int() == Some(value));
            exact.ok_or_else(|| match pending.beyond {
                true => format!("write the type of this range, as in `..={}{ty}`", value - 1),
                false => format!("this literal does not fit `{ty}`"),
            })
        }
        syn::Lit::Float(lit) => float(lit.base10_digits(), pending.negative, ty),
        other => unreachable!("a pending literal is a number, not {other:?}"),
    }
}

fn float(digits: &str, negative: bool, ty: Scalar) -> Result<Constant, String> {
    let sign = if negative { "-" } else { "" };
    let text = format!("{sign}{digits}");
    match ty {
        Scalar::F32 => text.parse().map(Constant::f32).map_err(|e| e.to_string()),
        Scalar::F64 => text.parse().map(Constant::f64).map_err(|e| e.to_string()),
        Scalar::Bool
        | Scalar::I8
        | Scalar::U8
        | Scalar::I16
        | Scalar::U16
        | Scalar::I32
        | Scalar::U32
        | Scalar::I64
        | Scalar::U64
        | Scalar::Usize => Err(format!("a float literal is not a `{ty}`")),
    }
}
