use proc_macro2::TokenStream;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Expr, Lit, Path, Token};

use crate::diagnostics::Errors;
use crate::emit::Shapes;

/// The arguments of `#[kernel(…)]`.
#[derive(Default)]
pub struct Attribute {
    /// `block = 256`, `(16, 16)` or `(8, 8, 4)`.
    pub block: Option<[u32; 3]>,
    /// `inline = 8`, of a `#[device]` function: how many calls of itself may be nested in one.
    pub inline: Option<(u32, proc_macro2::Span)>,
    /// Where that stands.
    pub block_span: Option<proc_macro2::Span>,
    /// `crate = path`: how this crate is called where the kernel stands.
    pub krate: Option<Path>,
    /// `requires(k < n, …)`: what a launch must satisfy.
    pub requires: Vec<Expr>,
    /// `__shapes = "…"`, for tests alone: the shapes that loops over lanes may take.
    pub shapes: Shapes,
}

/// `name = value`; `crate` is a keyword, so a path is parsed where an identifier would not do.
struct Entry {
    name: syn::Ident,
    value: Given,
}

/// What an option is given.
enum Given {
    /// `= value`
    One(Box<Expr>),
    /// `(value, …)`
    List(Vec<Expr>),
}

impl Parse for Entry {
    fn parse(input: ParseStream<'_>) -> syn::Result<Entry> {
        let name = input.call(<syn::Ident as syn::ext::IdentExt>::parse_any)?;
        if name == "requires" && input.peek(syn::token::Paren) {
            let conditions;
            syn::parenthesized!(conditions in input);
            let list = Punctuated::<Expr, Token![,]>::parse_terminated(&conditions)?;
            return Ok(Entry {
                name,
                value: Given::List(list.into_iter().collect()),
            });
        }
        input.parse::<Token![=]>().map_err(|mut e| {
            e.combine(syn::Error::new(
                name.span(),
                format!(
                    "`{name}` is not an option of `#[kernel]`: write `block = …`, `requires(…)` or `crate = …`"
                ),
            ));
            e
        })?;
        Ok(Entry {
            name,
            value: Given::One(Box::new(input.parse()?)),
        })
    }
}

impl Attribute {
    /// Parses the tokens between the parentheses.
    pub fn parse(tokens: TokenStream, errors: &mut Errors) -> Attribute {
        let mut attribute = Attribute::default();
        let parser = Punctuated::<Entry, Token![,]>::parse_terminated;
        let entries = match syn::parse::Parser::parse2(parser, tokens) {
            Ok(entries) => entries,
            Err(error) => {
                errors.push(error);
                return attribute;
            }
        };
        for Entry { name, value } in entries {
            let value = match value {
                Given::List(conditions) => {
                    attribute.requires.extend(conditions);
                    continue;
                }
                Given::One(value) => *value,
            };
            match name.to_string().as_str() {
                "block" if attribute.block.is_some() => errors.at(name.span(), "`block` is given twice"),
                "block" => {
                    attribute.block = block(&value, errors);
                    attribute.block_span = Some(name.span());
                }
                "crate" => match value {
                    Expr::Path(path) if path.qself.is_none() => attribute.krate = Some(path.path),
                    other => errors.at(span(&other), "`crate = …` takes a path, such as `crate = my_sarek`"),
                },
                "inline" => attribute.inline = inline(&value, errors),
                "__shapes" => match shapes(&value) {
                    Some(shapes) => attribute.shapes = shapes,
                    None => errors.at(span(&value), "no list of shapes"),
                },
                "requires" => errors.at(name.span(), "write conditions in parentheses: `requires(k < n)`"),
                other => errors.at(
                    name.span(),
                    format!(
                        "`{other}` is not an option of `#[kernel]`: there are `block = …`, `requires(…)` and `crate = …`"
                    ),
                ),
            }
        }
        attribute
    }
}

/// How deep a function may call itself.
fn inline(value: &Expr, errors: &mut Errors) -> Option<(u32, proc_macro2::Span)> {
    /// Beyond, the text would be out of all proportion.
    const MOST: u32 = 1000;
    let number = match value {
        Expr::Lit(lit) => match &lit.lit {
            Lit::Int(int) => int.base10_parse::<u32>().ok(),
            _ => None,
        },
        _ => None,
    };
    let found = number.filter(|n| *n <= MOST);
    if found.is_none() {
        let message = format!(
            "`inline = N` is how many calls of itself a function nests in one: a literal up to {MOST}"
        );
        errors.at(span(value), message);
    }
    found.map(|n| (n, span(value)))
}

fn shapes(value: &Expr) -> Option<Shapes> {
    match value {
        Expr::Lit(lit) => match &lit.lit {
            Lit::Str(list) => Shapes::from_list(&list.value()),
            _ => None,
        },
        _ => None,
    }
}

fn block(value: &Expr, errors: &mut Errors) -> Option<[u32; 3]> {
    let extents: Vec<&Expr> = match value {
        Expr::Tuple(tuple) => tuple.elems.iter().collect(),
        other => vec![other],
    };
    if extents.is_empty() || extents.len() > 3 {
        errors.at(
            span(value),
            "a block has one to three extents: `block = (16, 16)`",
        );
        return None;
    }
    let mut block = [1; 3];
    for (axis, extent) in extents.into_iter().enumerate() {
        let number = match extent {
            Expr::Lit(lit) => match &lit.lit {
                Lit::Int(int) => int.base10_parse::<u32>().ok().filter(|n| *n > 0),
                _ => None,
            },
            _ => None,
        };
        let Some(number) = number else {
            errors.at(
                span(extent),
                "an extent of a block is a positive integer literal",
            );
            return None;
        };
        block[axis] = number;
    }
    Some(block)
}

fn span(node: &impl syn::spanned::Spanned) -> proc_macro2::Span {
    node.span()
}
