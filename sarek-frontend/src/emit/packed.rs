//! IR as tokens: a static that holds its bytes.

use proc_macro2::{Literal, TokenStream};
use quote::quote;
use sarek_ir::Kernel;
use sarek_ir::packed::pack;

/// An expression of type `&'static Packed`; the IR crate is in scope as `__ir`.
pub fn kernel(kernel: &Kernel) -> TokenStream {
    let bytes = Literal::byte_string(&pack(kernel));
    quote!({
        static PACKED: __ir::Packed = __ir::Packed::new(
            ::core::file!(),
            #bytes,
            ::core::cfg!(debug_assertions),
        );
        &PACKED
    })
}
