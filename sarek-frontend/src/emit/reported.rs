//! What rustc is given in place of what was reported: the report itself.
//!
//! A function with errors is kept, so that rustc finds what only it knows, all at once with what was reported. Where an error
//! stands, the smallest expression or type around it is the `compile_error!` itself, whose type fits everywhere; so rustc
//! repeats nothing. Editors have the function as it was written.

use proc_macro2::{LineColumn, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::spanned::Spanned;
use syn::visit_mut::VisitMut;
use syn::{Block, Expr, FnArg, ItemFn, ReturnType, Signature, Stmt};

use crate::diagnostics::Errors;
use crate::lower::is_harmless;

/// The item as rustc is to read it.
pub fn item(item: &ItemFn, errors: &Errors, krate: &TokenStream) -> ItemFn {
    let mut item = item.clone();
    in_function(&mut item.sig, &mut item.block, errors, krate);
    item
}

/// The same of a function that stays where it is: its body is that for rustc and that for editors.
pub fn with_editors(sig: &mut Signature, block: &mut Block, errors: &Errors, krate: &TokenStream) {
    let written = block.clone();
    in_function(sig, block, errors, krate);
    // Not read again: not all that syn has read once is understood twice.
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
    // What is wrong with the function as a whole may be that it yields nothing.
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
    /// The report that stands at one of these tokens, if there is one.
    fn take(&mut self, tokens: &impl ToTokens) -> Option<TokenStream> {
        if self.left.is_empty() {
            return None;
        }
        let mut places = vec![];
        starts(tokens.to_token_stream(), &mut places);
        let is_here = |(at, _): &(LineColumn, TokenStream)| places.contains(at);
        let found = self.left.iter().position(is_here)?;
        let (_, report) = self.left.remove(found);
        // Others here are told beside it.
        self.left.retain(|other| !is_here(other));
        Some(report)
    }
}

impl VisitMut for Reports<'_> {
    /// Others were reported, or are hints, which rustc does not know.
    fn visit_attributes_mut(&mut self, attrs: &mut Vec<syn::Attribute>) {
        attrs.retain(is_harmless);
    }

    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        syn::visit_mut::visit_expr_mut(self, expr);
        let whole = match expr {
            // A report is nothing to assign to.
            Expr::Assign(assign) => match &*assign.left {
                Expr::Index(_) | Expr::Field(_) => None,
                left => reported([left]),
            },
            // What an operator yields, one of its operands does not tell.
            Expr::Binary(binary) => reported([&*binary.left, &*binary.right]),
            // An argument too many is one, whatever its type.
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
            // As a type itself it would be `()`.
            let krate = self.krate;
            let unknown = quote!(#krate::__private::host::KnownType<{ (#report) }, ()>);
            *ty = syn::Type::Verbatim(unknown);
        }
    }
}

/// A report as an expression, wherever that stands.
fn in_place(report: TokenStream) -> Expr {
    let span = report.span();
    let mac = Expr::Verbatim(report);
    syn::parse_quote_spanned!(span=> (#mac))
}

/// The report among some expressions, or what one of them is a part of.
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

/// Where tokens begin, those in groups as well.
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
