//! Kernels from text, without rustc.

use sarek_frontend::expand::{Expansion, kernel};

/// Expands `#[kernel] source`.
pub fn expand(source: &str) -> Expansion {
    let item = source.parse().expect("the source is tokens");
    kernel(proc_macro2::TokenStream::new(), item)
}

/// The IR's text of a body, in a kernel with these arguments, without its frame.
#[allow(dead_code)]
pub fn body(arguments: &str, body: &str) -> String {
    let expansion = expand(&format!("unsafe fn k({arguments}) {{ {body} }}"));
    let kernel = expansion
        .kernel
        .unwrap_or_else(|| panic!("errors: {:?}", expansion.errors));
    kernel.to_string()
}
