//! Writes expressions.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::quote_spanned;
use sarek_ir::{
    BinaryOp, Builtin, DivideOp, Expr, ExprId, Intrinsic, Length, Memory, Scalar, SiteId, Type,
    UnaryOp, Value,
};

use super::compound::foreign_literal;
use super::names::{is_float, literal, located, operator, rust_type};
use super::{Writer, mixed};
use crate::tokens::at;

impl Writer<'_> {
    pub fn expr(&self, id: ExprId) -> TokenStream {
        if let Some(known) = self.known.get(&id) {
            return mixed!(#known);
        }
        if let Some(packed) = self.frame.and_then(|frame| frame.packed.get(&id)) {
            return packed.clone();
        }
        match self.exact_site(id) {
            Some(_) => self.exact(id),
            None => self.unchecked(id),
        }
    }

    fn unchecked(&self, id: ExprId) -> TokenStream {
        let span = located(self.lowered.expr_span(id));
        let ty = self.kernel.type_of(id);
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
                let check = self.bounds_check(site, memory, index);
                self.indexed(index, check, span, &|index| self.load(memory, &index))
            }
            Expr::Bounded { index, len, site } => {
                let known = (self.kernel.literal(index), self.kernel.literal(len));
                let check = site.filter(|_| !is_below(known)).and_then(|site| {
                    let len = self.expr(len);
                    self.test(site, mixed!(__index >= #len), mixed!(__index as __u64))
                });
                self.indexed(index, check, span, &|index| index)
            }
            Expr::Unary { op, arg } => {
                let arg = self.operand(arg);
                match op {
                    UnaryOp::Neg => quote_spanned!(span=> (-#arg)),
                    UnaryOp::Not => quote_spanned!(span=> (!#arg)),
                }
            }
            Expr::Binary { op, lhs, rhs } if self.lowered.compared.contains_key(&id) => {
                let ty = &self.lowered.compared[&id];
                let (lhs, rhs) = (self.expr(lhs), self.expr(rhs));
                let not = (op == BinaryOp::Ne).then(|| mixed!(!));
                quote_spanned!(span=> (#not __host::are_equal::<#ty>(#lhs, #rhs)))
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
                        quote_spanned!(span=> (__host::wide(#lhs) #symbol __host::wide(#rhs)))
                    }
                    (Some(half), false) => quote_spanned! {span=>
                        __host::narrow::<#half>(__host::wide(#lhs) #symbol __host::wide(#rhs))
                    },
                }
            }
            Expr::Divide { op, lhs, rhs, site } => self.divide(op, lhs, rhs, site, span),
            Expr::And { lhs, rhs } => {
                let (lhs, rhs) = (self.expr(lhs), self.expr(rhs));
                if self.guarded {
                    // Neither operand faults or panics, so no branch is needed.
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
                // rustc knows whether a type converts: a number does, and an enum without fields.
                let (arg, ty) = (self.expr(arg), at(&rust_type(ty.scalar()), span));
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
        let site = site.filter(|_| !self.kernel.divides_safely(rhs));
        let by_operator = self.divided_by_operator(op, lhs);
        let (lhs, rhs) = (self.operand(lhs), self.operand(rhs));
        let check = site.and_then(|site| {
            let undefined = mixed!(!__host::Divide::is_defined(__dividend, __divisor));
            self.test(site, undefined, mixed!(__host::Divide::detail(__divisor)))
        });
        let quotient = by_operator.unwrap_or_else(
            || quote_spanned!(span=> __host::Divide::#method(__dividend, __divisor)),
        );
        quote_spanned! {span=> {
            let (__dividend, __divisor) #ty = (#lhs, #rhs);
            #check
            #quotient
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
            Intrinsic::Clamp => quote_spanned!(span=> __host::clamp(#(#args),*)),
            _ if intrinsic.is_elementary() => {
                let name = Ident::new(intrinsic.name(), span);
                quote_spanned!(span=> __host::Elementary::#name(#(#args),*))
            }
            _ if intrinsic.row().extension || is_half && !intrinsic.reads_bits() => {
                let name = Ident::new(intrinsic.name(), span);
                quote_spanned!(span=> __host::Float::#name(#(#args),*))
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
            Builtin::SubgroupSize => mixed!(__host::SUBGROUP),
            Builtin::SubgroupLane if self.frame.is_some_and(|f| f.subgroups && !f.once) => {
                mixed!((__w % __host::SUBGROUP))
            }
            Builtin::SubgroupLane => mixed! {
                (((__thread[2] * __dim[1] + __thread[1]) * __dim[0] + __thread[0]) % __host::SUBGROUP)
            },
            Builtin::GlobalThreadId => mixed! {
                (((__block.first[2] + __thread[2]) * __block.extent[1] + (__block.first[1] + __thread[1]))
                    * __block.extent[0] + (__block.first[0] + __thread[0]))
            },
        }
    }

    /// Writes an access with an index, after the index's test. The test calls the index `__index`.
    pub fn indexed(
        &self,
        index: ExprId,
        check: Option<TokenStream>,
        span: Span,
        then: &dyn Fn(TokenStream) -> TokenStream,
    ) -> TokenStream {
        let is_known = self.kernel.type_of(index).as_scalar().is_some();
        // rustc reports an index of another type where it is declared.
        match check.is_none() && is_known {
            true => then(self.expr(index)),
            false => self.declared_index(index, check, span, then),
        }
    }

    /// Like [`Writer::indexed`], but always evaluates the index before the access.
    pub fn declared_index(
        &self,
        index: ExprId,
        check: Option<TokenStream>,
        span: Span,
        then: &dyn Fn(TokenStream) -> TokenStream,
    ) -> TokenStream {
        let (index, then) = (self.expr(index), then(mixed!(__index)));
        quote_spanned! {span=> {
            let __index: __usize = #index;
            #check
            #then
        }}
    }

    /// The test of `__index` against a memory's length.
    pub fn bounds_check(
        &self,
        site: Option<SiteId>,
        memory: Memory,
        index: ExprId,
    ) -> Option<TokenStream> {
        let len = match memory {
            Memory::Local(local) => self.kernel.array(local).map(|(_, len)| len),
            Memory::Slice(_) | Memory::Shared(_) | Memory::Table(_) => None,
        };
        let len = match len {
            Some(Length::Fixed(len)) => Some(Value::Usize(len)),
            Some(Length::Link(_) | Length::Launch(_)) | None => None,
        };
        let known = (self.kernel.literal(index), len);
        let site = site.filter(|_| !is_below(known))?;
        let len = self.len(memory, Span::mixed_site());
        self.test(site, mixed!(__index >= #len), mixed!(__index as __u64))
    }

    /// Faults if `wrong` holds. If a launch can prove the site, bodies for launches with that proof
    /// skip the test.
    pub fn test(
        &self,
        site: SiteId,
        wrong: TokenStream,
        detail: TokenStream,
    ) -> Option<TokenStream> {
        let provable = self.kernel.sites[site.index()].provable;
        let asks = provable.then(|| mixed!(__CHECK &&));
        let fault = self.fault(site, detail);
        (!provable || !self.proved).then(|| mixed!(if #asks #wrong { #fault }))
    }

    pub fn fault(&self, site: SiteId, detail: TokenStream) -> TokenStream {
        if self.tries {
            return mixed!(return ::core::option::Option::None;);
        }
        let site = Literal::u32_unsuffixed(site.0);
        let base = self.is_function.then(|| mixed!(__base+));
        mixed!(return __host::Block::fault(__block, #base #site, #detail, __thread);)
    }
}

/// True if an index is known to be below a known length, so that no test is needed.
fn is_below(known: (Option<Value>, Option<Value>)) -> bool {
    matches!(known, (Some(Value::Usize(index)), Some(Value::Usize(len))) if index < len)
}
