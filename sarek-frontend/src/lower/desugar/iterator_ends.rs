//! Methods that end a chain of iterators with one value, such as `sum`: loops around an accumulator; and `map` of arrays.

use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;
use sarek_ir::{Expr, Value as Constant};

use super::iterator::looped;
use crate::diagnostics::codes;
use crate::lower::calls::option_closures::callable;
use crate::lower::memory::array::{index_chain, peeled};
use crate::lower::types::Node;
use crate::lower::{Binding, Lowerer, PendingLiteral, Value};
use crate::tokens::mixed_at;

/// The methods that end a chain, and yield one value.
pub(super) const ENDS: [&str; 13] = [
    "sum", "product", "min", "max", "any", "all", "position", "count", "fold", "for_each", "find",
    "last", "find_map",
];

impl Lowerer<'_> {
    /// A method that ends a chain of iterators, or `map` of an array. `None` for other methods and receivers.
    pub(in crate::lower) fn iterated(&mut self, e: &syn::ExprMethodCall) -> Option<Value> {
        if e.method == "map" && e.args.len() == 1 {
            return self.array_map(e);
        }
        let name = e.method.to_string();
        if !ENDS.contains(&name.as_str()) || !self.is_iterator(&e.receiver, false) {
            return None;
        }
        let Some(chain) = self.chain_of(&e.receiver) else {
            return Some(Value::Never);
        };
        let span = e.method.span();
        if name != "count" && chain.item.has_part() {
            self.closure_over_parts(&name, span);
            return Some(Value::Never);
        }
        if ["min", "max", "find", "last"].contains(&&*name) && chain.lends() {
            self.held_elements.push((name.clone(), span));
        }
        let arguments: Vec<syn::Expr> = e.args.iter().map(callable).collect();
        let item = chain.item.value();
        let some = quote_spanned!(mixed_at(span)=> ::core::option::Option::Some);
        let none = quote_spanned!(mixed_at(span)=> ::core::option::Option::None);
        let written = e.turbofish.as_ref().and_then(|list| list.args.first());
        let written = written.map(|ty| quote_spanned!(mixed_at(span)=> : #ty));
        let mut operand = None;
        let (start, each, end) = match (name.as_str(), &*arguments) {
            ("sum", []) => {
                operand = Some(self.neutral("0", span));
                (
                    quote_spanned!(mixed_at(span)=> let mut __total #written = __x;),
                    quote_spanned!(mixed_at(span)=> __total = __total + #item;),
                    quote_spanned!(mixed_at(span)=> __total),
                )
            }
            ("product", []) => {
                operand = Some(self.neutral("1", span));
                (
                    quote_spanned!(mixed_at(span)=> let mut __total #written = __x;),
                    quote_spanned!(mixed_at(span)=> __total = __total * #item;),
                    quote_spanned!(mixed_at(span)=> __total),
                )
            }
            ("min" | "max", []) => {
                let better = match name == "min" {
                    true => quote_spanned!(mixed_at(span)=> __v < __best),
                    false => quote_spanned!(mixed_at(span)=> __v >= __best),
                };
                (
                    quote_spanned!(mixed_at(span)=> let mut __found = #none;),
                    quote_spanned! {mixed_at(span)=>
                        let __v = #item;
                        __found = match __found {
                            #some(__best) => if #better { #some(__v) } else { #some(__best) },
                            #none => #some(__v),
                        };
                    },
                    quote_spanned!(mixed_at(span)=> __found),
                )
            }
            ("any", [f]) => (
                quote_spanned!(mixed_at(span)=> let mut __found = false;),
                quote_spanned!(mixed_at(span)=> if #f(#item) { __found = true; break; }),
                quote_spanned!(mixed_at(span)=> __found),
            ),
            ("all", [f]) => (
                quote_spanned!(mixed_at(span)=> let mut __found = true;),
                quote_spanned!(mixed_at(span)=> if !#f(#item) { __found = false; break; }),
                quote_spanned!(mixed_at(span)=> __found),
            ),
            ("position", [f]) => (
                quote_spanned!(mixed_at(span)=> let mut __place = 0usize; let mut __found = #none;),
                quote_spanned! {mixed_at(span)=>
                    if #f(#item) { __found = #some(__place); break; }
                    __place += 1;
                },
                quote_spanned!(mixed_at(span)=> __found),
            ),
            ("find", [f]) => (
                quote_spanned!(mixed_at(span)=> let mut __found = #none;),
                quote_spanned!(mixed_at(span)=> if #f(#item) { __found = #some(#item); break; }),
                quote_spanned!(mixed_at(span)=> __found),
            ),
            ("find_map", [f]) => (
                quote_spanned!(mixed_at(span)=> let mut __found = #none;),
                quote_spanned! {mixed_at(span)=>
                    __found = #f(#item);
                    if match __found { #some(_) => true, #none => false } { break; }
                },
                quote_spanned!(mixed_at(span)=> __found),
            ),
            ("last", []) => (
                quote_spanned!(mixed_at(span)=> let mut __found = #none;),
                quote_spanned!(mixed_at(span)=> __found = #some(#item);),
                quote_spanned!(mixed_at(span)=> __found),
            ),
            ("count", []) => (
                quote_spanned!(mixed_at(span)=> let mut __total = 0usize;),
                quote_spanned!(mixed_at(span)=> __total += 1;),
                quote_spanned!(mixed_at(span)=> __total),
            ),
            ("fold", [first, f]) => (
                quote_spanned!(mixed_at(span)=> let mut __total = #first;),
                quote_spanned!(mixed_at(span)=> __total = #f(__total, #item);),
                quote_spanned!(mixed_at(span)=> __total),
            ),
            ("for_each", [f]) => (
                TokenStream::new(),
                quote_spanned!(mixed_at(span)=> #f(#item);),
                TokenStream::new(),
            ),
            _ => {
                self.errors.at(
                    codes::ARGUMENT_COUNT,
                    span,
                    format!("`{name}` of an iterator takes another number of arguments"),
                    "write those that Rust asks for",
                );
                return Some(Value::Never);
            }
        };
        let (setup, made) = (&chain.before, looped(&chain, &each, span));
        let whole: syn::Expr =
            syn::parse_quote_spanned!(mixed_at(span)=> { #setup #start #made #end });
        Some(match operand {
            Some(neutral) => self.with_operands(&[neutral], span, &whole),
            None => self.value(&whole),
        })
    }

    /// The number with which a sum or product begins, of a type that its items determine.
    fn neutral(&mut self, text: &str, span: Span) -> sarek_ir::ExprId {
        let ty = self.types.any();
        let expr = self.expr(Expr::Literal(Constant::Bool(false)), ty, span);
        self.literals.push(PendingLiteral {
            expr,
            lit: syn::Lit::Int(syn::LitInt::new(text, span)),
            negative: false,
            beyond: false,
            neutral: true,
        });
        expr
    }

    /// `[a, b].map(f)`. `None` if the receiver is no array.
    fn array_map(&mut self, e: &syn::ExprMethodCall) -> Option<Value> {
        const LONGEST: u64 = 16;
        let receiver = peeled(&e.receiver);
        let known = match receiver {
            syn::Expr::Array(array) => Some(array.elems.len() as u64),
            syn::Expr::Repeat(repeat) => Some(self.known_length(&repeat.len)?),
            other => {
                let (base, indices) = index_chain(other);
                if !indices.is_empty() {
                    return None;
                }
                match self.find_memory(base) {
                    Some((memory, _)) => match self.shape(memory)? {
                        [dim] => dim.known(),
                        _ => None,
                    },
                    None => Some(self.length_of_name(base)?),
                }
            }
        };
        let span = e.method.span();
        let Some(n) = known.filter(|n| (1..=LONGEST).contains(n)) else {
            self.errors.unsupported(
                codes::EXPRESSION,
                span,
                "`map` of an array of this length is",
                "fill an array in a loop",
            );
            return Some(Value::Never);
        };
        let f = callable(&e.args[0]);
        let each = (0..n).map(|at| {
            let at = syn::LitInt::new(&at.to_string(), span);
            quote_spanned!(mixed_at(span)=> #f(__array[#at]))
        });
        let rust = quote_spanned!(mixed_at(span)=> { let __array = #receiver; [#(#each),*] });
        Some(self.value(&syn::parse_quote!(#rust)))
    }

    /// The length of an array that is a value with a name.
    pub(super) fn length_of_name(&mut self, expr: &syn::Expr) -> Option<u64> {
        let syn::Expr::Path(path) = expr else {
            return None;
        };
        match self.find(path.path.get_ident()?)? {
            Binding::Local(local) | Binding::Reference(local) => {
                match self.types.node(self.local_types[local.index()]) {
                    Node::Array(_, dim) => dim.known(),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}
