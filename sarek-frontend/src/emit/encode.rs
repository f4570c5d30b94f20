//! Writes IR as tokens: a static that holds its bytes.

use proc_macro2::{Literal, Span, TokenStream};
use quote::quote;
use sarek_ir::Kernel;
use sarek_ir::encode::pack;

use crate::lower::file_of;

/// An expression of type `&'static EncodedKernel`; the IR crate is in scope as `__ir`.
pub fn kernel(kernel: &Kernel) -> TokenStream {
    let bytes = Literal::byte_string(&pack(kernel));
    let file = file();
    quote!({
        static PACKED: __ir::EncodedKernel = __ir::EncodedKernel::new(
            #file,
            #bytes,
            ::core::cfg!(debug_assertions),
        );
        &PACKED
    })
}

/// The path of the file that contains `#[kernel]`. `file!()` would give the file of the outermost
/// macro call, to which the line numbers do not belong.
pub(super) fn file() -> TokenStream {
    match file_of(Span::call_site()) {
        Some(file) => quote!(#file),
        None => quote!(::core::file!()),
    }
}
