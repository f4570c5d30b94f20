//! Attributes in a body. The body is lowered as it is written, so that one that changes the code, such
//! as `#[cfg]`, must not stand in it.

use syn::spanned::Spanned;
use syn::visit::Visit;

use super::mark_of;
use crate::diagnostics::Errors;

/// Reports attributes other than lint levels and documentation, wherever they stand.
pub(super) fn check(block: &syn::Block, errors: &mut Errors) {
    Checker { errors }.visit_block(block);
}

struct Checker<'e> {
    errors: &'e mut Errors,
}

impl Visit<'_> for Checker<'_> {
    fn visit_attribute(&mut self, attr: &syn::Attribute) {
        const HARMLESS: [&str; 5] = ["allow", "expect", "warn", "deny", "doc"];
        let known = HARMLESS.iter().any(|l| attr.path().is_ident(l));
        if !known && mark_of(std::slice::from_ref(attr)).is_none() {
            self.errors
                .unsupported(attr.span(), "this attribute is", "remove it");
        }
    }
}
