//! `use` and `type` items in a body, written out where they are used.
//!
//! The code that a kernel becomes stands outside of its body, where such names are unknown. The user's function keeps them.

use std::collections::HashMap;

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::visit::Visit;
use syn::visit_mut::{self, VisitMut};

use crate::diagnostics::{Errors, codes};

/// The body without such items. Those that cannot be written out are reported.
pub fn written_out(body: &syn::Block, errors: &mut Errors) -> syn::Block {
    let mut found = Items(false);
    found.visit_block(body);
    let mut body = body.clone();
    if found.0 {
        let mut bound = Bound(vec![]);
        bound.visit_block(&body);
        let (bound, known) = (bound.0, HashMap::new());
        Writer {
            bound,
            known,
            errors,
        }
        .visit_block_mut(&mut body);
    }
    body
}

/// True once a body has such an item.
struct Items(bool);

impl Visit<'_> for Items {
    fn visit_item_use(&mut self, _: &syn::ItemUse) {
        self.0 = true;
    }

    fn visit_item_type(&mut self, _: &syn::ItemType) {
        self.0 = true;
    }
}

/// The names that patterns bind.
struct Bound(Vec<String>);

impl Visit<'_> for Bound {
    fn visit_pat_ident(&mut self, pat: &syn::PatIdent) {
        self.0.push(pat.ident.to_string());
        syn::visit::visit_pat_ident(self, pat);
    }
}

#[derive(Clone)]
enum Meaning {
    Path(syn::Path),
    Type(Box<syn::Type>),
}

struct Writer<'e> {
    bound: Vec<String>,
    known: HashMap<String, Meaning>,
    errors: &'e mut Errors,
}

impl Writer<'_> {
    /// Records the items of a block, and removes them.
    fn take_items(&mut self, block: &mut syn::Block) {
        let stmts = std::mem::take(&mut block.stmts);
        for stmt in stmts {
            match stmt {
                syn::Stmt::Item(syn::Item::Use(item)) => {
                    let start = syn::Path {
                        leading_colon: item.leading_colon,
                        segments: Default::default(),
                    };
                    self.import(&item.tree, &start);
                }
                syn::Stmt::Item(syn::Item::Type(item)) if item.generics.params.is_empty() => {
                    let mut ty = (*item.ty).clone();
                    self.visit_type_mut(&mut ty);
                    self.know(&item.ident, Meaning::Type(Box::new(ty)));
                }
                other => block.stmts.push(other),
            }
        }
    }

    fn import(&mut self, tree: &syn::UseTree, start: &syn::Path) {
        let with = |ident: &Ident| {
            let mut path = start.clone();
            path.segments.push(ident.clone().into());
            path
        };
        match tree {
            syn::UseTree::Path(path) => self.import(&path.tree, &with(&path.ident)),
            syn::UseTree::Name(name) if name.ident == "self" => {
                if let Some(last) = start.segments.last() {
                    self.know(&last.ident.clone(), Meaning::Path(start.clone()));
                }
            }
            syn::UseTree::Name(name) => self.know(&name.ident, Meaning::Path(with(&name.ident))),
            syn::UseTree::Rename(name) => {
                self.know(&name.rename, Meaning::Path(with(&name.ident)));
            }
            syn::UseTree::Group(group) => {
                for tree in &group.items {
                    self.import(tree, start);
                }
            }
            syn::UseTree::Glob(glob) => self.errors.unsupported(
                codes::NESTED_ITEM,
                glob.star_token.span(),
                "`use …::*` in a body is",
                "name what it imports, or write it outside of the kernel",
            ),
        }
    }

    fn know(&mut self, name: &Ident, meaning: Meaning) {
        let text = name.to_string();
        if text == "_" {
            return;
        }
        if self.bound.contains(&text) {
            self.errors.at(
                codes::NESTED_ITEM,
                name.span(),
                format!("`{text}` is the name of an item and of a variable in this body"),
                "rename one of them",
            );
        }
        self.known.insert(text, meaning);
    }

    /// The path of an imported name, with the place of the name.
    fn path_of(&self, name: &Ident) -> Option<syn::Path> {
        let mut path = match self.known.get(&name.to_string())? {
            Meaning::Path(path) => path.clone(),
            Meaning::Type(ty) => match &**ty {
                syn::Type::Path(ty) if ty.qself.is_none() => ty.path.clone(),
                _ => return None,
            },
        };
        for segment in &mut path.segments {
            segment.ident.set_span(name.span());
        }
        Some(path)
    }

    fn tokens(&self, tokens: TokenStream) -> TokenStream {
        let mut joined = false;
        let mut all = TokenStream::new();
        for token in tokens {
            let was_joined = joined;
            joined =
                matches!(&token, TokenTree::Punct(p) if p.as_char() == '.' || p.as_char() == ':');
            match token {
                TokenTree::Ident(ident) if !was_joined => match self.path_of(&ident) {
                    Some(path) => path.to_tokens(&mut all),
                    None => ident.to_tokens(&mut all),
                },
                TokenTree::Group(group) => {
                    let inner = self.tokens(group.stream());
                    let mut made = proc_macro2::Group::new(group.delimiter(), inner);
                    made.set_span(group.span());
                    made.to_tokens(&mut all);
                }
                other => other.to_tokens(&mut all),
            }
        }
        all
    }
}

impl VisitMut for Writer<'_> {
    fn visit_block_mut(&mut self, block: &mut syn::Block) {
        let outer = self.known.clone();
        self.take_items(block);
        visit_mut::visit_block_mut(self, block);
        self.known = outer;
    }

    fn visit_type_mut(&mut self, ty: &mut syn::Type) {
        if let syn::Type::Path(path) = ty
            && path.qself.is_none()
            && let Some(name) = path.path.get_ident()
            && let Some(Meaning::Type(of)) = self.known.get(&name.to_string())
        {
            *ty = (**of).clone();
            return;
        }
        visit_mut::visit_type_mut(self, ty);
    }

    fn visit_path_mut(&mut self, path: &mut syn::Path) {
        visit_mut::visit_path_mut(self, path);
        let (None, Some(first)) = (path.leading_colon, path.segments.first()) else {
            return;
        };
        let Some(mut full) = self.path_of(&first.ident) else {
            return;
        };
        if let Some(last) = full.segments.last_mut()
            && !first.arguments.is_empty()
        {
            last.arguments = first.arguments.clone();
        }
        let rest = std::mem::take(&mut path.segments).into_iter().skip(1);
        full.segments.extend(rest);
        *path = full;
    }

    fn visit_macro_mut(&mut self, mac: &mut syn::Macro) {
        mac.tokens = self.tokens(std::mem::take(&mut mac.tokens));
    }

    fn visit_attributes_mut(&mut self, _: &mut Vec<syn::Attribute>) {}
}
