//! Messages about mistakes in kernels.
//!
//! Each message has the same three parts: the code with what is wrong, the reason (which device cannot do it), and what to write instead:
//!
//! ```text
//! error: SRK0501: `x` cannot be written
//!        why: what a kernel borrows by `&` is read through caches that stores do not reach
//!        instead: declare it `x: &mut [T]`
//! ```
//!
//! The codes are in [`codes`]. The page of each, in `errors/`, gives the reason and examples. Errors accumulate in [`Errors`], and all errors
//! of a kernel are reported at once.

pub mod codes;

use std::fmt::{self, Display};

use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use quote::{quote, quote_spanned};

pub use codes::Code;

use crate::tokens::range::SourceRange;

/// One mistake, in words.
#[derive(Clone, Debug)]
pub struct Mistake {
    code: Code,
    what: String,
    why: Option<String>,
    instead: String,
}

impl Mistake {
    /// A mistake, and the code to write instead. The reason is that of the error code.
    pub fn new(code: Code, what: impl Display, instead: impl Display) -> Mistake {
        Mistake {
            code,
            what: what.to_string(),
            why: None,
            instead: instead.to_string(),
        }
    }

    /// Replaces the reason by one for this case.
    pub fn because(self, why: impl Display) -> Mistake {
        Mistake {
            why: Some(why.to_string()),
            ..self
        }
    }

    /// The mistake as an error of a parser.
    pub fn at(&self, place: impl Into<SourceRange>) -> syn::Error {
        let SourceRange { first, last } = place.into();
        // An error of two tokens reaches from the first to the last.
        let ends = [first, last].map(|span| Ident::new("_", span));
        syn::Error::new_spanned(quote!(#(#ends)*), self)
    }
}

impl Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let why = self.why.as_deref().unwrap_or(self.code.why());
        writeln!(f, "{}: {}", self.code, self.what)?;
        writeln!(f, "why: {why}")?;
        write!(f, "instead: {}", self.instead)
    }
}

/// The errors of one kernel. Call [`Errors::finish`] to report the errors. Dropping a non-empty list
/// panics.
#[derive(Default)]
pub struct Errors {
    list: Vec<syn::Error>,
    /// Syntax errors.
    unparsed: Vec<syn::Error>,
    /// Errors that are only reported beside others.
    suspected: Vec<syn::Error>,
}

impl Errors {
    /// Reports a mistake at a token, and the code to write instead.
    pub fn at(
        &mut self,
        code: Code,
        place: impl Into<SourceRange>,
        what: impl Display,
        instead: impl Display,
    ) {
        self.report(place, &Mistake::new(code, what, instead));
    }

    /// Reports a construct that kernels do not support.
    pub fn unsupported(
        &mut self,
        code: Code,
        place: impl Into<SourceRange>,
        what: &str,
        instead: &str,
    ) {
        self.at(
            code,
            place,
            format!("{what} not supported in a kernel"),
            instead,
        );
    }

    /// Reports a mistake at a piece of the source, once for each first token.
    pub fn report(&mut self, place: impl Into<SourceRange>, mistake: &Mistake) {
        let error = mistake.at(place);
        let first = |e: &syn::Error| (e.span().start(), e.span().end());
        let same = |e: &syn::Error| first(e) == first(&error) && e.to_string() == error.to_string();
        if !self.list.iter().any(same) {
            self.list.push(error);
        }
    }

    /// Reports a possible mistake, but only if there is another one. The reports of an expansion
    /// keep rustc from resolving names, so it would not find this one.
    pub fn suspect(&mut self, place: impl Into<SourceRange>, mistake: &Mistake) {
        self.suspected.push(mistake.at(place));
    }

    /// Reports a parser's errors. Those of this crate have a code; the others, from syn, are
    /// reported as syntax errors.
    pub fn push(&mut self, error: syn::Error) {
        for error in error {
            match Code::of(&error.to_string()) {
                Some(_) => self.list.push(error),
                None => self.report(error.span(), &not_understood(&error)),
            }
        }
    }

    /// Reports that an item is not valid Rust. rustc parses an item before its attributes see it,
    /// and has reported the error already. If rustc accepts code that syn does not, the report
    /// makes code generation fail.
    ///
    /// Tokens from a macro contain invisible groups, which rustc may understand better than syn. An
    /// error in these is reported at once.
    pub fn unparsed(&mut self, error: syn::Error, item: &TokenStream) {
        if has_unseen_group(item) {
            return self.push(error);
        }
        let each = error.into_iter();
        self.unparsed
            .extend(each.map(|error| not_understood(&error).at(error.span())));
    }

    /// The errors reported so far.
    pub fn iter(&self) -> impl Iterator<Item = &syn::Error> {
        self.list.iter()
    }

    /// The number of errors.
    pub fn count(&self) -> usize {
        self.list.len()
    }

    /// True if there are no errors yet.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty() && self.unparsed.is_empty()
    }

    /// All errors, as tokens for rustc and as text for tests.
    pub fn finish(mut self) -> (TokenStream, Vec<String>) {
        let mut list = std::mem::take(&mut self.list);
        if !list.is_empty() {
            list.splice(..0, std::mem::take(&mut self.suspected));
        }
        let unparsed = std::mem::take(&mut self.unparsed);
        let reports = list.iter().map(syn::Error::to_compile_error);
        let reports = reports.chain(unparsed.iter().map(when_code_is_made));
        let messages = list.iter().chain(&unparsed).map(ToString::to_string);
        (reports.collect(), messages.collect())
    }
}

/// The mistake for an error of syn.
fn not_understood(error: &syn::Error) -> Mistake {
    let instead = "write valid Rust, or the form that the macro's documentation shows";
    Mistake::new(codes::SYNTAX, error.to_string(), instead)
}

/// True if the tokens contain a group without delimiters.
fn has_unseen_group(tokens: &TokenStream) -> bool {
    tokens.clone().into_iter().any(|token| match token {
        TokenTree::Group(group) => {
            group.delimiter() == Delimiter::None || has_unseen_group(&group.stream())
        }
        TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}

/// An error that rustc reports only at code generation, after all others, in a crate without other
/// errors.
fn when_code_is_made(error: &syn::Error) -> TokenStream {
    let (span, text) = (error.span(), error.to_string());
    let report = quote_spanned!(span=> ::core::panic!("{}", #text));
    quote! {
        const _: () = {
            fn report() {
                const { #report }
            }
            #[used]
            static REPORT: fn() = report;
        };
    }
}

impl Drop for Errors {
    fn drop(&mut self) {
        if !self.is_empty() && !std::thread::panicking() {
            panic!("errors of a kernel were dropped unreported");
        }
    }
}
