//! Called functions: the paths of their items in Rust, and the selection of a generic function's
//! instance.

use proc_macro2::{Literal, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use sarek_ir::FunctionId;
use syn::parse::Parser;
use syn::{AngleBracketedGenericArguments, PathArguments};

use crate::lower::{Lowerer, Ty};
use crate::tokens::range::SourceRange;
use crate::tokens::{at, names, relocated};

/// A called function, as generated Rust code reaches it.
pub struct Callee {
    /// The type that carries its items.
    pub owner: TokenStream,
    /// The method's name, if it is a method.
    pub method: Option<syn::Ident>,
    /// The trait that the call names, as in `<P as Shape>::area(p)`.
    pub of_trait: Option<(syn::Type, syn::Path)>,
    /// The generic arguments written after its name.
    pub turbofish: PathArguments,
    /// The facts that its callers need: an element of an array of constants.
    pub facts: TokenStream,
    /// True if its first argument is a receiver.
    pub has_receiver: bool,
    /// True if it is found through its receiver, whose type the source does not name.
    pub is_unnamed: bool,
    /// True if its type is a type parameter, so that the method belongs to a trait.
    pub is_of_parameter: bool,
    /// True if it is the method of an operator.
    pub is_operator: bool,
    /// True for a nested call of the function itself, with a depth that `inline` limits.
    pub is_self: bool,
    /// The generated name of a free function, without generic arguments.
    pub alias: syn::Ident,
    /// The types of its arguments, the receiver's first; for slices, their element types. The types
    /// of callable arguments follow.
    pub(in crate::lower) given: Vec<Typed>,
    /// The type of its result, if the result is used.
    pub(in crate::lower) result: Option<Ty>,
    /// The function to which this one is passed. That function's call determines the types of its
    /// arguments.
    pub(in crate::lower) given_to: Option<FunctionId>,
    /// An expression that calls a free function and is never evaluated.
    pub(in crate::lower) inferred: TokenStream,
    /// The start of the expression that names it: the dot, or the path.
    pub start: Span,
    /// The place of its first call.
    pub span: Span,
    /// True if its caller may have a gate constant. See [`crate::emit::error_gate`].
    pub has_gate: bool,
    /// The path of the façade crate.
    pub krate: TokenStream,
}

/// The source of an argument's type.
#[derive(Clone)]
pub(in crate::lower) enum Typed {
    By(Ty),
    /// A literal without a suffix, which may have any of several types.
    Int(Ty),
    Float(Ty),
    /// A callable: its parameter types, its result type and its source span.
    Callable(Vec<Ty>, Option<Ty>, SourceRange),
    /// A function passed as an argument.
    Function(FunctionId),
    /// Nothing determines the type.
    Unknown,
}

impl Lowerer<'_> {
    pub(in crate::lower) fn new_callee(
        &self,
        owner: TokenStream,
        method: Option<syn::Ident>,
        span: Span,
    ) -> Callee {
        let plain = without_arguments(&owner);
        let text = crate::tokens::path_text(&plain);
        let same = |c: &&Callee| crate::tokens::path_text(without_arguments(&c.owner)) == text;
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
            is_operator: false,
            is_self: false,
            alias,
            given: vec![],
            result: None,
            given_to: None,
            inferred: TokenStream::new(),
            start: span,
            span,
            has_gate: self.has_gate,
            krate: self.krate.clone(),
        }
    }

    pub(in crate::lower) fn function_id(&mut self, callee: Callee) -> FunctionId {
        let path = match &callee.method {
            // Not a type: `P as Shape`.
            Some(method) => {
                let arguments = crate::tokens::path_text(&callee.turbofish);
                match syn::parse2::<syn::Type>(callee.owner.clone()) {
                    Err(_) if callee.is_unnamed => format!("_::{method}{arguments}"),
                    Ok(_) => format!(
                        "{}::{method}{arguments}",
                        crate::tokens::path_text(&callee.owner)
                    ),
                    Err(_) => format!("<{}>::{method}{arguments}", callee.owner),
                }
            }
            None => crate::tokens::path_text(&callee.owner),
        };
        // If rustc infers the generic arguments of a function, each call may be of another
        // instance.
        let is_instantiated = callee.is_self || callee.is_instantiated();
        let known = self
            .kernel
            .functions
            .iter()
            .position(|f| is_instantiated && *f == path);
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
    /// The path of one of its items; `what` is the prefix of the item's name. For a method with
    /// explicit generic arguments, `flags` more arguments follow that rustc infers.
    pub(in crate::lower) fn item(&self, what: &str, flags: usize) -> TokenStream {
        let span = Span::mixed_site().located_at(self.span);
        let name = match &self.method {
            Some(method) => format!("__sarek_{what}_{}", crate::tokens::plain_name(method)),
            None => format!("__sarek_{what}"),
        };
        let name = syn::Ident::new(&name, span);
        match &self.method {
            Some(_) => {
                let (owner, arguments) = (self.owner_here(), self.turbofish_with(flags));
                // Begins before the type, so that an error of rustc at that place concerns only the
                // type.
                let first = Span::mixed_site().located_at(self.start);
                let first = quote_spanned!(first=> <);
                if let Some((ty, path)) = &self.of_trait {
                    let ty = relocated(ty.to_token_stream(), self.span);
                    // rustc infers the type of an operator from the arguments, which are behind the gate themselves.
                    let ty = match self.is_operator {
                        true => ty,
                        false => self.known_type(&ty),
                    };
                    let items = names::items_of(&ty, path);
                    return quote_spanned!(span=> #items.#name #arguments);
                }
                let owner = self.known_type(&owner);
                quote_spanned!(span=> #first #owner>::#name #arguments)
            }
            None => {
                let alias = &self.alias;
                match self.arguments() {
                    Some(list) => {
                        let owner = quote_spanned!(span=> #alias<#list>);
                        let owner = match self.has_audit() {
                            true => names::known_type(&owner, &self.krate, span),
                            false => owner,
                        };
                        quote_spanned!(span=> <#owner>::#name)
                    }
                    None => quote_spanned!(span=> #alias::#name),
                }
            }
        }
    }

    /// The type that carries its items, at the place of the call. rustc reports missing items
    /// there.
    fn owner_here(&self) -> TokenStream {
        relocated(self.owner.clone(), self.span)
    }

    /// An item found through a value of the owner's type.
    pub(in crate::lower) fn through(
        &self,
        receiver: &TokenStream,
        name: impl Fn(&str) -> String,
        flags: usize,
    ) -> TokenStream {
        let span = Span::mixed_site().located_at(self.span);
        let method = self.method.as_ref().map(crate::tokens::plain_name);
        // At this place rustc reports that the type has no such method.
        let name = syn::Ident::new(&name(&method.unwrap_or_default()), self.span);
        let arguments = self.turbofish_with(flags);
        let receiver = self.known(receiver);
        quote_spanned!(span=> (#receiver).#name #arguments)
    }

    /// A value behind the error gate: rustc reports nothing about it if the caller does not type
    /// check.
    pub fn known(&self, value: &TokenStream) -> TokenStream {
        let (krate, span) = (&self.krate, Span::mixed_site().located_at(self.span));
        match self.has_audit() {
            true => {
                let (krate, name) = (at(krate, span), names::gate(span));
                quote_spanned!(span=> #krate::__private::host::if_type_checked::<{ #name }, _>(#value))
            }
            false => value.clone(),
        }
    }

    /// The same for a type; `P as Shape` is no type. The user's tokens keep their places, so rustc
    /// reports errors in the type there.
    pub fn known_type(&self, ty: &TokenStream) -> TokenStream {
        let span = self.span;
        match self.has_audit() && syn::parse2::<syn::Type>(ty.clone()).is_ok() {
            true => names::known_type(ty, &self.krate, span),
            false => ty.clone(),
        }
    }

    /// True if its caller has a gate constant.
    fn has_audit(&self) -> bool {
        self.has_gate && !self.is_self
    }

    /// The explicit generic arguments, followed by `flags` arguments that rustc infers.
    fn turbofish_with(&self, flags: usize) -> Option<TokenStream> {
        self.arguments().map(|list| {
            let flags = (0..flags).map(|_| quote!(_));
            quote!(::<#list #(#flags),*>)
        })
    }

    /// One of the function's facts.
    fn fact(&self, what: &str) -> TokenStream {
        let span = Span::mixed_site().located_at(self.span);
        let (facts, name) = (&self.facts, syn::Ident::new(what, span));
        quote_spanned!(span=> (const { #facts.#name }))
    }

    /// The explicit generic arguments: `f32,`.
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

    /// True if its generic arguments are written, so that rustc need not infer any.
    fn is_instantiated(&self) -> bool {
        let arguments = self.arguments();
        let any = |tokens: TokenStream| {
            tokens
                .into_iter()
                .any(|t| matches!(&t, proc_macro2::TokenTree::Ident(i) if i == "_"))
        };
        arguments.is_some_and(|tokens| !any(tokens))
    }

    /// Imports the function under its alias. If there is no function of that name, rustc reports
    /// the call. A macro of the same name keeps it from reporting the import, too.
    pub fn import(&self) -> Option<TokenStream> {
        let (alias, path) = (&self.alias, without_arguments(&self.owner));
        let first = path.clone().into_iter().next();
        let of_self =
            matches!(first, Some(proc_macro2::TokenTree::Ident(first)) if first == "Self");
        if of_self || syn::Path::parse_mod_style.parse2(path.clone()).is_err() {
            // A type contains no functions to import, and `use` does not parse such a path.
            return None;
        }
        let span = Span::mixed_site().located_at(self.span);
        let import = |path: &dyn ToTokens| quote_spanned!(span=> #[allow(unused_imports)] use #path as #alias;);
        Some(match syn::parse2::<syn::Ident>(path.clone()) {
            Ok(mut name) => {
                // With generated hygiene, so that the user's tokens do not see the macro.
                name.set_span(span);
                let import = import(&name);
                quote_spanned! {span=>
                    #[allow(unused_macros)]
                    macro_rules! #name { () => {}; }
                    #import
                }
            }
            Err(_) => {
                // Starts at the user's path, so that rustc reports a private item once.
                let mut alias = alias.clone();
                if let Some(last) = path.clone().into_iter().last() {
                    alias.set_span(last.span());
                }
                quote_spanned!(span=> #[allow(unused_imports)] use #path as #alias;)
            }
        })
    }

    /// The number of generic arguments written after its name.
    pub fn written_arguments(&self) -> usize {
        let list = self.argument_list();
        list.map_or(0, |list| list.args.len())
    }

    /// The path of a free function as text, without generic arguments.
    pub fn path(&self) -> String {
        crate::tokens::path_text(without_arguments(&self.owner))
    }

    /// An expression of its result type, which is never evaluated.
    pub(in crate::lower) fn probe(&self) -> Option<TokenStream> {
        let inferred = &self.inferred;
        (!inferred.is_empty()).then(|| quote!((#inferred).1))
    }

    /// A method's passing mode for its receiver, as an expression that is never evaluated.
    pub(in crate::lower) fn receiver_kind(&self) -> Option<TokenStream> {
        let inferred = &self.inferred;
        let is_known = self.has_receiver && !inferred.is_empty();
        is_known.then(|| quote!((#inferred).2))
    }

    /// The function that rustc infers the instance by, as a value.
    pub(in crate::lower) fn infer_value(&self) -> TokenStream {
        let (span, infer) = (
            Span::mixed_site().located_at(self.span),
            self.item("infer", 0),
        );
        match self.of_trait {
            Some(_) => quote_spanned!(span=> |__arg| #infer(__arg)),
            None => infer,
        }
    }

    /// Its compiled body.
    pub fn body(&self) -> TokenStream {
        self.item("body", 1)
    }

    /// The same for a method that is found through its receiver.
    pub fn body_of(&self, receiver: &TokenStream) -> TokenStream {
        self.through(receiver, |method| format!("__sarek_body_of_{method}"), 1)
    }

    /// Its compiled body for all lanes of a block.
    pub fn block(&self) -> TokenStream {
        self.item("block", 2)
    }

    /// The set of parameters that must be uniform in a block, for its barriers.
    pub fn uniform(&self) -> TokenStream {
        self.fact("uniform")
    }

    /// The set of parameters that must be uniform in a block for it to be free of races.
    pub fn agreed(&self) -> TokenStream {
        self.fact("agreed")
    }

    /// The set of parameters that may receive a shared array in a safe kernel.
    pub fn takes(&self) -> TokenStream {
        self.fact("takes")
    }

    /// A constant that is true if it changes its receiver.
    pub(in crate::lower) fn mutates(&self) -> TokenStream {
        self.fact("mutates")
    }

    /// The number of its fault sites, including those of its callees.
    pub fn sites(&self) -> TokenStream {
        match self.is_self {
            true => quote_spanned!(Span::mixed_site()=> __nested),
            false => self.fact("sites"),
        }
    }

    /// A constant that is true if threads cooperate in it.
    pub fn collective(&self) -> TokenStream {
        self.fact("collective")
    }

    /// A constant that is true if it has a loop that strips of lanes run.
    pub fn strips(&self) -> TokenStream {
        self.fact("strips")
    }

    /// A constant that is true if all its results are the same to the bit on every device, in a
    /// strict kernel.
    pub fn exact(&self) -> TokenStream {
        self.fact("exact")
    }

    /// Its result as a polynomial in its parameters.
    pub fn formula(&self) -> TokenStream {
        self.fact("result")
    }

    /// The facts that its callers need, read from the function itself.
    pub fn own_facts(&self) -> TokenStream {
        let span = Span::mixed_site().located_at(self.span);
        let (krate, inferred) = (at(&self.krate, span), &self.inferred);
        match self.is_self {
            true => quote!(#krate::__private::FunctionFacts::NONE),
            false => quote_spanned!(span=> #krate::__private::host::facts_of(|| #inferred)),
        }
    }

    /// The function as a value. Its bodies must belong to the same function.
    pub fn instance(&self) -> TokenStream {
        let span = Span::mixed_site().located_at(self.span);
        let (krate, inferred) = (at(&self.krate, span), &self.inferred);
        quote_spanned!(span=> #krate::__private::host::instance(|| #inferred))
    }

    /// The function's IR and links.
    pub fn function(&self) -> TokenStream {
        let span = Span::mixed_site().located_at(self.span);
        let (krate, inferred) = (at(&self.krate, span), &self.inferred);
        match self.is_self {
            true => quote!(Self::__sarek_nested(__depth)),
            false => quote_spanned!(span=> #krate::__private::host::function_of(|| #inferred)),
        }
    }
}

/// The name of the item that determines the instance of a method, if the source does not name the
/// receiver's type. rustc reports this name if the type has no such method.
pub(crate) fn unnamed_name(method: &str) -> String {
    format!("__{method}_where_the_type_is_not_written")
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
