//! Macros in a body.

use syn::spanned::Spanned;

use super::{Lowerer, Value};
use crate::parse::is_native;

impl Lowerer<'_> {
    pub(super) fn macro_call(&mut self, mac: &syn::Macro) -> Value {
        if is_native(mac) {
            return self.native(mac);
        }
        let name = mac.path.segments.last();
        let name = name.map_or_else(String::new, |s| s.ident.to_string());
        let instead = match name.as_str() {
            "matches" => return self.matches_macro(mac),
            "println" | "print" | "eprintln" | "dbg" => {
                "write what you want to see to a `&mut [T]`"
            }
            "assert" | "assert_eq" | "assert_ne" | "debug_assert" | "panic" | "unreachable"
            | "todo" => "write a flag to a `&mut [T]`",
            "superstep" => "its body is a sequence of statements",
            _ => "the only macro in a kernel is `native!`",
        };
        self.errors.at(
            mac.path.span(),
            format!("`{name}!` is not supported in a kernel yet: {instead}"),
        );
        Value::Never
    }
}
