use proc_macro2::{Delimiter, Group, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Expr, Lit, Path, Token};

use super::Shapes;
use crate::diagnostics::{Errors, Mistake, codes};

/// The options of `#[kernel]`. The reference of the macro explains each of them.
pub const KERNEL_OPTIONS: [&str; 6] = ["block", "requires", "strict", "optimize", "env", "crate"];

/// The options of `#[device]`, likewise.
pub const DEVICE_OPTIONS: [&str; 3] = ["inline", "intrinsic", "crate"];

/// An option for tests alone.
const SHAPES: &str = "__shapes";

fn is_option(name: &syn::Ident) -> bool {
    let mut all = KERNEL_OPTIONS
        .iter()
        .chain(&DEVICE_OPTIONS)
        .chain([&SHAPES]);
    all.any(|option| name == option)
}

/// The arguments of `#[kernel(…)]`.
#[derive(Default)]
pub struct Attribute {
    /// `block = 256`, `(16, 16)` or `(8, 8, 4)`.
    pub block: Option<[u32; 3]>,
    /// `inline = 8`, on a `#[device]` function: the maximum depth of its nested calls of itself.
    pub inline: Option<(u32, proc_macro2::Span)>,
    /// `intrinsic` or `intrinsic = "name"`, on a `#[device]` function: its texts are registered
    /// under that name, or under its own.
    pub intrinsic: Option<(Option<String>, proc_macro2::Span)>,
    /// `env(cuda_fp16, "scale.h")`: the environments that the kernel's text needs.
    pub environments: Vec<String>,
    /// The place of the first `env`.
    pub environments_span: Option<proc_macro2::Span>,
    /// The place of `block`.
    pub block_span: Option<proc_macro2::Span>,
    /// `strict`: float results are the same to the bit everywhere.
    pub strict: Option<proc_macro2::Span>,
    /// `optimize = false`: launches run as written.
    pub optimize: Option<(bool, proc_macro2::Span)>,
    /// `unsafe(crate = path)`: the path of this crate in the scope of the kernel.
    pub krate: Option<Named>,
    /// `requires(k < n, …)`: conditions that a launch must satisfy.
    pub requires: Vec<Expr>,
    /// `__shapes = "…"`, for tests alone: the shapes that loops over lanes may take.
    pub shapes: Option<Shapes>,
}

/// The path of the façade crate that the user gives, and the `unsafe` that vouches for it.
///
/// The items at that path decide which memory a kernel reads and which fields a type has. Nothing
/// can distinguish this crate from another module of the same shape.
#[derive(Clone)]
pub struct Named {
    /// The path.
    pub path: Path,
    unsafety: Token![unsafe],
}

impl Named {
    /// An item that rustc treats as the user's own `unsafe`.
    pub fn claim(&self) -> TokenStream {
        let span = self.unsafety.span;
        let body = quote_spanned!(span=> ::core::mem::zeroed::<()>());
        let mut block = Group::new(Delimiter::Brace, body);
        block.set_span(span);
        let unsafety = &self.unsafety;
        quote!(const _: () = #unsafety #block;)
    }

    /// Reads the path in `crate = path`, with the `unsafe` around it. Reports a missing `unsafe`.
    pub fn of(value: Expr, unsafety: Option<Token![unsafe]>, errors: &mut Errors) -> Option<Named> {
        let span = span(&value);
        let path = crate_path(value, errors)?;
        if unsafety.is_none() {
            errors.at(
                codes::CRATE,
                span,
                "`crate = …` is not checked by the compiler",
                format!("write `unsafe(crate = {})`", path_text(&path)),
            );
        }
        let unsafety = unsafety?;
        Some(Named { path, unsafety })
    }
}

fn path_text(path: &Path) -> String {
    path.to_token_stream().to_string().replace(' ', "")
}

/// `crate = path` in the parentheses of `unsafe(…)`.
pub struct Within(pub Expr);

impl Parse for Within {
    fn parse(input: ParseStream<'_>) -> syn::Result<Within> {
        let inner;
        syn::parenthesized!(inner in input);
        if !inner.peek(Token![crate]) {
            let what = "`unsafe(…)` contains no option that needs it";
            return Err(
                Mistake::new(codes::OPTION, what, "write `unsafe(crate = path)`").at(inner.span()),
            );
        }
        inner.parse::<Token![crate]>()?;
        inner.parse::<Token![=]>()?;
        let value = inner.parse()?;
        if !inner.is_empty() {
            let what = "`unsafe(…)` may contain only `crate = path`";
            return Err(
                Mistake::new(codes::OPTION, what, "move it out of the parentheses")
                    .at(inner.span()),
            );
        }
        Ok(Within(value))
    }
}

/// `name = value`. The name may be the keyword `crate`, so it is not parsed as an identifier.
struct Entry {
    name: syn::Ident,
    value: Given,
    /// The `unsafe` around the entry.
    unsafety: Option<Token![unsafe]>,
}

/// The value of an option.
enum Given {
    /// No value: a word alone.
    Nothing,
    /// `= value`
    One(Box<Expr>),
    /// `(value, …)`
    List(Vec<Expr>),
}

impl Parse for Entry {
    fn parse(input: ParseStream<'_>) -> syn::Result<Entry> {
        if input.peek(Lit) {
            let literal: Lit = input.parse()?;
            let what = "this is not an option";
            return Err(Mistake::new(codes::OPTION, what, "write `block = 256`").at(literal.span()));
        }
        if input.peek(Token![unsafe]) {
            let unsafety: Token![unsafe] = input.parse()?;
            let Within(value) = input.parse()?;
            return Ok(Entry {
                name: syn::Ident::new("crate", unsafety.span),
                value: Given::One(Box::new(value)),
                unsafety: Some(unsafety),
            });
        }
        let name = input.call(<syn::Ident as syn::ext::IdentExt>::parse_any)?;
        let unsafety = None;
        if (name == "requires" || name == "env") && input.peek(syn::token::Paren) {
            let conditions;
            syn::parenthesized!(conditions in input);
            let list = Punctuated::<Expr, Token![,]>::parse_terminated(&conditions)?;
            return Ok(Entry {
                name,
                value: Given::List(list.into_iter().collect()),
                unsafety,
            });
        }
        if (name == "strict" || name == "intrinsic") && !input.peek(Token![=]) {
            let value = Given::Nothing;
            return Ok(Entry {
                name,
                value,
                unsafety,
            });
        }
        input.parse::<Token![=]>().map_err(|_| {
            if ["block", "inline", "optimize", "crate"]
                .iter()
                .any(|known| name == known)
            {
                let what = format!("the value of `{name}` must follow `=`");
                let instead = format!("write `{name} = …`");
                return Mistake::new(codes::OPTION, what, instead).at(name.span());
            }
            let what = format!("`{name}` is not an option");
            let instead =
                "write `block = …`, `requires(…)`, `env(…)`, `strict` or `unsafe(crate = …)`";
            Mistake::new(codes::OPTION, what, instead).at(name.span())
        })?;
        Ok(Entry {
            name,
            value: Given::One(Box::new(input.parse()?)),
            unsafety,
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
        for Entry {
            name,
            value,
            unsafety,
        } in entries
        {
            if !is_option(&name) {
                errors.at(
                    codes::OPTION,
                    name.span(),
                    format!("`{name}` is not an option of `#[kernel]`"),
                    "use `block = …`, `requires(…)`, `strict` or `unsafe(crate = …)`",
                );
                continue;
            }
            let value = match value {
                Given::List(names) if name == "env" => {
                    let names = names.iter().filter_map(|name| environment(name, errors));
                    attribute.environments.extend(names);
                    attribute.environments_span.get_or_insert(name.span());
                    continue;
                }
                Given::List(conditions) => {
                    attribute.requires.extend(conditions);
                    continue;
                }
                Given::Nothing if name == "strict" => {
                    attribute.strict = Some(name.span());
                    continue;
                }
                Given::Nothing => {
                    attribute.intrinsic = Some((None, name.span()));
                    continue;
                }
                Given::One(value) => *value,
            };
            match name.to_string().as_str() {
                "block" if attribute.block.is_some() => errors.at(
                    codes::OPTION,
                    name.span(),
                    "`block` is given twice",
                    "drop one of them",
                ),
                "block" => {
                    attribute.block = block(&value, errors);
                    attribute.block_span = Some(name.span());
                }
                "crate" => {
                    if let Some(named) = Named::of(value, unsafety, errors) {
                        attribute.krate = Some(named);
                    }
                }
                "inline" => attribute.inline = inline(&value, errors),
                SHAPES => match shapes(&value) {
                    Some(shapes) => attribute.shapes = Some(shapes),
                    None => errors.at(
                        codes::OPTION,
                        span(&value),
                        "this is not a list of shapes",
                        "write their names, separated by commas",
                    ),
                },
                "intrinsic" => {
                    let text = intrinsic(&value, errors);
                    attribute.intrinsic = text.map(|text| (Some(text), name.span()));
                }
                "env" => errors.at(
                    codes::OPTION,
                    name.span(),
                    "`env` takes a list",
                    "write environments in parentheses: `env(cuda_fp16)`",
                ),
                "optimize" => match &value {
                    Expr::Lit(syn::ExprLit {
                        lit: Lit::Bool(allowed),
                        ..
                    }) => attribute.optimize = Some((allowed.value, name.span())),
                    other => errors.at(
                        codes::OPTION,
                        span(other),
                        "`optimize` is `true` or `false`",
                        "write `optimize = false`",
                    ),
                },
                "strict" => errors.at(
                    codes::OPTION,
                    name.span(),
                    "`strict` takes no value",
                    "write `#[kernel(strict)]`",
                ),
                "requires" => errors.at(
                    codes::OPTION,
                    name.span(),
                    "`requires` takes a list",
                    "write conditions in parentheses: `requires(k < n)`",
                ),
                other => unreachable!("no option: `{other}`"),
            }
        }
        attribute
    }
}

/// The name of an environment: a word, or a string for other names.
fn environment(name: &Expr, errors: &mut Errors) -> Option<String> {
    let found = match name {
        Expr::Path(path) => path.path.get_ident().map(ToString::to_string),
        other => text(other),
    };
    if found.is_none() {
        errors.at(
            codes::OPTION,
            span(name),
            "an environment is named as it is registered",
            "write `env(cuda_fp16)` or `env(\"cuda_fp16\")`",
        );
    }
    found
}

/// The name of an intrinsic.
fn intrinsic(value: &Expr, errors: &mut Errors) -> Option<String> {
    let found = text(value).filter(|name| !name.is_empty());
    if found.is_none() {
        errors.at(
            codes::OPTION,
            span(value),
            "an intrinsic needs the name under which its texts are registered",
            "write `intrinsic = \"fast_tanh\"`",
        );
    }
    found
}

/// The value of a string literal.
fn text(value: &Expr) -> Option<String> {
    match value {
        Expr::Lit(lit) => match &lit.lit {
            Lit::Str(text) => Some(text.value()),
            _ => None,
        },
        _ => None,
    }
}

/// The maximum depth of a function's calls of itself.
fn inline(value: &Expr, errors: &mut Errors) -> Option<(u32, proc_macro2::Span)> {
    /// A deeper recursion would make the text far too long.
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
        errors.at(
            codes::OPTION,
            span(value),
            "`inline = N` is the maximum depth of a function's recursion",
            format!("write a literal up to {MOST}"),
        );
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

/// The path of the façade crate that `crate = …` names.
pub fn crate_path(value: Expr, errors: &mut Errors) -> Option<syn::Path> {
    let is_plain = |path: &syn::ExprPath| {
        let mut segments = path.path.segments.iter();
        path.qself.is_none() && segments.all(|s| s.arguments.is_none() && s.ident != "Self")
    };
    match value {
        Expr::Path(path) if is_plain(&path) => Some(path.path),
        other => {
            errors.at(
                codes::OPTION,
                span(&other),
                "`crate = …` takes the path of a crate",
                "write it as `unsafe(crate = my_sarek)`",
            );
            None
        }
    }
}

fn block(value: &Expr, errors: &mut Errors) -> Option<[u32; 3]> {
    let extents: Vec<&Expr> = match value {
        Expr::Tuple(tuple) => tuple.elems.iter().collect(),
        other => vec![other],
    };
    if extents.is_empty() || extents.len() > 3 {
        errors.at(
            codes::OPTION,
            span(value),
            "a block has one to three extents",
            "write them as `block = (16, 16)`",
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
                codes::OPTION,
                span(extent),
                "this is not an extent of a block",
                "write a positive integer literal",
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
