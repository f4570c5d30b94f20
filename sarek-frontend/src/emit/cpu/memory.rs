//! Accesses to memory: slices, shared arrays, arrays of lanes.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, format_ident, quote_spanned};
use sarek_ir::{Access, Length, LocalId, Memory, ParamId, SharedId};

use super::names::param_name;
use super::{Writer, mixed};

/// The kind of access to an element.
#[derive(Clone, Copy)]
enum Way {
    Read,
    Written,
}

impl Writer<'_> {
    /// The number of elements.
    pub fn len(&self, memory: Memory, span: Span) -> TokenStream {
        match memory {
            Memory::Slice(param) => {
                let (owner, param) = (self.slices(param), param_name(param));
                quote_spanned!(span=> #owner::len(#param))
            }
            Memory::Shared(shared) => {
                let shared = shared_name(shared);
                quote_spanned!(span=> <[_]>::len(#shared))
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

    /// The same in a type. There, a generic body cannot name its own constants.
    pub fn type_length(&self, len: Length) -> TokenStream {
        match len {
            Length::Link(link) if self.is_open(len) => {
                let value = &self.lowered.links[link.index()];
                mixed!({ #value })
            }
            Length::Fixed(_) | Length::Link(_) | Length::Launch(_) => self.const_length(len),
        }
    }

    /// The lengths of a local array in the compiled body, outermost first. Arrays are stored flat,
    /// so there is one length. An array of several dimensions in a generic body stays nested, since
    /// no type can have a product of parameters as its length.
    pub fn lengths(&self, local: LocalId) -> Vec<Length> {
        let Some((_, len)) = self.kernel.array(local) else {
            return vec![];
        };
        match self.lowered.arrays.get(&local) {
            Some(dims) if self.is_open(len) => dims.clone(),
            Some(_) | None => vec![len],
        }
    }

    /// Nests `inner` as `[inner; n]` for each length of a local array: builds its type from the
    /// element type, or its value from an element.
    pub fn nested(&self, local: LocalId, inner: TokenStream) -> TokenStream {
        let lengths = self.lengths(local).into_iter().rev();
        lengths.fold(inner, |inner, len| {
            let len = self.type_length(len);
            mixed!([#inner; #len])
        })
    }

    /// A slice of a whole array for a callee; `of` is the slice's type. A flat array of several
    /// dimensions becomes a slice of rows.
    pub fn rows(&self, memory: Memory, of: &TokenStream, lent: TokenStream) -> TokenStream {
        match self.row(memory) {
            Some(row) => mixed!(#of::rows::<#row>(#lent)),
            None => lent,
        }
    }

    /// The row type of a flat array of several dimensions.
    fn row(&self, memory: Memory) -> Option<TokenStream> {
        let dims = match memory {
            Memory::Local(local) if self.lengths(local).len() > 1 => return None,
            Memory::Local(local) => self.lowered.arrays.get(&local)?,
            Memory::Shared(shared) => self.lowered.shared_dims.get(&shared)?,
            Memory::Slice(_) | Memory::Table(_) => return None,
        };
        let [_, inner @ ..] = &dims[..] else {
            return None;
        };
        inner
            .iter()
            .rev()
            .fold(None, |row: Option<TokenStream>, len| {
                let len = self.type_length(*len);
                let row = row.unwrap_or_else(|| mixed!(_));
                Some(mixed!([#row; #len]))
            })
    }

    /// The type whose methods access a slice parameter.
    pub fn slices(&self, param: ParamId) -> TokenStream {
        match (self.is_output(param), self.is_given_slices()) {
            (true, true) => mixed!(__host::Slices),
            (true, false) => mixed!(__host::RawSliceMut),
            (false, _) => mixed!(<[_]>),
        }
    }

    /// Reads the element.
    pub fn load(&self, memory: Memory, index: &TokenStream) -> TokenStream {
        if let Some(place) = self.place_by_index(memory, index) {
            return place;
        }
        let (array, index) = self.element(memory, index, Way::Read);
        let of = self.functions_of(memory);
        mixed!(*#of::get_unchecked(#array, #index))
    }

    /// Stores `__value` in the element.
    pub fn store(&self, memory: Memory, index: &TokenStream) -> TokenStream {
        if let Some(place) = self.place_by_index(memory, index) {
            return mixed!(#place = __value;);
        }
        let (array, index) = self.element(memory, index, Way::Written);
        match memory {
            Memory::Slice(_) => mixed!(__host::RawSliceMut::set(#array, #index, __value);),
            Memory::Shared(_) | Memory::Local(_) => {
                let of = self.functions_of(memory);
                mixed!(*#of::get_unchecked_mut(#array, #index) = __value;)
            }
            Memory::Table(_) => unreachable!("nothing is stored to constants"),
        }
    }

    /// A pointer to the element, for storing a part of it.
    pub fn element_place(&self, memory: Memory, index: &TokenStream) -> TokenStream {
        if let Some(place) = self.place_by_index(memory, index) {
            return mixed!((&raw mut #place));
        }
        let (array, index) = self.element(memory, index, Way::Written);
        match memory {
            Memory::Slice(_) => mixed!(__host::RawSliceMut::place(#array, #index)),
            Memory::Shared(_) | Memory::Local(_) => {
                let of = self.functions_of(memory);
                mixed!((&raw mut *#of::get_unchecked_mut(#array, #index)))
            }
            Memory::Table(_) => unreachable!("nothing is stored to constants"),
        }
    }

    /// The type or module with the functions that access an element.
    fn functions_of(&self, memory: Memory) -> TokenStream {
        match memory {
            Memory::Slice(param) if self.is_output(param) => mixed!(__host::RawSliceMut),
            // These functions take an array, not any slice, because rustc may not know the type
            // yet.
            Memory::Local(local)
                if self.lanes_of(local).is_none() && self.lengths(local).len() == 1 =>
            {
                mixed!(__host::array)
            }
            Memory::Slice(_) | Memory::Shared(_) | Memory::Local(_) | Memory::Table(_) => {
                mixed!(<[_]>)
            }
        }
    }

    /// True if a slice parameter is an `Output` to the lane.
    fn is_output(&self, param: ParamId) -> bool {
        match self.kernel.access(Memory::Slice(param)) {
            Access::Read => self.is_function,
            Access::Write => true,
            Access::Atomic => false,
        }
    }

    /// The array, as slice functions take it, and the index in it.
    fn element(&self, memory: Memory, index: &TokenStream, way: Way) -> (TokenStream, TokenStream) {
        let (array, index) = match memory {
            Memory::Slice(param) => return (self.slice_of_lane(param), index.clone()),
            Memory::Shared(shared) => (shared_name(shared), index.clone()),
            Memory::Table(_) => unreachable!("constants are named by links"),
            Memory::Local(local) => match self.lanes_of(local) {
                Some((array, lane, lanes)) => (array, mixed!(#index * #lanes + #lane)),
                None => {
                    let array = self.variable(local);
                    // If only a pointer to the array is known, any other reference might cover more
                    // than there is.
                    let (array, flat) = match way {
                        Way::Read if !self.is_pointer(local) => {
                            (mixed!(&#array), mixed!(__host::flat))
                        }
                        Way::Read | Way::Written => (mixed!(&mut #array), mixed!(__host::flat_mut)),
                    };
                    let outer = self.lengths(local).into_iter().skip(1);
                    let array = outer.fold(array, |array, _| mixed!(#flat(#array)));
                    return (array, index.clone());
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
