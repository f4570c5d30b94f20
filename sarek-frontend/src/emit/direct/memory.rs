//! Memory: slices, shared arrays, arrays of lanes.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, format_ident, quote_spanned};
use sarek_ir::{Length, LocalId, Memory, SharedId};

use super::names::param_name;
use super::{Writer, mixed};

impl Writer<'_> {
    /// The number of elements.
    pub fn len(&self, memory: Memory, span: Span) -> TokenStream {
        match memory {
            Memory::Slice(param) => {
                let param = param_name(param);
                quote_spanned!(span=> #param.len())
            }
            Memory::Shared(shared) => {
                let shared = shared_name(shared);
                quote_spanned!(span=> #shared.len())
            }
            Memory::Local(local) => match self.kernel.array(local) {
                Some((_, len)) => self.const_length(len),
                None => unreachable!("only arrays have a length"),
            },
        }
    }

    /// A length that is known when the body is compiled.
    pub fn const_length(&self, len: Length) -> TokenStream {
        match len {
            Length::Fixed(len) => {
                let len = Literal::u64_unsuffixed(len);
                mixed!(#len)
            }
            Length::Link(link) => {
                let value = self.lowered.linked(link, Span::mixed_site());
                mixed!({ #value })
            }
            Length::Launch(_) => unreachable!("only shared arrays have such a length"),
        }
    }

    /// The element.
    pub fn load(&self, memory: Memory, index: &TokenStream) -> TokenStream {
        let (array, index) = self.element(memory, index);
        mixed!(*#array.get_unchecked(#index))
    }

    /// Puts `__value` there.
    pub fn store(&self, memory: Memory, index: &TokenStream) -> TokenStream {
        let (array, index) = self.element(memory, index);
        match memory {
            Memory::Slice(_) => mixed!(#array.set(#index, __value);),
            Memory::Shared(_) | Memory::Local(_) => {
                mixed!(*#array.get_unchecked_mut(#index) = __value;)
            }
        }
    }

    /// A pointer to the element, to store a part of it.
    pub fn element_place(&self, memory: Memory, index: &TokenStream) -> TokenStream {
        let (array, index) = self.element(memory, index);
        match memory {
            Memory::Slice(_) => mixed!(#array.place(#index)),
            Memory::Shared(_) | Memory::Local(_) => {
                mixed!((&raw mut *#array.get_unchecked_mut(#index)))
            }
        }
    }

    /// The array and the index in it.
    fn element(&self, memory: Memory, index: &TokenStream) -> (TokenStream, TokenStream) {
        let (array, index) = match memory {
            Memory::Slice(param) => return (self.slice_of_lane(param), index.clone()),
            Memory::Shared(shared) => (shared_name(shared), index.clone()),
            Memory::Local(local) => match self.lanes_of(local) {
                Some((array, lane, lanes)) => (array, mixed!(#index * #lanes + #lane)),
                None if self.is_pointer(local) => {
                    let array = self.variable(local);
                    return (mixed!((&mut #array)), index.clone());
                }
                None => (self.local(local), index.clone()),
            },
        };
        (array.to_token_stream(), index)
    }

    /// The name of a local.
    pub fn local(&self, local: LocalId) -> Ident {
        let name = &self.kernel.locals[local.index()].name;
        Ident::new(&format!("{name}_{}", local.0), Span::mixed_site())
    }
}

/// The name of a shared array.
pub fn shared_name(shared: SharedId) -> Ident {
    format_ident!("__shared{}", shared.0, span = Span::mixed_site())
}
