//! Lengths of arrays: constants that are known here, and constants that rustc evaluates.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use sarek_ir::{BinaryOp, Expr, ExprId, Length, Scalar, Value as Constant};
use syn::visit::Visit;
use syn::visit_mut::VisitMut;

use crate::diagnostics::{Mistake, codes};
use crate::lower::resolve::path::word_as_value;
use crate::lower::{Binding, Lowerer, MARK};
use crate::tokens::range::{Ranged, SourceRange};

/// One dimension of an array.
#[derive(Clone)]
pub(in crate::lower) struct Dim {
    pub(in crate::lower) length: Length,
    /// The length as written.
    written: TokenStream,
    /// The same for places outside the scope of the kernel's own constants.
    tokens: TokenStream,
}

impl Dim {
    /// A known length.
    pub(in crate::lower) fn fixed(n: u64) -> Dim {
        let literal = proc_macro2::Literal::u64_unsuffixed(n);
        Dim {
            length: Length::Fixed(n),
            written: literal.to_token_stream(),
            tokens: literal.to_token_stream(),
        }
    }

    /// The number of arrays in a shared slice: a leaf.
    pub(in crate::lower) fn of_launch(rows: ExprId) -> Dim {
        Dim {
            length: Length::Launch(rows),
            written: TokenStream::new(),
            tokens: TokenStream::new(),
        }
    }

    /// The number, if it is known here.
    pub(in crate::lower) fn known(&self) -> Option<u64> {
        match self.length {
            Length::Fixed(n) => Some(n),
            Length::Link(_) | Length::Launch(_) => None,
        }
    }

    /// True if the two are certainly the same.
    pub(in crate::lower) fn same(&self, other: &Dim) -> bool {
        match (self.known(), other.known()) {
            (Some(a), Some(b)) => a == b,
            (None, None) => self.text() == other.text(),
            (Some(_), None) | (None, Some(_)) => false,
        }
    }

    /// The number, as Rust code for any place in the expansion.
    pub(in crate::lower) fn tokens(&self) -> &TokenStream {
        &self.tokens
    }

    pub(in crate::lower) fn text(&self) -> String {
        crate::tokens::path_text(&self.written)
    }
}

impl Lowerer<'_> {
    /// The constant length that an expression denotes. `None` for other expressions, which are
    /// reported.
    pub(in crate::lower) fn dimension(&mut self, expr: &syn::Expr) -> Option<Dim> {
        let expr = unmarked(expr);
        let dim = match self.known_length(&expr) {
            Some(n) => Dim {
                written: expr.to_token_stream(),
                ..Dim::fixed(n)
            },
            None => {
                self.constant_names(&expr, |name| {
                    let what = format!(
                        "the length of an array must be a constant, but `{name}` is a variable"
                    );
                    let instead =
                        "use a `const`, or `shared_slice` for shared memory whose length the launch determines";
                    Mistake::new(codes::ARRAY_LENGTH, what, instead)
                })?;
                self.linked_dimension(expr.to_token_stream(), expr.range())
            }
        };
        if dim.known() == Some(0) {
            self.errors.at(
                codes::ARRAY_LENGTH,
                expr.range(),
                "kernels do not support empty arrays",
                "give it at least one element",
            );
            return None;
        }
        Some(dim)
    }

    fn linked_dimension(&mut self, tokens: TokenStream, span: SourceRange) -> Dim {
        let usize_ty = self.types.known(Scalar::Usize);
        let length = Length::Link(self.link_id(tokens.clone(), usize_ty));
        let value = self.among_constants(tokens.clone());
        let message = Mistake::new(
            codes::ARRAY_LENGTH,
            "kernels do not support empty arrays",
            "give it at least one element",
        )
        .to_string();
        let span = Span::mixed_site().located_at(span.first);
        let test = quote_spanned!(span=> ::core::assert!(#value > 0, #message););
        self.check_constant(&tokens, test, span);
        Dim {
            length,
            written: tokens,
            tokens: value,
        }
    }

    /// Makes rustc test a constant. If the constant depends on generic parameters, each instance is
    /// tested.
    pub(in crate::lower) fn check_constant(
        &mut self,
        constant: &TokenStream,
        test: TokenStream,
        span: Span,
    ) {
        match self.mentions_parameter(constant) {
            true => self.checks.push(test),
            // Once for all equal tests.
            false if self.tested.insert(test.to_string()) => {
                self.audits.push(quote_spanned!(span=> const _: () = #test));
            }
            false => {}
        }
    }

    /// True if a constant depends on type or const parameters, or on the type whose method this is.
    pub(in crate::lower) fn mentions_parameter(&self, tokens: &TokenStream) -> bool {
        tokens.clone().into_iter().any(|token| match token {
            proc_macro2::TokenTree::Ident(name) => {
                let name = name.to_string();
                name == "Self"
                    || self.constants.contains_key(&name)
                    || self.parameters.contains(&name)
            }
            proc_macro2::TokenTree::Group(group) => self.mentions_parameter(&group.stream()),
            proc_macro2::TokenTree::Punct(_) | proc_macro2::TokenTree::Literal(_) => false,
        })
    }

    /// Reports the first variable in a constant; `mistake` makes the message from its name.
    pub(in crate::lower) fn constant_names(
        &mut self,
        expr: &syn::Expr,
        mistake: impl Fn(&syn::Ident) -> Mistake,
    ) -> Option<()> {
        let mut names = Names::default();
        names.visit_expr(expr);
        for name in names.found {
            if let Some(mistake) = word_as_value(&name) {
                self.errors.report(name.range(), &mistake);
                return None;
            }
            match self.find(&name) {
                None | Some(Binding::Const(_)) => {}
                Some(
                    Binding::Local(_)
                    | Binding::Scalar(_)
                    | Binding::Reference(_)
                    | Binding::Memory(_)
                    | Binding::View(_)
                    | Binding::Closure(_)
                    | Binding::Callable(_)
                    | Binding::Part(_)
                    | Binding::Place(_)
                    | Binding::SubSlice(_),
                ) => {
                    self.errors.report(name.range(), &mistake(&name));
                    return None;
                }
            }
        }
        Some(())
    }

    /// The value of a length, if it can be computed here.
    pub(in crate::lower) fn known_length(&mut self, expr: &syn::Expr) -> Option<u64> {
        match expr {
            syn::Expr::Lit(lit) => match &lit.lit {
                syn::Lit::Int(int) if matches!(int.suffix(), "" | "usize") => {
                    int.base10_parse().ok()
                }
                _ => None,
            },
            syn::Expr::Paren(e) => self.known_length(&e.expr),
            syn::Expr::Group(e) => self.known_length(&e.expr),
            syn::Expr::Block(e) => match e.block.stmts.as_slice() {
                [syn::Stmt::Expr(expr, None)] if e.label.is_none() => self.known_length(expr),
                _ => None,
            },
            syn::Expr::Path(e) => match self.find(e.path.get_ident()?)? {
                Binding::Const(index) => match &*self.consts[index].expr {
                    syn::Expr::Lit(lit) => self.known_length(&syn::Expr::Lit(lit.clone())),
                    _ => None,
                },
                Binding::Local(_)
                | Binding::Scalar(_)
                | Binding::Reference(_)
                | Binding::Memory(_)
                | Binding::View(_)
                | Binding::Closure(_)
                | Binding::Callable(_)
                | Binding::Part(_)
                | Binding::Place(_)
                | Binding::SubSlice(_) => None,
            },
            syn::Expr::Binary(e) => {
                let (l, r) = (self.known_length(&e.left)?, self.known_length(&e.right)?);
                match e.op {
                    syn::BinOp::Add(_) => l.checked_add(r),
                    syn::BinOp::Sub(_) => l.checked_sub(r),
                    syn::BinOp::Mul(_) => l.checked_mul(r),
                    syn::BinOp::Div(_) => l.checked_div(r),
                    syn::BinOp::Rem(_) => l.checked_rem(r),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// The number of elements in an array of these dimensions.
    pub(in crate::lower) fn total(&mut self, dims: &[Dim]) -> Length {
        if let [dim] = dims {
            return dim.length;
        }
        let known: Option<u64> = dims.iter().map(Dim::known).product();
        match known {
            Some(n) => Length::Fixed(n),
            None => {
                let mut product = TokenStream::new();
                for (i, dim) in dims.iter().enumerate() {
                    let (times, factor) = ((i > 0).then(|| quote!(*)), &dim.written);
                    product.extend(quote!(#times (#factor)));
                }
                let usize_ty = self.types.known(Scalar::Usize);
                Length::Link(self.link_id(product, usize_ty))
            }
        }
    }

    /// A length as an expression.
    pub(in crate::lower) fn length_expr(&mut self, length: Length, span: SourceRange) -> ExprId {
        match length {
            Length::Fixed(n) => self.constant(Constant::Usize(n), span),
            Length::Link(link) => self.known(Expr::Link(link), Scalar::Usize, span),
            Length::Launch(rows) => self.copy(rows),
        }
    }

    /// The product of some dimensions as an expression.
    pub(in crate::lower) fn stride(&mut self, dims: &[Dim], span: SourceRange) -> ExprId {
        let known: Option<u64> = dims.iter().map(Dim::known).product();
        if let Some(n) = known {
            return self.constant(Constant::Usize(n), span);
        }
        let mut factors = dims.iter();
        let first = factors.next().expect("a known product of none is 1");
        let mut product = self.length_expr(first.length, span);
        for dim in factors {
            let factor = self.length_expr(dim.length, span);
            product = self.plain(BinaryOp::Mul, product, factor, span);
        }
        product
    }
}

/// The expression without the marks of [`crate::emit::reference`].
pub(in crate::lower) fn unmarked(expr: &syn::Expr) -> syn::Expr {
    struct Unmark;
    impl VisitMut for Unmark {
        fn visit_attributes_mut(&mut self, attrs: &mut Vec<syn::Attribute>) {
            attrs.retain(|attr| !attr.path().is_ident(MARK));
        }
    }
    let mut expr = expr.clone();
    Unmark.visit_expr_mut(&mut expr);
    expr
}

/// The names in an expression that could be variables.
#[derive(Default)]
struct Names {
    found: Vec<syn::Ident>,
}

impl Visit<'_> for Names {
    fn visit_expr_path(&mut self, e: &syn::ExprPath) {
        if let (None, Some(name)) = (&e.qself, e.path.get_ident()) {
            self.found.push(name.clone());
        }
    }
}
