//! Writes arithmetic that faults in a debug build if its result overflows.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::quote_spanned;
use sarek_ir::{Arithmetic, Expr, ExprId, Scalar, SiteId};

use super::names::{located, operator, rust_type};
use super::{Writer, mixed};

impl Writer<'_> {
    /// The checked operation of an expression, and its fault site. `None` in code that runs only in
    /// launches with every provable check proved.
    pub(super) fn exact_site(&self, id: ExprId) -> Option<(Arithmetic, SiteId)> {
        let site = self.kernel.overflow_site(id).filter(|_| !self.proved)?;
        Some((self.kernel.arithmetic(id)?, site))
    }

    /// The operands, the overflow test and the operation. A crate without debug assertions compiles
    /// no test.
    ///
    /// A left-associated chain such as `a + b + c` becomes one block, so that blocks do not nest.
    pub(super) fn exact(&self, id: ExprId) -> TokenStream {
        let mut chain = vec![id];
        let mut first = self.kernel.operands(id)[0];
        while self.exact_site(first).is_some() && !self.known.contains_key(&first) {
            chain.push(first);
            first = self.kernel.operands(first)[0];
        }
        let mut lhs = self.expr(first);
        let mut lines = TokenStream::new();
        for (at, id) in chain.into_iter().enumerate().rev() {
            let (line, result) = self.link(id, lhs);
            lines.extend(line);
            if at == 0 {
                let span = located(self.lowered.expr_span(id));
                return quote_spanned!(span=> { #lines #result });
            }
            lhs = result;
        }
        unreachable!("the chain has the expression itself")
    }

    /// One operator of a chain, given its left operand: the lines before the operation, and the
    /// operation.
    fn link(&self, id: ExprId, lhs: TokenStream) -> (TokenStream, TokenStream) {
        let Some((arithmetic, site)) = self.exact_site(id) else {
            unreachable!("the chain is of what is checked");
        };
        let span = located(self.lowered.expr_span(id));
        let operands = self.kernel.operands(id);
        let lhs = self.operand_of(operands[0], lhs, span);
        let rhs = operands.get(1).map(|rhs| self.operand_at(*rhs, span));
        let types = operands.iter().map(|e| self.kernel.type_of(*e).as_scalar());
        let types: Option<Vec<Scalar>> = types.collect();
        let wrong = match types.as_deref() {
            Some(types) => overflows(arithmetic, types),
            None => {
                let name = Ident::new(&format!("{arithmetic:?}"), Span::mixed_site());
                let named = ["__lhs", "__rhs"].into_iter().take(operands.len());
                let values = named.map(|name| {
                    // At the span of the operands, so that rustc reports an operand that is no
                    // number once.
                    let name = Ident::new(name, span);
                    quote_spanned!(span=> __host::Number::__value(#name))
                });
                mixed!(__host::overflows(__host::Arithmetic::#name, &[#(#values),*]))
            }
        };
        let test = self.test(site, wrong, mixed!(0));
        let types: Vec<TokenStream> = types.into_iter().flatten().map(rust_type).collect();
        let annotated = |at: usize| types.get(at).map(|ty| mixed!(: #ty));
        let (first, second) = (annotated(0), annotated(1));
        let rhs = rhs.map(|rhs| mixed!(let __rhs #second = #rhs;));
        let lines = mixed! {
            let __lhs #first = #lhs;
            #rhs
            #[cfg(debug_assertions)]
            #test
        };
        (lines, self.outcome(id, types.first(), span))
    }

    /// The operation on `__lhs` and `__rhs`. `ty` is the type of `__lhs`.
    fn outcome(&self, id: ExprId, ty: Option<&TokenStream>, span: Span) -> TokenStream {
        let expr = self.kernel.expr(id);
        if let Expr::Binary { op, .. } = expr {
            let symbol = operator(op, span);
            return quote_spanned!(span=> (__lhs #symbol __rhs));
        }
        let Expr::Call { intrinsic, args } = expr else {
            debug_assert!(matches!(expr, Expr::Unary { .. }), "{expr:?} is arithmetic");
            return quote_spanned!(span=> (-__lhs));
        };
        let name = Ident::new(intrinsic.name(), span);
        let rest = (args.len > 1).then(|| mixed!(__rhs));
        let rest = rest.iter();
        match ty {
            Some(ty) => quote_spanned!(span=> #ty::#name(__lhs #(, #rest)*)),
            None => quote_spanned!(span=> __host::Number::__number(__lhs).#name(#(#rest)*)),
        }
    }
}

/// A test that the result on `__lhs` and `__rhs`, which have these types, overflows.
fn overflows(arithmetic: Arithmetic, types: &[Scalar]) -> TokenStream {
    let ty = rust_type(types[0]);
    let name = match arithmetic {
        Arithmetic::Add => "overflowing_add",
        Arithmetic::Sub => "overflowing_sub",
        Arithmetic::Mul => "overflowing_mul",
        Arithmetic::Pow => "overflowing_pow",
        Arithmetic::Neg | Arithmetic::Abs => return mixed!(__lhs == #ty::MIN),
        Arithmetic::Shl | Arithmetic::Shr => {
            // A negative shift count becomes a large one.
            let bits = Literal::u32_unsuffixed(types[0].bits());
            return mixed!(__rhs as __u64 >= #bits);
        }
    };
    let name = Ident::new(name, Span::mixed_site());
    mixed!(#ty::#name(__lhs, __rhs).1)
}
