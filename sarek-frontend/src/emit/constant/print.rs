//! What kernels print, as tokens.

use proc_macro2::{Literal, TokenStream};
use quote::{ToTokens, format_ident, quote};
use sarek_ir::Print;
use sarek_ir::print::{Format, PrintPiece, Printer};

use super::{list, option, slice, string};

pub fn print(print: &Print) -> TokenStream {
    let pieces = slice(&print.pieces, |piece| match piece {
        PrintPiece::Text(text) => {
            let text = string(text);
            quote!(ir::print::PrintPiece::Text(#text))
        }
        PrintPiece::Arg { index, format } => {
            let index = Literal::u32_unsuffixed(*index);
            let format = self::format(format);
            quote!(ir::print::PrintPiece::Arg { index: #index, format: #format })
        }
    });
    let args = list(print.args);
    let printer = match print.printer {
        Printer::Pieces => quote!(Pieces),
        Printer::Link(link) => {
            let link = Literal::u32_unsuffixed(link);
            quote!(Link(#link))
        }
        Printer::Host(_) => unreachable!("linking finds printers"),
    };
    quote!(ir::Print { pieces: #pieces, args: #args, printer: ir::print::Printer::#printer })
}

fn format(format: &Format) -> TokenStream {
    let Format {
        fill,
        align,
        plus,
        alternate,
        zero,
        width,
        precision,
        notation,
    } = format;
    let align = option(align.map(|a| symbol("Align", a)));
    let number =
        |n: &Option<u16>| option(n.map(|n| Literal::u16_unsuffixed(n).into_token_stream()));
    let (width, precision) = (number(width), number(precision));
    let notation = symbol("Notation", notation);
    quote!(ir::print::Format {
        fill: #fill, align: #align, plus: #plus, alternate: #alternate, zero: #zero, width: #width,
        precision: #precision, notation: #notation,
    })
}

/// A variant without fields of an enum in `ir::print`, by the name that it prints.
fn symbol(of: &str, value: impl std::fmt::Debug) -> TokenStream {
    let (of, value) = (format_ident!("{of}"), format_ident!("{value:?}"));
    quote!(ir::print::#of::#value)
}
