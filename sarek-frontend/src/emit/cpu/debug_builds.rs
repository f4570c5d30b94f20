//! The code of debug builds.
//!
//! rustc inlines nothing there, so a call costs more than the operation that it stands for. This
//! code therefore indexes slices and arrays by `[]`, which rustc compiles to a test and an access.
//! Loops are `while` loops, since a range is advanced by a call. Integers are divided by operators.
//! A store through `[]` is safe code, so an index that was proved wrongly panics.
//!
//! The debug assertions of the user's crate select between this code and that of release builds.

use proc_macro2::{Ident, Span, TokenStream};
use quote::format_ident;
use sarek_ir::{Access, DivideOp, ExprId, LocalId, Memory, ParamId, ParamKind};

use super::memory::shared_name;
use super::names::{param_name, rust_type};
use super::{Writer, mixed};
use crate::parse::Shapes;

/// True if debug builds get the code of release builds as well. Tests of this workspace run that
/// code, see `.cargo/config.toml`.
fn are_alike() -> bool {
    option_env!("SAREK_BODIES") == Some("release")
}

/// An item or a block in the shapes that are asked for: those of the user's build if `None`.
pub fn by_build(shapes: Option<Shapes>, code: &dyn Fn(Shapes) -> TokenStream) -> TokenStream {
    match shapes {
        Some(shapes) => code(shapes),
        None if are_alike() => code(Shapes::default()),
        None => both(code),
    }
}

fn both(code: &dyn Fn(Shapes) -> TokenStream) -> TokenStream {
    let (release, debug) = (code(Shapes::default()), code(Shapes::debug()));
    mixed! {
        #[cfg(not(debug_assertions))]
        #release
        #[cfg(debug_assertions)]
        #debug
    }
}

impl Writer<'_> {
    /// Declares a pointer to the elements of each slice parameter that is no reference.
    pub fn raw_slices(&self) -> TokenStream {
        let params = (0..).map(ParamId).zip(self.kernel.params.iter());
        let raw = params.filter(|(param, _)| self.raw_slice(*param).is_some());
        let each = raw.map(|(param, _)| {
            let (raw, name) = (raw_name(param), param_name(param));
            mixed!(let #raw = __host::RawSliceMut::elements(#name);)
        });
        each.collect()
    }

    /// The pointer to the elements of a slice parameter, if one is declared.
    fn raw_slice(&self, param: ParamId) -> Option<Ident> {
        let access = match self.kernel.params[param.index()].kind {
            ParamKind::Slice { access, .. } => access,
            ParamKind::Scalar(_) | ParamKind::Value(_) | ParamKind::Reference(_) => return None,
        };
        let is_raw = match access {
            Access::Read => self.is_function,
            Access::Write => true,
            Access::Atomic => false,
        };
        (self.shapes.debug && !self.is_given_slices() && is_raw).then(|| raw_name(param))
    }

    /// The place `array[index]`. `None` in release builds, and where rustc may not know yet that
    /// the memory is an array.
    pub fn place_by_index(&self, memory: Memory, index: &TokenStream) -> Option<TokenStream> {
        if !self.shapes.debug {
            return None;
        }
        match memory {
            Memory::Slice(param) => match self.raw_slice(param) {
                Some(raw) => Some(mixed!((*#raw)[#index])),
                None if self.is_given_slices() => None,
                None => {
                    let name = param_name(param);
                    Some(mixed!(#name[#index]))
                }
            },
            Memory::Shared(shared) => {
                let name = shared_name(shared);
                Some(mixed!(#name[#index]))
            }
            Memory::Local(local) => match self.lanes_of(local) {
                Some((array, lane, lanes)) => Some(mixed!(#array[#index * #lanes + #lane])),
                None => {
                    let is_plain = self.lengths(local).len() == 1 && !self.is_foreign(local);
                    let array = is_plain.then(|| self.variable(local))?;
                    Some(mixed!(#array[#index]))
                }
            },
            Memory::Table(_) => unreachable!("constants are named by links"),
        }
    }

    /// The place of a lane's element in an array of lanes.
    pub fn of_lane(&self, array: &Ident, position: &TokenStream) -> TokenStream {
        match self.shapes.debug {
            true => mixed!(#array[#position]),
            false => mixed!(*<[_]>::get_unchecked(#array, #position)),
        }
    }

    /// The same, for writing.
    pub fn of_lane_mut(&self, array: &Ident, position: &TokenStream) -> TokenStream {
        match self.shapes.debug {
            true => mixed!(#array[#position]),
            false => mixed!(*<[_]>::get_unchecked_mut(#array, #position)),
        }
    }

    /// A division of `__dividend` by `__divisor` by an operator. `None` in release builds, and for
    /// other divisions than those of known integers.
    pub fn divided_by_operator(&self, op: DivideOp, lhs: ExprId) -> Option<TokenStream> {
        let ty = self.kernel.type_of(lhs).as_scalar()?;
        if !self.shapes.debug || !ty.is_int() {
            return None;
        }
        match op {
            DivideOp::Div => Some(mixed!((__dividend / __divisor))),
            DivideOp::Rem => Some(mixed!((__dividend % __divisor))),
            DivideOp::DivEuclid | DivideOp::RemEuclid => None,
        }
    }

    /// A counted loop of the user's as a `while` loop. `None` in release builds, and if only rustc
    /// knows the counter's type.
    pub fn counted(
        &self,
        label: &syn::Lifetime,
        local: LocalId,
        [start, end]: [&TokenStream; 2],
        body: &TokenStream,
    ) -> Option<TokenStream> {
        let ty = self.kernel.locals[local.index()].ty.as_scalar()?;
        if !self.shapes.debug {
            return None;
        }
        let (ty, name) = (rust_type(ty), self.local(local));
        // The counter is advanced before the body, which may continue.
        Some(mixed!({
            let (mut __next, __end): (#ty, #ty) = (#start, #end);
            #label: while __next < __end {
                let #name: #ty = __next;
                __next += 1;
                #body
            }
        }))
    }

    /// The loop over all lanes of a block.
    pub fn each_lane_in_turn(&self, body: TokenStream) -> TokenStream {
        super::tree::each_row(mixed! {
            let mut __next_x = 0;
            while __next_x < __lanes[0] {
                let __x = __next_x;
                __next_x += 1;
                let __thread = [__x, __y, __z];
                let __lane = __row + __x;
                #body
            }
        })
    }
}

fn raw_name(param: ParamId) -> Ident {
    format_ident!("__raw{}", param.0, span = Span::mixed_site())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_build_has_its_own_shapes() {
        let text = both(&|shapes| match shapes.debug {
            true => mixed!(
                fn debug() {}
            ),
            false => mixed!(
                fn release() {}
            ),
        });
        let text: String = text.to_string().split_whitespace().collect();
        let due = "#[cfg(not(debug_assertions))]fnrelease(){}#[cfg(debug_assertions)]fndebug(){}";
        assert_eq!(text, due);
    }

    #[test]
    fn shapes_that_are_asked_for_are_those_of_all_builds() {
        let text = by_build(Some(Shapes::debug()), &|shapes| {
            let debug = shapes.debug;
            mixed!(#debug)
        });
        assert_eq!(text.to_string(), "true");
    }
}
