//! Expands and lowers kernels from text, without rustc.

use sarek_frontend::expand::{Expansion, kernel};

/// Expands `#[kernel] source`.
#[allow(dead_code)]
pub fn expand(source: &str) -> Expansion {
    let item = source.parse().expect("the source is tokens");
    kernel(proc_macro2::TokenStream::new(), item)
}

/// The IR text of a body, in a kernel with these arguments.
#[allow(dead_code)]
pub fn body(arguments: &str, body: &str) -> String {
    let kernel = lowered(&format!("unsafe fn k({arguments}) {{ {body} }}"));
    kernel
        .unwrap_or_else(|errors| panic!("errors: {errors:?}"))
        .to_string()
}

/// Lowers and checks `#[kernel] source`.
#[allow(dead_code)]
pub fn lowered(source: &str) -> Result<sarek_ir::Kernel, Vec<String>> {
    let item = source.parse().expect("the source is tokens");
    sarek_frontend::expand::lowered(proc_macro2::TokenStream::new(), item)
}

/// Expands `#[device] source`.
#[allow(dead_code)]
pub fn device(source: &str) -> Expansion {
    let item = source.parse().expect("the source is tokens");
    sarek_frontend::expand::device(proc_macro2::TokenStream::new(), item)
}

/// True if a message begins like this after its code.
#[allow(dead_code)]
pub fn begins(message: &str, start: &str) -> bool {
    let code = sarek_frontend::diagnostics::Code::of(message);
    let what = message.split_once(": ").map(|(_, what)| what);
    code.is_some() && what.is_some_and(|what| what.starts_with(start))
}

/// Asserts that a kernel has races, and no other errors.
#[allow(dead_code)]
#[track_caller]
pub fn races(source: &str) {
    let errors = lowered(source).err().unwrap_or_default();
    let fits = |e: &String| {
        begins(e, "two threads may use the same element")
            || begins(e, "two threads of a block may use the same element")
    };
    assert!(
        !errors.is_empty() && errors.iter().all(fits),
        "{source}: {errors:#?}"
    );
}
