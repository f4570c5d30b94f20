//! The macros of sarek; everything behind them is in `sarek-frontend`.

use proc_macro::TokenStream;

/// Makes a function a kernel: see the crate `sarek`.
///
/// Options: `block = 256`, `block = (16, 16)` or `block = (8, 8, 4)` fixes the block size;
/// `crate = path` says how the crate `sarek` is called where the kernel stands.
#[proc_macro_attribute]
pub fn kernel(attribute: TokenStream, item: TokenStream) -> TokenStream {
    sarek_frontend::expand::kernel(attribute.into(), item.into())
        .tokens
        .into()
}

/// Text in targets' own languages, as a statement of a kernel.
///
/// `native!("cuda", "y[{i}] = __ldg(&x[{i}]);")` is emitted verbatim by that target, `{name}`
/// replaced by the kernel's variable; `{{` and `}}` are braces. With several targets and a Rust
/// fallback: `native! { "cuda" => "…", "opencl" => "…", _ => { rust } }`. Like `asm!` it stands in
/// `unsafe`.
#[proc_macro]
pub fn native(tokens: TokenStream) -> TokenStream {
    sarek_frontend::expand::stray_native(tokens.into()).into()
}

/// A body, and a barrier after it, as a statement of a kernel: `superstep! { tile[t] = x[i]; }`.
///
/// Names that are bound in the body are known in it alone.
#[proc_macro]
pub fn superstep(tokens: TokenStream) -> TokenStream {
    sarek_frontend::expand::stray_superstep(tokens.into()).into()
}
