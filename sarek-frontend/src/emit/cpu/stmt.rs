//! Writes statements that a lane runs alone.

use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;
use sarek_ir::{Block, ExprId, LocalId, NativeId, Piece, Scope, Stmt, StmtId, Value};

use super::frame::Mask;
use super::names::{literal, located, loop_label};
use super::{Writer, mixed};
use crate::tokens::formatted;

impl Writer<'_> {
    pub fn block(&self, block: Block) -> TokenStream {
        self.kernel.block(block).map(|id| self.stmt(id)).collect()
    }

    pub fn stmt(&self, id: StmtId) -> TokenStream {
        let span = located(self.lowered.stmt_span(id));
        match self.kernel.stmt(id) {
            Stmt::Let { local, init } if self.is_kept(local) => {
                // The local is declared at the head of the region.
                let (local, init) = (self.variable(local), init.map(|init| self.expr(init)));
                init.map(|init| quote_spanned!(span=> #local = #init;))
                    .unwrap_or_default()
            }
            Stmt::Let { local, init } => self.declare(local, init, span),
            Stmt::Assign { local, value } => {
                let (local, value) = (self.variable(local), self.expr(value));
                quote_spanned!(span=> #local = #value;)
            }
            Stmt::Store {
                memory,
                index,
                value,
                site,
            } => {
                let value = self.expr(value);
                let check = self.bounds_check(site, memory, index);
                let then = |index| self.store(memory, &index);
                // An index that is loaded from this memory is read before the memory is borrowed
                // for the store.
                let store = match self.kernel.loads(index, memory) {
                    true => self.declared_index(index, check, span, &then),
                    false => self.indexed(index, check, span, &then),
                };
                quote_spanned!(span=> { let __value = #value; #store })
            }
            Stmt::Assert { cond, site } => {
                let cond = self.expr(cond);
                let test = self.test(site, quote_spanned!(span=> !#cond), mixed!(0));
                test.unwrap_or_default()
            }
            Stmt::Panic { site } => self.fault(site, mixed!(0)),
            Stmt::Print { print } => {
                let print = &self.kernel.prints[print.index()];
                let args: Vec<_> = (self.kernel.list(print.args))
                    .map(|arg| {
                        let span = located(self.lowered.expr_span(arg));
                        let is_known = self.kernel.type_of(arg).as_scalar().is_some();
                        (self.expr(arg), (!is_known).then_some(span))
                    })
                    .collect();
                let host = mixed!(__host);
                let printed = formatted(print, &args, &mixed!(__host::print), &host);
                quote_spanned!(span=> #printed;)
            }
            Stmt::If {
                cond,
                then,
                otherwise,
            } => {
                let (cond, then) = (self.expr(cond), self.block(then));
                let otherwise = (!otherwise.is_empty()).then(|| {
                    let otherwise = self.block(otherwise);
                    mixed!(else { #otherwise })
                });
                quote_spanned!(span=> if #cond { #then } #otherwise)
            }
            Stmt::Loop {
                label,
                cond: Some(cond),
                body,
            } => {
                let (label, cond, body) = (loop_label(label), self.expr(cond), self.block(body));
                quote_spanned!(span=> #label: while #cond { #body })
            }
            Stmt::Loop {
                label,
                cond: None,
                body,
            } => {
                let (label, body) = (loop_label(label), self.block(body));
                quote_spanned!(span=> #label: loop { #body })
            }
            Stmt::For {
                label,
                local,
                start,
                end,
                body,
            } => {
                let (label, name) = (loop_label(label), self.local(local));
                let (start, end, body) = (self.expr(start), self.expr(end), self.block(body));
                let counted = self.counted(&label, local, [&start, &end], &body);
                if let Some(counted) = counted {
                    return counted;
                }
                // In parentheses, because rustc would take a block after a bare `..` for the body
                // of the loop.
                quote_spanned!(span=> #label: for #name in (#start..#end) { #body })
            }
            Stmt::Break { label } => match self.leave(&[Mask::Live(label)]) {
                Some(leave) => leave,
                None => {
                    let label = loop_label(label);
                    quote_spanned!(span=> break #label;)
                }
            },
            Stmt::Continue { label } => match self.leave(&[Mask::Iteration(label)]) {
                Some(leave) => leave,
                None => {
                    let label = loop_label(label);
                    quote_spanned!(span=> continue #label;)
                }
            },
            Stmt::Return => self.return_(span),
            // One processor thread runs all lanes of a block, so there is nothing to do.
            Stmt::Barrier
            | Stmt::Fence {
                scope: Scope::Block,
            } => TokenStream::new(),
            Stmt::Fence {
                scope: Scope::Device,
            } => quote_spanned!(span=> __host::device_fence();),
            Stmt::Atomic {
                op,
                memory,
                index,
                args,
                result,
                site,
            } => self.atomic(op, memory, index, args, result, site, span),
            Stmt::Subgroup { .. } => {
                unreachable!("an operation of subgroups is a node of its own")
            }
            Stmt::Update { place, value } => self.update(place, value, span),
            Stmt::Call { call } => self.device_call(call, span),
            Stmt::Native { native } => match self.kernel.natives[native.index()].fallback {
                Some(fallback) => {
                    let fallback = self.block(fallback);
                    self.hosted(native, &fallback)
                        .unwrap_or_else(|| mixed!({ #fallback }))
                }
                // Unreachable: the kernel's requirements keep the runtime from launching it here.
                None => mixed!(::core::unreachable!("`native!` has no Rust fallback");),
            },
        }
    }

    /// An intrinsic calls its host function, if it has one. Only checked bodies look for it, so that
    /// the others stay as fast as they are.
    fn hosted(&self, native: NativeId, fallback: &TokenStream) -> Option<TokenStream> {
        let native = &self.kernel.natives[native.index()];
        let (name, result) = (native.intrinsic.as_deref()?, self.local(native.result?));
        let pieces = native.texts.iter().flat_map(|text| text.pieces.iter());
        let args = pieces.filter_map(|piece| match piece {
            Piece::Local(local) => Some(self.local(*local)),
            Piece::Text(_) | Piece::Param(_) | Piece::Shared(_) | Piece::Place(_) => None,
        });
        Some(mixed! {
            let __hosted = if __CHECK && __host::Block::has_hosts(__block) {
                __host::hosted(__block, #name, __thread, &[#(__host::hosted_arg(#args)),*])
            } else {
                ::core::option::Option::None
            };
            match __hosted {
                ::core::option::Option::Some(__value) => #result = __value,
                ::core::option::Option::None => { #fallback }
            }
        })
    }

    /// `let local = init;`. A local without a value gets zero, which is never read.
    pub fn declare(&self, local: LocalId, init: Option<ExprId>, span: Span) -> TokenStream {
        if self.is_foreign(local) {
            return self.declare_foreign(local, init, span);
        }
        let mutable = init.is_none() || self.kernel.locals[local.index()].mutable;
        let mutable = mutable.then(|| mixed!(mut));
        let (name, ty) = (self.local(local), self.local_type(local));
        let init = match init {
            Some(init) => self.expr(init),
            None => self.zero(local),
        };
        quote_spanned!(span=> let #mutable #name: #ty = #init;)
    }

    /// The type of a local where each lane has its own.
    pub fn local_type(&self, local: LocalId) -> TokenStream {
        let elem = self.element_type(local, &self.kernel.locals[local.index()]);
        self.nested(local, elem)
    }

    fn zero(&self, local: LocalId) -> TokenStream {
        let elem = self.kernel.local_scalar(&self.kernel.locals[local.index()]);
        self.nested(local, literal(Value::zero(elem)))
    }

    /// Ends the thread.
    fn return_(&self, span: Span) -> TokenStream {
        if self.is_once() {
            let ended = self.ended();
            return quote_spanned!(span=> return #ended;);
        }
        self.leave(&[Mask::Root])
            .unwrap_or_else(|| quote_spanned!(span=> break 'thread;))
    }
}
