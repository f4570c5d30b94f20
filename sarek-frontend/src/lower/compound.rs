//! Values of several parts: fields, tuples, struct literals, and elements of arrays inside of them.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use sarek_ir::{
    Compound, CompoundId, Expr, ExprId, LinkId, Memory, NameId, Scalar, SiteId, SiteKind, Table,
    TableId, TableValues,
};

use super::calls::callee::Typed;
use super::desugar::variant::by_name;
use super::types::type_syntax::{OPTION, RESULT};
use super::types::{GenericArg, LiteralField, Node};
use super::{Known, Lowerer, Ty, Value};
use crate::diagnostics::codes;
use crate::parse::LETTERS;
use crate::tokens::range::{Ranged, SourceRange};

/// The type or variant that a path in a struct literal, call or pattern names.
pub(super) struct Constructor {
    /// The type of the constructed value.
    pub ty: Ty,
    /// The variant, if the type is an enum.
    pub variant: Option<NameId>,
    /// The path in the compiled body.
    pub path: TokenStream,
}

impl Lowerer<'_> {
    /// Adds an operation on values of several parts.
    pub(super) fn compound(&mut self, compound: Compound, ty: Ty, span: SourceRange) -> ExprId {
        let id = CompoundId(self.kernel.compounds.len() as u32);
        self.kernel.compounds.to_mut().push(compound);
        self.expr(Expr::Compound(id), ty, span)
    }

    /// The same for an operation whose path the compiled body needs.
    pub(super) fn compound_by(
        &mut self,
        compound: Compound,
        path: TokenStream,
        ty: Ty,
        span: SourceRange,
    ) -> ExprId {
        let id = CompoundId(self.kernel.compounds.len() as u32);
        self.paths.insert(id, path);
        self.compound(compound, ty, span)
    }

    // Parts.

    /// `base.name`
    pub(super) fn field(&mut self, e: &syn::ExprField) -> Value {
        // A number has no fields.
        self.expects_own = true;
        let base = self.referred(&e.base);
        self.expects_own = false;
        let Some(base) = base else {
            return Value::Never;
        };
        let Some((name, ty)) = self.field_type(self.ty(base), &e.member) else {
            return Value::Never;
        };
        let base = self.named(base);
        Value::Scalar(self.compound(Compound::Field { base, name }, ty, e.range()))
    }

    /// The name and type of a field. `None` if there is no such field, which is reported.
    pub(super) fn field_type(&mut self, of: Ty, member: &syn::Member) -> Option<(NameId, Ty)> {
        let text = member.to_token_stream().to_string();
        let text = text.strip_prefix("r#").unwrap_or(&text);
        match self.types.look(of) {
            Known::Nothing if self.is_error_type(of) => return None,
            Known::Nothing => {
                self.errors.at(
                    codes::UNKNOWN_TYPE,
                    member.range(),
                    format!("the type must be known before its field `.{text}` is used"),
                    "annotate the variable's type",
                );
                return None;
            }
            Known::Scalar(_) | Known::Int | Known::Float => {
                self.errors.at(
                    codes::NO_FIELD,
                    member.range(),
                    format!("{} has no field `{text}`", self.types.look(of)),
                    "name one of its fields",
                );
                return None;
            }
            Known::Compound | Known::Foreign | Known::Parameter => {}
        }
        if let Some(simd) = self.simd(of)
            && !LETTERS[..simd.count].contains(&text)
        {
            self.errors.at(
                codes::NO_FIELD,
                member.range(),
                format!("`{}` has no field `{text}`", simd.name()),
                "name one of its components, such as `.x`",
            );
            return None;
        }
        if let Node::Tuple(types) = self.types.node(of)
            && text.parse().map_or(true, |i: usize| i >= types.len())
        {
            self.errors.at(
                codes::NO_FIELD,
                member.range(),
                format!("this tuple has no field `{text}`"),
                "name one of its parts, such as `.0`",
            );
            return None;
        }
        let name = self.name_id(text);
        Some((name, self.types.field(of, name, text)))
    }

    /// `base[index]`, where the array is a part of a value and no memory of its own.
    pub(super) fn part_index(&mut self, e: &syn::ExprIndex) -> Value {
        let mark = self.mark();
        let Some(base) = self.referred(&e.expr) else {
            return Value::Never;
        };
        if let Some(value) = self.simd_index(base, e) {
            return value;
        }
        let mut base = self.indexable(base);
        let after = self.mark();
        let index = self.scalar(&e.index);
        self.expect(index, Scalar::Usize);
        // A constant is not copied to a local.
        if self.mark() > after && !matches!(self.kernel.expr(base), Expr::Link(_)) {
            base = self.spill_at(after.max(mark), base);
        }
        let Some(ty) = self.element_of(self.ty(base), e.range()) else {
            return Value::Never;
        };
        let site = Some(self.part_site(base, e.range()));
        Value::Scalar(self.compound(Compound::Index { base, index, site }, ty, e.range()))
    }

    /// The element type of an array. `None` for other types, which are reported.
    pub(super) fn element_of(&mut self, of: Ty, span: SourceRange) -> Option<Ty> {
        if let Some(simd) = self.simd(of) {
            self.errors.at(
                codes::VECTOR,
                span,
                format!(
                    "a component of `{}` cannot be assigned by index",
                    simd.name()
                ),
                "write its name, such as `.x`, in place of the index",
            );
            return None;
        }
        match self.types.node(of) {
            Node::Array(elem, _) => Some(*elem),
            Node::Named(_) | Node::Hole(_) => Some(self.types.element(of)),
            Node::Any if self.is_error_type(of) => None,
            Node::Any | Node::Known(_) | Node::Int | Node::Float | Node::Tuple(_) => {
                self.errors.at(
                    codes::INDEX,
                    span,
                    format!(
                        "this is {}, and only slices and arrays can be indexed",
                        self.types.look(of)
                    ),
                    "index an argument of type `&[T]` or `&mut [T]`, or an array",
                );
                None
            }
            Node::Same(_) => unreachable!("node looks through it"),
        }
    }

    /// The fault site of an index into an array inside of a value.
    fn part_site(&mut self, base: ExprId, span: SourceRange) -> SiteId {
        let (memory, dimension) = self.root(base);
        self.site(SiteKind::Dimension(memory, dimension), span)
    }

    /// The memory that contains a named value, and the number of dimensions that lead to it.
    fn root(&mut self, id: ExprId) -> (Memory, u32) {
        match self.kernel.expr(id) {
            Expr::Local(local) => (Memory::Local(local), 0),
            Expr::Link(link) => (self.table(link), 0),
            Expr::Load { memory, .. } => (memory, self.rank(memory) as u32),
            Expr::Compound(compound) => match self.kernel.compounds[compound.index()] {
                Compound::Field { base, .. } => self.root(base),
                Compound::Payload { value, .. } => self.root(value),
                Compound::Index { base, .. } => {
                    let (memory, dimension) = self.root(base);
                    (memory, dimension + 1)
                }
                Compound::IsVariant { .. }
                | Compound::Construct { .. }
                | Compound::Array { .. }
                | Compound::Repeat { .. }
                | Compound::Len { .. }
                | Compound::At { .. } => unreachable!("it was given a name"),
            },
            _ => unreachable!("it was given a name"),
        }
    }

    /// The constant as memory.
    fn table(&mut self, link: LinkId) -> Memory {
        let values = TableValues::Link(link);
        let known = self.kernel.tables.iter().position(|t| t.values == values);
        let index = known.unwrap_or_else(|| {
            let name = self.kernel.links[link.index()].path.clone();
            self.kernel.tables.to_mut().push(Table { name, values });
            self.kernel.tables.len() - 1
        });
        Memory::Table(TableId(index as u32))
    }

    /// The value, copied to a local unless it has a name.
    pub(super) fn named(&mut self, id: ExprId) -> ExprId {
        match self.kernel.expr(id) {
            Expr::Param(_) | Expr::Link(_) => id,
            _ => self.indexable(id),
        }
    }

    /// The same for a value that is indexed: it must be in the kernel's own memory.
    pub(super) fn indexable(&mut self, id: ExprId) -> ExprId {
        if self.has_memory(id) {
            return id;
        }
        let at = self.mark();
        self.spill_at(at, id)
    }

    fn has_memory(&self, id: ExprId) -> bool {
        match self.kernel.expr(id) {
            Expr::Compound(compound) => match &self.kernel.compounds[compound.index()] {
                Compound::Field { base, .. } | Compound::Index { base, .. } => {
                    self.has_memory(*base)
                }
                Compound::Payload { value, .. } => self.has_memory(*value),
                Compound::IsVariant { .. }
                | Compound::Construct { .. }
                | Compound::Array { .. }
                | Compound::Repeat { .. }
                | Compound::Len { .. }
                | Compound::At { .. } => false,
            },
            other => matches!(other, Expr::Local(_) | Expr::Load { .. } | Expr::Link(_)),
        }
    }

    // Whole values.

    /// `(a, b)`
    pub(super) fn tuple(&mut self, e: &syn::ExprTuple) -> Value {
        let elems: Vec<&syn::Expr> = e.elems.iter().collect();
        let values = self.operands(&elems);
        let types = values.iter().map(|v| self.ty(*v)).collect();
        let ty = self.types.tuple(types);
        let fields = values.into_iter().enumerate();
        let fields: Vec<(NameId, ExprId)> = fields
            .map(|(i, value)| (self.name_id(&i.to_string()), value))
            .collect();
        let construct = Compound::Construct {
            variant: None,
            fields: fields.into(),
            rest: None,
        };
        Value::Scalar(self.compound(construct, ty, e.range()))
    }

    /// `[a, b]` and `[a; n]` as values.
    pub(super) fn array_value(&mut self, e: &syn::ExprArray) -> Value {
        let elems: Vec<&syn::Expr> = e.elems.iter().collect();
        if elems.is_empty() {
            self.errors.at(
                codes::ARRAY_LENGTH,
                e.range(),
                "kernels do not support empty arrays",
                "give it at least one element",
            );
            return Value::Never;
        }
        let values = self.operands(&elems);
        let elem = self.ty(values[0]);
        for value in &values {
            self.unify(elem, self.ty(*value), self.span(*value));
        }
        let ty = self
            .types
            .array(elem, super::memory::length::Dim::fixed(values.len() as u64));
        let items = self.kernel.push_list(&values);
        Value::Scalar(self.compound(Compound::Array { items }, ty, e.range()))
    }

    pub(super) fn repeat_value(&mut self, e: &syn::ExprRepeat) -> Value {
        let Some(value) = self.scalar_or_never(&e.expr) else {
            return Value::Never;
        };
        let Some(len) = self.dimension(&e.len) else {
            return Value::Never;
        };
        let at = self.mark();
        let value = match self.kernel.is_fixed_leaf(value) {
            true => value,
            false => self.spill_at(at, value),
        };
        let count = len.tokens().clone();
        let ty = self.types.array(self.ty(value), len);
        Value::Scalar(self.compound_by(Compound::Repeat { value }, count, ty, e.range()))
    }

    /// `P { x, y: b, ..rest }`
    pub(super) fn struct_literal(&mut self, e: &syn::ExprStruct) -> Value {
        if let Some(qself) = &e.qself {
            let instead = "name the type by a plain path";
            self.errors.unsupported(
                codes::PATH,
                qself.lt_token.range(),
                "a qualified path is",
                instead,
            );
            return Value::Never;
        }
        let Some(mut constructor) = self.constructor(&e.path) else {
            return Value::Never;
        };
        let members: Vec<&syn::Member> = e.fields.iter().map(|f| &f.member).collect();
        let mut exprs: Vec<&syn::Expr> = e.fields.iter().map(|f| &f.expr).collect();
        exprs.extend(e.rest.as_deref());
        if let (Some(dots), None) = (&e.dot2_token, &e.rest) {
            self.errors.at(
                codes::PATTERN,
                dots.range(),
                "the value that the other fields are copied from is missing",
                "`..base`",
            );
            return Value::Never;
        }
        let mut values = self.operands(&exprs);
        let rest = e.rest.as_ref().and_then(|_| values.pop());
        if let Some(rest) = rest {
            match self.is_determined_by(constructor.ty, self.ty(rest)) {
                true => constructor.ty = self.ty(rest),
                false => {
                    self.unify(constructor.ty, self.ty(rest), self.span(rest));
                }
            }
        }
        let names: Vec<String> = members
            .iter()
            .map(|m| m.to_token_stream().to_string())
            .collect();
        self.construct(constructor, &names, values, rest, e.range())
    }

    /// `P(a, b)`
    pub(super) fn tuple_struct(&mut self, path: &syn::Path, e: &syn::ExprCall) -> Value {
        let Some(constructor) = self.constructor(path) else {
            return Value::Never;
        };
        let exprs: Vec<&syn::Expr> = e.args.iter().collect();
        let values = self.operands(&exprs);
        let names: Vec<String> = (0..values.len()).map(|i| i.to_string()).collect();
        self.construct(constructor, &names, values, None, e.range())
    }

    /// A variant without fields.
    pub(super) fn unit_variant(&mut self, path: &syn::Path) -> Value {
        let Some(constructor) = self.constructor(path) else {
            return Value::Never;
        };
        let value = self.construct(constructor, &[], vec![], None, path.range());
        let made = CompoundId(self.kernel.compounds.len() as u32 - 1);
        self.units.insert(made);
        value
    }

    fn construct(
        &mut self,
        constructor: Constructor,
        names: &[String],
        values: Vec<ExprId>,
        rest: Option<ExprId>,
        span: SourceRange,
    ) -> Value {
        let Constructor { ty, variant, path } = constructor;
        let ty = match rest.is_none() && !names.is_empty() {
            true => self.literal_type(ty, variant, &path),
            false => ty,
        };
        let mut fields = vec![];
        for (text, value) in names.iter().zip(values) {
            let name = self.name_id(text);
            let pattern = by_name(&path, text, &[], path.range().first);
            let wanted = self.part_type(ty, variant.map(|of| (of, &pattern)), name);
            let typed = match self.types.look(self.ty(value)) {
                Known::Int => Typed::Int(self.ty(value)),
                Known::Float => Typed::Float(self.ty(value)),
                Known::Nothing => Typed::Unknown,
                Known::Scalar(_) | Known::Compound | Known::Foreign | Known::Parameter => {
                    Typed::By(self.ty(value))
                }
            };
            // The type of `P { x, ..rest }` is that of `rest`, which determines the types of all
            // fields.
            if rest.is_none() {
                let field = LiteralField {
                    name,
                    ty: wanted,
                    value: typed,
                    pattern,
                };
                self.types.tell_field(ty, field);
            }
            self.unify(wanted, self.ty(value), self.span(value));
            fields.push((name, value));
        }
        let path = match variant.is_none() && self.is_whole_type(&path) {
            true => self.known_type(path),
            false => path,
        };
        // The other fields are parts of the value that they are copied from.
        let rest = rest.map(|rest| self.named(rest));
        let construct = Compound::Construct {
            variant,
            fields: fields.into(),
            rest,
        };
        Value::Scalar(self.compound_by(construct, path, ty, span))
    }

    /// The type of a struct literal. If the source writes no generic arguments, the fields may
    /// determine them.
    fn literal_type(&mut self, ty: Ty, variant: Option<NameId>, path: &TokenStream) -> Ty {
        match self.types.node(ty) {
            Node::Named(named) if named.args.is_empty() && named.simd.is_none() => {
                let named = named.path.clone();
                match self.has_no_arguments(&named) {
                    true => ty,
                    false => self.types.literal(named, path.clone(), variant),
                }
            }
            _ => ty,
        }
    }

    /// True if the path may omit generic arguments, and only rustc knows the type of the `..rest`
    /// value. The literal then has that type. rustc checks in the user's function that the path
    /// names it.
    fn is_determined_by(&self, written: Ty, rest: Ty) -> bool {
        match (self.types.node(written), self.types.node(rest)) {
            (Node::Named(named), Node::Hole(_)) => {
                named.args.is_empty() && named.simd.is_none() && !self.has_no_arguments(&named.path)
            }
            _ => false,
        }
    }

    /// True if the source names the type without generic arguments in a type position, so that it
    /// takes none.
    fn has_no_arguments(&self, path: &TokenStream) -> bool {
        let text = super::path_text(path);
        text == "Self" || self.complete_types.contains(&text)
    }

    /// True if the path names one of the user's types with all of its generic arguments.
    fn is_whole_type(&self, path: &TokenStream) -> bool {
        let parsed = syn::parse2::<syn::Path>(path.clone()).ok();
        let last = parsed.and_then(|path| path.segments.into_iter().next_back());
        last.is_some_and(|last| !last.arguments.is_empty()) || self.has_no_arguments(path)
    }

    /// Resolves the path of a constructor: `P`, `geom::P`, `Shape::Circle`, `Some`. If the last but
    /// one segment begins with a capital, it is an enum, and the last one its variant. rustc
    /// reports a wrong guess.
    pub(super) fn constructor(&mut self, path: &syn::Path) -> Option<Constructor> {
        if let Some(found) = self.core_variant(path) {
            return Some(found);
        }
        let count = path.segments.len();
        let is_variant = count > 1 && is_type_name(&path.segments[count - 2].ident);
        if !is_variant {
            let ty = self.written_path(path)?;
            return Some(Constructor {
                ty,
                variant: None,
                path: path.to_token_stream(),
            });
        }
        let mut of = path.clone();
        let last = of.segments.pop()?;
        of.segments.pop_punct();
        if !last.arguments.is_empty() {
            let instead = "write the type's arguments after its own name";
            self.errors
                .unsupported(codes::PATH, last.arguments.range(), "this path is", instead);
            return None;
        }
        let ty = self.written_path(&of)?;
        let variant = self.name_id(&last.ident.to_string());
        let path = match self.core_argument(ty, 0).is_some() || self.is_core_type(ty) {
            true => {
                let of = self.core_path(ty);
                let name = &last.ident;
                quote!(#of::#name)
            }
            false => path.to_token_stream(),
        };
        self.open_arguments(ty);
        Some(Constructor {
            ty,
            variant: Some(variant),
            path,
        })
    }

    pub(super) fn is_core_type(&self, ty: Ty) -> bool {
        match self.types.node(ty) {
            Node::Named(named) => {
                let path = super::path_text(&named.path);
                path == OPTION || path == RESULT
            }
            _ => false,
        }
    }

    fn core_path(&self, ty: Ty) -> TokenStream {
        match self.types.node(ty) {
            Node::Named(named) => named.path.clone(),
            _ => unreachable!("it is `Option` or `Result`"),
        }
    }

    /// Gives `Option::Some` a type argument that is still to be inferred.
    fn open_arguments(&mut self, ty: Ty) {
        if self.is_core_type(ty) && self.core_argument(ty, 0).is_none() {
            let path = super::path_text(self.core_path(ty));
            let fresh = self.core_type(path == OPTION);
            // Both have the same path, so this cannot fail; the result has the arguments.
            let _ = self.types.unify(ty, fresh);
        }
    }

    /// `Option<_>` or `Result<_, _>`
    pub(super) fn core_type(&mut self, option: bool) -> Ty {
        let path = match option {
            true => quote!(::core::option::Option),
            false => quote!(::core::result::Result),
        };
        let count = if option { 1 } else { 2 };
        let args = (0..count)
            .map(|_| GenericArg::Type(self.types.any()))
            .collect();
        self.types.named(path, args)
    }

    /// `Some`, `None`, `Ok` and `Err`. rustc checks that these are core's.
    fn core_variant(&mut self, path: &syn::Path) -> Option<Constructor> {
        let name = path.get_ident()?;
        let text = name.to_string();
        let option = match text.as_str() {
            "Some" | "None" => true,
            "Ok" | "Err" => false,
            _ => return None,
        };
        let of = match option {
            true => quote!(::core::option::Option),
            false => quote!(::core::result::Result),
        };
        self.audit_variant(name, &quote!(#of::#name));
        let ty = self.core_type(option);
        let variant = self.name_id(&text);
        Some(Constructor {
            ty,
            variant: Some(variant),
            path: quote!(#of::#name),
        })
    }
}

/// True if the name begins with a capital, as types and variants do.
pub(super) fn is_type_name(name: &syn::Ident) -> bool {
    let text = name.to_string();
    text.chars().next().is_some_and(char::is_uppercase)
}

/// True for the spelling of types and variants, and not of constants.
pub(super) fn is_camel_case(name: &syn::Ident) -> bool {
    is_type_name(name) && name.to_string().chars().any(char::is_lowercase)
}
