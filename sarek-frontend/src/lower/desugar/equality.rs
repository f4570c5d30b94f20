//! `==` and `!=` of `Option`, `Result`, tuples and arrays: of their parts, in order.

use proc_macro2::Span;
use quote::{quote, quote_spanned};
use sarek_ir::{Expr, ExprId, Scalar, UnaryOp};

use crate::lower::types::Node;
use crate::lower::{Lowerer, Ty};

/// The longest array whose elements are compared without a loop.
const UNROLLED: u64 = 8;

impl Lowerer<'_> {
    /// Compares values of several parts. `None` for other values.
    pub(in crate::lower) fn same_parts(
        &mut self,
        equal: bool,
        (lhs, rhs): (ExprId, ExprId),
        span: Span,
    ) -> Option<ExprId> {
        let of = [self.ty(lhs), self.ty(rhs)];
        let is_scalar = |ty: &Ty| {
            matches!(
                self.types.node(*ty),
                Node::Known(_) | Node::Int | Node::Float
            )
        };
        if of.iter().any(is_scalar) {
            return None;
        }
        let rust = of.into_iter().find_map(|ty| self.comparison(ty, span))?;
        if !self.unify(of[0], of[1], span) {
            return Some(self.placeholder(span.into()));
        }
        let operands = [self.reusable(lhs), self.reusable(rhs)];
        let same = self.rust(&operands, span.into(), &rust);
        if equal {
            return Some(same);
        }
        let not = Expr::Unary {
            op: UnaryOp::Not,
            arg: same,
        };
        Some(self.known(not, Scalar::Bool, span))
    }

    /// The comparison of `__x` and `__y` of this type.
    fn comparison(&self, ty: Ty, span: Span) -> Option<syn::Expr> {
        if self.core_argument(ty, 1).is_some() {
            let ok = quote_spanned!(span=> ::core::result::Result::Ok);
            let err = quote_spanned!(span=> ::core::result::Result::Err);
            return Some(syn::parse_quote_spanned! {span=>
                match __x {
                    #ok(__v) => match __y { #ok(__w) => __v == __w, #err(_) => false },
                    #err(__v) => match __y { #ok(_) => false, #err(__w) => __v == __w },
                }
            });
        }
        if self.core_argument(ty, 0).is_some() {
            let some = quote_spanned!(span=> ::core::option::Option::Some);
            let none = quote_spanned!(span=> ::core::option::Option::None);
            return Some(syn::parse_quote_spanned! {span=>
                match __x {
                    #some(__v) => match __y { #some(__w) => __v == __w, #none => false },
                    #none => match __y { #some(_) => false, #none => true },
                }
            });
        }
        match self.types.node(ty) {
            Node::Tuple(parts) => {
                let each = (0..parts.len()).map(|part| {
                    let part = syn::Index::from(part);
                    quote_spanned!(span=> (__x.#part == __y.#part))
                });
                let all = each.reduce(|all, part| quote!(#all && #part))?;
                Some(syn::parse_quote!(#all))
            }
            Node::Array(_, dim) => match dim.known() {
                Some(n) if n <= UNROLLED => {
                    let each = (0..n).map(|at| {
                        let at = syn::LitInt::new(&at.to_string(), span);
                        quote_spanned!(span=> (__x[#at] == __y[#at]))
                    });
                    let all = each.reduce(|all, part| quote!(#all && #part))?;
                    Some(syn::parse_quote!(#all))
                }
                Some(n) => {
                    let n = syn::LitInt::new(&n.to_string(), span);
                    Some(syn::parse_quote_spanned! {span=> {
                        let mut __same = true;
                        for __k in 0..#n {
                            if !(__x[__k] == __y[__k]) {
                                __same = false;
                                break;
                            }
                        }
                        __same
                    }})
                }
                None => None,
            },
            Node::Any
            | Node::Known(_)
            | Node::Int
            | Node::Float
            | Node::Named(_)
            | Node::Hole(_)
            | Node::Same(_) => None,
        }
    }
}
