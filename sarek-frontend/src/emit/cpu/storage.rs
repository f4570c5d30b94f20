//! Storage of a block besides the lanes' own locals: shared arrays, and arrays with an element for
//! each lane. It lies in memory of the processor thread, which reuses it for each block.

use proc_macro2::{Ident, Literal, TokenStream};
use sarek_ir::analysis::regions::Place;
use sarek_ir::{Length, LinkId, LocalId, SharedId};

use super::frame::Frame;
use super::memory::shared_name;
use super::{Writer, loops, mixed, subgroup};

/// An array, as a parameter of the function that runs the lanes.
pub struct Array {
    pub name: Ident,
    pub ty: TokenStream,
    /// The expression that provides the array.
    pub value: TokenStream,
}

impl Writer<'_> {
    /// The arrays of a block.
    pub fn arrays(&self, frame: &Frame<'_>) -> Vec<Array> {
        let shared = (0..self.kernel.shared.len() as u32).map(|i| self.shared(SharedId(i)));
        let mut arrays: Vec<Array> = shared.collect();
        for (name, elem, each) in self.lane_arrays(frame) {
            arrays.push(self.of_lanes(name, elem, each));
        }
        arrays
    }

    fn shared(&self, id: SharedId) -> Array {
        let array = &self.kernel.shared[id.index()];
        let written = &self.lowered.shared_types[id.index()];
        let elem = &match array.elem.as_scalar() {
            Some(_) => written.clone(),
            None => self.known_type(written),
        };
        let (ty, value) = match array.len {
            // A computed generic length cannot be part of a type.
            Length::Link(link) if self.is_formula(link) => {
                let len = self.const_length(array.len);
                (
                    mixed!([#elem]),
                    mixed!(<#elem as __host::KernelType>::__shared(__scratch, #len)),
                )
            }
            Length::Fixed(_) | Length::Link(_) => {
                let len = self.type_length(array.len);
                (
                    mixed!([#elem; #len]),
                    mixed!(<#elem as __host::KernelType>::__shared_array::<#len>(__scratch)),
                )
            }
            Length::Launch(len) => {
                let len = self.expr(len);
                (
                    mixed!([#elem]),
                    mixed!(<#elem as __host::KernelType>::__shared(__scratch, #len)),
                )
            }
        };
        Array {
            name: shared_name(id),
            ty,
            value,
        }
    }

    /// True if a constant is computed from the parameters of a generic kernel.
    fn is_formula(&self, link: LinkId) -> bool {
        let tokens = &self.lowered.links[link.index()];
        !self.lowered.parameters.declared.is_empty() && tokens.clone().into_iter().count() > 1
    }

    /// True if a length depends on the parameters of a generic kernel. No type can have a length
    /// computed from such a length.
    pub fn is_open(&self, len: Length) -> bool {
        matches!(len, Length::Link(_)) && !self.lowered.parameters.declared.is_empty()
    }

    /// An array with `each` elements for each lane, or with one if that is `None`.
    fn of_lanes(&self, name: Ident, elem: TokenStream, each: Option<Length>) -> Array {
        let block = self.kernel.block;
        let block = block.filter(|_| !each.is_some_and(|len| self.is_open(len)));
        let each = each.map_or_else(|| mixed!(1), |len| self.const_length(len));
        let (ty, value) = match block {
            Some(block) => {
                let threads = block.iter().map(|d| *d as u64).product();
                let threads = Literal::u64_unsuffixed(threads);
                fixed(&elem, &mixed!({ #threads * #each }))
            }
            None => (
                mixed!([#elem]),
                mixed!(__host::Scratch::slice::<#elem>(__scratch, __threads * #each)),
            ),
        };
        Array { name, ty, value }
    }

    /// Declares the values of several parts that live across regions. rustc infers their types,
    /// which determine the size of their memory.
    pub fn kept(&self, frame: &Frame<'_>) -> Option<TokenStream> {
        let writer = self.within(frame);
        let locals = (0..self.kernel.locals.len() as u32).map(LocalId);
        // The caller decides where a function's result lies.
        let own = self.kernel.result.filter(|_| self.is_given_slices());
        let kept = locals.filter(|local| writer.is_kept_whole(*local) && own != Some(*local));
        let lent = self.lent_to_calls();
        let each: Vec<TokenStream> = kept
            .map(|local| {
                let name = frame.array(local);
                match lent.contains(&local) {
                    true => mixed!(let #name = __host::LaneValues::new(__scratch, __threads);),
                    false => mixed!(let #name = __host::LaneValuesSoa::new(__scratch, __threads);),
                }
            })
            .collect();
        (!each.is_empty()).then(|| mixed!(#(#each)*))
    }

    /// For each array of lanes: the name, the element type, and the number of elements per lane if
    /// it is not one.
    fn lane_arrays(&self, frame: &Frame<'_>) -> Vec<(Ident, TokenStream, Option<Length>)> {
        let mut found = vec![];
        for (i, local) in self.kernel.locals.iter().enumerate() {
            let id = LocalId(i as u32);
            if frame.plan.place(id) == Place::Lanes && !self.within(frame).is_kept_whole(id) {
                if frame.rows.contains(&id) {
                    found.push((frame.array(id), self.local_type(id), None));
                    continue;
                }
                let elem = self.element_type(id, local);
                let each = self.kernel.array(id).map(|(_, len)| len);
                found.push((frame.array(id), elem, each));
            }
        }
        for mask in 0..frame.plan.tree.masks {
            let name = frame.mask_name(sarek_ir::analysis::regions::MaskId(mask));
            found.push((name, mixed!(__bool), None));
        }
        let more = loops::counters(self, frame)
            .into_iter()
            .chain(subgroup::arrays(self, frame));
        found.extend(more.map(|(name, elem)| (name, elem, None)));
        found
    }
}

fn fixed(elem: &TokenStream, len: &TokenStream) -> (TokenStream, TokenStream) {
    (
        mixed!([#elem; #len]),
        mixed!(__host::Scratch::array::<#elem, #len>(__scratch)),
    )
}
