//! `#[kernel_test(kernel, …)]`: a test that compares a kernel with a plain Rust function.
//!
//! The function has the kernel's arguments. It becomes a `#[test]` that generates values for them,
//! and runs the kernel and the function on the same values. It compares the contents of the `&mut`
//! slices, on every device. `sarek::testing::Check` does all of that.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Expr, FnArg, Pat, ReturnType, Token, Type};

use super::Expansion;
use crate::diagnostics::{Errors, Mistake, codes};
use crate::parse::crate_path;
use crate::parse::depth::is_bounded;
use crate::tokens::range::Ranged;

/// The options of `#[kernel_test]`, which follow the kernel.
pub const OPTIONS: &str = "`ulps`, `absolute`, `sizes`, `rounds`, `seed`, `on`, `over`, `cover`, `grid`, `block` and `items`";

/// The arguments of the attribute.
struct Options {
    kernel: Expr,
    krate: TokenStream,
    /// Method calls on the `Check`.
    settings: Vec<TokenStream>,
    /// The index space, instead of `.over(size)`.
    shape: Option<TokenStream>,
    block: Option<TokenStream>,
}

/// `name = value` or `name(backend = value, …)`.
struct Entry {
    name: Ident,
    given: Given,
}

enum Given {
    Nothing,
    One(Box<Expr>),
    Each(Vec<(Ident, Expr)>),
}

impl Parse for Entry {
    fn parse(input: ParseStream<'_>) -> syn::Result<Entry> {
        let name = input.call(<Ident as syn::ext::IdentExt>::parse_any)?;
        if input.is_empty() || input.peek(Token![,]) {
            let given = Given::Nothing;
            return Ok(Entry { name, given });
        }
        if input.peek(syn::token::Paren) {
            let list;
            syn::parenthesized!(list in input);
            let each = |input: ParseStream<'_>| {
                let backend = input.parse::<Ident>()?;
                input.parse::<Token![=]>()?;
                Ok((backend, input.parse::<Expr>()?))
            };
            let list = Punctuated::<_, Token![,]>::parse_terminated_with(&list, each)?;
            let given = Given::Each(list.into_iter().collect());
            return Ok(Entry { name, given });
        }
        input.parse::<Token![=]>()?;
        let given = Given::One(Box::new(input.parse()?));
        Ok(Entry { name, given })
    }
}

/// True if an expression may name a function. `crate` alone is a path, too.
fn is_item(named: &Expr) -> bool {
    let last = match named {
        Expr::Path(path) => path.path.segments.last(),
        _ => None,
    };
    let is_module = |name: &Ident| ["crate", "self", "super", "Self"].iter().any(|m| name == m);
    last.is_some_and(|segment| !is_module(&segment.ident))
}

/// The kernel, then its options.
struct Written(Expr, Vec<Entry>);

impl Parse for Written {
    fn parse(input: ParseStream<'_>) -> syn::Result<Written> {
        let kernel: Expr = input.parse()?;
        if !is_item(&kernel) {
            let what = "the first argument is not the tested kernel";
            let instead = "name it first: `#[kernel_test(saxpy, ulps = 2)]`";
            return Err(Mistake::new(codes::TEST_OPTION, what, instead).at(kernel.span()));
        }
        if input.is_empty() {
            return Ok(Written(kernel, vec![]));
        }
        input.parse::<Token![,]>()?;
        let entries = Punctuated::<Entry, Token![,]>::parse_terminated(input)?;
        Ok(Written(kernel, entries.into_iter().collect()))
    }
}

impl Options {
    fn read(tokens: TokenStream, errors: &mut Errors) -> Option<Options> {
        let Written(kernel, entries) = match syn::parse2(tokens) {
            Ok(written) => written,
            Err(error) => {
                errors.push(error);
                return None;
            }
        };
        let mut options = Options {
            kernel,
            krate: quote!(::sarek),
            settings: vec![],
            shape: None,
            block: None,
        };
        for entry in entries {
            options.take(entry, errors);
        }
        Some(options)
    }

    fn take(&mut self, Entry { name, given }: Entry, errors: &mut Errors) {
        match (name.to_string().as_str(), given) {
            ("ulps" | "absolute", Given::One(value)) => {
                self.settings.push(quote!(.#name(#value as f64)));
            }
            ("ulps" | "absolute", Given::Each(list)) => {
                let method = quote::format_ident!("{name}_on");
                for (backend, value) in list {
                    let backend = backend.to_string();
                    self.settings
                        .push(quote!(.#method(#backend, #value as f64)));
                }
            }
            ("sizes" | "rounds" | "seed" | "on", Given::One(value)) => {
                self.settings.push(quote!(.#name(#value)));
            }
            ("over" | "cover" | "grid", Given::One(value)) => {
                self.shaped(&name, quote!(.#name(#value)), errors);
            }
            ("items", Given::Nothing) => self.shaped(&name, TokenStream::new(), errors),
            ("block", Given::One(value)) => self.block = Some(quote!(.block(#value))),
            ("crate", Given::One(path)) => {
                if let Some(path) = crate_path(*path, errors) {
                    self.krate = path.to_token_stream();
                }
            }
            (known, Given::Nothing | Given::One(_) | Given::Each(_)) => {
                let (what, instead) =
                    match OPTIONS.contains(&format!("`{known}`")) || known == "crate" {
                        true if known == "items" => (
                            "`items` takes no value".to_string(),
                            "write `items`".to_string(),
                        ),
                        true => (
                            format!("`{known}` needs a value"),
                            format!("write `{known} = …`"),
                        ),
                        false => (
                            format!("`{known}` is not an option of `#[kernel_test]`"),
                            format!("use one of {OPTIONS}"),
                        ),
                    };
                errors.at(codes::TEST_OPTION, name.span(), what, instead);
            }
        }
    }

    fn shaped(&mut self, name: &Ident, shape: TokenStream, errors: &mut Errors) {
        if self.shape.is_some() {
            errors.at(
                codes::TEST_OPTION,
                name.span(),
                "a launch has only one index space",
                "give one of `over`, `cover`, `grid` and `items`",
            );
        }
        self.shape = Some(shape);
    }

    /// The method calls that complete the launch.
    fn launch(&self) -> TokenStream {
        let size = Ident::new("size", Span::call_site());
        let shape = self.shape.clone().unwrap_or_else(|| quote!(.over(#size)));
        let block = &self.block;
        quote!(#shape #block)
    }
}

/// An argument of the kernel.
struct Argument {
    name: Ident,
    kind: Kind,
    /// `#[within(…)]`
    within: Option<Expr>,
    /// `#[len(…)]`
    len: Option<Expr>,
}

enum Kind {
    Value(Type),
    Slice { elem: Type, mutable: bool },
}

impl Argument {
    fn read(input: &mut FnArg, errors: &mut Errors) -> Option<Argument> {
        let typed = match input {
            FnArg::Typed(typed) => typed,
            FnArg::Receiver(receiver) => {
                errors.at(
                    codes::TEST_FORM,
                    receiver.range(),
                    "a test has the arguments of its kernel, and no `self`",
                    "drop it",
                );
                return None;
            }
        };
        let (mut within, mut len) = (None, None);
        for attr in std::mem::take(&mut typed.attrs) {
            let place = match attr.path() {
                path if path.is_ident("within") => &mut within,
                path if path.is_ident("len") => &mut len,
                path => {
                    errors.at(
                        codes::TEST_OPTION,
                        path.range(),
                        "arguments of a test do not have this attribute",
                        "use `#[within(low..high)]` and `#[len(count)]`",
                    );
                    continue;
                }
            };
            match attr.parse_args::<Expr>() {
                Ok(value) => *place = Some(value),
                Err(error) => errors.push(error),
            }
        }
        let name = match &*typed.pat {
            Pat::Ident(pat) if pat.by_ref.is_none() && pat.subpat.is_none() => pat.ident.clone(),
            other => {
                errors.at(
                    codes::TEST_FORM,
                    other.range(),
                    "an argument of a test must be a plain name",
                    "use a plain name, and destructure it in the body",
                );
                return None;
            }
        };
        let kind = kind(&typed.ty, errors)?;
        if let (Kind::Value(_), Some(len)) = (&kind, &len) {
            errors.at(
                codes::TEST_OPTION,
                len.span(),
                "a value has no length",
                "drop the `#[len(…)]`, which is for slices",
            );
        }
        Some(Argument {
            name,
            kind,
            within,
            len,
        })
    }

    /// Generates the argument's values; a slice is also copied to a vector.
    fn made(&self, krate: &TokenStream) -> TokenStream {
        let (name, text) = (&self.name, self.name.to_string());
        let size = Ident::new("size", Span::call_site());
        match &self.kind {
            Kind::Value(ty) => match &self.within {
                Some(range) => {
                    quote!(let #name: #ty = #krate::testing::Trial::value_within::<#ty>(__trial, #text, #range);)
                }
                None => {
                    quote!(let #name: #ty = #krate::testing::Trial::value::<#ty>(__trial, #text);)
                }
            },
            Kind::Slice { elem, mutable } => {
                let vector = self.vector();
                let len = match &self.len {
                    Some(len) => quote!(#len),
                    None => quote!(#size),
                };
                let values = match &self.within {
                    Some(range) => {
                        quote!(#krate::testing::Trial::values_within::<#elem>(__trial, #text, #len, #range))
                    }
                    None => quote!(#krate::testing::Trial::values::<#elem>(__trial, #text, #len)),
                };
                let mutability = mutable.then(|| quote!(mut));
                quote! {
                    let #mutability #name = #values;
                    let #mutability #vector = #krate::Vector::from_slice(&#name);
                }
            }
        }
    }

    fn vector(&self) -> Ident {
        quote::format_ident!("__{}", self.name, span = Span::mixed_site())
    }

    /// The argument as the kernel takes it.
    fn given(&self) -> TokenStream {
        let (name, vector) = (&self.name, self.vector());
        match self.kind {
            Kind::Value(_) => quote!(#name),
            Kind::Slice { mutable: true, .. } => quote!(&mut #vector),
            Kind::Slice { mutable: false, .. } => quote!(&#vector),
        }
    }

    /// The argument as the function takes it.
    fn plain(&self) -> TokenStream {
        let name = &self.name;
        match self.kind {
            Kind::Value(_) => quote!(#name),
            Kind::Slice { mutable: true, .. } => quote!(&mut #name),
            Kind::Slice { mutable: false, .. } => quote!(&#name),
        }
    }

    /// True if the kernel may change it.
    fn is_compared(&self) -> bool {
        match self.kind {
            Kind::Slice { mutable, .. } => mutable,
            Kind::Value(_) => false,
        }
    }

    /// Compares its values after the run.
    fn compared(&self, krate: &TokenStream) -> Option<TokenStream> {
        let (name, text, vector) = (&self.name, self.name.to_string(), self.vector());
        let trial = quote!(#krate::testing::Trial);
        self.is_compared()
            .then(|| quote!(#trial::expect(__trial, #text, &#vector, &#name)?;))
    }
}

fn kind(ty: &Type, errors: &mut Errors) -> Option<Kind> {
    match ty {
        Type::Reference(reference) => match &*reference.elem {
            Type::Slice(slice) => Some(Kind::Slice {
                elem: (*slice.elem).clone(),
                mutable: reference.mutability.is_some(),
            }),
            other => {
                errors.at(
                    codes::TEST_FORM,
                    other.range(),
                    "a kernel borrows only slices",
                    "write `&[T]` or `&mut [T]`",
                );
                None
            }
        },
        value => Some(Kind::Value(value.clone())),
    }
}

/// Expands `#[kernel_test(attribute)] item`.
pub fn kernel_test(attribute: TokenStream, item: TokenStream) -> Expansion {
    let mut errors = Errors::default();
    let tokens = test(attribute, item, &mut errors);
    let (reports, errors) = errors.finish();
    let tokens = tokens.filter(|_| errors.is_empty());
    Expansion {
        tokens: quote!(#reports #tokens),
        errors,
        kernel: None,
    }
}

fn test(attribute: TokenStream, item: TokenStream, errors: &mut Errors) -> Option<TokenStream> {
    if !is_bounded(&attribute, errors) || !is_bounded(&item, errors) {
        return None;
    }
    let mut item: syn::ItemFn = match syn::parse2(item) {
        Ok(item) => item,
        Err(error) => {
            errors.at(
                codes::PLACE,
                error.span(),
                format!("`#[kernel_test]` is not on a function ({error})"),
                "put it on a function that computes the expected result",
            );
            return None;
        }
    };
    let sig = &mut item.sig;
    if attribute.is_empty() {
        errors.at(
            codes::TEST_OPTION,
            sig.ident.span(),
            "the tested kernel is not named",
            "write `#[kernel_test(saxpy)]`",
        );
        return None;
    }
    let options = Options::read(attribute, errors);
    if let ReturnType::Type(_, ty) = &sig.output {
        errors.at(
            codes::TEST_FORM,
            ty.range(),
            "a kernel test returns nothing, like its kernel",
            "write the expected values to the `&mut [T]`",
        );
    }
    if !sig.generics.params.is_empty() {
        errors.at(
            codes::TEST_FORM,
            sig.generics.range(),
            "a kernel test cannot be generic",
            "name an instance, as in `#[kernel_test(scale::<f32>)]`",
        );
    }
    if let Some(asyncness) = &sig.asyncness {
        errors.at(
            codes::TEST_FORM,
            asyncness.span(),
            "a kernel test cannot be `async`",
            "drop this keyword",
        );
    }
    let found: Vec<Option<Argument>> = sig
        .inputs
        .iter_mut()
        .map(|input| Argument::read(input, errors))
        .collect();
    let arguments = found.into_iter().collect::<Option<Vec<Argument>>>()?;
    if !arguments.iter().any(|argument| argument.is_compared()) {
        errors.at(
            codes::TEST_FORM,
            sig.ident.span(),
            "this test has no output to compare",
            "take the kernel's output as `&mut [T]`",
        );
    }
    Some(tokens(&item, &arguments, &options?))
}

fn tokens(item: &syn::ItemFn, arguments: &[Argument], options: &Options) -> TokenStream {
    let Options {
        kernel,
        krate,
        settings,
        ..
    } = options;
    let launch = options.launch();
    let syn::ItemFn {
        attrs,
        vis,
        sig,
        block,
        ..
    } = item;
    let (name, inputs) = (&sig.ident, &sig.inputs);
    let (made, given, plain, compared) = (
        arguments.iter().map(|a| a.made(krate)),
        arguments.iter().map(Argument::given),
        arguments.iter().map(Argument::plain),
        arguments.iter().filter_map(|a| a.compared(krate)),
    );
    let call = quote!(#kernel(#(#given),*));
    let call = match sig.safety {
        // The author's own `unsafe`, for the promise that an `unsafe` kernel requires.
        syn::Safety::Unsafe(word) => {
            let mut block = Group::new(Delimiter::Brace, call);
            block.set_span(word.span);
            quote!({
                #[allow(clippy::undocumented_unsafe_blocks)]
                let __launch = #word #block;
                __launch
            })
        }
        _ => call,
    };
    let size = Ident::new("size", Span::call_site());
    quote! {
        #[test]
        #(#attrs)*
        #vis fn #name() {
            #[allow(clippy::all)]
            fn __expected(#inputs) #block
            #krate::testing::Check::new(::core::concat!(::core::module_path!(), "::", ::core::stringify!(#name)))
                #(#settings)*
                .run(|__trial| {
                    #[allow(unused_variables)]
                    let #size: ::core::primitive::usize = #krate::testing::Trial::size(__trial);
                    #(#made)*
                    #krate::testing::Trial::run(__trial, #call #launch)?;
                    __expected(#(#plain),*);
                    #(#compared)*
                    ::core::result::Result::Ok(())
                });
        }
    }
}
