//! Types and literals are settled, and the IR is completed.

use std::collections::HashMap;

use proc_macro2::Span;
use sarek_ir::{
    Argument, BinaryOp, Compound, DivideOp, Expr, ExprId, ParamKind, Place, Precondition, Root,
    Scalar, SiteId, Step, Stmt, Type, TypeDef, Value as Constant, eval,
};

use super::{Known, Lowered, Lowerer, PendingLiteral};
use crate::diagnostics::{Mistake, codes};

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
        let callables = self.settle_callables();
        if !self.errors.is_empty() {
            return None;
        }
        self.settle_instances();
        self.float_divisions();
        self.compact_sites();
        self.mark_provable_sites();
        let shared = self.shared_types.iter();
        let shared_types = shared
            .map(|ty| self.type_tokens(*ty).unwrap_or_default())
            .collect();
        let marks: HashMap<u32, Scalar> = self
            .marks
            .iter()
            .filter_map(|(m, ty)| Some((*m, self.types.resolve(*ty)?)))
            .collect();
        let is_nested = self.callees.iter().any(|callee| callee.is_self);
        Some(Lowered {
            name,
            callables,
            takes: vec![],
            is_unsafe: false,
            nests: self.inline.filter(|_| is_nested),
            kernel: self.kernel,
            expr_spans: self.expr_spans,
            stmt_spans: self.stmt_spans,
            links: self.links,
            audits: self.audits,
            callees: self.callees,
            checks: self.checks,
            has_receiver: false,
            open_links: self.open_links,
            conversions: self.conversions,
            parameters: crate::parse::Parameters::of(&syn::Generics::default()),
            is_audited: self.is_audited,
            audited: None,
            linked: proc_macro2::TokenStream::new(),
            facts: self.facts,
            marks,
            type_infos: self.type_infos,
            param_types: self.param_tokens,
            shared_types,
            arrays: self.arrays.iter().map(|(local, _)| *local).collect(),
            link_types: self.link_tokens,
            paths: self.paths,
            units: self.units,
            references: self.references.iter().map(|(_, local)| *local).collect(),
            preludes: self.preludes,
            printers: self.printers,
            views: self.views,
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
            if self.types.look(ty) == Known::Nothing {
                let bool_ty = self.types.known(Scalar::Bool);
                // A failure leaves the type unknown, which is reported below.
                let _ = self.types.unify(ty, bool_ty);
            }
        }
        self.settle_natives();
        self.infer_callees();
        self.settle_links();
        self.settle_params();
        self.settle_memory();
        for i in 0..self.expr_types.len() {
            match self.ir_type(self.expr_types[i]) {
                Some(ty) => self.kernel.expr_types.to_mut()[i] = ty,
                None if self.errors.is_empty() => self.errors.at(
                    codes::UNKNOWN_TYPE,
                    self.expr_spans[i],
                    "the type of this is not known",
                    "annotate it",
                ),
                None => {}
            }
        }
        self.settle_prints();
    }

    fn settle_links(&mut self) {
        for (i, ty) in self.link_types.clone().into_iter().enumerate() {
            match (self.ir_type(ty), self.type_tokens(ty)) {
                (Some(ty), Some(tokens)) => {
                    self.kernel.links.to_mut()[i].ty = ty;
                    self.link_tokens.push(tokens);
                }
                // Its type has no name, and none is needed.
                (Some(ty), None) => {
                    self.kernel.links.to_mut()[i].ty = ty;
                    self.link_tokens.push(quote::quote!(()));
                    self.open_links.insert(i);
                }
                (None, _) => self.report_link(i),
            }
        }
    }

    fn settle_params(&mut self) {
        for (i, ty) in self.param_types.clone().into_iter().enumerate() {
            let Some(ty) = self.ir_type(ty) else {
                self.errors.at(
                    codes::UNKNOWN_TYPE,
                    Span::call_site(),
                    "the type of this argument is not known",
                    "write all of it",
                );
                continue;
            };
            if let Some(tokens) = self.type_tokens(self.param_types[i]) {
                self.param_tokens[i] = tokens;
            }
            let kind = &mut self.kernel.params.to_mut()[i].kind;
            *kind = match (*kind, ty) {
                (ParamKind::Slice { access, .. }, elem) => ParamKind::Slice { elem, access },
                (ParamKind::Reference(_), ty) => ParamKind::Reference(ty),
                (_, Type::Scalar(scalar)) => ParamKind::Scalar(scalar),
                (_, Type::Compound(id)) => ParamKind::Value(id),
            };
        }
    }

    /// What is not known here is reported at the expressions that use it.
    fn settle_memory(&mut self) {
        for i in 0..self.local_types.len() {
            let Some(elem) = self.ir_type(self.local_types[i]) else {
                continue;
            };
            let array = self.arrays.iter().find(|(local, _)| local.index() == i);
            let ty = match array {
                Some(&(_, len)) => self.kernel.push_type(TypeDef::Array { elem, len }),
                None => elem,
            };
            self.kernel.locals.to_mut()[i].ty = ty;
        }
        for i in 0..self.shared_types.len() {
            if let Some(elem) = self.ir_type(self.shared_types[i]) {
                self.kernel.shared.to_mut()[i].elem = elem;
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
            let value = match self.kernel.type_of(pending.expr) {
                Type::Scalar(ty) => literal_value(&pending, ty),
                Type::Compound(_) => foreign_literal(&pending),
            };
            match value {
                Ok(value) => {
                    self.kernel.exprs.to_mut()[pending.expr.index()] = Expr::Literal(value)
                }
                Err(mistake) => self.errors.report(pending.lit.span(), &mistake),
            }
        }
    }

    /// `/` and `%` on floats cannot fault.
    fn float_divisions(&mut self) {
        for i in 0..self.kernel.exprs.len() {
            let Expr::Divide { op, lhs, rhs, .. } = self.kernel.exprs[i] else {
                continue;
            };
            let ty = self.kernel.expr_types[i].as_scalar();
            if ty.is_some_and(Scalar::is_float) {
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
        let mut numbers = vec![None; old.len()];
        let mut renumber = |site: &mut SiteId| {
            sites.push(old[site.index()].clone());
            let number = SiteId(sites.len() as u32 - 1);
            numbers[site.index()] = Some(number);
            *site = number;
        };
        for expr in self.kernel.exprs.to_mut() {
            expr_site(expr).into_iter().for_each(&mut renumber);
        }
        for stmt in self.kernel.stmts.to_mut() {
            stmt_site(stmt).into_iter().for_each(&mut renumber);
        }
        for compound in self.kernel.compounds.to_mut() {
            if let Compound::Index {
                site: Some(site), ..
            } = compound
            {
                renumber(site);
            }
        }
        for place in self.kernel.places.to_mut() {
            place_sites(place).into_iter().for_each(&mut renumber);
        }
        for precondition in self.kernel.preconditions.to_mut() {
            if let Precondition::Holds(site) = precondition {
                *site = numbers[site.index()].expect("its assertion stands at the kernel's head");
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
        let mut check = |site: Option<SiteId>, depends: bool| {
            unprovable.extend(site.filter(|_| depends));
        };
        for expr in kernel.exprs.iter() {
            match *expr {
                Expr::Load { index, site, .. } => check(site, data.expr(kernel, index)),
                Expr::Bounded { index, len, site } => {
                    check(site, data.expr(kernel, index) || data.expr(kernel, len));
                }
                Expr::Divide { lhs, rhs, site, .. } => check(site, data.divisor(kernel, lhs, rhs)),
                Expr::Literal(_)
                | Expr::Link(_)
                | Expr::Local(_)
                | Expr::Param(_)
                | Expr::Len(_)
                | Expr::Builtin(_)
                | Expr::Unary { .. }
                | Expr::Binary { .. }
                | Expr::And { .. }
                | Expr::Or { .. }
                | Expr::Cast { .. }
                | Expr::Call { .. }
                | Expr::Compound(_)
                | Expr::Faulted => {}
            }
        }
        for compound in kernel.compounds.iter() {
            if let Compound::Index { index, site, .. } = *compound {
                check(site, data.expr(kernel, index));
            }
        }
        for place in kernel.places.iter() {
            if let Root::Element { index, site, .. } = place.root {
                check(site, data.expr(kernel, index));
            }
            for step in place.steps.iter() {
                if let Step::Index { index, site } = *step {
                    check(site, data.expr(kernel, index));
                }
            }
        }
        for stmt in kernel.stmts.iter() {
            match *stmt {
                Stmt::Store { index, site, .. } | Stmt::Atomic { index, site, .. } => {
                    check(site, data.expr(kernel, index));
                }
                Stmt::Assert { cond, site } => check(Some(site), data.expr(kernel, cond)),
                Stmt::Let { .. }
                | Stmt::Assign { .. }
                | Stmt::Update { .. }
                | Stmt::If { .. }
                | Stmt::Loop { .. }
                | Stmt::For { .. }
                | Stmt::Break { .. }
                | Stmt::Continue { .. }
                | Stmt::Return
                | Stmt::Barrier
                | Stmt::Fence { .. }
                | Stmt::Panic { .. }
                | Stmt::Print { .. }
                | Stmt::Subgroup { .. }
                | Stmt::Call { .. }
                | Stmt::Native { .. } => {}
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
        let is_length = |c: &Compound| matches!(c, Compound::Len { .. });
        match kernel.expr(id) {
            Expr::Compound(id) if is_length(&kernel.compounds[id.index()]) => false,
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
                    for local in kernel.changed_by_text(native) {
                        self.locals[local.index()] = true;
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
                | Stmt::Panic { .. }
                | Stmt::Print { .. }
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

/// The site that an expression has itself.
fn expr_site(expr: &mut Expr) -> Option<&mut SiteId> {
    match expr {
        Expr::Load { site, .. } | Expr::Bounded { site, .. } | Expr::Divide { site, .. } => {
            site.as_mut()
        }
        Expr::Literal(_)
        | Expr::Link(_)
        | Expr::Local(_)
        | Expr::Param(_)
        | Expr::Len(_)
        | Expr::Builtin(_)
        | Expr::Unary { .. }
        | Expr::Binary { .. }
        | Expr::And { .. }
        | Expr::Or { .. }
        | Expr::Cast { .. }
        | Expr::Call { .. }
        | Expr::Compound(_)
        | Expr::Faulted => None,
    }
}

/// The site that a statement has itself.
fn stmt_site(stmt: &mut Stmt) -> Option<&mut SiteId> {
    match stmt {
        Stmt::Store { site, .. } | Stmt::Atomic { site, .. } => site.as_mut(),
        Stmt::Assert { site, .. } | Stmt::Panic { site } => Some(site),
        Stmt::Let { .. }
        | Stmt::Assign { .. }
        | Stmt::Update { .. }
        | Stmt::If { .. }
        | Stmt::Loop { .. }
        | Stmt::For { .. }
        | Stmt::Break { .. }
        | Stmt::Continue { .. }
        | Stmt::Return
        | Stmt::Barrier
        | Stmt::Fence { .. }
        | Stmt::Print { .. }
        | Stmt::Subgroup { .. }
        | Stmt::Call { .. }
        | Stmt::Native { .. } => None,
    }
}

fn place_sites(place: &mut Place) -> Vec<&mut SiteId> {
    let root = match &mut place.root {
        Root::Element { site, .. } => site.as_mut(),
        Root::Local(_) | Root::Param(_) => None,
    };
    let steps = place.steps.to_mut().iter_mut();
    let steps = steps.filter_map(|step| match step {
        Step::Index { site, .. } => site.as_mut(),
        Step::Field(_) => None,
    });
    root.into_iter().chain(steps).collect()
}

/// A literal of a type that is known when the kernel is linked, and that takes its value from the widest.
fn foreign_literal(pending: &PendingLiteral) -> Result<Constant, Mistake> {
    if !pending.is_float() {
        return literal_value(pending, Scalar::I64)
            .or_else(|_| literal_value(pending, Scalar::U64));
    }
    let wide = literal_value(pending, Scalar::F64)?;
    let narrow = literal_value(pending, Scalar::F32)?;
    if eval::cast(wide, Scalar::F32) != narrow {
        let what = "this literal is another number as `f32` than as `f64`";
        let instead = "write its type, as in `0.1f32`";
        return Err(Mistake::new(codes::LITERAL_RANGE, what, instead));
    }
    Ok(wide)
}

fn literal_value(pending: &PendingLiteral, ty: Scalar) -> Result<Constant, Mistake> {
    match &pending.lit {
        syn::Lit::Int(int) => {
            let digits: u128 = int.base10_parse().map_err(|_| beyond(ty))?;
            if ty.is_float() {
                // `1f32`: an integer literal with a float's suffix.
                return float(int.base10_digits(), pending.negative, ty);
            }
            let magnitude = i128::try_from(digits).map_err(|_| beyond(ty))?;
            let value = if pending.negative {
                -magnitude
            } else {
                magnitude
            };
            let exact = Constant::int(ty, value).filter(|v| v.as_int() == Some(value));
            exact.ok_or_else(|| match pending.beyond {
                true => Mistake::new(
                    codes::LITERAL_RANGE,
                    format!("the end of this range does not fit `{ty}`"),
                    format!("write the type of this range, as in `..={}{ty}`", value - 1),
                ),
                false => beyond(ty),
            })
        }
        syn::Lit::Float(lit) => float(lit.base10_digits(), pending.negative, ty),
        other => unreachable!("a pending literal is a number, not {other:?}"),
    }
}

fn beyond(ty: Scalar) -> Mistake {
    let what = format!("this literal does not fit `{ty}`");
    Mistake::new(codes::LITERAL_RANGE, what, "use a wider type")
}

fn float(digits: &str, negative: bool, ty: Scalar) -> Result<Constant, Mistake> {
    let sign = if negative { "-" } else { "" };
    let text = format!("{sign}{digits}");
    match ty {
        Scalar::F16 | Scalar::Bf16 => Err(Mistake::new(
            codes::HALF,
            format!("`{ty}` has no literals"),
            format!("write `{ty}::from_f32_const(1.5)`"),
        )),
        Scalar::F32 => match text.parse::<f32>() {
            Ok(value) if value.is_finite() => Ok(Constant::f32(value)),
            Ok(_) | Err(_) => Err(beyond(ty)),
        },
        Scalar::F64 => match text.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(Constant::f64(value)),
            Ok(_) | Err(_) => Err(beyond(ty)),
        },
        Scalar::Bool
        | Scalar::I8
        | Scalar::U8
        | Scalar::I16
        | Scalar::U16
        | Scalar::I32
        | Scalar::U32
        | Scalar::I64
        | Scalar::U64
        | Scalar::Usize => Err(Mistake::new(
            codes::MISMATCH,
            format!("a float literal is not a `{ty}`"),
            "write an integer, or convert by `as`",
        )),
    }
}
