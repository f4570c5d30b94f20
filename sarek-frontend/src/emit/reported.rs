//! Replaces code that has a reported error by the report itself.
//!
//! rustc still compiles a function with errors, so that the user sees its errors together with
//! ours. The smallest expression or type around each error becomes a `compile_error!`, whose type
//! fits everywhere. rustc therefore reports nothing twice. Editors see the function as it was
//! written.

use proc_macro2::{LineColumn, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::spanned::Spanned;
use syn::visit_mut::VisitMut;
use syn::{Block, Expr, FnArg, ItemFn, ReturnType, Signature, Stmt};

use crate::diagnostics::Errors;
use crate::lower::is_harmless;

/// The item as rustc must see it.
pub fn item(item: &ItemFn, errors: &Errors, krate: &TokenStream) -> ItemFn {
    let mut item = item.clone();
    in_function(&mut item.sig, &mut item.block, errors, krate);
    item
}

/// The same for a function that stays in its place. Its body has two versions, one for rustc and
/// one for editors.
pub fn with_editors(sig: &mut Signature, block: &mut Block, errors: &Errors, krate: &TokenStream) {
    let written = block.clone();
    in_function(sig, block, errors, krate);
    // Verbatim tokens, since syn cannot parse again all that it has parsed once.
    let both = quote! {
        #[cfg(rust_analyzer)]
        #written
        #[cfg(not(rust_analyzer))]
        #block
    };
    block.stmts = vec![Stmt::Expr(Expr::Verbatim(both), None)];
}

fn in_function(sig: &mut Signature, block: &mut Block, errors: &Errors, krate: &TokenStream) {
    let each = errors.iter();
    let each = each.map(|e| (e.span().start(), e.to_compile_error()));
    let mut reports = Reports {
        left: each.collect(),
        krate,
    };
    for input in &mut sig.inputs {
        if let FnArg::Typed(typed) = input {
            typed.attrs.clear();
        }
        reports.visit_fn_arg_mut(input);
    }
    // An error about the whole function may be that it returns nothing.
    if let ReturnType::Type(_, ty) = &sig.output
        && let Some(report) = reports.take(ty).or_else(|| reports.take(&sig.ident))
    {
        if let Some(Stmt::Expr(_, semi @ None)) = block.stmts.last_mut() {
            *semi = Some(Default::default());
        }
        block.stmts.push(Stmt::Expr(in_place(report), None));
    }
    reports.visit_block_mut(block);
}

/// The errors whose place was not found yet.
struct Reports<'a> {
    left: Vec<(LineColumn, TokenStream)>,
    krate: &'a TokenStream,
}

impl Reports<'_> {
    /// Removes and returns the report whose place is among these tokens.
    fn take(&mut self, tokens: &impl ToTokens) -> Option<TokenStream> {
        if self.left.is_empty() {
            return None;
        }
        let mut places = vec![];
        starts(tokens.to_token_stream(), &mut places);
        let is_here = |(at, _): &(LineColumn, TokenStream)| places.contains(at);
        let found = self.left.iter().position(is_here)?;
        let (_, report) = self.left.remove(found);
        // Drops the other reports at this place, which are emitted beside this one.
        self.left.retain(|other| !is_here(other));
        Some(report)
    }
}

impl VisitMut for Reports<'_> {
    /// Removes other attributes: they were reported, or are hints that rustc does not know.
    fn visit_attributes_mut(&mut self, attrs: &mut Vec<syn::Attribute>) {
        attrs.retain(is_harmless);
    }

    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        syn::visit_mut::visit_expr_mut(self, expr);
        let whole = match expr {
            // A report is no assignable place, so it replaces the whole assignment.
            Expr::Assign(assign) => match &*assign.left {
                Expr::Index(_) | Expr::Field(_) => None,
                left => reported([left]),
            },
            // The result type of an operator does not follow from one operand alone.
            Expr::Binary(binary) => reported([&*binary.left, &*binary.right]),
            // An excess argument is an error whatever its type.
            Expr::Call(call) => reported(&call.args),
            Expr::MethodCall(call) => reported(&call.args),
            _ => None,
        };
        if let Some(report) = self.take(expr) {
            *expr = in_place(report);
        } else if let Some(report) = whole {
            *expr = report;
        }
    }

    fn visit_arm_mut(&mut self, arm: &mut syn::Arm) {
        syn::visit_mut::visit_arm_mut(self, arm);
        arm.comma.get_or_insert_with(Default::default);
    }

    fn visit_local_mut(&mut self, local: &mut syn::Local) {
        syn::visit_mut::visit_local_mut(self, local);
        if let Some(init) = &mut local.init
            && let Some(report) = self.take(&local.pat)
        {
            *init.expr = in_place(report);
        }
    }

    fn visit_block_mut(&mut self, block: &mut Block) {
        syn::visit_mut::visit_block_mut(self, block);
        let last = block.stmts.len().saturating_sub(1);
        for (i, stmt) in block.stmts.iter_mut().enumerate() {
            match stmt {
                Stmt::Expr(expr, semi @ None) if i < last && is_report(expr) => {
                    *semi = Some(Default::default());
                }
                Stmt::Macro(mac) => {
                    if let Some(report) = self.take(&mac.mac) {
                        let semi = (i < last).then(Default::default).or(mac.semi_token);
                        *stmt = Stmt::Expr(in_place(report), semi);
                    }
                }
                Stmt::Local(_) | Stmt::Item(_) | Stmt::Expr(..) => {}
            }
        }
    }

    fn visit_item_mut(&mut self, _: &mut syn::Item) {}

    fn visit_type_mut(&mut self, ty: &mut syn::Type) {
        syn::visit_mut::visit_type_mut(self, ty);
        if let Some(report) = self.take(ty) {
            // A `compile_error!` in type position would be the type `()`.
            let krate = self.krate;
            let unknown = quote!(#krate::__private::host::CheckedType<{ (#report) }, ()>);
            *ty = syn::Type::Verbatim(unknown);
        }
    }
}

/// A report as an expression that is valid in any position.
fn in_place(report: TokenStream) -> Expr {
    let span = report.span();
    let mac = Expr::Verbatim(report);
    syn::parse_quote_spanned!(span=> (#mac))
}

/// The report among these expressions, or in the expression that one of them starts with.
fn reported<'e>(among: impl IntoIterator<Item = &'e Expr>) -> Option<Expr> {
    among.into_iter().find_map(|expr| match expr {
        Expr::Index(part) => reported([&*part.expr]),
        Expr::Field(part) => reported([&*part.base]),
        Expr::MethodCall(call) => reported([&*call.receiver]),
        expr => is_report(expr).then(|| expr.clone()),
    })
}

fn is_report(expr: &Expr) -> bool {
    let mac = match expr {
        Expr::Paren(inner) => match &*inner.expr {
            Expr::Macro(mac) => &mac.mac,
            _ => return false,
        },
        _ => return false,
    };
    mac.path
        .segments
        .last()
        .is_some_and(|last| last.ident == "compile_error")
}

/// Collects the positions where tokens begin, including tokens inside groups.
fn starts(tokens: TokenStream, into: &mut Vec<LineColumn>) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => {
                into.push(group.span_open().start());
                starts(group.stream(), into);
            }
            other => into.push(other.span().start()),
        }
    }
}
