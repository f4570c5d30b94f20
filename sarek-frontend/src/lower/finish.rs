//! Finishes inference: resolves all types and completes the IR.

use std::collections::{BTreeSet, HashMap};

use proc_macro2::Span;
use sarek_ir::{BinaryOp, DivideOp, Expr, Memory, ParamKind, Scalar, Type, TypeDef};

use super::{Known, Lowered, Lowerer};
use crate::diagnostics::codes;

impl Lowerer<'_> {
    /// Replaces type variables by types. `None` if there are errors.
    pub(super) fn finish(mut self, name: syn::Ident) -> Option<Lowered> {
        let open = self.blocks.pop().expect("the body's block");
        self.kernel.body = self.close(open);
        self.check_held_elements();
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
        let compared = self.settle_compared();
        if !self.errors.is_empty() {
            return None;
        }
        self.settle_instances();
        self.settle_asked();
        self.float_divisions();
        self.compact_sites();
        self.kernel.check_overflows();
        self.mark_provable_sites();
        let shared = self.shared_types.iter();
        let shared_types = shared
            .map(|ty| self.type_tokens(*ty).unwrap_or_default())
            .collect();
        let marks: HashMap<u32, Scalar> = self
            .marks
            .iter()
            .filter_map(|(m, ty): (&u32, &super::Ty)| Some((*m, self.types.resolve(*ty)?)))
            .collect();
        let arrays = self.arrays.iter().map(|(local, _)| {
            let dims = self.shapes[&Memory::Local(*local)].iter();
            (*local, dims.map(|dim| dim.length).collect())
        });
        let arrays = arrays.collect();
        let shared_dims = self
            .shapes
            .iter()
            .filter_map(|(memory, dims)| match memory {
                Memory::Shared(id) => Some((*id, dims.iter().map(|dim| dim.length).collect())),
                Memory::Local(_) | Memory::Slice(_) | Memory::Table(_) => None,
            });
        let shared_dims = shared_dims.collect();
        let is_nested = self.callees.iter().any(|callee| callee.is_self);
        Some(Lowered {
            name,
            callables,
            takes: vec![],
            agreed: BTreeSet::new(),
            is_unsafe: false,
            max_depth: self.inline.filter(|_| is_nested),
            kernel: self.kernel,
            expr_spans: self.expr_spans,
            stmt_spans: self.stmt_spans,
            links: self.links,
            constant_bounds: vec![],
            assumed_functions: vec![],
            audits: self.audits,
            callees: self.callees,
            checks: self.checks,
            probes: self.probes,
            has_receiver: false,
            open_links: self.open_links,
            conversions: self.conversions,
            parameters: crate::parse::Parameters::of(&syn::Generics::default()),
            has_gate: self.has_gate,
            gate: None,
            names_gate: self.names_gate,
            linked: proc_macro2::TokenStream::new(),
            facts: self.facts,
            sites: proc_macro2::TokenStream::new(),
            marks,
            inferred_literals: self.inferred_literals.into_inner(),
            literal_types: proc_macro2::TokenStream::new(),
            type_infos: self.type_infos,
            param_types: self.param_tokens,
            shared_types,
            arrays,
            shared_dims,
            link_types: self.link_tokens,
            paths: self.paths,
            units: self.units,
            references: self.references.iter().map(|(_, local)| *local).collect(),
            compared,
            borrowed: self.borrowed,
            lent_mutably: self.lent_mutably,
            preludes: self.preludes,
            printers: self.printers,
            views: self.views,
        })
    }

    fn settle_types(&mut self) {
        self.settle_marks();
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
                // On failure the type stays unknown, which is reported below.
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
                    "annotate its type",
                ),
                None => {}
            }
        }
        self.settle_prints();
        self.check_inferred_literals();
    }

    fn settle_links(&mut self) {
        for (i, ty) in self.link_types.clone().into_iter().enumerate() {
            match (self.ir_type(ty), self.type_tokens(ty)) {
                (Some(ty), Some(tokens)) => {
                    self.kernel.links.to_mut()[i].ty = ty;
                    self.link_tokens.push(tokens);
                }
                // The type has no name, and needs none.
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
                    "write the complete type",
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

    /// An unknown type is reported at the expressions that use it.
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
}
