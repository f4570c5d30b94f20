//! `#[cfg(…)]` inside of bodies.
//!
//! A macro cannot evaluate a condition, but rustc can: the expansion holds the item once for each outcome of its conditions,
//! and rustc keeps one of them.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::visit_mut::{self, VisitMut};

/// The most conditions of one item: each doubles the number of copies.
const MOST: usize = 4;

/// The copies of the item under these attributes, or `None` if its bodies have no conditions, or too many.
pub fn variants(item: &TokenStream, attribute: &TokenStream) -> Option<TokenStream> {
    let has_one = |tokens: &TokenStream| has_condition(tokens.clone());
    if !has_one(item) {
        return None;
    }
    let item: syn::Item = syn::parse2(item.clone()).ok()?;
    let mut found = Chooser::default();
    found.visit_bodies(&mut item.clone());
    let conditions = found.conditions;
    if conditions.is_empty() || conditions.len() > MOST {
        return None;
    }
    let copies = (0..1usize << conditions.len()).map(|choice| {
        let mut copy = item.clone();
        let mut chooser = Chooser {
            conditions: conditions.clone(),
            chosen: Some(choice),
        };
        chooser.visit_bodies(&mut copy);
        let tests =
            conditions
                .iter()
                .enumerate()
                .map(|(at, condition)| match choice >> at & 1 == 1 {
                    true => quote!(#condition),
                    false => quote!(not(#condition)),
                });
        quote!(#[cfg(all(#(#tests),*))] #attribute #copy)
    });
    Some(copies.collect())
}

/// True if some group of the tokens has `#[cfg`.
fn has_condition(tokens: TokenStream) -> bool {
    let mut hash = false;
    tokens.into_iter().any(|token| match token {
        proc_macro2::TokenTree::Punct(p) => {
            hash = p.as_char() == '#';
            false
        }
        proc_macro2::TokenTree::Group(group) => {
            let first = group.stream().into_iter().next();
            let is_cfg = matches!(&first, Some(proc_macro2::TokenTree::Ident(i)) if i == "cfg");
            let found = hash && is_cfg;
            hash = false;
            found || has_condition(group.stream())
        }
        proc_macro2::TokenTree::Ident(_) | proc_macro2::TokenTree::Literal(_) => {
            hash = false;
            false
        }
    })
}

/// Collects the conditions of statements, arms and fields, or keeps those of one choice.
#[derive(Default)]
struct Chooser {
    conditions: Vec<TokenStream>,
    chosen: Option<usize>,
}

impl Chooser {
    fn visit_bodies(&mut self, item: &mut syn::Item) {
        match item {
            syn::Item::Fn(function) => self.visit_block_mut(&mut function.block),
            syn::Item::Impl(block) => {
                for item in &mut block.items {
                    if let syn::ImplItem::Fn(function) = item {
                        self.visit_block_mut(&mut function.block);
                    }
                }
            }
            _ => {}
        }
    }

    /// True if the code with these attributes stays. Its conditions are removed.
    fn keeps(&mut self, attrs: &mut Vec<syn::Attribute>) -> bool {
        let mut stays = true;
        attrs.retain(|attr| {
            let (true, syn::Meta::List(list)) = (attr.path().is_ident("cfg"), &attr.meta) else {
                return true;
            };
            let text = list.tokens.to_string();
            let known = self.conditions.iter();
            let known = known
                .map(ToString::to_string)
                .position(|other| other == text);
            match (self.chosen, known) {
                (None, None) => self.conditions.push(list.tokens.to_token_stream()),
                (None, Some(_)) | (Some(_), None) => {}
                (Some(choice), Some(at)) => stays &= choice >> at & 1 == 1,
            }
            self.chosen.is_none()
        });
        stays
    }
}

impl VisitMut for Chooser {
    fn visit_block_mut(&mut self, block: &mut syn::Block) {
        block.stmts.retain_mut(|stmt| match stmt {
            syn::Stmt::Local(local) => self.keeps(&mut local.attrs),
            syn::Stmt::Macro(mac) => self.keeps(&mut mac.attrs),
            syn::Stmt::Item(item) => match attributes_of_item(item) {
                Some(attrs) => self.keeps(attrs),
                None => true,
            },
            syn::Stmt::Expr(expr, _) => match attributes(expr) {
                Some(attrs) => self.keeps(attrs),
                None => true,
            },
        });
        visit_mut::visit_block_mut(self, block);
    }

    fn visit_expr_match_mut(&mut self, e: &mut syn::ExprMatch) {
        e.arms.retain_mut(|arm| self.keeps(&mut arm.attrs));
        visit_mut::visit_expr_match_mut(self, e);
    }
}

fn attributes_of_item(item: &mut syn::Item) -> Option<&mut Vec<syn::Attribute>> {
    match item {
        syn::Item::Const(item) => Some(&mut item.attrs),
        syn::Item::Use(item) => Some(&mut item.attrs),
        syn::Item::Type(item) => Some(&mut item.attrs),
        _ => None,
    }
}

/// The attributes of an expression that may be a statement.
fn attributes(expr: &mut syn::Expr) -> Option<&mut Vec<syn::Attribute>> {
    use syn::Expr;
    match expr {
        // syn gives the attributes of a statement to the operand with which it begins.
        Expr::Assign(e) => attributes(&mut e.left),
        Expr::Binary(e) => attributes(&mut e.left),
        Expr::Cast(e) => attributes(&mut e.expr),
        Expr::Array(e) => Some(&mut e.attrs),
        Expr::Block(e) => Some(&mut e.attrs),
        Expr::Break(e) => Some(&mut e.attrs),
        Expr::Call(e) => Some(&mut e.attrs),
        Expr::Continue(e) => Some(&mut e.attrs),
        Expr::Field(e) => Some(&mut e.attrs),
        Expr::ForLoop(e) => Some(&mut e.attrs),
        Expr::If(e) => Some(&mut e.attrs),
        Expr::Index(e) => Some(&mut e.attrs),
        Expr::Loop(e) => Some(&mut e.attrs),
        Expr::Macro(e) => Some(&mut e.attrs),
        Expr::Match(e) => Some(&mut e.attrs),
        Expr::MethodCall(e) => Some(&mut e.attrs),
        Expr::Paren(e) => Some(&mut e.attrs),
        Expr::Path(e) => Some(&mut e.attrs),
        Expr::Return(e) => Some(&mut e.attrs),
        Expr::Struct(e) => Some(&mut e.attrs),
        Expr::Tuple(e) => Some(&mut e.attrs),
        Expr::Unary(e) => Some(&mut e.attrs),
        Expr::Unsafe(e) => Some(&mut e.attrs),
        Expr::While(e) => Some(&mut e.attrs),
        _ => None,
    }
}
