//! The user's own function, with the inferred types written on every `let` and the suffix on every
//! literal.
//!
//! rustc checks this function, so a wrong inference is a compile error. Tests run it as their
//! oracle.

use std::collections::{BTreeSet, HashMap};

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use sarek_ir::Scalar;
use syn::spanned::Spanned;
use syn::visit_mut::VisitMut;

use crate::lower::{Lowered, MARK, is_unroll, scalar_tokens};
use crate::parse::{NativeCall, OperatorTrait, StdCall, StdMacro, Template, is_native, name_span};
use crate::tokens::{at, names};

/// Numbers the `let`s and literals of a body, so that lowering can record the type of each.
pub fn mark(block: &mut syn::Block) {
    Marker { next: 0 }.visit_block_mut(block);
}

struct Marker {
    next: u32,
}

impl Marker {
    /// A numbered attribute. It takes the span of the marked syntax, so that the spans of
    /// expressions that begin with it stay the user's.
    fn attribute(&mut self, span: Span) -> syn::Attribute {
        let (name, number) = (syn::Ident::new(MARK, span), self.next);
        self.next += 1;
        syn::parse_quote_spanned!(span=> #[#name(#number)])
    }
}

impl VisitMut for Marker {
    /// Skips attributes: their literals are not part of the body.
    fn visit_attributes_mut(&mut self, _: &mut Vec<syn::Attribute>) {}

    fn visit_local_mut(&mut self, local: &mut syn::Local) {
        local.attrs.push(self.attribute(local.let_token.span));
        syn::visit_mut::visit_local_mut(self, local);
    }

    fn visit_expr_mut(&mut self, expr: &mut syn::Expr) {
        syn::visit_mut::visit_expr_mut(self, expr);
        match expr {
            syn::Expr::MethodCall(e) => keep_place(&mut e.receiver),
            syn::Expr::Field(e) => keep_place(&mut e.base),
            syn::Expr::Index(e) => keep_place(&mut e.expr),
            syn::Expr::Try(e) => keep_place(&mut e.expr),
            syn::Expr::Call(e) => keep_place(&mut e.func),
            _ => {}
        }
    }

    fn visit_expr_lit_mut(&mut self, lit: &mut syn::ExprLit) {
        lit.attrs.push(self.attribute(lit.lit.span()));
    }

    fn visit_item_mut(&mut self, _: &mut syn::Item) {}

    fn visit_generic_argument_mut(&mut self, _: &mut syn::GenericArgument) {}

    fn visit_pat_mut(&mut self, _: &mut syn::Pat) {}

    /// Marks the code in macros that kernels support. The content of other macros stays plain
    /// tokens.
    fn visit_macro_mut(&mut self, mac: &mut syn::Macro) {
        if is_native(mac)
            && let Ok(mut call) = mac.parse_body::<NativeCall>()
        {
            visit_code(&mut call, self);
            mac.tokens = call.to_token_stream();
        } else if let Some(Ok(mut call)) = StdCall::of(mac) {
            call.visit(self);
            mac.tokens = call.to_token_stream();
        }
    }
}

/// Puts a marked literal in parentheses that have its span. syn would otherwise print parentheses
/// of its own around the attribute, without a span.
fn keep_place(base: &mut syn::Expr) {
    if let syn::Expr::Lit(lit) = base {
        let span = lit.lit.span();
        *base = syn::parse_quote_spanned!(span=> (#lit));
    }
}

/// Visits the Rust code in a `native!`.
fn visit_code(call: &mut NativeCall, visitor: &mut impl VisitMut) {
    for (_, operand) in &mut call.operands {
        visitor.visit_expr_mut(operand);
    }
    if let Some(fallback) = &mut call.fallback {
        visitor.visit_block_mut(fallback);
    }
}

/// Removes the marks, writes the types that were inferred, and replaces `native!` by its Rust
/// fallback. A kernel with errors has no inferred types. `is_generic` is true if it has type parameters.
pub fn annotate(
    block: &mut syn::Block,
    types: Option<&HashMap<u32, Scalar>>,
    is_generic: bool,
    krate: &TokenStream,
) {
    let inferred = &BTreeSet::new();
    let mut annotator = Annotator {
        types,
        inferred,
        is_generic,
        krate,
        unsafe_depth: 0,
    };
    annotator.visit_block_mut(block);
}

/// The same for the closure that determines the types of literals, see [`super::literal_types`].
pub fn annotate_inferred(block: &mut syn::Block, lowered: &Lowered, krate: &TokenStream) {
    let mut annotator = Annotator {
        types: Some(&lowered.marks),
        inferred: &lowered.inferred_literals,
        is_generic: !lowered.parameters.is_empty(),
        krate,
        unsafe_depth: 0,
    };
    annotator.visit_block_mut(block);
}

struct Annotator<'a> {
    types: Option<&'a HashMap<u32, Scalar>>,
    /// The literals whose types rustc must determine.
    inferred: &'a BTreeSet<u32>,
    is_generic: bool,
    krate: &'a TokenStream,
    unsafe_depth: u32,
}

impl Annotator<'_> {
    /// Reads the right operand of `s[i] += s[k]` first, as Rust does if the elements are known to be numbers. For a type
    /// parameter it would borrow `s` twice.
    fn borrow_in_turn(&self, expr: &mut syn::Expr) {
        let syn::Expr::Binary(e) = expr else { return };
        let Some(base) = indexed(&e.left) else { return };
        if OperatorTrait::of_infix(&e.op).is_none_or(|of| !of.is_assigning())
            || !Indexed::is_in(base, &e.right)
        {
            return;
        }
        let (left, op, right) = (&e.left, &e.op, &e.right);
        let span = Span::mixed_site().located_at(right.span());
        let value = syn::Ident::new("__value", span);
        *expr = syn::parse_quote!({ let #value = #right; #left #op #value });
    }

    fn take(&self, attrs: &mut Vec<syn::Attribute>) -> Option<Scalar> {
        let mark = super::super::lower::mark_of(attrs)?;
        attrs.retain(|attr| !attr.path().is_ident(MARK));
        self.types?.get(&mark).copied()
    }

    fn native(&mut self, mac: &syn::Macro) -> TokenStream {
        let span = name_span(mac);
        let Ok(mut call) = mac.parse_body::<NativeCall>() else {
            // An expression of a type that fits wherever the macro stands.
            return quote!({ ::core::unreachable!() });
        };
        visit_code(&mut call, self);
        let krate = self.krate;
        let lets = call.operands.iter().map(|(name, value)| {
            let value = value.to_token_stream();
            quote_spanned!(name.span()=> #[allow(unused_variables)] let #name = #value;)
        });
        let lets: TokenStream = lets.collect();
        let preludes = call.preludes.iter().map(|path| {
            let span = Span::mixed_site().located_at(path.span());
            let krate = at(krate, span);
            quote_spanned!(span=> let _: &#krate::NativePrelude = &#path;)
        });
        let operands = call.texts.iter().flat_map(|arm| {
            let operand = move |piece| match piece {
                Template::Operand(name) => {
                    let operand = Template::expression(&name, &arm.text, span)?;
                    let span = Span::mixed_site().located_at(arm.text.span());
                    let krate = at(krate, span);
                    Some(quote_spanned!(span=> #krate::NativeOperand::__named(&#operand);))
                }
                Template::Text(_) => None,
            };
            Template::parse(&arm.text.value())
                .into_iter()
                .filter_map(operand)
        });
        let uses: TokenStream = operands.collect();
        let result_type = call
            .result_type()
            .map_or_else(|| quote!(()), |ty| quote!(#ty));
        let fallback = match (&call.fallback, self.types) {
            (Some(block), _) => match call.result_type() {
                Some(ty) => quote!(let __value: #ty = #block; __value),
                None => block.to_token_stream(),
            },
            (None, Some(_)) => quote!(#krate::__private::no_fallback::<#result_type>()),
            // An expression of a type that fits wherever the macro stands.
            (None, None) => quote!(::core::unreachable!()),
        };
        // Gives a surrounding `unsafe` block a use. Lowering has reported a `native!` without such
        // a block.
        let marker = (self.unsafe_depth > 0).then(|| quote!(#krate::__private::native();));
        quote!({ #marker #lets #(#preludes)* #uses #fallback })
    }
}

/// Names the constants in a loop's hints, so that rustc counts them as used.
fn use_hints(attrs: &[syn::Attribute], body: &mut syn::Block) {
    for hint in attrs.iter().filter(|attr| is_unroll(attr)) {
        if let syn::Meta::List(list) = &hint.meta
            && let Ok(syn::Expr::Path(path)) = list.parse_args::<syn::Expr>()
        {
            let span = Span::mixed_site().located_at(path.span());
            body.stmts
                .insert(0, syn::parse_quote_spanned!(span=> let _ = #path;));
        }
    }
}

/// Makes every name in a pattern a binding: `name @ _`. If the name is a constant of the user's,
/// which the kernel took for a new binding, rustc reports it.
struct Binding;

impl VisitMut for Binding {
    fn visit_field_pat_mut(&mut self, field: &mut syn::FieldPat) {
        if field.colon_token.is_none() {
            field.colon_token = Some(Default::default());
            if let syn::Pat::Ident(ident) = &mut *field.pat {
                bind(ident);
            }
        }
        syn::visit_mut::visit_field_pat_mut(self, field);
    }

    fn visit_pat_ident_mut(&mut self, ident: &mut syn::PatIdent) {
        let text = ident.ident.to_string();
        let is_new = ident.mutability.is_some() || !text.starts_with(char::is_uppercase);
        if is_new {
            bind(ident);
        }
        syn::visit_mut::visit_pat_ident_mut(self, ident);
    }

    fn visit_expr_mut(&mut self, _: &mut syn::Expr) {}
}

fn bind(ident: &mut syn::PatIdent) {
    if ident.subpat.is_none() && ident.by_ref.is_none() {
        // With the span of the name, so that rustc shows no attribute beside it.
        let span = ident.ident.span();
        let any = syn::parse_quote_spanned!(span=> _);
        ident.subpat = Some((syn::Token![@](span), Box::new(any)));
    }
}

impl VisitMut for Annotator<'_> {
    /// Removes unroll hints, which rustc does not know.
    fn visit_attributes_mut(&mut self, attrs: &mut Vec<syn::Attribute>) {
        attrs.retain(|attr| !is_unroll(attr));
    }

    fn visit_expr_for_loop_mut(&mut self, e: &mut syn::ExprForLoop) {
        use_hints(&e.attrs, &mut e.body);
        syn::visit_mut::visit_expr_for_loop_mut(self, e);
    }

    fn visit_expr_while_mut(&mut self, e: &mut syn::ExprWhile) {
        use_hints(&e.attrs, &mut e.body);
        syn::visit_mut::visit_expr_while_mut(self, e);
    }

    fn visit_expr_loop_mut(&mut self, e: &mut syn::ExprLoop) {
        use_hints(&e.attrs, &mut e.body);
        syn::visit_mut::visit_expr_loop_mut(self, e);
    }

    fn visit_arm_mut(&mut self, arm: &mut syn::Arm) {
        syn::visit_mut::visit_arm_mut(self, arm);
        Binding.visit_pat_mut(&mut arm.pat);
    }

    fn visit_expr_let_mut(&mut self, cond: &mut syn::ExprLet) {
        syn::visit_mut::visit_expr_let_mut(self, cond);
        Binding.visit_pat_mut(&mut cond.pat);
    }

    fn visit_local_mut(&mut self, local: &mut syn::Local) {
        syn::visit_mut::visit_local_mut(self, local);
        let plain = match &local.pat {
            syn::Pat::Type(typed) => &typed.pat,
            other => other,
        };
        if !matches!(plain, syn::Pat::Ident(_)) {
            Binding.visit_pat_mut(&mut local.pat);
        }
        let Some(ty) = self.take(&mut local.attrs) else {
            return;
        };
        let untyped = match &local.pat {
            syn::Pat::Type(typed) if matches!(*typed.ty, syn::Type::Infer(_)) => &typed.pat,
            other => other,
        };
        if let syn::Pat::Ident(pat) = untyped {
            // rustc reports a type mismatch beside the name.
            let span = Span::mixed_site().located_at(pat.ident.span());
            let ty = at(&scalar_tokens(ty, self.krate), span);
            let (pat, ty) = (pat.clone(), syn::parse_quote!(#ty));
            local.pat = syn::Pat::Type(syn::PatType {
                attrs: vec![],
                pat: Box::new(syn::Pat::Ident(pat)),
                colon_token: syn::Token![:](span),
                ty: Box::new(ty),
            });
        }
    }

    fn visit_expr_lit_mut(&mut self, expr: &mut syn::ExprLit) {
        let Some(ty) = self.take(&mut expr.attrs) else {
            return;
        };
        match &expr.lit {
            syn::Lit::Int(int) if int.suffix().is_empty() => {
                // Keeps the text, so that a hexadecimal literal stays hexadecimal.
                let text = format!("{}{}", int.token(), ty.name());
                expr.lit = syn::Lit::Int(syn::LitInt::new(&text, int.span()));
            }
            syn::Lit::Float(float) if float.suffix().is_empty() => {
                let digits = float.token().to_string();
                let text = format!("{}{}", digits.trim_end_matches('.'), ty.name());
                expr.lit = syn::Lit::Float(syn::LitFloat::new(&text, float.span()));
            }
            _ => {}
        }
    }

    fn visit_expr_unsafe_mut(&mut self, expr: &mut syn::ExprUnsafe) {
        self.unsafe_depth += 1;
        syn::visit_mut::visit_expr_unsafe_mut(self, expr);
        self.unsafe_depth -= 1;
    }

    /// Annotates the code in a macro, and redirects `println!` to the output of kernels.
    fn visit_macro_mut(&mut self, mac: &mut syn::Macro) {
        let Some(Ok(mut call)) = StdCall::of(mac) else {
            return;
        };
        call.visit(self);
        if let (StdMacro::Assert, [tested]) = (call.kind, &mut call.tested[..]) {
            // Makes rustc report a condition that is not a `bool` here, and not in core's macro.
            let span = Span::mixed_site().located_at(tested.span());
            let condition = quote_spanned!(span=> if #tested { true } else { false });
            *tested = syn::Expr::Verbatim(condition);
        }
        let (krate, span) = (self.krate, name_span(mac));
        // Makes rustc check that kernels know the type of a value.
        let known = |value: &mut syn::Expr| {
            let span = Span::mixed_site().located_at(value.span());
            let (inner, krate) = (value.to_token_stream(), at(krate, span));
            *value =
                syn::Expr::Verbatim(quote_spanned!(span=> #krate::KernelType::__printed(#inner)));
        };
        let StdMacro::Print { line } = call.kind else {
            mac.tokens = call.to_token_stream();
            return;
        };
        let at_name = Span::mixed_site().located_at(span);
        let name = syn::Ident::new(if line { "println" } else { "print" }, at_name);
        let located = at(krate, at_name);
        mac.path = syn::parse_quote_spanned!(at_name=> #located::__private::output::#name);
        let Some(said) = &mut call.said else {
            mac.tokens = quote!("");
            return;
        };
        said.args.iter_mut().for_each(|(_, arg)| known(arg));
        let captured = said.pieces().map(|p| p.captured).unwrap_or_default();
        // Passes each name captured by the format string as a named argument, so that rustc reports
        // an unknown name once.
        for name in captured {
            let at_format = Span::mixed_site().located_at(said.format.span());
            let name = syn::Ident::new(&name, at_format.resolved_at(span));
            let mut value = syn::Expr::Verbatim(name.to_token_stream());
            known(&mut value);
            said.args.push((Some(name), value));
        }
        mac.tokens = said.to_token_stream();
    }

    fn visit_stmt_mut(&mut self, stmt: &mut syn::Stmt) {
        if let syn::Stmt::Macro(mac) = stmt
            && is_native(&mac.mac)
        {
            let expansion = syn::Expr::Verbatim(self.native(&mac.mac));
            *stmt = syn::Stmt::Expr(expansion, mac.semi_token);
            return;
        }
        syn::visit_mut::visit_stmt_mut(self, stmt);
    }

    fn visit_expr_mut(&mut self, expr: &mut syn::Expr) {
        if let syn::Expr::Macro(mac) = expr
            && is_native(&mac.mac)
        {
            *expr = syn::Expr::Verbatim(self.native(&mac.mac));
            return;
        }
        let mark = match expr {
            syn::Expr::Lit(lit) => super::super::lower::mark_of(&lit.attrs),
            _ => None,
        };
        syn::visit_mut::visit_expr_mut(self, expr);
        if self.is_generic {
            self.borrow_in_turn(expr);
        }
        if let Some(mark) = mark.filter(|mark| self.inferred.contains(mark)) {
            let span = Span::mixed_site().located_at(expr.span());
            let (krate, variable) = (at(self.krate, span), names::literal_variable(mark));
            let (gate, tell) = (
                names::gate(span),
                quote_spanned!(span=> #krate::__private::host::typed_literal),
            );
            *expr =
                syn::Expr::Verbatim(quote_spanned!(span=> #tell::<{ #gate }, _>(#variable, #expr)));
        }
    }
}

/// The variable in `variable[i]`.
fn indexed(expr: &syn::Expr) -> Option<&syn::Ident> {
    match expr {
        syn::Expr::Index(e) => match &*e.expr {
            syn::Expr::Path(path) => path.path.get_ident(),
            other => indexed(other),
        },
        syn::Expr::Paren(inner) => indexed(&inner.expr),
        syn::Expr::Group(inner) => indexed(&inner.expr),
        _ => None,
    }
}

/// Finds an element of a variable.
struct Indexed<'a> {
    name: &'a syn::Ident,
    found: bool,
}

impl Indexed<'_> {
    fn is_in(name: &syn::Ident, expr: &syn::Expr) -> bool {
        let mut indexed = Indexed { name, found: false };
        syn::visit::Visit::visit_expr(&mut indexed, expr);
        indexed.found
    }
}

impl syn::visit::Visit<'_> for Indexed<'_> {
    fn visit_expr(&mut self, expr: &syn::Expr) {
        self.found |= indexed(expr) == Some(self.name);
        syn::visit::visit_expr(self, expr);
    }
}
