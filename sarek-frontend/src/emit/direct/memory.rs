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
                // Of the slice: a trait of the user's may give arrays another `len`.
                quote_spanned!(span=> #shared[..].len())
            }
            Memory::Local(local) => match self.kernel.array(local) {
                Some((_, len)) => self.const_length(len),
                None => unreachable!("only arrays have a length"),
            },
            Memory::Table(_) => unreachable!("constants are named by links"),
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

    /// The same where it is a part of a type, in which a generic body cannot name its own constants.
    pub fn type_length(&self, len: Length) -> TokenStream {
        match len {
            Length::Link(link) if self.is_open(len) => {
                let value = &self.lowered.links[link.index()];
                mixed!({ #value })
            }
            Length::Fixed(_) | Length::Link(_) | Length::Launch(_) => self.const_length(len),
        }
    }

    /// The lengths of a local array in the compiled body, outermost first: one, since arrays are stored flat, but for arrays of
    /// several dimensions in generic bodies, since no type has a product of parameters as its length.
    pub fn lengths(&self, local: LocalId) -> Vec<Length> {
        let Some((_, len)) = self.kernel.array(local) else {
            return vec![];
        };
        match self.lowered.arrays.get(&local) {
            Some(dims) if self.is_open(len) => dims.clone(),
            Some(_) | None => vec![len],
        }
    }

    /// `[inner; n]` for each length of a local array: its type from that of elements, or its value from theirs.
    pub fn nested(&self, local: LocalId, inner: TokenStream) -> TokenStream {
        let lengths = self.lengths(local).into_iter().rev();
        lengths.fold(inner, |inner, len| {
            let len = self.type_length(len);
            mixed!([#inner; #len])
        })
    }

    /// What makes of a whole array, stored flat, that of its rows which a function is lent, if it has several dimensions.
    pub fn rows(&self, memory: Memory) -> Option<TokenStream> {
        let dims = match memory {
            Memory::Local(local) if self.lengths(local).len() > 1 => return None,
            Memory::Local(local) => self.lowered.arrays.get(&local)?,
            Memory::Shared(shared) => self.lowered.shared_dims.get(&shared)?,
            Memory::Slice(_) | Memory::Table(_) => return None,
        };
        let [_, inner @ ..] = &dims[..] else {
            return None;
        };
        let row = inner
            .iter()
            .rev()
            .fold(None, |row: Option<TokenStream>, len| {
                let len = self.type_length(*len);
                let row = row.unwrap_or_else(|| mixed!(_));
                Some(mixed!([#row; #len]))
            })?;
        Some(mixed!(.rows::<#row>()))
    }

    /// The element.
    pub fn load(&self, memory: Memory, index: &TokenStream) -> TokenStream {
        let (array, index) = self.element(memory, index, &mixed!(as_flattened));
        mixed!(*#array.get_unchecked(#index))
    }

    /// Puts `__value` there.
    pub fn store(&self, memory: Memory, index: &TokenStream) -> TokenStream {
        let (array, index) = self.element(memory, index, &mixed!(as_flattened_mut));
        match memory {
            Memory::Slice(_) => mixed!(#array.set(#index, __value);),
            Memory::Shared(_) | Memory::Local(_) => {
                mixed!(*#array.get_unchecked_mut(#index) = __value;)
            }
            Memory::Table(_) => unreachable!("nothing is stored to constants"),
        }
    }

    /// A pointer to the element, to store a part of it.
    pub fn element_place(&self, memory: Memory, index: &TokenStream) -> TokenStream {
        let (array, index) = self.element(memory, index, &mixed!(as_flattened_mut));
        match memory {
            Memory::Slice(_) => mixed!(#array.place(#index)),
            Memory::Shared(_) | Memory::Local(_) => {
                mixed!((&raw mut *#array.get_unchecked_mut(#index)))
            }
            Memory::Table(_) => unreachable!("nothing is stored to constants"),
        }
    }

    /// The array and the index in it. `flatten` makes one array of an array of arrays.
    fn element(
        &self,
        memory: Memory,
        index: &TokenStream,
        flatten: &TokenStream,
    ) -> (TokenStream, TokenStream) {
        let flat = |local, array: TokenStream| {
            let outer = self.lengths(local).into_iter().skip(1);
            let flatten = outer.map(|_| mixed!(.#flatten()));
            mixed!(#array #(#flatten)*)
        };
        let (array, index) = match memory {
            Memory::Slice(param) => return (self.slice_of_lane(param), index.clone()),
            Memory::Shared(shared) => (shared_name(shared), index.clone()),
            Memory::Table(_) => unreachable!("constants are named by links"),
            Memory::Local(local) => match self.lanes_of(local) {
                Some((array, lane, lanes)) => (array, mixed!(#index * #lanes + #lane)),
                None if self.is_pointer(local) => {
                    let array = self.variable(local);
                    return (flat(local, mixed!((&mut #array))), index.clone());
                }
                None => {
                    let array = self.local(local).to_token_stream();
                    return (flat(local, array), index.clone());
                }
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
