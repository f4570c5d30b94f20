//! The macro call that formats a print.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{format_ident, quote_spanned};
use sarek_ir::Print;
use sarek_ir::print::{Notation, PrintPiece};

/// Formats a print with `format_args!` and passes the result to `then`. Each of `args` is a value,
/// with its span if its type may not be a scalar. rustc reports a value that cannot be printed at
/// the user's function, so this code must not report it again.
pub(crate) fn formatted(
    print: &Print,
    args: &[(TokenStream, Option<Span>)],
    then: &TokenStream,
    host: &TokenStream,
) -> TokenStream {
    let span = Span::mixed_site();
    let name = |at: usize| -> Ident { format_ident!("__printed_{at}", span = span) };
    let (names, values): (Vec<Ident>, Vec<&TokenStream>) = (0..)
        .map(name)
        .zip(args.iter().map(|(value, _)| value))
        .unzip();
    let mut each = print.clone();
    let mut shown = vec![];
    for piece in each.pieces.to_mut() {
        let PrintPiece::Arg { index, format } = piece else {
            continue;
        };
        let (name, place) = (name(*index as usize), args[*index as usize].1);
        *index = shown.len() as u32;
        let method = match (format.notation, place) {
            (Notation::Debug, Some(_)) => Some("__debug"),
            (Notation::Display, Some(_)) => Some("__display"),
            _ => None,
        };
        let span = span.located_at(place.unwrap_or(span));
        shown.push(match method {
            Some(method) => {
                let method = Ident::new(method, span);
                quote_spanned!(span=> (&#host::PrintedValue(&#name)).#method())
            }
            None => quote_spanned!(span=> #name),
        });
    }
    let template = Literal::string(&each.template());
    quote_spanned! {span=> {
        #[allow(unused_imports)]
        use #host::{Debugs as _, Displays as _, NoDebug as _, NoDisplay as _};
        #(let #names = #values;)*
        #then(::core::format_args!(#template #(, #shown)*))
    }}
}
