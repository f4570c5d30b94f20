//! What is called: how its items are reached from Rust, and which instance of it is meant.

use proc_macro2::{Group, Literal, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use sarek_ir::FunctionId;
use syn::parse::Parser;
use syn::{AngleBracketedGenericArguments, PathArguments};

use super::{Lowerer, Ty};
use crate::emit::{at, error_gate};

/// How a called function is reached from Rust.
pub struct Callee {
    /// What implements it: a type.
    pub owner: TokenStream,
    /// The method, if it is one.
    pub method: Option<syn::Ident>,
    /// The trait that a call names, as in `<P as Shape>::area(p)`.
    pub of_trait: Option<syn::Path>,
    /// The generic arguments that are written behind its name.
    pub turbofish: PathArguments,
    /// What its callers have to know of it: an element of an array of constants.
    pub facts: TokenStream,
    /// Is its first argument a receiver?
    pub has_receiver: bool,
    /// Is it found through its receiver, whose type the source does not name?
    pub is_unnamed: bool,
    /// Is its type a type parameter, so that a trait has it?
    pub is_of_parameter: bool,
    /// Is it the function itself, so many calls deep as `inline` says?
    pub is_self: bool,
    /// What stands for a free function in expansions, without generic arguments.
    pub alias: syn::Ident,
    /// The types of its arguments, the receiver's first; of slices, their elements'. Behind them those of what it is given
    /// to call.
    pub(super) given: Vec<Typed>,
    /// The type of its result where that is used.
    pub(super) result: Option<Ty>,
    /// The function that it is given to: what that calls tells the types of its arguments.
    pub(super) given_to: Option<FunctionId>,
    /// A call of it that is never made, of a free function.
    pub(super) inferred: TokenStream,
    /// Where what leads to its name begins: the dot, or the path.
    pub start: Span,
    /// Where it is called first.
    pub span: Span,
    /// Does a constant beside its caller tell whether that type checks? See [`crate::emit::audited`].
    pub is_audited: bool,
    /// The path of the façade crate.
    pub krate: TokenStream,
}

/// What tells the type of an argument.
#[derive(Clone)]
pub(super) enum Typed {
    By(Ty),
    /// A literal without a suffix, which may be of several types.
    Int(Ty),
    Float(Ty),
    /// Of something to call, what it takes and yields, and where it stands.
    Callable(Vec<Ty>, Option<Ty>, Span),
    /// Of a function to call.
    Function(FunctionId),
    /// Nothing tells it.
    Unknown,
}

impl Lowerer<'_> {
    pub(super) fn new_callee(
        &self,
        owner: TokenStream,
        method: Option<syn::Ident>,
        span: Span,
    ) -> Callee {
        let plain = without_arguments(&owner);
        let text = super::path_text(&plain);
        let same = |c: &&Callee| super::path_text(without_arguments(&c.owner)) == text;
        let known = self.callees.iter().find(same).map(|c| c.alias.clone());
        let alias = known.unwrap_or_else(|| {
            let span = Span::mixed_site().located_at(span);
            quote::format_ident!("__sarek_f{}", self.callees.len(), span = span)
        });
        Callee {
            owner,
            method,
            of_trait: None,
            turbofish: PathArguments::None,
            facts: TokenStream::new(),
            has_receiver: false,
            is_unnamed: false,
            is_of_parameter: false,
            is_self: false,
            alias,
            given: vec![],
            result: None,
            given_to: None,
            inferred: TokenStream::new(),
            start: span,
            span,
            is_audited: self.is_audited,
            krate: self.krate.clone(),
        }
    }

    pub(super) fn function_id(&mut self, callee: Callee) -> FunctionId {
        let path = match &callee.method {
            // `P as Shape`
            Some(method) => {
                let arguments = super::path_text(&callee.turbofish);
                match syn::parse2::<syn::Type>(callee.owner.clone()) {
                    Err(_) if callee.is_unnamed => format!("_::{method}{arguments}"),
                    Ok(_) => format!("{}::{method}{arguments}", super::path_text(&callee.owner)),
                    Err(_) => format!("<{}>::{method}{arguments}", callee.owner),
                }
            }
            None => super::path_text(&callee.owner),
        };
        // Each call of a function whose generic arguments rustc infers may be of another instance.
        let is_told = callee.is_self || callee.is_told();
        let known = self
            .kernel
            .functions
            .iter()
            .position(|f| is_told && *f == path);
        let index = known.unwrap_or_else(|| {
            self.kernel.functions.to_mut().push(path.into());
            let (facts, index) = (&self.facts, Literal::usize_unsuffixed(self.callees.len()));
            let facts = quote!(#facts[#index]);
            self.callees.push(Callee { facts, ..callee });
            self.callees.len() - 1
        });
        FunctionId(index as u32)
    }
}

impl Callee {
    /// Its name with `what` before it, among the items of its owner. Of a method, the generic arguments that are written are
    /// followed by so many `flags`, which rustc infers.
    pub(super) fn item(&self, what: &str, flags: usize) -> TokenStream {
        let span = Span::mixed_site().located_at(self.span);
        let name = match &self.method {
            Some(method) => format!("__sarek_{what}_{}", super::plain_name(method)),
            None => format!("__sarek_{what}"),
        };
        let name = syn::Ident::new(&name, span);
        match &self.method {
            Some(_) => {
                let (owner, arguments) = (self.owner_here(), self.turbofish_with(flags));
                // Begins before the type, so that what rustc says of that is about nothing else.
                let first = Span::mixed_site().located_at(self.start);
                let first = quote_spanned!(first=> <);
                let owner = self.known_type(&owner);
                quote_spanned!(span=> #first #owner>::#name #arguments)
            }
            None => {
                let alias = &self.alias;
                match self.arguments() {
                    Some(list) => {
                        let owner = quote_spanned!(span=> #alias<#list>);
                        let owner = match self.has_audit() {
                            true => error_gate::known_type(&owner, &self.krate, span),
                            false => owner,
                        };
                        quote_spanned!(span=> <#owner>::#name)
                    }
                    None => quote_spanned!(span=> #alias::#name),
                }
            }
        }
    }

    /// The type that implements it, where it is called: there rustc says that it does not.
    fn owner_here(&self) -> TokenStream {
        relocated(self.owner.clone(), self.span)
    }

    /// The same, found through a value of the owner's type.
    pub(super) fn through(
        &self,
        receiver: &TokenStream,
        name: impl Fn(&str) -> String,
        flags: usize,
    ) -> TokenStream {
        let span = Span::mixed_site().located_at(self.span);
        let method = self.method.as_ref().map(super::plain_name);
        // Here rustc says that the type has no such method.
        let name = syn::Ident::new(&name(&method.unwrap_or_default()), self.span);
        let arguments = self.turbofish_with(flags);
        let receiver = self.known(receiver);
        quote_spanned!(span=> (#receiver).#name #arguments)
    }

    /// A value of which rustc says nothing where the caller does not type check as the user wrote it.
    pub fn known(&self, value: &TokenStream) -> TokenStream {
        let (krate, span) = (&self.krate, Span::mixed_site().located_at(self.span));
        match self.has_audit() {
            true => {
                let (krate, name) = (at(krate, span), error_gate::constant(span));
                quote_spanned!(span=> #krate::__private::host::known::<{ #name }, _>(#value))
            }
            false => value.clone(),
        }
    }

    /// The same of a type; `P as Shape` is none. What rustc says of it, it says of the user's tokens alone.
    pub fn known_type(&self, ty: &TokenStream) -> TokenStream {
        let span = self.span;
        match self.has_audit() && syn::parse2::<syn::Type>(ty.clone()).is_ok() {
            true => error_gate::known_type(ty, &self.krate, span),
            false => ty.clone(),
        }
    }

    /// Is there a constant that tells whether its caller type checks?
    fn has_audit(&self) -> bool {
        self.is_audited && !self.is_self
    }

    /// The generic arguments that are written, and so many that rustc infers.
    fn turbofish_with(&self, flags: usize) -> Option<TokenStream> {
        self.arguments().map(|list| {
            let flags = (0..flags).map(|_| quote!(_));
            quote!(::<#list #(#flags),*>)
        })
    }

    /// One of the facts that callers have to know.
    fn fact(&self, what: &str) -> TokenStream {
        let span = Span::mixed_site().located_at(self.span);
        let (facts, name) = (&self.facts, syn::Ident::new(what, span));
        quote_spanned!(span=> (const { #facts.#name }))
    }

    /// The generic arguments that are written: `f32,`.
    fn arguments(&self) -> Option<TokenStream> {
        self.argument_list().map(|list| {
            let list = list.args.iter();
            quote!(#(#list,)*)
        })
    }

    fn argument_list(&self) -> Option<AngleBracketedGenericArguments> {
        let arguments = match self.method {
            Some(_) => self.turbofish.clone(),
            None => {
                let path: syn::Path = syn::parse2(self.owner.clone()).ok()?;
                path.segments.last()?.arguments.clone()
            }
        };
        match arguments {
            PathArguments::AngleBracketed(list) if !list.args.is_empty() => Some(list),
            PathArguments::None
            | PathArguments::AngleBracketed(_)
            | PathArguments::Parenthesized(_) => None,
        }
    }

    /// Are its generic arguments written, so that rustc need not infer any?
    fn is_told(&self) -> bool {
        let arguments = self.arguments();
        let any = |tokens: TokenStream| {
            tokens
                .into_iter()
                .any(|t| matches!(&t, proc_macro2::TokenTree::Ident(i) if i == "_"))
        };
        arguments.is_some_and(|tokens| !any(tokens))
    }

    /// Makes the alias mean the function. Where there is none of that name, rustc reports the call; so that it does not report
    /// the import as well, there is a macro of the name.
    pub fn import(&self) -> Option<TokenStream> {
        let (alias, path) = (&self.alias, without_arguments(&self.owner));
        let first = path.clone().into_iter().next();
        let of_self =
            matches!(first, Some(proc_macro2::TokenTree::Ident(first)) if first == "Self");
        if of_self || syn::Path::parse_mod_style.parse2(path.clone()).is_err() {
            // No function is in a module of a type; `use` does not even parse it.
            return None;
        }
        let span = Span::mixed_site().located_at(self.span);
        let import = |path: &dyn ToTokens| quote_spanned!(span=> #[allow(unused_imports)] use #path as #alias;);
        Some(match syn::parse2::<syn::Ident>(path.clone()) {
            Ok(mut name) => {
                // The user's tokens do not mean that macro.
                name.set_span(span);
                let import = import(&name);
                quote_spanned! {span=>
                    #[allow(unused_macros)]
                    macro_rules! #name { () => {}; }
                    #import
                }
            }
            Err(_) => {
                // One place with the user's path, so that rustc says once what is private.
                let mut alias = alias.clone();
                if let Some(last) = path.clone().into_iter().last() {
                    alias.set_span(last.span());
                }
                quote_spanned!(span=> #[allow(unused_imports)] use #path as #alias;)
            }
        })
    }

    /// How many generic arguments are written behind its name.
    pub fn written_arguments(&self) -> usize {
        let list = self.argument_list();
        list.map_or(0, |list| list.args.len())
    }

    /// The path of a free function as text, without generic arguments.
    pub fn path(&self) -> String {
        super::path_text(without_arguments(&self.owner))
    }

    /// An expression of the type of its result, never to be evaluated.
    pub(super) fn probe(&self) -> Option<TokenStream> {
        let inferred = &self.inferred;
        (!inferred.is_empty()).then(|| quote!((#inferred).1))
    }

    /// A method's way to take its receiver, as an expression, never to be evaluated.
    pub(super) fn receiver_kind(&self) -> Option<TokenStream> {
        let inferred = &self.inferred;
        let is_known = self.has_receiver && !inferred.is_empty();
        is_known.then(|| quote!((#inferred).2))
    }

    /// Its compiled body.
    pub fn body(&self) -> TokenStream {
        self.item("body", 1)
    }

    /// The same of a method that is found through its receiver.
    pub fn body_of(&self, receiver: &TokenStream) -> TokenStream {
        self.through(receiver, |method| format!("__sarek_body_of_{method}"), 1)
    }

    /// Its compiled body for all lanes of a block.
    pub fn block(&self) -> TokenStream {
        self.item("block", 2)
    }

    /// For which parameters must all threads of a block give the same, for its barriers?
    pub fn uniform(&self) -> TokenStream {
        self.fact("uniform")
    }

    /// For which parameters must they do so for it to be free of races?
    pub fn agreed(&self) -> TokenStream {
        self.fact("agreed")
    }

    /// Which parameters may be lent a shared array in a safe kernel?
    pub fn takes(&self) -> TokenStream {
        self.fact("takes")
    }

    /// Does it change its receiver?
    pub(super) fn mutates(&self) -> TokenStream {
        self.fact("mutates")
    }

    /// How many sites it has, those of what it calls included.
    pub fn sites(&self) -> TokenStream {
        match self.is_self {
            true => quote_spanned!(Span::mixed_site()=> __nested),
            false => self.fact("sites"),
        }
    }

    /// Do threads work together in it?
    pub fn collective(&self) -> TokenStream {
        self.fact("collective")
    }

    /// Is all that it computes the same to the bit on every device, in a strict kernel?
    pub fn exact(&self) -> TokenStream {
        self.fact("exact")
    }

    /// What its callers have to know, from the function itself.
    pub fn own_facts(&self) -> TokenStream {
        let span = Span::mixed_site().located_at(self.span);
        let (krate, inferred) = (at(&self.krate, span), &self.inferred);
        match self.is_self {
            true => quote!(#krate::FunctionFacts::NONE),
            false => quote_spanned!(span=> #krate::__private::host::facts_of(|| #inferred)),
        }
    }

    /// The function as a value. Its bodies have to name the same function.
    pub fn instance(&self) -> TokenStream {
        let span = Span::mixed_site().located_at(self.span);
        let (krate, inferred) = (at(&self.krate, span), &self.inferred);
        quote_spanned!(span=> #krate::__private::host::instance(|| #inferred))
    }

    /// The function with its links.
    pub fn function(&self) -> TokenStream {
        let span = Span::mixed_site().located_at(self.span);
        let (krate, inferred) = (at(&self.krate, span), &self.inferred);
        match self.is_self {
            true => quote!(Self::__sarek_nested(__depth)),
            false => quote_spanned!(span=> #krate::__private::host::function_of(|| #inferred)),
        }
    }
}

/// What tells the instance of a method whose receiver's type the source does not name. Where the type has no such method,
/// rustc says so by this name.
pub(crate) fn unnamed_name(method: &str) -> String {
    format!("__{method}_where_the_type_is_not_written")
}

/// Tokens that mean what they did, at another place.
fn relocated(tokens: TokenStream, at: Span) -> TokenStream {
    let each = tokens.into_iter().map(|token| {
        let span = token.span().located_at(at);
        let mut token = match token {
            TokenTree::Group(group) => {
                let inner = relocated(group.stream(), at);
                TokenTree::Group(Group::new(group.delimiter(), inner))
            }
            other => other,
        };
        token.set_span(span);
        token
    });
    each.collect()
}

/// A path without the generic arguments of its last segment.
fn without_arguments(path: &TokenStream) -> TokenStream {
    match syn::parse2::<syn::Path>(path.clone()) {
        Ok(mut path) => {
            if let Some(last) = path.segments.last_mut() {
                last.arguments = PathArguments::None;
            }
            path.to_token_stream()
        }
        Err(_) => path.clone(),
    }
}
