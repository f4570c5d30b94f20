//! Checks the attributes in a body. The body is lowered as it is written, so an attribute that
//! changes the code, such as `#[cfg]`, is not allowed in it.

use syn::visit::{self, Visit};

use super::resolve::suggest::nearest;
use crate::diagnostics::{Errors, codes};
use crate::parse::{NativeCall, StdCall, is_native};
use crate::tokens::range::Ranged;

/// Lint levels and documentation, which do not change the code.
const HARMLESS: [&str; 5] = ["allow", "expect", "warn", "deny", "doc"];

/// The hint for loops.
const UNROLL: &str = "unroll";

/// True for a lint level or documentation.
pub(crate) fn is_harmless(attr: &syn::Attribute) -> bool {
    HARMLESS.iter().any(|name| attr.path().is_ident(name))
}

/// True for the hint for loops.
pub(crate) fn is_unroll(attr: &syn::Attribute) -> bool {
    attr.path().is_ident(UNROLL)
}

/// Reports all attributes except lint levels, documentation and the hints of loops.
pub(super) fn check(block: &syn::Block, errors: &mut Errors) {
    let hints = 0;
    Checker { errors, hints }.visit_block(block);
}

struct Checker<'e> {
    errors: &'e mut Errors,
    /// The number of hints to visit next that belong to a loop.
    hints: usize,
}

impl Checker<'_> {
    /// The visitor reaches a loop's attributes before the rest of the loop.
    fn at_loop(&mut self, attrs: &[syn::Attribute]) {
        self.hints = attrs.iter().filter(|attr| is_unroll(attr)).count();
    }

    fn report(&mut self, attr: &syn::Attribute) {
        let name = attr.path().get_ident().map(ToString::to_string);
        let name = name.unwrap_or_default();
        let known = HARMLESS.into_iter().chain([UNROLL]);
        let instead = match (name.as_str(), nearest(&name, known)) {
            ("cfg" | "cfg_attr", _) => {
                "put `#[cfg]` before the whole kernel, or test a `const` that `#[cfg]` selects"
                    .into()
            }
            ("inline" | "cold", _) => "remove it: calls in a kernel are inlined".into(),
            (_, Some(near)) => format!("did you mean `#[{near}]`?"),
            (_, None) => "remove it".into(),
        };
        self.errors.unsupported(
            codes::ATTRIBUTE,
            attr.range(),
            "this attribute is",
            &instead,
        );
    }
}

impl<'ast> Visit<'ast> for Checker<'_> {
    fn visit_attribute(&mut self, attr: &'ast syn::Attribute) {
        if is_unroll(attr) {
            if self.hints == 0 {
                self.errors.at(
                    codes::UNROLL,
                    attr.range(),
                    "`#[unroll]` is not on a loop",
                    "write it right before `for`, `while` or `loop`, before a label",
                );
            }
            self.hints = self.hints.saturating_sub(1);
            return;
        }
        if !is_harmless(attr) && mark_of(std::slice::from_ref(attr)).is_none() {
            self.report(attr);
        }
    }

    fn visit_expr_for_loop(&mut self, e: &'ast syn::ExprForLoop) {
        self.at_loop(&e.attrs);
        visit::visit_expr_for_loop(self, e);
    }

    fn visit_expr_while(&mut self, e: &'ast syn::ExprWhile) {
        self.at_loop(&e.attrs);
        visit::visit_expr_while(self, e);
    }

    fn visit_expr_loop(&mut self, e: &'ast syn::ExprLoop) {
        self.at_loop(&e.attrs);
        visit::visit_expr_loop(self, e);
    }

    /// Checks the code in a macro that kernels support.
    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        if is_native(mac)
            && let Ok(call) = mac.parse_body::<NativeCall>()
        {
            let operands = call.operands.iter();
            operands.for_each(|(_, operand)| check_expr(operand, self.errors));
            call.fallback
                .iter()
                .for_each(|block| check(block, self.errors));
        } else if let Some(Ok(call)) = StdCall::of(mac) {
            let said = call.said.iter().flat_map(|said| &said.args);
            let args = said.map(|(_, expr)| expr);
            let each = call.tested.iter().chain(args);
            each.for_each(|expr| check_expr(expr, self.errors));
        }
    }
}

fn check_expr(expr: &syn::Expr, errors: &mut Errors) {
    let hints = 0;
    Checker { errors, hints }.visit_expr(expr);
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
