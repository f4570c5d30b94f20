//! Methods that find elements of slices and arrays: `get`, `first`, `last`, `contains`, and `fill`; and `contains` of ranges.
//!
//! `if let Some(e) = y.get_mut(i)` is a test of the index, and `e` a name for the element. The analyses therefore see the
//! test as they see `if i < y.len()`.

use proc_macro2::Span;
use quote::{quote, quote_spanned};
use sarek_ir::analysis::contract::is_cooperative;
use sarek_ir::{BinaryOp, ExprId, Scalar, Value as Constant};
use syn::spanned::Spanned;

use crate::diagnostics::{Mistake, codes};
use crate::lower::memory::array::peeled;
use crate::lower::resolve::method_audit::{AutoRef, MethodAudit, Receiver};
use crate::lower::template::called;
use crate::lower::{Binding, Lowerer, Value};
use crate::tokens::mixed_at;

/// An element that was found to exist.
pub(in crate::lower) struct Element {
    /// The slice or array, by an expression without effects.
    of: syn::Expr,
    /// The index: a leaf.
    index: ExprId,
    /// True for `&mut`.
    mutable: bool,
}

impl Lowerer<'_> {
    /// Lowers a method that yields elements, or that visits all. `None` for another method.
    pub(in crate::lower) fn slice_search(&mut self, e: &syn::ExprMethodCall) -> Option<Value> {
        let (of, span) = (&*e.receiver, e.method.span());
        let len = called(of.clone(), "len", &[], span.into());
        let some = quote_spanned!(mixed_at(span)=> ::core::option::Option::Some);
        let none = quote_spanned!(mixed_at(span)=> ::core::option::Option::None);
        let arguments: Vec<&syn::Expr> = e.args.iter().collect();
        if ["get", "first", "last"].iter().any(|name| e.method == name)
            && self.others_may_change(of)
        {
            self.held_elements.push((e.method.to_string(), span));
        }
        let rust = match (e.method.to_string().as_str(), &*arguments) {
            ("get", [index]) if !matches!(peeled(index), syn::Expr::Range(_)) => {
                quote_spanned! {mixed_at(span)=> {
                    let __at: usize = #index;
                    if __at < #len { #some(#of[__at]) } else { #none }
                }}
            }
            ("first", []) => {
                quote_spanned!(mixed_at(span)=> if 0 < #len { #some(#of[0]) } else { #none })
            }
            ("last", []) => quote_spanned! {mixed_at(span)=> {
                let __len = #len;
                if 0 < __len { #some(#of[__len - 1]) } else { #none }
            }},
            ("contains", [wanted]) => {
                let wanted = referent(wanted);
                quote_spanned! {mixed_at(span)=> {
                    let __wanted = #wanted;
                    let mut __found = false;
                    for __k in 0..#len {
                        if #of[__k] == __wanted {
                            __found = true;
                            break;
                        }
                    }
                    __found
                }}
            }
            ("fill", [value]) => quote_spanned! {mixed_at(span)=> {
                let __value = #value;
                for __k in 0..#len {
                    #of[__k] = __value;
                }
            }},
            _ => return None,
        };
        Some(self.value(&syn::parse_quote!(#rust)))
    }

    /// Reports elements that were read where Rust makes a reference, in a kernel whose threads meet: the reference would see
    /// what another thread stored in the meantime.
    pub(in crate::lower) fn check_held_elements(&mut self) {
        const INSTEAD: &str = "copy the element at once: `if let Some(&v) = x.get(i)`, `x.iter().copied().max()`, or an index that is tested";
        let held = std::mem::take(&mut self.held_elements);
        if is_cooperative(&self.kernel) {
            for (name, span) in &held {
                self.errors.unsupported(
                    codes::SLICE_METHOD,
                    *span,
                    &format!("`{name}` of memory that threads change between barriers is"),
                    INSTEAD,
                );
            }
            return;
        }
        let Some((name, span)) = held.into_iter().next() else {
            return;
        };
        let message = Mistake::new(
            codes::SLICE_METHOD,
            format!("`{name}` of memory that is written, in a kernel that calls a function with barriers"),
            INSTEAD,
        )
        .to_string();
        let span = Span::mixed_site().located_at(span);
        let called = self.callees.iter().filter(|callee| !callee.is_self);
        let checks: Vec<_> = called
            .map(|callee| {
                let collective = callee.collective();
                quote_spanned!(mixed_at(span)=> ::core::assert!(!#collective, #message);)
            })
            .collect();
        self.checks.extend(checks);
    }

    /// A method of a part of a slice, or of its name. `None` for other receivers.
    pub(in crate::lower) fn part_method(&mut self, e: &syn::ExprMethodCall) -> Option<Value> {
        let (span, name) = (e.span(), e.method.to_string());
        let Some(part) = self.find_sub_slice(&e.receiver) else {
            if !self.is_sub_slice(&e.receiver) {
                return None;
            }
            let part = self.sub_slice(&e.receiver)?;
            self.scopes.push(Default::default());
            let named = syn::Ident::new("__part", mixed_at(span));
            self.bind_sub_slice(&named, part);
            let mut call = e.clone();
            *call.receiver = syn::parse_quote!(#named);
            let value = self.part_method(&call);
            self.scopes.pop();
            return value;
        };
        match (name.as_str(), e.args.len()) {
            ("len", 0) => Some(Value::Scalar(self.part_len(part))),
            ("is_empty", 0) => {
                let n = self.part_len(part);
                let zero = self.constant(Constant::Usize(0), span);
                Some(Value::Scalar(self.plain(
                    BinaryOp::Eq,
                    n,
                    zero,
                    span.into(),
                )))
            }
            _ => {
                if let Some(value) = self.slice_search(e) {
                    return Some(value);
                }
                let what = format!("the slice method `{name}` is");
                self.errors.unsupported(
                    codes::SLICE_METHOD,
                    e.method.span(),
                    &what,
                    "use `len`, `is_empty`, `get`, `first`, `last`, `contains`, loops and indexing",
                );
                Some(Value::Never)
            }
        }
    }

    /// The test of `let Some(name) = x.get(i)`, and the element. `None` for another pattern or value; `Some(None)` if a
    /// mistake was reported.
    #[allow(clippy::option_option)]
    pub(in crate::lower) fn element_tested(
        &mut self,
        pat: &syn::Pat,
        value: &syn::Expr,
    ) -> Option<Option<(ExprId, Element)>> {
        let syn::Expr::MethodCall(call) = peeled(value) else {
            return None;
        };
        let mutable = call.method == "get_mut";
        let (true, [index]) = (
            mutable || call.method == "get",
            &*call.args.iter().collect::<Vec<_>>(),
        ) else {
            return None;
        };
        held_name(pat)?;
        let memory = self.find_memory(&call.receiver);
        let is_part = self.find_sub_slice(&call.receiver).is_some();
        if matches!(peeled(index), syn::Expr::Range(_)) {
            return None;
        }
        match memory {
            Some((memory, _)) if self.rank(memory) == 1 => self.audit_memory_method(memory, call),
            Some(_) => return None,
            None if is_part => {}
            None => return None,
        }
        let span = call.method.span();
        let index = self.scalar(index);
        self.expect(index, Scalar::Usize);
        let index = self.reusable(index);
        let of = (*call.receiver).clone();
        let len = called(of.clone(), "len", &[], span.into());
        let test: syn::Expr = syn::parse_quote_spanned!(mixed_at(span)=> __x < #len);
        let test = match self.with_operands(&[index], span, &test) {
            Value::Scalar(test) => test,
            Value::Unit | Value::Never => return Some(None),
        };
        Some(Some((test, Element { of, index, mutable })))
    }

    /// Binds the name in `Some(name)` to an element that exists.
    pub(in crate::lower) fn bind_element(&mut self, pat: &syn::Pat, element: &Element) {
        let Some(Held::Name(name, by_value)) = held_name(pat) else {
            return;
        };
        let span = name.span();
        let Element { of, index, mutable } = element;
        let at = self.copy(*index);
        // Operands keep their names in the generated expression only.
        self.scopes.push(Default::default());
        let part = self.operand_subject(at);
        self.aliases.push(part);
        let alias = Binding::Part(self.aliases.len() - 1);
        self.bind(&syn::Ident::new("__at", mixed_at(span)), alias);
        let place: syn::Expr = syn::parse_quote_spanned!(mixed_at(span)=> #of[__at]);
        if *mutable || !by_value && self.others_may_change(of) {
            let place = self.place(&place);
            self.scopes.pop();
            if let Some(place) = place {
                self.bind_place(name, place);
            }
            return;
        }
        let value = self.scalar(&place);
        self.scopes.pop();
        if by_value {
            let local = self.local(&name.to_string(), self.ty(value), false);
            let init = Some(value);
            self.push(sarek_ir::Stmt::Let { local, init }, span);
            return self.bind(name, Binding::Local(local));
        }
        self.bind_referent(name, value);
    }

    /// `(a..b).contains(&v)`. `None` for another method.
    pub(in crate::lower) fn range_contains(
        &mut self,
        e: &syn::ExprMethodCall,
        range: &syn::ExprRange,
    ) -> Option<Value> {
        let (true, [wanted]) = (e.method == "contains", &*e.args.iter().collect::<Vec<_>>()) else {
            return None;
        };
        let (start, end) = (range.start.as_ref()?, range.end.as_ref()?);
        let wanted = referent(wanted);
        let span = e.method.span();
        let mut ids = self.operands(&[start, end, &wanted]);
        let of = self.ty(ids[2]);
        self.unify(of, self.ty(ids[0]), start.span());
        self.unify(of, self.ty(ids[1]), end.span());
        let inclusive = matches!(range.limits, syn::RangeLimits::Closed(_));
        let receiver = Receiver::Range {
            of,
            inclusive,
            adapters: vec![],
        };
        self.push_method_audit(MethodAudit::before(receiver, AutoRef::Not, e));
        for id in &mut ids {
            *id = self.reusable(*id);
        }
        let within = match inclusive {
            true => quote_spanned!(span=> __x <= __z && __z <= __y),
            false => quote_spanned!(span=> __x <= __z && __z < __y),
        };
        let within: syn::Expr = syn::parse_quote!(#within);
        Some(Value::Scalar(self.rust(&ids, span.into(), &within)))
    }
}

/// The name that `Some(…)` binds.
enum Held<'p> {
    /// A name, and true for `&name`.
    Name(&'p syn::Ident, bool),
    /// `_`
    Nothing,
}

/// The name in `Some(name)`, `Some(&name)` or `Some(_)`. `None` for other patterns.
fn held_name(pat: &syn::Pat) -> Option<Held<'_>> {
    let syn::Pat::TupleStruct(some) = pat else {
        return None;
    };
    let plain = |pat: &syn::PatIdent| {
        let first = pat.ident.to_string();
        pat.by_ref.is_none()
            && pat.mutability.is_none()
            && pat.subpat.is_none()
            && !first.starts_with(char::is_uppercase)
    };
    let (true, [inner]) = (
        some.path.is_ident("Some"),
        &*some.elems.iter().collect::<Vec<_>>(),
    ) else {
        return None;
    };
    match inner {
        syn::Pat::Ident(name) if plain(name) => Some(Held::Name(&name.ident, false)),
        syn::Pat::Reference(by) if by.mutability.is_none() => match &*by.pat {
            syn::Pat::Ident(name) if plain(name) => Some(Held::Name(&name.ident, true)),
            _ => None,
        },
        syn::Pat::Wild(_) => Some(Held::Nothing),
        _ => None,
    }
}

/// The value that an argument `&value` refers to.
fn referent(argument: &syn::Expr) -> syn::Expr {
    match peeled(argument) {
        syn::Expr::Reference(e) => (*e.expr).clone(),
        other => {
            let span: Span = other.span();
            let star = quote!(*);
            syn::parse_quote_spanned!(span=> #star #other)
        }
    }
}
