//! Audits of methods by the types of their receivers, once all types are known.
//!
//! rustc searches a method of `value` first for the type itself, then for the types that it derefs
//! to. For each type it tries the receivers `value`, `&value` and `&mut value`, in this order. At
//! each step, inherent methods come before those of traits. See [`super::name_audit`].

use std::collections::BTreeMap;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use sarek_ir::{Access, FunctionId, Memory, ParamId};
use syn::spanned::Spanned;

use super::name_audit::Trait;
use crate::lower::memory::array::peeled;
use crate::lower::memory::length::Dim;
use crate::lower::{Lowerer, Ty, path_text};
use crate::tokens::{at, mixed_at, names};

/// The form of the receiver in a step of rustc's method search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::lower) enum AutoRef {
    Not,
    /// `&T`
    Shared,
    /// `&mut T`
    Mutably,
    /// `&&mut T`
    SharedMutably,
    /// `&mut &mut T`
    MutablyMutably,
}
use AutoRef::{Mutably, MutablyMutably, Not, Shared, SharedMutably};

/// The forms in which rustc tries an array before it tries it as a slice, whose methods it has.
pub(in crate::lower) const OF_ARRAYS: [AutoRef; 3] = [Not, Shared, Mutably];

/// The type of a receiver.
#[derive(Clone)]
pub(in crate::lower) enum Receiver {
    Value(Ty),
    Slice(Ty),
    Array(Ty, Vec<Dim>),
    SharedArray {
        elem: Ty,
        inner: Vec<Dim>,
        atomic: bool,
    },
    View {
        elem: Ty,
        rank: u32,
        access: Access,
    },
    /// A range under adapters; `true` stands for `rev`.
    Range {
        of: Ty,
        inclusive: bool,
        adapters: Vec<bool>,
    },
}

/// An audit of a method on the type of a receiver.
pub(in crate::lower) struct MethodAudit {
    receiver: Receiver,
    method: Ident,
    arity: usize,
    /// The receiver's place.
    at: Span,
    test: Test,
}

#[derive(Clone, Copy)]
enum Test {
    /// The method belongs to this trait. If `true`, the type is one of several and may lack the
    /// method in the source; the trait is then imported.
    Of(Trait, bool),
    /// No method of that name is found on this form of the receiver.
    Before(AutoRef),
    /// No other method is found before one of the user's. The receiver may be a reference, see
    /// [`AutoRef`].
    Own(AutoRef, FunctionId),
}

impl MethodAudit {
    pub(in crate::lower) fn of(receiver: Receiver, of_trait: Trait, method: &Ident) -> MethodAudit {
        MethodAudit {
            receiver,
            method: method.clone(),
            arity: 0,
            at: method.span(),
            test: Test::Of(of_trait, false),
        }
    }

    /// The same if the type may be another one, which has the method without the trait.
    pub(in crate::lower) fn with_traits(mut self) -> MethodAudit {
        if let Test::Of(of_trait, _) = self.test {
            self.test = Test::Of(of_trait, true);
        }
        self
    }

    pub(in crate::lower) fn before(
        receiver: Receiver,
        auto_ref: AutoRef,
        call: &syn::ExprMethodCall,
    ) -> MethodAudit {
        MethodAudit {
            receiver,
            method: call.method.clone(),
            arity: call.args.len(),
            at: call.receiver.span(),
            test: Test::Before(auto_ref),
        }
    }

    pub(in crate::lower) fn own(
        call: &syn::ExprMethodCall,
        of: Ty,
        reference: AutoRef,
        function: FunctionId,
    ) -> MethodAudit {
        MethodAudit {
            receiver: Receiver::Value(of),
            method: call.method.clone(),
            arity: call.args.len(),
            at: call.receiver.span(),
            test: Test::Own(reference, function),
        }
    }
}

/// The receiver of a method call in a probe.
enum Place {
    /// A parameter of this type.
    Type(TokenStream),
    /// An expression, if only rustc knows the type.
    Expression(TokenStream),
    /// The forms that rustc tries before it finds the user's method, and their number.
    Forms(TokenStream, usize),
}

/// A test that type checks only if methods resolve as kernels assumed.
#[derive(Clone)]
pub struct Probe {
    /// The trait that gives all types methods of these names.
    pub declared: TokenStream,
    /// A statement.
    pub statement: TokenStream,
}

/// The calls of a probe.
#[derive(Default)]
struct Calls {
    methods: BTreeMap<(String, usize), Ident>,
    calls: BTreeMap<String, (Place, MethodAudit)>,
}

impl Lowerer<'_> {
    pub(in crate::lower) fn push_method_audit(&mut self, audit: MethodAudit) {
        self.method_audits.push(audit);
    }

    /// Audits a method of a slice or an array.
    pub(in crate::lower) fn audit_memory_method(
        &mut self,
        memory: Memory,
        call: &syn::ExprMethodCall,
    ) {
        let method = &call.method;
        const OF_REFERENCES: [AutoRef; 3] = [Mutably, SharedMutably, MutablyMutably];
        let elem = self.element_type(memory);
        let access = self.kernel.access(memory);
        let takes_mutably = ["swap", "get_unchecked_mut", "get_mut", "iter_mut", "fill"]
            .iter()
            .any(|name| method == name);
        const OF_SLICES: [&str; 11] = [
            "swap",
            "is_empty",
            "get",
            "get_mut",
            "first",
            "last",
            "contains",
            "fill",
            "iter",
            "windows",
            "chunks_exact",
        ];
        let is_of_slices = OF_SLICES.iter().any(|name| method == name);
        let mut each = vec![];
        match (memory, self.shape(memory)) {
            (Memory::Slice(_), None) if access != Access::Write || takes_mutably => {}
            (Memory::Slice(_), None) => {
                each.extend(OF_REFERENCES.map(|auto_ref| (Receiver::Slice(elem), auto_ref)));
            }
            // An inherent method of the handle, which takes it by value.
            (Memory::Shared(_), _) if method == "get_unchecked_mut" => {}
            (Memory::Shared(_), dims) => {
                let array = Receiver::SharedArray {
                    elem,
                    inner: dims.map_or_else(Vec::new, |dims| dims[1..].to_vec()),
                    atomic: access == Access::Atomic,
                };
                each.extend(OF_REFERENCES.map(|auto_ref| (array.clone(), auto_ref)));
                each.extend(is_of_slices.then_some((array, Shared)));
                each.extend(takes_mutably.then_some((Receiver::Slice(elem), Shared)));
            }
            (Memory::Local(_) | Memory::Slice(_) | Memory::Table(_), dims) => {
                let dims = dims.map_or_else(Vec::new, <[Dim]>::to_vec);
                each.extend(
                    OF_ARRAYS.map(|auto_ref| (Receiver::Array(elem, dims.clone()), auto_ref)),
                );
                each.extend(takes_mutably.then_some((Receiver::Slice(elem), Shared)));
            }
        }
        for (receiver, auto_ref) in each {
            self.push_method_audit(MethodAudit::before(receiver, auto_ref, call));
        }
    }

    /// Audits a method of a row of an array of arrays.
    pub(in crate::lower) fn audit_row_method(
        &mut self,
        memory: Memory,
        indices: usize,
        call: &syn::ExprMethodCall,
    ) {
        let elem = self.element_type(memory);
        let dims = self.shape(memory).map(|dims| dims[indices..].to_vec());
        let receiver = Receiver::Array(elem, dims.unwrap_or_default());
        for auto_ref in OF_ARRAYS {
            self.push_method_audit(MethodAudit::before(receiver.clone(), auto_ref, call));
        }
    }

    /// Audits a method of a view, which takes `&self`.
    pub(in crate::lower) fn audit_view_method(
        &mut self,
        view: ParamId,
        call: &syn::ExprMethodCall,
    ) {
        let memory = Memory::Slice(view);
        let receiver = Receiver::View {
            elem: self.element_type(memory),
            rank: self.views[&view],
            access: self.kernel.access(memory),
        };
        let auto_ref: &[AutoRef] = match self.kernel.access(memory) {
            Access::Write => &[Not, Mutably, SharedMutably, MutablyMutably],
            Access::Read | Access::Atomic => &[Not],
        };
        for auto_ref in auto_ref {
            self.push_method_audit(MethodAudit::before(receiver.clone(), *auto_ref, call));
        }
    }

    /// Audits the adapters of a range, whose innermost receiver has this type. Returns the
    /// adapters.
    pub(in crate::lower) fn audit_adapters(
        &mut self,
        expr: &syn::Expr,
        of: Ty,
        inclusive: bool,
    ) -> Vec<bool> {
        let syn::Expr::MethodCall(call) = peeled(expr) else {
            return vec![];
        };
        let mut adapters = self.audit_adapters(&call.receiver, of, inclusive);
        let receiver = Receiver::Range {
            of,
            inclusive,
            adapters: adapters.clone(),
        };
        self.push_method_audit(MethodAudit::of(receiver, Trait::Iterator, &call.method));
        adapters.push(call.method == "rev");
        adapters
    }

    /// Writes the audits as checks and probes.
    pub(in crate::lower) fn settle_asked(&mut self) {
        // A trait has one method of each name, so calls with another number of arguments need
        // another trait.
        let mut by_arity: BTreeMap<usize, Calls> = BTreeMap::new();
        for audit in std::mem::take(&mut self.method_audits) {
            let place = match audit.test {
                Test::Of(of_trait, imported) => {
                    self.audit_method_of(&audit, of_trait, imported);
                    continue;
                }
                Test::Before(auto_ref) => self.place_of(&audit.receiver, auto_ref),
                Test::Own(reference, function) => self.forms_before(&audit, reference, function),
            };
            if let Some(place) = place {
                let calls = by_arity.entry(audit.arity).or_default();
                calls.add(place, audit);
            }
        }
        for calls in by_arity.values() {
            let statement = calls.statement();
            // A closure with the user's function stands beside a test of its literals. rustc must
            // know the same about both, or it reports different errors.
            match names::has_literal_variable(&statement) {
                true => {
                    let declared = calls.declared(None);
                    let block = quote!(#[allow(warnings, clippy::all)] { #declared #statement });
                    self.checks.push(block);
                }
                false => self.probes.push(Probe {
                    declared: calls.declared(Some(&self.krate)),
                    statement,
                }),
            }
        }
    }

    /// The forms of the receiver that rustc tries before it finds a method of the user's.
    fn forms_before(
        &self,
        audit: &MethodAudit,
        reference: AutoRef,
        function: FunctionId,
    ) -> Option<Place> {
        let Receiver::Value(of) = audit.receiver else {
            return None;
        };
        let callee = &self.callees[function.index()];
        if callee.is_self {
            return None;
        }
        let (kind, value) = (callee.receiver_kind()?, self.probe(of)?);
        let (name, count) = match reference {
            Not => ("candidates_by_value", 2),
            Shared => ("candidates_by_shared", 3),
            Mutably | SharedMutably | MutablyMutably => ("candidates_by_mutable", 4),
        };
        let (krate, name) = (&self.krate, Ident::new(name, Span::mixed_site()));
        let forms = quote!(#krate::__private::host::#name(#kind, #value));
        Some(Place::Forms(forms, count))
    }

    /// `named(<T as Trait>::name, <T>::name)`
    fn audit_method_of(&mut self, audit: &MethodAudit, of_trait: Trait, imported: bool) {
        let name = &audit.method;
        let Some(ty) = self.receiver_tokens(&audit.receiver) else {
            return;
        };
        if !self
            .audited_names
            .insert(format!("<{}>::{name}", path_text(&ty)))
        {
            return;
        }
        let span = Span::mixed_site().located_at(name.span());
        let (krate, ty) = (at(&self.krate, span), at(&ty, span));
        let of_trait = at(&of_trait.path(&krate), span);
        let import =
            imported.then(|| quote_spanned!(span=> #[allow(unused_imports)] use #of_trait as _;));
        self.checks.push(quote_spanned! {span=>
            #import
            #krate::named(<#ty as #of_trait>::#name, <#ty>::#name);
        });
    }

    fn place_of(&self, receiver: &Receiver, auto_ref: AutoRef) -> Option<Place> {
        let before = match auto_ref {
            Not => quote!(),
            Shared => quote!(&),
            Mutably => quote!(&mut),
            SharedMutably => quote!(&&mut),
            MutablyMutably => quote!(&mut &mut),
        };
        if let Some(ty) = self.receiver_tokens(receiver) {
            return Some(Place::Type(quote!(#before #ty)));
        }
        let Receiver::Value(ty) = receiver else {
            return None;
        };
        let value = self.probe(*ty)?;
        Some(Place::Expression(quote!(#before #value)))
    }

    fn receiver_tokens(&self, receiver: &Receiver) -> Option<TokenStream> {
        let krate = &self.krate;
        Some(match receiver {
            Receiver::Value(ty) => self.type_tokens(*ty)?,
            Receiver::Slice(elem) => {
                let elem = self.type_tokens(*elem)?;
                quote!([#elem])
            }
            Receiver::Array(elem, dims) => nested(self.type_tokens(*elem)?, dims),
            Receiver::SharedArray {
                elem,
                inner,
                atomic,
            } => {
                let elem = self.type_tokens(*elem)?;
                let elem = match atomic {
                    true => quote!(#krate::Atomic<#elem>),
                    false => elem,
                };
                let elem = nested(elem, inner);
                quote!(#krate::Shared<#elem>)
            }
            Receiver::View { elem, rank, access } => {
                let mutable = if *access == Access::Write { "Mut" } else { "" };
                let view = format_ident!("View{mutable}{rank}");
                let elem = self.type_tokens(*elem)?;
                quote!(#krate::#view<'_, #elem>)
            }
            Receiver::Range {
                of,
                inclusive,
                adapters,
            } => {
                let of = self.type_tokens(*of)?;
                let range = match inclusive {
                    true => quote!(::core::ops::RangeInclusive<#of>),
                    false => quote!(::core::ops::Range<#of>),
                };
                adapters.iter().fold(range, |range, rev| match rev {
                    true => quote!(::core::iter::Rev<#range>),
                    false => quote!(::core::iter::StepBy<#range>),
                })
            }
        })
    }
}

impl Calls {
    fn add(&mut self, place: Place, audit: MethodAudit) {
        let text = match &place {
            Place::Type(tokens) | Place::Expression(tokens) | Place::Forms(tokens, _) => {
                path_text(tokens)
            }
        };
        let (method, arity) = (&audit.method, audit.arity);
        self.methods
            .insert((method.to_string(), arity), method.clone());
        let key = format!("{method} {text}");
        self.calls.entry(key).or_insert((place, audit));
    }

    /// A trait that all types implement, with methods of these names. With `assumed`, it has a
    /// bound that holds only in the function that assumes it. For a misspelt method, rustc
    /// therefore does not advise to import the trait.
    fn declared(&self, assumed: Option<&TokenStream>) -> TokenStream {
        let all = Span::mixed_site();
        // If rustc shows the trait, it shows a call.
        let first = self.methods.values().next();
        let span = first.map_or(all, |method| mixed_at(method.span()));
        let known = Ident::new("SRK0316_known_to_kernels", span);
        let methods = self.methods.iter().map(|((_, arity), name)| {
            let units = units(*arity);
            // With an explicit type, rustc does not advise to implement the trait.
            let own = assumed.map(|_| quote_spanned!(mixed_at(name.span())=> : Self));
            quote_spanned!(span=> fn #name(self #own, #(_: #units),*) -> Known { Known })
        });
        let (here, clause) = assumed
            .map(|krate| {
                let clause = quote!(where (): #krate::__private::host::Assumed<Here>);
                (quote!(Here), clause)
            })
            .unzip();
        quote_spanned! {all=>
            struct Known;
            trait #known<#here>: ::core::marker::Sized { #(#methods)* }
            impl<Any, #here> #known<#here> for Any #clause {}
        }
    }

    /// The calls of the probe.
    fn statement(&self) -> TokenStream {
        let all = Span::mixed_site();
        let (mut parameters, mut calls) = (vec![], vec![]);
        for (i, (place, audit)) in self.calls.values().enumerate() {
            let MethodAudit {
                method,
                arity,
                at: receiver,
                ..
            } = audit;
            let name = |n: usize| format_ident!("__receiver_{i}_{n}", span = mixed_at(*receiver));
            let count = match place {
                Place::Type(ty) => {
                    let name = name(0);
                    parameters.push(quote_spanned!(all=> #name: #ty));
                    1
                }
                Place::Expression(value) => {
                    let name = name(0);
                    calls.push(quote_spanned!(all=> let #name = #value;));
                    1
                }
                Place::Forms(forms, count) => {
                    let names = (0..*count).map(name);
                    calls.push(quote_spanned!(all=> let (#(#names),*) = #forms;));
                    *count
                }
            };
            let units = units(*arity);
            for name in (0..count).map(name) {
                calls.push(
                    quote_spanned!(mixed_at(*receiver)=> let _: Known = #name.#method(#(#units),*);),
                );
            }
        }
        quote_spanned!(all=> let _ = |#(#parameters),*| { #(#calls)* };)
    }
}

fn units(arity: usize) -> Vec<TokenStream> {
    vec![quote_spanned!(Span::mixed_site()=> ()); arity]
}

fn nested(elem: TokenStream, dims: &[Dim]) -> TokenStream {
    dims.iter().rev().fold(elem, |elem, dim| {
        let len = dim.tokens();
        quote!([#elem; #len])
    })
}
