//! Patterns: the test for a match, and the names that a pattern binds.
//!
//! A pattern is matched against a [`Scrutinee`], a value that was evaluated once, with projections
//! to a part of it. rustc checks that patterns are exhaustive.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use sarek_ir::{BinaryOp, Compound, Expr, ExprId, Scalar, UnaryOp, Value as Constant};

use super::scrutinee::{Position, Scrutinee};
use super::variant::{by_name, by_place};
use crate::diagnostics::codes;
use crate::lower::compound::{Constructor, is_camel_case, is_type_name};
use crate::lower::memory::length::Dim;
use crate::lower::types::{Hole, Node};
use crate::lower::{Binding, Known, Lowerer, PendingLiteral, Ty, Value};
use crate::tokens::range::{Ranged, SourceRange};

/// A name that a pattern binds.
#[derive(Clone)]
pub(in crate::lower) struct Bound {
    pub ident: syn::Ident,
    pub mutable: bool,
    pub subject: Scrutinee,
}

/// The lowered pattern.
#[derive(Default)]
pub(in crate::lower) struct PatternMatch {
    /// The test; `None` if all values match.
    pub test: Option<ExprId>,
    /// The names.
    pub names: Vec<Bound>,
}

impl Lowerer<'_> {
    /// Matches a pattern against a scrutinee.
    pub(in crate::lower) fn pattern(
        &mut self,
        pat: &syn::Pat,
        subject: &Scrutinee,
    ) -> PatternMatch {
        let mut found = PatternMatch::default();
        self.pattern_into(pat, subject, &mut found);
        found
    }

    fn pattern_into(&mut self, pat: &syn::Pat, subject: &Scrutinee, found: &mut PatternMatch) {
        match pat {
            syn::Pat::Wild(_) => {}
            syn::Pat::Paren(inner) => self.pattern_into(&inner.pat, subject, found),
            syn::Pat::Type(typed) => {
                if let Some(ty) = self.written_type(&typed.ty) {
                    self.unify(ty, self.subject_type(subject), typed.ty.range());
                }
                self.pattern_into(&typed.pat, subject, found);
            }
            syn::Pat::Ident(ident) => self.name_pattern(ident, subject, found),
            syn::Pat::Lit(lit) => {
                let test = self.literal_test(lit, BinaryOp::Eq, subject);
                self.also(found, test);
            }
            syn::Pat::Range(range) => self.range_pattern(range, subject, found),
            syn::Pat::Or(or) => self.or_pattern(or, subject, found),
            syn::Pat::Path(path) if path.qself.is_none() => {
                self.path_pattern(&path.path, subject, found);
            }
            syn::Pat::Reference(inner) if subject.is_lent() && inner.mutability.is_none() => {
                self.pattern_into(&inner.pat, subject, found);
            }
            syn::Pat::Tuple(tuple) => self.tuple_pattern(tuple, subject, found),
            syn::Pat::Slice(slice) => self.slice_pattern(slice, subject, found),
            syn::Pat::TupleStruct(tuple) if tuple.qself.is_none() => {
                self.tuple_struct_pattern(tuple, subject, found);
            }
            syn::Pat::Struct(pat) if pat.qself.is_none() => {
                self.struct_pattern(pat, subject, found);
            }
            other => self.reject_pattern(other),
        }
    }

    fn reject_pattern(&mut self, pat: &syn::Pat) {
        let (what, instead) = match pat {
            syn::Pat::Const(_) => ("a `const` block is", "use a `const` item"),
            syn::Pat::Guard(_) => ("a guard here is", "write it at the end of an arm"),
            syn::Pat::Macro(_) => ("a macro in a pattern is", "write the pattern itself"),
            syn::Pat::Reference(_) => (
                "a reference in a pattern is",
                "drop the `&`: values are copied",
            ),
            syn::Pat::Rest(_) => ("`..` here is", "write it in tuples, arrays and structs"),
            syn::Pat::Path(_) | syn::Pat::TupleStruct(_) | syn::Pat::Struct(_) => {
                ("a qualified path is", "name the type by a plain path")
            }
            // All other patterns are lowered above; a kind that a later syn adds is reported.
            _ => ("this pattern is", "write a plain one"),
        };
        self.errors
            .unsupported(codes::PATTERN, pat.range(), what, instead);
    }

    /// Adds a test.
    fn also(&mut self, found: &mut PatternMatch, test: Option<ExprId>) {
        found.test = self.both(found.test, test);
    }

    /// The conjunction of two tests.
    pub(in crate::lower) fn both(
        &mut self,
        lhs: Option<ExprId>,
        rhs: Option<ExprId>,
    ) -> Option<ExprId> {
        let (Some(lhs), Some(rhs)) = (lhs, rhs) else {
            return lhs.or(rhs);
        };
        let span = self.span(rhs);
        Some(self.known(Expr::And { lhs, rhs }, Scalar::Bool, span))
    }

    // Names and constants.

    fn name_pattern(&mut self, pat: &syn::PatIdent, subject: &Scrutinee, found: &mut PatternMatch) {
        if let Some(by_ref) = pat.by_ref {
            self.errors
                .unsupported(codes::PATTERN, by_ref.span, "`ref` is", "bind by value");
            return;
        }
        if pat.subpat.is_none() && pat.mutability.is_none() && is_type_name(&pat.ident) {
            return self.capital_pattern(&pat.ident, subject, found);
        }
        found.names.push(Bound {
            ident: pat.ident.clone(),
            mutable: pat.mutability.is_some(),
            subject: subject.clone(),
        });
        if let Some((_, inner)) = &pat.subpat {
            self.pattern_into(inner, subject, found);
        }
    }

    /// A lone name with a capital: `None`, or a constant of the kernel's own.
    fn capital_pattern(
        &mut self,
        name: &syn::Ident,
        subject: &Scrutinee,
        found: &mut PatternMatch,
    ) {
        if let Some(Binding::Const(_)) = self.find(name) {
            let path = syn::Path::from(name.clone());
            return self.constant_pattern(&path, subject, found);
        }
        if name == "None" {
            return self.variant_pattern(&syn::Path::from(name.clone()), subject, found);
        }
        self.errors.at(
            codes::AMBIGUOUS_NAME,
            name.range(),
            format!("`{name}` may be a constant, a variant or a new name"),
            format!("write a path (`Shape::{name}`, `self::{name}`) for the first two, and start a new name with a lowercase letter"),
        );
    }

    fn path_pattern(&mut self, path: &syn::Path, subject: &Scrutinee, found: &mut PatternMatch) {
        let count = path.segments.len();
        let last = &path.segments[count - 1].ident;
        let of_type = count > 1 && is_type_name(&path.segments[count - 2].ident);
        let scalar = matches!(
            self.types.look(self.subject_type(subject)),
            Known::Scalar(_) | Known::Int | Known::Float
        );
        if of_type && !scalar || count == 1 && is_camel_case(last) {
            self.variant_pattern(path, subject, found);
        } else {
            self.constant_pattern(path, subject, found);
        }
    }

    /// `Shape::Point`. A struct without fields needs no test.
    fn variant_pattern(&mut self, path: &syn::Path, subject: &Scrutinee, found: &mut PatternMatch) {
        if let Some(constructor) = self.constructor(path) {
            let pattern = constructor.path.clone();
            self.made_by(&constructor, pattern, subject, path.range(), found);
        }
    }

    fn constant_pattern(
        &mut self,
        path: &syn::Path,
        subject: &Scrutinee,
        found: &mut PatternMatch,
    ) {
        let expr = syn::ExprPath {
            attrs: vec![],
            qself: None,
            path: path.clone(),
        };
        let Value::Scalar(constant) = self.path(&expr) else {
            return;
        };
        let span = path.range();
        self.unify(self.subject_type(subject), self.ty(constant), span);
        let value = self.read_subject(subject, span);
        let test = self.plain(BinaryOp::Eq, value, constant, span);
        self.also(found, Some(test));
    }

    /// `subject op literal`
    fn literal_test(
        &mut self,
        lit: &syn::ExprLit,
        op: BinaryOp,
        subject: &Scrutinee,
    ) -> Option<ExprId> {
        let span = lit.range();
        if let syn::Lit::Bool(wanted) = &lit.lit {
            let value = self.read_subject(subject, span);
            self.expect(value, Scalar::Bool);
            if wanted.value {
                return Some(value);
            }
            let not = Expr::Unary {
                op: UnaryOp::Not,
                arg: value,
            };
            return Some(self.known(not, Scalar::Bool, span));
        }
        let literal = self.pattern_literal(lit)?;
        self.unify(self.subject_type(subject), self.ty(literal), span);
        let value = self.read_subject(subject, span);
        Some(self.plain(op, value, literal, span))
    }

    /// A number in a pattern, where the sign is part of the literal.
    fn pattern_literal(&mut self, lit: &syn::ExprLit) -> Option<ExprId> {
        let negative = lit.lit.to_token_stream().to_string().starts_with('-');
        let mut plain = lit.clone();
        if negative {
            let text = lit.lit.to_token_stream().to_string();
            let magnitude = text.trim_start_matches(['-', ' ']);
            let mut unsigned: syn::Lit = syn::parse_str(magnitude).ok()?;
            unsigned.set_span(lit.lit.span());
            plain.lit = unsigned;
        }
        match self.literal(&plain, negative) {
            Value::Scalar(id) => Some(id),
            Value::Unit | Value::Never => None,
        }
    }

    fn range_pattern(
        &mut self,
        range: &syn::PatRange,
        subject: &Scrutinee,
        found: &mut PatternMatch,
    ) {
        let above = match range.limits {
            syn::RangeLimits::HalfOpen(_) => BinaryOp::Lt,
            syn::RangeLimits::Closed(_) => BinaryOp::Le,
        };
        let bounds = [(&range.start, BinaryOp::Ge), (&range.end, above)];
        for (bound, op) in bounds {
            let Some(bound) = bound else { continue };
            let test = self.bound_test(bound, op, subject);
            self.also(found, test);
        }
    }

    fn bound_test(
        &mut self,
        bound: &syn::Expr,
        op: BinaryOp,
        subject: &Scrutinee,
    ) -> Option<ExprId> {
        let constant = match bound {
            syn::Expr::Lit(lit) => self.pattern_literal(lit)?,
            syn::Expr::Unary(syn::ExprUnary {
                op: syn::UnOp::Neg(_),
                expr,
                ..
            }) if matches!(**expr, syn::Expr::Lit(_)) => self.scalar(bound),
            syn::Expr::Path(_) => self.scalar_or_never(bound)?,
            other => {
                let instead = "write a number or a constant";
                self.errors
                    .unsupported(codes::PATTERN, other.range(), "this bound is", instead);
                return None;
            }
        };
        self.unify(self.subject_type(subject), self.ty(constant), bound.range());
        let value = self.read_subject(subject, bound.range());
        Some(self.plain(op, value, constant, bound.range()))
    }

    // Patterns of several parts.

    fn tuple_pattern(
        &mut self,
        pat: &syn::PatTuple,
        subject: &Scrutinee,
        found: &mut PatternMatch,
    ) {
        let elems: Vec<&syn::Pat> = pat.elems.iter().collect();
        let rest = elems.iter().position(|p| matches!(p, syn::Pat::Rest(_)));
        let arity = match self.types.node(self.subject_type(subject)) {
            Node::Tuple(types) => Some(types.len()),
            _ => None,
        };
        let arity = match (rest, arity) {
            // rustc checks in the user's function that the tuple has this number of parts.
            (None, None) if self.is_part(self.subject_type(subject)) => elems.len(),
            (None, _) => {
                let types = elems.iter().map(|_| self.types.any()).collect();
                let tuple = self.types.tuple(types);
                self.unify(tuple, self.subject_type(subject), pat.range());
                elems.len()
            }
            (Some(_), Some(arity)) => arity,
            (Some(_), None) => {
                self.errors.at(
                    codes::UNKNOWN_TYPE,
                    pat.range(),
                    "the type of this tuple is not known here",
                    "write a `_` for each part in place of `..`",
                );
                return;
            }
        };
        for (i, elem) in positions(&elems, rest, arity) {
            let part = self.tuple_part(subject, i);
            self.pattern_into(elem, &part, found);
        }
    }

    fn slice_pattern(
        &mut self,
        pat: &syn::PatSlice,
        subject: &Scrutinee,
        found: &mut PatternMatch,
    ) {
        let elems: Vec<&syn::Pat> = pat.elems.iter().collect();
        let rest = elems.iter().position(|p| rest_of_array(p).is_some());
        let ty = self.subject_type(subject);
        if matches!(self.types.node(ty), Node::Any) {
            if rest.is_some() || elems.is_empty() {
                self.errors.at(
                    codes::UNKNOWN_TYPE,
                    pat.range(),
                    "the type of this array is not known here",
                    "write it where the value is bound, as in `let x: [f32; 4] = …;`",
                );
                return;
            }
            let array = self.types.any();
            let array = self.types.array(array, Dim::fixed(elems.len() as u64));
            self.unify(array, ty, pat.range());
        }
        for (i, elem) in elems.iter().enumerate() {
            let (before, after) = (i as u64, (elems.len() - i) as u64);
            let span = elem.range();
            let part = match rest {
                Some(at) if i == at => match rest_of_array(elem) {
                    Some(Some(name)) => {
                        let (first, last) = (before, after - 1);
                        let part = self.middle_part(subject, (first, last), span);
                        self.rest_name(name, part, found);
                        continue;
                    }
                    Some(None) | None => continue,
                },
                Some(at) if i > at => Position::Last(after),
                Some(_) | None => Position::First(before),
            };
            // `_` needs no test.
            if matches!(elem, syn::Pat::Wild(_)) {
                continue;
            }
            if let Some(part) = self.element_part(subject, part, span) {
                self.pattern_into(elem, &part, found);
            }
        }
    }

    /// `name @ ..`
    fn rest_name(
        &mut self,
        pat: &syn::PatIdent,
        rest: Option<Scrutinee>,
        found: &mut PatternMatch,
    ) {
        if let Some(by_ref) = pat.by_ref {
            self.errors
                .unsupported(codes::PATTERN, by_ref.span, "`ref` is", "bind by value");
            return;
        }
        if let Some(subject) = rest {
            found.names.push(Bound {
                ident: pat.ident.clone(),
                mutable: pat.mutability.is_some(),
                subject,
            });
        }
    }

    fn tuple_struct_pattern(
        &mut self,
        pat: &syn::PatTupleStruct,
        subject: &Scrutinee,
        found: &mut PatternMatch,
    ) {
        let Some(constructor) = self.constructor(&pat.path) else {
            return;
        };
        let path = &constructor.path;
        let pattern = quote!(#path(..));
        self.made_by(&constructor, pattern, subject, pat.path.range(), found);
        let elems: Vec<&syn::Pat> = pat.elems.iter().collect();
        let rest = elems.iter().position(|p| matches!(p, syn::Pat::Rest(_)));
        if let Some(at) = rest
            && at + 1 < elems.len()
        {
            self.errors.at(
                codes::PATTERN,
                elems[at].range(),
                "the number of fields is not known here",
                "put `..` last, or write a `_` for each field",
            );
            return;
        }
        for (i, elem) in positions(&elems, rest, elems.len()) {
            let text = i.to_string();
            let binds = by_place(path, i, &elems);
            let part = self.part(subject, Some((&constructor, binds)), &text);
            self.pattern_into(elem, &part, found);
        }
    }

    fn struct_pattern(
        &mut self,
        pat: &syn::PatStruct,
        subject: &Scrutinee,
        found: &mut PatternMatch,
    ) {
        let Some(constructor) = self.constructor(&pat.path) else {
            return;
        };
        let path = &constructor.path;
        let pattern = quote!(#path { .. });
        self.made_by(&constructor, pattern, subject, pat.path.range(), found);
        for field in &pat.fields {
            let text = field.member.to_token_stream().to_string();
            let others = pat.fields.iter().map(|other| &other.member);
            let others: Vec<_> = others.filter(|other| **other != field.member).collect();
            let binds = by_name(path, &text, &others, field.member.range().first);
            let part = self.part(subject, Some((&constructor, binds)), &text);
            // In `P { x }` the name is a binding, whatever its first letter.
            match (&*field.pat, field.colon_token) {
                (syn::Pat::Ident(ident), None) if ident.by_ref.is_none() => {
                    found.names.push(Bound {
                        ident: ident.ident.clone(),
                        mutable: ident.mutability.is_some(),
                        subject: part,
                    });
                }
                (inner, _) => self.pattern_into(inner, &part, found),
            }
        }
    }

    /// Unifies the scrutinee's type with that of the constructor, and tests its variant.
    fn made_by(
        &mut self,
        constructor: &Constructor,
        pattern: TokenStream,
        subject: &Scrutinee,
        span: SourceRange,
        found: &mut PatternMatch,
    ) {
        let ty = self.subject_type(subject);
        if !self.has_unknown_arguments(constructor, ty) {
            self.unify(ty, constructor.ty, span);
        }
        let Some(variant) = constructor.variant else {
            return;
        };
        let value = self.read_subject(subject, span);
        let bool_ty = self.types.known(Scalar::Bool);
        let is = Compound::IsVariant { value, variant };
        let test = self.compound_by(is, pattern, bool_ty, span);
        self.also(found, Some(test));
    }

    /// True for an `Option` or `Result` whose arguments only rustc knows, such as the result of a
    /// function. The parts that `Some(x)` binds are then parts of that type. With `Option<_>`,
    /// later code would have to determine their types.
    fn has_unknown_arguments(&self, constructor: &Constructor, of: Ty) -> bool {
        self.is_part(of) && self.is_core_type(constructor.ty)
    }

    /// True for a type that only rustc knows, of a function's result or of a part of a value.
    fn is_part(&self, ty: Ty) -> bool {
        matches!(
            self.types.node(ty),
            Node::Hole(
                Hole::Result(_) | Hole::Field { .. } | Hole::Element { .. } | Hole::Payload { .. }
            )
        )
    }

    // Alternatives.

    fn or_pattern(&mut self, or: &syn::PatOr, subject: &Scrutinee, found: &mut PatternMatch) {
        let cases: Vec<PatternMatch> = or
            .cases
            .iter()
            .map(|case| self.pattern(case, subject))
            .collect();
        if cases.iter().any(|case| !case.names.is_empty()) {
            return self.reject_names(or);
        }
        let always = cases.iter().any(|case| case.test.is_none());
        let tests = cases.into_iter().filter_map(|case| case.test);
        let span = or.range();
        let any = tests.reduce(|lhs, rhs| self.known(Expr::Or { lhs, rhs }, Scalar::Bool, span));
        if !always {
            self.also(found, any);
        }
    }

    fn reject_names(&mut self, or: &syn::PatOr) {
        let instead = "write an arm for each alternative";
        self.errors.unsupported(
            codes::PATTERN,
            or.range(),
            "`|` inside of a pattern with names is",
            instead,
        );
    }

    /// A `bool` constant.
    pub(in crate::lower) fn truth(&mut self, value: bool, span: SourceRange) -> ExprId {
        self.constant(Constant::Bool(value), span)
    }
}

/// The name in `name @ ..`, or `Some(None)` for `..`. `None` for other patterns.
fn rest_of_array(pat: &syn::Pat) -> Option<Option<&syn::PatIdent>> {
    match pat {
        syn::Pat::Rest(_) => Some(None),
        syn::Pat::Ident(ident) => match &ident.subpat {
            Some((_, inner)) if matches!(**inner, syn::Pat::Rest(_)) => Some(Some(ident)),
            Some(_) | None => None,
        },
        _ => None,
    }
}

/// Pairs patterns with the positions of their parts in a tuple with `arity` parts.
fn positions<'p>(
    elems: &[&'p syn::Pat],
    rest: Option<usize>,
    arity: usize,
) -> Vec<(usize, &'p syn::Pat)> {
    let each = elems.iter().copied().enumerate();
    let place = |(i, pat): (usize, &'p syn::Pat)| match rest {
        Some(at) if i == at => None,
        Some(at) if i > at => Some(((arity + i).checked_sub(elems.len())?, pat)),
        Some(_) | None => Some((i, pat)),
    };
    each.filter_map(place).collect()
}

impl PendingLiteral {
    /// True for a number with a fraction or an exponent.
    pub(in crate::lower) fn is_float(&self) -> bool {
        matches!(self.lit, syn::Lit::Float(_))
    }
}
