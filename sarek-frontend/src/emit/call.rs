//! Calls of `#[device]` functions in compiled bodies. The body called is `#[inline(always)]`; when it stops at a
//! site it returns the fault, which the caller passes on.

use proc_macro2::{Literal, Span, TokenStream};
use quote::quote_spanned;
use sarek_ir::{Access, Argument, CallId, Memory};

use super::direct::{Writer, mixed, param_name};
use crate::lower::Lowered;

impl Writer<'_> {
    pub(super) fn call_function(&self, id: CallId, span: Span) -> TokenStream {
        let call = &self.kernel.calls[id.index()];
        let callee = &self.lowered.callees[call.function.index()];
        let body = callee.body();
        let base = self.base(id);
        let args = call.args.iter().enumerate().map(|(i, arg)| match *arg {
            Argument::Value(value) if i == 0 && callee.has_receiver => {
                let value = self.expr(value);
                mixed!(&mut { #value })
            }
            Argument::Value(value) => self.expr(value),
            Argument::Memory(memory) => self.lend(memory),
            Argument::Local(local) => {
                let local = self.local(local);
                mixed!(&mut #local)
            }
        });
        let result = call.result.map(|local| {
            let local = self.local(local);
            mixed!(#local =)
        });
        quote_spanned! {span=>
            #result match #body::<CHECK>(__block, __thread, #base, #(#args),*) {
                ::core::result::Result::Ok(__value) => __value,
                ::core::result::Result::Err(__fault) => {
                    return ::core::result::Result::Err(__fault);
                }
            };
        }
    }

    /// The first site of what a call calls.
    fn base(&self, id: CallId) -> TokenStream {
        let own = Literal::u32_unsuffixed(self.kernel.sites.len() as u32);
        let before = &self.kernel.calls[..id.index()];
        let before = before
            .iter()
            .map(|call| self.lowered.callees[call.function.index()].sites());
        let first = self.is_function.then(|| mixed!(__base+));
        mixed!(#first #own #(+ #before)*)
    }

    /// A memory as an argument: device functions take all of them as `direct::Output`.
    fn lend(&self, memory: Memory) -> TokenStream {
        match memory {
            Memory::Slice(param) => {
                let name = param_name(param);
                match self.kernel.access(memory) {
                    Access::Read if !self.is_function => {
                        mixed!(direct::lend(::core::ptr::from_ref(#name).cast_mut()))
                    }
                    Access::Read | Access::Write | Access::Atomic => mixed!(#name),
                }
            }
            Memory::Local(_) | Memory::Shared(_) => {
                let name = self.memory(memory);
                mixed!(direct::lend(&raw mut #name))
            }
        }
    }
}

impl Lowered {
    /// How many sites it has, those of what it calls included.
    pub(super) fn sites(&self) -> TokenStream {
        let own = Literal::u32_unsuffixed(self.kernel.sites.len() as u32);
        let calls = self.kernel.calls.iter();
        let calls = calls.map(|call| self.callees[call.function.index()].sites());
        mixed!(#own #(+ #calls)*)
    }
}
