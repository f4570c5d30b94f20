//! Attributes in a body. The body is lowered as it is written, so that one that changes the code, such
//! as `#[cfg]`, must not stand in it.

use syn::spanned::Spanned;
use syn::visit::Visit;

use crate::diagnostics::{Errors, codes};

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
            self.errors.unsupported(
                codes::ATTRIBUTE,
                attr.span(),
                "this attribute is",
                "remove it",
            );
        }
    }
}

/// The attribute that carries the number of a marked node, see [`crate::emit::reference`].
pub const MARK: &str = "__sarek_mark";

/// The number of a marked node.
pub(crate) fn mark_of(attrs: &[syn::Attribute]) -> Option<u32> {
    attrs.iter().find_map(|attr| match &attr.meta {
        syn::Meta::List(list) if list.path.is_ident(MARK) => {
            list.parse_args::<syn::LitInt>().ok()?.base10_parse().ok()
        }
        syn::Meta::List(_) | syn::Meta::Path(_) | syn::Meta::NameValue(_) => None,
    })
}
