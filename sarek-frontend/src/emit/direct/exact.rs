//! Arithmetic that faults in a debug build where its result does not fit.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::quote_spanned;
use sarek_ir::{Arithmetic, Expr, ExprId, Scalar, SiteId};

use super::names::{located, operator, rust_type};
use super::{Writer, mixed};

impl Writer<'_> {
    /// What is checked of an expression, and where. What is evaluated only where the launch proved what it could is not.
    pub(super) fn exact_site(&self, id: ExprId) -> Option<(Arithmetic, SiteId)> {
        let site = self.kernel.overflow_site(id).filter(|_| !self.proved)?;
        Some((self.kernel.arithmetic(id)?, site))
    }

    /// The operands, the test whether the result fits, and the operation. A crate without debug assertions compiles no test.
    pub(super) fn exact(&self, id: ExprId, arithmetic: Arithmetic, site: SiteId) -> TokenStream {
        let span = located(self.lowered.expr_spans[id.index()]);
        let operands = self.kernel.operands(id);
        let mut values = Vec::with_capacity(operands.len());
        for operand in &operands {
            values.push(self.operand_at(*operand, span));
        }
        self.exact_of(id, (arithmetic, site), &values, span)
    }

    fn exact_of(
        &self,
        id: ExprId,
        (arithmetic, site): (Arithmetic, SiteId),
        values: &[TokenStream],
        span: Span,
    ) -> TokenStream {
        let operands = self.kernel.operands(id);
        let types = operands.iter().map(|e| self.kernel.type_of(*e).as_scalar());
        let types: Option<Vec<Scalar>> = types.collect();
        let wrong = match types.as_deref() {
            Some(types) => overflows(arithmetic, types),
            None => {
                let name = Ident::new(&format!("{arithmetic:?}"), Span::mixed_site());
                let last = [mixed!(__lhs), mixed!(__rhs)][operands.len() - 1].clone();
                mixed!(__direct::overflows(__direct::Arithmetic::#name, __lhs, #last))
            }
        };
        let test = self.test(site, wrong, mixed!(0));
        let types: Vec<TokenStream> = types.into_iter().flatten().map(rust_type).collect();
        let result = self.outcome(id, types.first(), span);
        let bind = match (operands.len(), &types[..]) {
            (1, []) => mixed!(let __lhs = #(#values)*;),
            (1, _) => mixed!(let __lhs: #(#types)* = #(#values)*;),
            (_, []) => mixed!(let (__lhs, __rhs) = (#(#values),*);),
            (_, _) => mixed!(let (__lhs, __rhs): (#(#types),*) = (#(#values),*);),
        };
        quote_spanned! {span=> {
            #bind
            #[cfg(debug_assertions)]
            #test
            #result
        }}
    }

    /// The operation on `__lhs` and `__rhs`, of which the first has this type.
    fn outcome(&self, id: ExprId, ty: Option<&TokenStream>, span: Span) -> TokenStream {
        match self.kernel.expr(id) {
            Expr::Unary { .. } => quote_spanned!(span=> (-__lhs)),
            Expr::Binary { op, .. } => {
                let symbol = operator(op, span);
                quote_spanned!(span=> (__lhs #symbol __rhs))
            }
            Expr::Call { intrinsic, args } => {
                let name = Ident::new(intrinsic.name(), span);
                let rest = (args.len > 1).then(|| mixed!(__rhs));
                let rest = rest.iter();
                match ty {
                    Some(ty) => quote_spanned!(span=> #ty::#name(__lhs #(, #rest)*)),
                    None => {
                        quote_spanned!(span=> __direct::Number::__number(__lhs).#name(#(#rest)*))
                    }
                }
            }
            Expr::Literal(_)
            | Expr::Link(_)
            | Expr::Local(_)
            | Expr::Param(_)
            | Expr::Len(_)
            | Expr::Builtin(_)
            | Expr::Load { .. }
            | Expr::Bounded { .. }
            | Expr::Divide { .. }
            | Expr::And { .. }
            | Expr::Or { .. }
            | Expr::Cast { .. }
            | Expr::Compound(_)
            | Expr::Faulted => unreachable!("it is no arithmetic"),
        }
    }
}

/// Does the result on `__lhs` and `__rhs`, which have these types, not fit?
fn overflows(arithmetic: Arithmetic, types: &[Scalar]) -> TokenStream {
    let ty = rust_type(types[0]);
    let name = match arithmetic {
        Arithmetic::Add => "overflowing_add",
        Arithmetic::Sub => "overflowing_sub",
        Arithmetic::Mul => "overflowing_mul",
        Arithmetic::Pow => "overflowing_pow",
        Arithmetic::Neg | Arithmetic::Abs => return mixed!(__lhs == #ty::MIN),
        Arithmetic::Shl | Arithmetic::Shr => {
            // A negative count is a large one.
            let bits = Literal::u32_unsuffixed(types[0].bits());
            return mixed!(__rhs as __u64 >= #bits);
        }
    };
    let name = Ident::new(name, Span::mixed_site());
    mixed!(#ty::#name(__lhs, __rhs).1)
}
