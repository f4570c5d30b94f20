//! Diagnoses calls to functions without `#[device]`.
//!
//! Expansions find the items of a function by name, on its type. If the type lacks an item, rustc
//! continues with references to the type. There it finds an item of a trait from the expansion,
//! implemented for all references. rustc then reports that the type itself lacks that trait, with
//! the trait's own message. It treats all further errors about the item as consequences.

use std::collections::BTreeMap;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};

use crate::diagnostics::{Mistake, codes};
use crate::lower::{Callee, is_known_method, unnamed_name};
use crate::tokens::plain_name;

/// Stand-ins for the items of functions without `#[device]`.
pub fn stand_ins<'c>(callees: impl Iterator<Item = &'c Callee>) -> TokenStream {
    let mut methods: BTreeMap<String, Vec<&Callee>> = BTreeMap::new();
    let mut functions: BTreeMap<String, Vec<&Callee>> = BTreeMap::new();
    for callee in callees {
        let (of, name) = match &callee.method {
            Some(method) => (&mut methods, plain_name(method)),
            None => (&mut functions, callee.alias.to_string()),
        };
        of.entry(name).or_default().push(callee);
    }
    let methods = methods
        .iter()
        .map(|(name, callees)| of_method(name, callees));
    let functions = functions.values().map(|callees| of_function(callees));
    quote!(#(#methods)* #(#functions)*)
}

/// The fallback meaning of a free function's alias, if there is no such function.
fn of_function(callees: &[&Callee]) -> TokenStream {
    let (callee, span) = (callees[0], located(callees[0]));
    let path = callee.path();
    let last = path.rsplit("::").next().unwrap_or(&path);
    let message = Mistake::new(
        codes::NOT_MARKED,
        format!("`{path}` is not a `#[device]` function"),
        match path.trim_start_matches(':').split("::").next() {
            Some("std" | "core" | "alloc") => {
                "call it on the host, or rewrite it as a `#[device]` function".into()
            }
            // The path is a single name, so the function was probably imported.
            _ if ["min", "max"].contains(&path.as_str()) => {
                format!(
                    "write `a.{path}(b)` or `std::cmp::{path}(a, b)`, or `#[device]` before a `fn {path}` of your own"
                )
            }
            _ if ["swap", "replace"].contains(&path.as_str()) => {
                format!(
                    "write `std::mem::{path}(…)`, or `#[device]` before a `fn {path}` of your own"
                )
            }
            _ => format!("write `#[device]` before `fn {last}`"),
        },
    );
    let plain = path.replace(|c: char| !c.is_alphanumeric(), "_");
    let (alias, function) = (&callee.alias, format_ident!("fn_{plain}", span = span));
    let named = format_ident!("__known_{plain}", span = span);
    let parameters = parameters(callees);
    let known = callee.known_type(&quote_spanned!(span=> #function<#(#parameters),*>));
    let stand_in = StandIn {
        missing: format_ident!("DeviceFunction_{plain}", span = span),
        items: ITEMS.map(|item| format_ident!("__sarek_{}", item.name, span = span)),
        taken: vec![],
        of: quote!(#function<#(#parameters),*>),
        declared: parameters.clone(),
        span,
    };
    let stand_in = stand_in.tokens(&message);
    quote_spanned! {span=>
        #[allow(unused, non_camel_case_types)]
        struct #function<#(#parameters = ()),*>(#(::core::marker::PhantomData<#parameters>),*);
        // If nothing at all has this name, rustc reports the call.
        #[allow(unused, non_camel_case_types)]
        type #named<#(#parameters),*> = #known;
        #[allow(unused_imports)]
        use #named as #alias;
        #stand_in
    }
}

/// The stand-in items of a method name, on types without that method.
fn of_method(name: &str, callees: &[&Callee]) -> TokenStream {
    let span = located(callees[0]);
    let message = Mistake::new(
        codes::NOT_MARKED,
        format!("`{{Self}}::{name}` is not a `#[device]` method"),
        match callees.iter().all(|callee| callee.is_of_parameter) {
            true => format!(
                "write `#[device]` before the trait that has `fn {name}`, and before its impls"
            ),
            false if is_known_method(name) => {
                "bind the value with its type, as in `let value: {Self} = …;`, and call the method on that".to_owned()
            }
            false => format!("write `#[device]` before the `impl` that has `fn {name}`"),
        },
    );
    let any = format_ident!("__T");
    let stand_in = StandIn {
        missing: format_ident!("DeviceMethod_{name}", span = span),
        items: ITEMS.map(|item| format_ident!("__sarek_{}_{name}", item.name, span = span)),
        taken: parameters(callees),
        of: any.to_token_stream(),
        declared: vec![any],
        span,
    };
    let unnamed = callees.iter().any(|callee| callee.is_unnamed);
    let unnamed = unnamed.then(|| found_through_values(name, &stand_in));
    let stand_in = stand_in.tokens(&message);
    quote!(#stand_in #unnamed)
}

/// Generic parameters for the arguments that calls write.
fn parameters(callees: &[&Callee]) -> Vec<Ident> {
    let written = callees.iter().map(|callee| callee.written_arguments());
    let most = written.max().unwrap_or_default();
    (0..most).map(|i| format_ident!("__T{i}")).collect()
}

/// An item of a function that calls name.
struct Item {
    name: &'static str,
    /// The number of flags among its generic parameters.
    flags: usize,
    arguments: usize,
}

const ITEMS: [Item; 3] = [
    Item {
        name: "infer",
        flags: 0,
        arguments: 1,
    },
    Item {
        name: "body",
        flags: 1,
        arguments: 6,
    },
    Item {
        name: "block",
        flags: 2,
        arguments: 10,
    },
];

/// A trait that gives references to some types the items that the types lack.
struct StandIn {
    /// The trait.
    missing: Ident,
    /// The names of the items, in the order of [`ITEMS`].
    items: [Ident; 3],
    /// The generic parameters of the items.
    taken: Vec<Ident>,
    /// The types, and their generic parameters.
    of: TokenStream,
    declared: Vec<Ident>,
    span: Span,
}

impl StandIn {
    fn tokens(&self, message: &Mistake) -> TokenStream {
        let StandIn {
            missing,
            items,
            of,
            declared,
            ..
        } = self;
        let message = message.to_string();
        let head = quote_spanned! {self.span=>
            #[diagnostic::on_unimplemented(message = #message, label = "not for devices")]
            #[allow(unused, non_camel_case_types, non_upper_case_globals, clippy::all)]
        };
        let of_impl = quote_spanned! {self.span=>
            #[diagnostic::do_not_recommend]
            #[allow(unused, non_upper_case_globals, clippy::all)]
        };
        if self.taken.is_empty() {
            return quote_spanned! {self.span=>
                #head
                trait #missing {
                    type Any;
                    #(const #items: Self::Any;)*
                }
                #of_impl
                impl<#(#declared),*> #missing for &#of {
                    type Any = ();
                    #(const #items: () = ();)*
                }
            };
        }
        // Constants take no generic arguments.
        let functions = self.functions();
        quote_spanned! {self.span=>
            #head
            trait #missing<__Any> { #functions }
            #of_impl
            impl<#(#declared,)* __Any> #missing<__Any> for &#of {}
        }
    }

    fn functions(&self) -> TokenStream {
        let taken = &self.taken;
        let each = self.items.iter().zip(&ITEMS).map(|(name, item)| {
            let flags = (0..item.flags).map(|i| format_ident!("__F{i}"));
            let arguments = (0..item.arguments).map(|_| quote!(_: impl ::core::marker::Sized));
            quote! {
                fn #name<#(#taken,)* #(#flags),*>(#(#arguments),*) -> __Any {
                    ::core::unreachable!()
                }
            }
        });
        each.collect()
    }
}

/// The stand-in items that are found through a value, where rustc searches the methods of its type
/// first.
fn found_through_values(name: &str, stand_in: &StandIn) -> TokenStream {
    let StandIn {
        missing,
        taken,
        span,
        ..
    } = stand_in;
    let of_values = format_ident!("{missing}_of_values");
    let (infer, body) = (
        Ident::new(&unnamed_name(name), *span),
        Ident::new(&format!("__sarek_body_of_{name}"), *span),
    );
    // As in the stand-in itself: items with generic arguments return a parameter of the trait,
    // others its associated type.
    let own = (!taken.is_empty()).then(|| quote!(__Any));
    let parameter = own.as_ref().map(|own| quote!(<#own>));
    let (any, flag) = match taken.is_empty() {
        true => (quote!(<Self as #missing>::Any), None),
        false => (quote!(__Any), Some(quote!(__F))),
    };
    let arguments = (0..6).map(|_| quote!(_: impl ::core::marker::Sized));
    quote_spanned! {*span=>
        #[allow(unused, non_camel_case_types, clippy::all)]
        trait #of_values #parameter {
            fn #infer<#(#taken),*>(&self, _: impl ::core::marker::Sized) -> #any
            where
                Self: #missing #parameter,
            {
                ::core::unreachable!()
            }
            unsafe fn #body<#(#taken,)* #flag>(&self, #(#arguments),*) -> #any
            where
                Self: #missing #parameter,
            {
                ::core::unreachable!()
            }
        }
        #[allow(non_camel_case_types)]
        impl<__T, #own> #of_values #parameter for __T {}
    }
}

fn located(callee: &Callee) -> Span {
    Span::mixed_site().located_at(callee.span)
}
