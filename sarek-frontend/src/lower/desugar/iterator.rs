//! Iterators over slices, arrays and ranges, as loops over positions.
//!
//! `for (k, v) in x.iter().enumerate().rev() { … }` is a loop over `0..x.len()`, at the head of which `k` and `v` get their
//! values. A method that ends a chain, such as `sum`, is such a loop around an accumulator. The code of closures stands at the
//! head of the loop, so it runs once for each item, in Rust's order. Chains for which that order would differ are refused.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use sarek_ir::Memory;
use syn::spanned::Spanned;

use super::iterator_ends::ENDS;
use crate::diagnostics::codes;
use crate::lower::calls::option_closures::callable;
use crate::lower::memory::array::peeled;
use crate::lower::template::called;
use crate::lower::{Lowerer, Value};
use crate::tokens::mixed_at;

/// An iterator, as the code of a loop.
pub(super) struct Chain {
    /// Statements before the loop.
    pub(super) before: TokenStream,
    head: Head,
    /// Statements at the head of the body, which give each item its name.
    items: TokenStream,
    pub(super) item: Item,
    /// True once a closure runs for each item.
    runs_code: bool,
    /// True once some items are left out.
    filtered: bool,
    /// True once the items are copies of the elements.
    copied: bool,
}

/// The positions of a loop.
enum Head {
    /// A range, with its adapters.
    Range(TokenStream),
    /// The number of positions, and the steps from a position of the loop to one of the source, the first step last.
    Indexed { len: Ident, steps: Vec<TokenStream> },
}

/// The way in which an iterator takes its source.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lent {
    /// `for v in a`, `a.into_iter()`
    ByValue,
    /// `for v in &a`, `a.iter()`
    Shared,
    /// `for v in &mut a`, `a.iter_mut()`
    Mutably,
}

/// An item, as the source of its patterns.
pub(super) enum Item {
    /// A name.
    One(Ident),
    /// A name for `&mut` of an element.
    Place(Ident),
    /// A name for a part of a slice, which only `for` loops can take.
    Part(Ident),
    /// A tuple of items.
    Pair(Box<Item>, Box<Item>),
}

impl Lowerer<'_> {
    /// A `for` loop over an iterator other than a plain range. `None` for a plain range.
    pub(in crate::lower) fn for_each_item(&mut self, e: &syn::ExprForLoop) -> Option<Value> {
        if !self.is_iterator(&e.expr, true) {
            return None;
        }
        let before = self.errors.count();
        let Some(chain) = self.chain_of(&e.expr) else {
            if self.errors.count() > before {
                self.bind_error_types(&e.pat);
            }
            return Some(Value::Unit);
        };
        let mut bound = TokenStream::new();
        bind(&e.pat, &chain.item, &mut bound);
        let body = syn::Stmt::Expr(
            syn::Expr::Block(syn::ExprBlock {
                attrs: vec![],
                label: None,
                block: e.body.clone(),
            }),
            None,
        );
        let mut made = looped(&chain, &bound, e.for_token.span);
        made.attrs.clone_from(&e.attrs);
        made.label.clone_from(&e.label);
        made.body.stmts.push(body);
        let setup = &chain.before;
        let mut all: syn::Block = syn::parse_quote!({ #setup });
        all.stmts
            .push(syn::Stmt::Expr(syn::Expr::ForLoop(made), None));
        Some(self.scoped_block(&all))
    }

    /// True for a chain that begins at a slice, an array or a range. A plain range under `rev` and `step_by` is none if it
    /// is what a `for` loop runs over.
    pub(super) fn is_iterator(&mut self, expr: &syn::Expr, of_loop: bool) -> bool {
        match peeled(expr) {
            syn::Expr::Range(_) => !of_loop,
            syn::Expr::MethodCall(call) => {
                let name = call.method.to_string();
                match name.as_str() {
                    "iter" | "iter_mut" | "into_iter" if call.args.is_empty() => {
                        self.is_sequence(&call.receiver)
                            || matches!(peeled(&call.receiver), syn::Expr::Range(_))
                    }
                    "windows" | "chunks_exact" if call.args.len() == 1 => {
                        self.is_sequence(&call.receiver)
                    }
                    "rev" | "step_by" => self.is_iterator(&call.receiver, of_loop),
                    end if ENDS.contains(&end) => false,
                    _ => self.is_iterator(&call.receiver, false),
                }
            }
            other => of_loop && self.is_sequence(other),
        }
    }

    /// True for a slice, an array, or a part of one.
    fn is_sequence(&mut self, expr: &syn::Expr) -> bool {
        let of = match peeled(expr) {
            syn::Expr::Reference(e) => peeled(&e.expr),
            other => other,
        };
        self.find_memory(of).is_some()
            || self.find_sub_slice(of).is_some()
            || self.is_sub_slice(of)
            || self.yields_array(of)
            || self.length_of_name(of).is_some()
    }

    /// A name for desugared code.
    pub(super) fn made(&mut self, what: &str, span: Span) -> Ident {
        self.made_names += 1;
        format_ident!("__{what}{}", self.made_names, span = mixed_at(span))
    }

    /// The chain as a loop. `None` if it is not supported, which is reported.
    pub(super) fn chain_of(&mut self, expr: &syn::Expr) -> Option<Chain> {
        let expr = peeled(expr);
        let span = expr.span();
        match expr {
            syn::Expr::Range(range) => {
                let name = self.made("item", span);
                Some(Chain {
                    before: TokenStream::new(),
                    head: Head::Range(quote!(#range)),
                    items: quote_spanned!(mixed_at(span)=> let #name = __k;),
                    item: Item::One(name),
                    runs_code: false,
                    filtered: false,
                    copied: false,
                })
            }
            syn::Expr::MethodCall(call)
                if ["iter", "iter_mut", "into_iter"]
                    .iter()
                    .any(|n| call.method == n)
                    && call.args.is_empty() =>
            {
                match peeled(&call.receiver) {
                    range @ syn::Expr::Range(_) => self.chain_of(range),
                    of => {
                        if call.method != "into_iter" {
                            self.audit_source(of, call);
                        }
                        let lent = match call.method.to_string().as_str() {
                            "iter" => Lent::Shared,
                            "iter_mut" => Lent::Mutably,
                            _ => Lent::ByValue,
                        };
                        self.sequence(of, lent)
                    }
                }
            }
            syn::Expr::MethodCall(call)
                if ["windows", "chunks_exact"].iter().any(|n| call.method == n)
                    && call.args.len() == 1
                    && self.is_sequence(&call.receiver) =>
            {
                self.slice_parts(call)
            }
            syn::Expr::MethodCall(call) => {
                let chain = self.chain_of(&call.receiver)?;
                self.adapted(chain, call)
            }
            syn::Expr::Reference(e) => {
                let lent = match e.mutability {
                    Some(_) => Lent::Mutably,
                    None => Lent::Shared,
                };
                self.sequence(&e.expr, lent)
            }
            other => self.sequence(other, Lent::ByValue),
        }
    }

    /// The elements of a slice or array.
    fn sequence(&mut self, of: &syn::Expr, lent: Lent) -> Option<Chain> {
        let mutable = lent == Lent::Mutably;
        let (of, is_lent) = match peeled(of) {
            syn::Expr::Reference(e) => (peeled(&e.expr), true),
            other => (other, lent != Lent::ByValue),
        };
        let span = of.span();
        let (len, at) = (self.made("len", span), self.made("at", span));
        // An array by value is a copy, which the body of the loop cannot change.
        let is_copied = !is_lent && self.is_own_array(of);
        let is_name = matches!(of, syn::Expr::Path(_)) && !is_copied;
        let source = match is_name {
            true => quote!(#of),
            false => {
                let name = self.made("source", span);
                quote!(#name)
            }
        };
        let lent = match (is_name, mutable, self.is_sub_slice(of)) {
            (true, ..) => None,
            (false, true, _) => Some(quote_spanned!(mixed_at(span)=> &mut #of)),
            (false, false, true) => Some(quote_spanned!(mixed_at(span)=> &#of)),
            (false, false, false) => Some(quote!(#of)),
        };
        let named = lent.map(|lent| quote_spanned!(mixed_at(span)=> let #source = #lent;));
        let is_place = mutable || self.others_may_change(of);
        let what = if is_place { "place" } else { "lent" };
        let name = self.made(what, span);
        let borrow = match (mutable, is_place) {
            (true, _) => quote_spanned!(mixed_at(span)=> &mut),
            (false, true) => quote_spanned!(mixed_at(span)=> &),
            (false, false) => TokenStream::new(),
        };
        let length = called(syn::parse_quote!(#source), "len", &[], span.into());
        let before = quote_spanned!(mixed_at(span)=> #named let #len = #length;);
        let items = quote_spanned!(mixed_at(span)=> let #name = #borrow #source[#at];);
        let step = quote_spanned!(mixed_at(span)=> let #at = __p;);
        Some(Chain {
            before,
            head: Head::Indexed {
                len,
                steps: vec![step],
            },
            items,
            item: match is_place {
                true => Item::Place(name),
                false => Item::One(name),
            },
            runs_code: false,
            filtered: false,
            copied: false,
        })
    }

    /// Makes rustc check that the method which begins a chain is that of slices.
    fn audit_source(&mut self, of: &syn::Expr, call: &syn::ExprMethodCall) {
        if let Some((memory, _)) = self.find_memory(of)
            && self.rank(memory) == 1
        {
            self.audit_memory_method(memory, call);
        }
    }

    /// True for the name of an array of the thread's own.
    fn is_own_array(&mut self, of: &syn::Expr) -> bool {
        let memory = self.find_memory(of);
        memory.is_some_and(|(memory, _)| matches!(memory, Memory::Local(_)))
            || self.length_of_name(of).is_some()
    }

    /// `x.windows(n)` or `x.chunks_exact(n)`: parts of the slice.
    fn slice_parts(&mut self, call: &syn::ExprMethodCall) -> Option<Chain> {
        let span = call.method.span();
        let name = call.method.to_string();
        let (all, n, now) = (
            self.made("len", span),
            self.made("n", span),
            self.made("len", span),
        );
        let (source, part) = (self.made("source", span), self.made("part", span));
        let (of, wanted) = (peeled(&call.receiver), &call.args[0]);
        self.audit_source(of, call);
        let length = called(syn::parse_quote!(#source), "len", &[], span.into());
        let mut before =
            quote_spanned!(mixed_at(span)=> let #source = &#of[..]; let #all = #length;);
        before.extend(quote_spanned! {mixed_at(span)=>
            let #n: usize = #wanted;
            assert!(#n != 0, "the parts of a slice have no elements");
        });
        let (count, from) = match name.as_str() {
            "windows" => (
                quote_spanned!(mixed_at(span)=> if #n <= #all { #all - #n + 1 } else { 0 }),
                quote_spanned!(mixed_at(span)=> __p),
            ),
            _ => (
                quote_spanned!(mixed_at(span)=> #all / #n),
                quote_spanned!(mixed_at(span)=> __p * #n),
            ),
        };
        before.extend(quote_spanned!(mixed_at(span)=> let #now = #count;));
        let at = self.made("at", span);
        let step = quote_spanned!(mixed_at(span)=> let #at = #from;);
        Some(Chain {
            before,
            head: Head::Indexed {
                len: now,
                steps: vec![step],
            },
            items: quote_spanned!(mixed_at(span)=> let #part = &#source[#at..#at + #n];),
            item: Item::Part(part),
            runs_code: false,
            filtered: false,
            copied: false,
        })
    }

    /// The chain under one more adapter.
    fn adapted(&mut self, mut chain: Chain, call: &syn::ExprMethodCall) -> Option<Chain> {
        let (name, span) = (call.method.to_string(), call.method.span());
        let arguments: Vec<&syn::Expr> = call.args.iter().collect();
        let runs_code = !matches!(
            &*name,
            "rev" | "step_by" | "take" | "skip" | "enumerate" | "zip"
        );
        if runs_code && chain.item.has_part() {
            self.closure_over_parts(&name, span);
            return None;
        }
        let item = chain.item.value();
        match (name.as_str(), &*arguments, &mut chain.head) {
            ("copied" | "cloned", [], _) => chain.copied = true,
            ("by_ref" | "into_iter" | "iter", [], _) => {}
            ("rev", [], Head::Range(range)) if !chain.filtered && !chain.runs_code => {
                let of = std::mem::take(range);
                let rev = called(syn::parse_quote!((#of)), "rev", &[], span.into());
                *range = quote!(#rev);
            }
            ("rev", [], Head::Indexed { len, steps }) if !chain.filtered => {
                steps.push(quote_spanned!(mixed_at(span)=> let __p = #len - 1 - __p;));
            }
            ("step_by", [by], Head::Range(range)) if !chain.filtered && !chain.runs_code => {
                let of = std::mem::take(range);
                let stepped = called(syn::parse_quote!((#of)), "step_by", &[by], span.into());
                *range = quote!(#stepped);
            }
            ("take", [n], Head::Indexed { len, .. }) if !chain.filtered => {
                let (before, now) = (len.clone(), self.made("len", span));
                let wanted = self.made("n", span);
                chain.before.extend(quote_spanned! {mixed_at(span)=>
                    let #wanted: usize = #n;
                    let #now = if #wanted < #before { #wanted } else { #before };
                });
                *len = now;
            }
            ("skip", [n], Head::Indexed { len, steps }) if !chain.filtered && !chain.runs_code => {
                let (before, now) = (len.clone(), self.made("len", span));
                let left_out = self.made("n", span);
                chain.before.extend(quote_spanned! {mixed_at(span)=>
                    let #left_out: usize = #n;
                    let #now = if #left_out < #before { #before - #left_out } else { 0 };
                });
                steps.push(quote_spanned!(mixed_at(span)=> let __p = __p + #left_out;));
                *len = now;
            }
            ("step_by", [n], Head::Indexed { len, steps })
                if !chain.filtered && !chain.runs_code =>
            {
                let (before, now) = (len.clone(), self.made("len", span));
                let by = self.made("n", span);
                chain.before.extend(quote_spanned! {mixed_at(span)=>
                    let #by: usize = #n;
                    assert!(#by != 0, "the step of `step_by` is zero");
                    let #now = if #before == 0 { 0 } else { (#before - 1) / #by + 1 };
                });
                steps.push(quote_spanned!(mixed_at(span)=> let __p = __p * #by;));
                *len = now;
            }
            ("enumerate", [], Head::Indexed { steps, .. }) if !chain.filtered => {
                let at = self.made("place", span);
                steps.push(quote_spanned!(mixed_at(span)=> let #at = __p;));
                chain.item = Item::Pair(Box::new(Item::One(at)), Box::new(chain.item));
            }
            ("enumerate", [], _) => {
                let (count, at) = (self.made("count", span), self.made("place", span));
                chain
                    .before
                    .extend(quote_spanned!(mixed_at(span)=> let mut #count = 0usize;));
                chain
                    .items
                    .extend(quote_spanned!(mixed_at(span)=> let #at = #count; #count += 1;));
                chain.runs_code = true;
                chain.filtered = true;
                chain.item = Item::Pair(Box::new(Item::One(at)), Box::new(chain.item));
            }
            ("zip", [other], Head::Indexed { len, steps })
                if !chain.filtered && !chain.runs_code =>
            {
                let other = match self.is_iterator(other, true) {
                    true => self.chain_of(other)?,
                    false => return self.unsupported_chain(&name, span),
                };
                let Head::Indexed {
                    len: second,
                    steps: others,
                } = other.head
                else {
                    return self.unsupported_chain(&name, span);
                };
                if other.filtered || other.runs_code {
                    return self.unsupported_chain(&name, span);
                }
                let (first, now) = (len.clone(), self.made("len", span));
                let place = self.made("pair", span);
                chain.before.extend(other.before);
                chain.before.extend(quote_spanned! {mixed_at(span)=>
                    let #now = if #first < #second { #first } else { #second };
                });
                *len = now;
                // The steps of both begin at the same position.
                let others = others.into_iter().rev();
                steps.push(quote_spanned! {mixed_at(span)=>
                    let #place = __p; #(#others)* let __p = #place;
                });
                chain.items.extend(other.items);
                chain.item = Item::Pair(Box::new(chain.item), Box::new(other.item));
            }
            ("map", [f], _) => {
                let (f, made) = (callable(f), self.made("lent", span));
                chain
                    .items
                    .extend(quote_spanned!(mixed_at(span)=> let #made = #f(#item);));
                chain.item = Item::One(made);
                chain.runs_code = true;
            }
            ("inspect", [f], _) => {
                let f = callable(f);
                chain
                    .items
                    .extend(quote_spanned!(mixed_at(span)=> #f(#item);));
                chain.runs_code = true;
            }
            ("filter", [f], _) => {
                let f = callable(f);
                chain
                    .items
                    .extend(quote_spanned!(mixed_at(span)=> if !#f(#item) { continue; }));
                chain.runs_code = true;
                chain.filtered = true;
            }
            ("take_while", [f], _) => {
                let f = callable(f);
                chain
                    .items
                    .extend(quote_spanned!(mixed_at(span)=> if !#f(#item) { break; }));
                chain.runs_code = true;
                chain.filtered = true;
            }
            ("filter_map", [f], _) => {
                let (f, made) = (callable(f), self.made("lent", span));
                chain.items.extend(quote_spanned! {mixed_at(span)=>
                    let ::core::option::Option::Some(#made) = #f(#item) else { continue; };
                });
                chain.item = Item::One(made);
                chain.runs_code = true;
                chain.filtered = true;
            }
            _ => return self.unsupported_chain(&name, span),
        }
        Some(chain)
    }

    /// Reports a method that gives parts of a slice to a closure, or yields one.
    pub(super) fn closure_over_parts(&mut self, name: &str, span: Span) {
        let what = format!("`.{name}(…)` over parts of a slice is");
        let instead = "write a `for` loop over the parts, or loop over an index";
        self.errors
            .unsupported(codes::LOOP_RANGE, span, &what, instead);
    }

    fn unsupported_chain(&mut self, name: &str, span: Span) -> Option<Chain> {
        let (what, instead) = match name {
            "rev" | "take" | "skip" | "step_by" | "zip" => (
                format!("`.{name}(…)` here is"),
                "write it before `map` and `filter`, on an iterator over a slice or an array, or loop over an index",
            ),
            _ => (
                format!("`.{name}(…)` of an iterator is"),
                "use `map`, `filter`, `enumerate`, `zip`, `rev`, `take`, `skip` and `step_by`, or loop over an index",
            ),
        };
        self.errors
            .unsupported(codes::LOOP_RANGE, span, &what, instead);
        None
    }
}

impl Chain {
    /// True if the items refer to memory that other threads may change.
    pub(super) fn lends(&self) -> bool {
        !self.copied && self.item.is_place()
    }
}

impl Item {
    fn is_place(&self) -> bool {
        match self {
            Item::One(_) => false,
            Item::Place(_) | Item::Part(_) => true,
            Item::Pair(first, second) => first.is_place() || second.is_place(),
        }
    }

    /// True if closures cannot take the item.
    pub(super) fn has_part(&self) -> bool {
        match self {
            Item::One(_) | Item::Place(_) => false,
            Item::Part(_) => true,
            Item::Pair(first, second) => first.has_part() || second.has_part(),
        }
    }

    /// The item as one value.
    pub(super) fn value(&self) -> TokenStream {
        match self {
            Item::One(name) => quote!(#name),
            Item::Place(name) | Item::Part(name) => quote!(#name),
            Item::Pair(first, second) => {
                let (first, second) = (first.value(), second.value());
                quote!((#first, #second))
            }
        }
    }
}

/// The loop of a chain, with these statements after its items.
pub(super) fn looped(chain: &Chain, then: &TokenStream, span: Span) -> syn::ExprForLoop {
    let items = &chain.items;
    match &chain.head {
        Head::Range(range) => {
            syn::parse_quote_spanned!(mixed_at(span)=> for __k in (#range) { #items #then })
        }
        Head::Indexed { len, steps } => {
            let steps = steps.iter().rev();
            syn::parse_quote_spanned! {mixed_at(span)=>
                for __k in 0..#len { let __p = __k; #(#steps)* #items #then }
            }
        }
    }
}

/// Statements that bind a pattern to an item.
fn bind(pat: &syn::Pat, item: &Item, all: &mut TokenStream) {
    match (pat, item) {
        (syn::Pat::Paren(inner), item) => bind(&inner.pat, item, all),
        (syn::Pat::Wild(_), _) => {}
        (syn::Pat::Tuple(tuple), Item::Pair(first, second)) if tuple.elems.len() == 2 => {
            bind(&tuple.elems[0], first, all);
            bind(&tuple.elems[1], second, all);
        }
        (pat @ syn::Pat::Or(_), item) => {
            let value = item.value();
            all.extend(quote!(let (#pat) = #value;));
        }
        (pat, item) => {
            let (span, value) = (pat.span(), item.value());
            let bound = quote_spanned!(mixed_at(span)=> let #pat = #value;);
            all.extend(bound);
        }
    }
}
