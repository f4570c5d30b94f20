//! Expressions.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::quote_spanned;
use sarek_ir::{Builtin, DivideOp, Expr, ExprId, Intrinsic, Memory, Scalar, SiteId, Type, UnaryOp};

use super::compound::foreign_literal;
use super::names::{is_float, literal, located, operator, rust_type};
use super::trim::can_divide;
use super::{Writer, mixed};
use crate::emit::at;

impl Writer<'_> {
    pub fn expr(&self, id: ExprId) -> TokenStream {
        let span = located(self.lowered.expr_spans[id.index()]);
        let ty = self.kernel.type_of(id);
        if let Some(known) = self.known.get(&id) {
            return mixed!(#known);
        }
        match self.kernel.expr(id) {
            Expr::Literal(value) if ty.as_scalar().is_none() => foreign_literal(value),
            Expr::Literal(value) => literal(value),
            Expr::Link(link) => self.lowered.linked(link, span),
            Expr::Local(local) => self.variable(local),
            Expr::Param(param) => self.param_value_of(param),
            Expr::Len(memory) => self.len(memory, span),
            Expr::Builtin(builtin) => self.builtin(builtin),
            Expr::Load {
                memory,
                index,
                site,
            } => {
                let (index, element) = (self.expr(index), self.load(memory));
                let check = self.bounds_check(site, memory);
                quote_spanned! {span=> {
                    let __index: ::core::primitive::usize = #index;
                    #check
                    #element
                }}
            }
            Expr::Bounded { index, len, site } => {
                let (index, len) = (self.expr(index), self.expr(len));
                let check = site.map(|site| {
                    let detail = mixed!(__index as ::core::primitive::u64);
                    let (always, fault) = (self.always(site), self.fault(site, detail));
                    mixed!(if #always __index >= #len { #fault })
                });
                quote_spanned! {span=> {
                    let __index: ::core::primitive::usize = #index;
                    #check
                    __index
                }}
            }
            Expr::Unary { op, arg } => {
                let arg = self.operand(arg);
                match op {
                    UnaryOp::Neg => quote_spanned!(span=> (-#arg)),
                    UnaryOp::Not => quote_spanned!(span=> (!#arg)),
                }
            }
            Expr::Binary { op, lhs, rhs } => {
                let symbol = operator(op, span);
                if let Some(guarded) = self.guarded_operator(op, lhs, rhs, &symbol) {
                    return guarded;
                }
                let half = self.half(lhs).map(rust_type);
                let (lhs, rhs) = (self.operand_at(lhs, span), self.operand_at(rhs, span));
                match (half, op.is_comparison()) {
                    (None, _) => quote_spanned!(span=> (#lhs #symbol #rhs)),
                    (Some(_), true) => {
                        quote_spanned!(span=> (direct::wide(#lhs) #symbol direct::wide(#rhs)))
                    }
                    (Some(half), false) => quote_spanned! {span=>
                        direct::narrow::<#half>(direct::wide(#lhs) #symbol direct::wide(#rhs))
                    },
                }
            }
            Expr::Divide { op, lhs, rhs, site } => self.divide(op, lhs, rhs, site, span),
            Expr::And { lhs, rhs } => {
                let (lhs, rhs) = (self.expr(lhs), self.expr(rhs));
                if self.guarded {
                    // Nothing in it faults or panics: no branch is needed.
                    return quote_spanned!(span=> (#lhs & #rhs));
                }
                quote_spanned!(span=> (#lhs && #rhs))
            }
            Expr::Or { lhs, rhs } => {
                let (lhs, rhs) = (self.expr(lhs), self.expr(rhs));
                if self.guarded {
                    return quote_spanned!(span=> (#lhs | #rhs));
                }
                quote_spanned!(span=> (#lhs || #rhs))
            }
            Expr::Cast { arg } if self.lowered.conversions.contains_key(&id) => {
                let (arg, function) = (self.expr(arg), &self.lowered.conversions[&id]);
                quote_spanned!(span=> #function(#arg))
            }
            Expr::Cast { arg } => {
                let (arg, ty) = (self.operand(arg), at(&rust_type(ty.scalar()), span));
                quote_spanned!(span=> (#arg as #ty))
            }
            Expr::Call { intrinsic, args } => {
                let args: Vec<ExprId> = self.kernel.list(args).collect();
                self.call(intrinsic, &args, ty, span)
            }
            Expr::Compound(compound) => self.compound(compound, span),
            Expr::Faulted => unreachable!("only passes for accelerators make it"),
        }
    }

    /// The type of an operand, if it is a 16-bit float.
    fn half(&self, operand: ExprId) -> Option<Scalar> {
        let ty = self.kernel.type_of(operand).as_scalar();
        ty.filter(|ty| ty.is_half())
    }

    fn divide(
        &self,
        op: DivideOp,
        lhs: ExprId,
        rhs: ExprId,
        site: Option<SiteId>,
        span: Span,
    ) -> TokenStream {
        let method = Ident::new(op.name(), span);
        let ty = self.kernel.type_of(lhs).as_scalar().map(rust_type);
        let ty = ty.map(|ty| mixed!(: (#ty, #ty)));
        let site = site.filter(|_| !can_divide(self.kernel, rhs));
        let (lhs, rhs) = (self.operand(lhs), self.operand(rhs));
        let check = site.map(|site| {
            let fault = self.fault(site, mixed!(direct::Divide::detail(__divisor)));
            let always = self.always(site);
            mixed!(if #always !direct::Divide::is_defined(__dividend, __divisor) { #fault })
        });
        quote_spanned! {span=> {
            let (__dividend, __divisor) #ty = (#lhs, #rhs);
            #check
            direct::Divide::#method(__dividend, __divisor)
        }}
    }

    fn call(&self, intrinsic: Intrinsic, args: &[ExprId], ty: Type, span: Span) -> TokenStream {
        let on = match (intrinsic, self.kernel.type_of(args[0])) {
            (Intrinsic::FromBits | Intrinsic::Bf16FromBits, _) => rust_type(ty.scalar()),
            (_, Type::Scalar(on)) => rust_type(on),
            (_, Type::Compound(_)) => return self.foreign_call(intrinsic, args, span),
        };
        let is_half = self.half(args[0]).is_some();
        let args = args.iter().map(|a| self.expr(*a));
        match intrinsic {
            Intrinsic::Rsqrt => quote_spanned!(span=> direct::Float::rsqrt(#(#args),*)),
            Intrinsic::Clamp => quote_spanned!(span=> direct::clamp(#(#args),*)),
            _ if intrinsic.is_elementary() => {
                let name = Ident::new(intrinsic.name(), span);
                quote_spanned!(span=> direct::Elementary::#name(#(#args),*))
            }
            _ if is_half && !intrinsic.reads_bits() => {
                let name = Ident::new(intrinsic.name(), span);
                quote_spanned!(span=> direct::Float::#name(#(#args),*))
            }
            Intrinsic::Min | Intrinsic::Max if !is_float(&on) => {
                let name = Ident::new(intrinsic.name(), span);
                quote_spanned!(span=> ::core::cmp::Ord::#name(#(#args),*))
            }
            _ => {
                let name = Ident::new(intrinsic.name(), span);
                quote_spanned!(span=> #on::#name(#(#args),*))
            }
        }
    }

    fn builtin(&self, builtin: Builtin) -> TokenStream {
        let at = |a: sarek_ir::Axis| Literal::usize_unsuffixed(a.index());
        match builtin {
            Builtin::ThreadIdx(a) => {
                let a = at(a);
                mixed!(__thread[#a])
            }
            Builtin::BlockIdx(a) => {
                let a = at(a);
                mixed!(__block.idx[#a])
            }
            Builtin::BlockDim(a) => {
                let a = at(a);
                mixed!(__dim[#a])
            }
            Builtin::GridDim(a) => {
                let a = at(a);
                mixed!(__block.grid[#a])
            }
            Builtin::GlobalIdx(a) => {
                let a = at(a);
                mixed!((__block.first[#a] + __thread[#a]))
            }
            Builtin::GlobalDim(a) => {
                let a = at(a);
                mixed!(__block.extent[#a])
            }
            Builtin::SubgroupSize => mixed!(direct::SUBGROUP),
            Builtin::SubgroupLane => mixed! {
                (((__thread[2] * __dim[1] + __thread[1]) * __dim[0] + __thread[0]) % direct::SUBGROUP)
            },
            Builtin::GlobalThreadId => mixed! {
                (((__block.first[2] + __thread[2]) * __block.extent[1] + (__block.first[1] + __thread[1]))
                    * __block.extent[0] + (__block.first[0] + __thread[0]))
            },
        }
    }

    /// The test of `__index` against a memory's length.
    pub fn bounds_check(&self, site: Option<SiteId>, memory: Memory) -> Option<TokenStream> {
        let len = self.len(memory, Span::mixed_site());
        site.map(|site| {
            let (always, fault) = (
                self.always(site),
                self.fault(site, mixed!(__index as ::core::primitive::u64)),
            );
            mixed!(if #always __index >= #len { #fault })
        })
    }

    /// Nothing for a test that always stands; `CHECK &&` for one that a launch can prove.
    pub fn always(&self, site: SiteId) -> Option<TokenStream> {
        self.kernel.sites[site.index()]
            .provable
            .then(|| mixed!(CHECK &&))
    }

    pub fn fault(&self, site: SiteId, detail: TokenStream) -> TokenStream {
        let site = Literal::u32_unsuffixed(site.0);
        let base = self.is_function.then(|| mixed!(__base+));
        mixed!(return __block.fault(#base #site, #detail, __thread);)
    }
}
