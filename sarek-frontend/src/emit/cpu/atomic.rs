//! Writes atomic operations. On shared arrays they are plain operations, since one processor thread
//! runs all lanes of a block.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote_spanned;
use sarek_ir::{AtomicOp, ExprId, List, LocalId, Memory, SiteId};

use super::memory::shared_name;
use super::names::param_name;
use super::{Writer, mixed};

impl Writer<'_> {
    #[allow(clippy::too_many_arguments)] // the fields of the statement
    pub fn atomic(
        &self,
        op: AtomicOp,
        memory: Memory,
        index: ExprId,
        args: List,
        result: Option<LocalId>,
        site: Option<SiteId>,
        span: Span,
    ) -> TokenStream {
        let args: Vec<ExprId> = self.kernel.list(args).collect();
        let names: Vec<Ident> = (0..args.len())
            .map(|i| Ident::new(&format!("__operand{i}"), Span::mixed_site()))
            .collect();
        let args = args.iter().map(|a| self.expr(*a));
        let check = self.bounds_check(site, memory, index);
        let index = self.expr(index);
        let method = Ident::new(method(op), span);
        let call = match memory {
            Memory::Slice(param) => {
                let param = param_name(param);
                mixed!(__host::Atomic::#method(<[_]>::get_unchecked(#param, __index), #(#names),*))
            }
            Memory::Shared(shared) => {
                let shared = shared_name(shared);
                mixed!(__host::non_atomic::#method(<[_]>::get_unchecked_mut(#shared, __index), #(#names),*))
            }
            Memory::Local(_) | Memory::Table(_) => {
                unreachable!("only slices and shared arrays have atomic operations")
            }
        };
        let assign = result.map(|result| {
            let result = self.variable(result);
            mixed!(#result =)
        });
        quote_spanned! {span=> {
            #(let #names = #args;)*
            let __index: __usize = #index;
            #check
            #assign #call;
        }}
    }
}

/// The method of `Atomic<T>`. It is not named like std's `compare_exchange`, whose result differs.
fn method(op: AtomicOp) -> &'static str {
    if op == AtomicOp::CompareExchange {
        return "compare_and_swap";
    }
    op.name()
}
