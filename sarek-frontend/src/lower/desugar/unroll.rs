//! `#[unroll]` and `#[unroll(n)]` on loops.

use proc_macro2::Span;
use quote::{ToTokens, quote_spanned};
use sarek_ir::{LabelId, Scalar, Unroll};

use crate::diagnostics::{Mistake, codes};
use crate::lower::Lowerer;
use crate::lower::attributes::is_unroll;
use crate::lower::memory::length::unmarked;
use crate::tokens::range::Ranged;

impl Lowerer<'_> {
    /// Records the hint of a loop.
    pub(in crate::lower) fn unroll(&mut self, attrs: &[syn::Attribute], label: LabelId) {
        let mut hints = attrs.iter().filter(|attr| is_unroll(attr));
        if let Some(hint) = hints.next()
            && let Some(unroll) = self.hint(hint)
        {
            self.kernel.unrolls.to_mut().push((label, unroll));
        }
        for another in hints {
            self.errors.at(
                codes::UNROLL,
                another.range(),
                "this loop already has an `#[unroll]`",
                "keep one of them",
            );
        }
    }

    fn hint(&mut self, attr: &syn::Attribute) -> Option<Unroll> {
        if let syn::Meta::Path(_) = attr.meta {
            return Some(Unroll::Whole);
        }
        let times = match &attr.meta {
            syn::Meta::List(list) => list.parse_args::<syn::Expr>().ok(),
            syn::Meta::Path(_) | syn::Meta::NameValue(_) => None,
        };
        let Some(times) = times else {
            self.errors.at(
                codes::UNROLL,
                attr.range(),
                "this is not a form of `#[unroll]`",
                "write `#[unroll]` or, with a count, `#[unroll(4)]`",
            );
            return None;
        };
        self.times(&unmarked(&times))
    }

    /// The unroll factor: a literal or a constant.
    fn times(&mut self, expr: &syn::Expr) -> Option<Unroll> {
        let not_so_often = Mistake::new(
            codes::UNROLL,
            format!("a loop can be unrolled 1 to {} times", Unroll::MOST),
            "write a count in this range, or `#[unroll]` to unroll the whole loop",
        );
        if let Some(times) = self.known_length(expr) {
            let times = u32::try_from(times).unwrap_or(u32::MAX);
            if !(1..=Unroll::MOST).contains(&times) {
                self.errors.report(expr.range(), &not_so_often);
                return None;
            }
            return Some(Unroll::Times(times));
        }
        let syn::Expr::Path(_) = expr else {
            self.errors.at(
                codes::UNROLL,
                expr.range(),
                "the count of `#[unroll]` must be a number or the name of a constant",
                "write `#[unroll(4)]`, or `#[unroll(N)]` with a `const N: usize`",
            );
            return None;
        };
        self.constant_names(expr, |name| {
            let what =
                format!("the count of `#[unroll]` must be a constant, but `{name}` is a variable");
            Mistake::new(codes::UNROLL, what, "write a number, or name a constant")
        })?;
        let (most, message) = (Unroll::MOST as usize, not_so_often.to_string());
        let span = Span::mixed_site().located_at(expr.range().first);
        let value = self.among_constants(expr.to_token_stream());
        let test = quote_spanned! {span=>
            {
                let __times: ::core::primitive::usize = #value;
                ::core::assert!(__times >= 1 && __times <= #most, #message);
            };
        };
        self.check_constant(&expr.to_token_stream(), test, span);
        let usize_ty = self.types.known(Scalar::Usize);
        Some(Unroll::Link(self.link_id(expr.to_token_stream(), usize_ty)))
    }
}
