//! Assumptions of a race proof about the results of called functions, as assertions that rustc evaluates.
//!
//! See [`sarek_ir::analysis::race::called`]. The kernel has constants for coefficients of the functions' formulas.

use std::collections::HashMap;

use proc_macro2::{Literal, Span, TokenStream};
use quote::{quote, quote_spanned};
use sarek_ir::analysis::race::called::{AssumedFunction, ByResults, Form, Part, Scale, Term, Tree};
use sarek_ir::{CallId, Kernel, Loc, NameId, Scalar, Stmt};

use crate::diagnostics::{Mistake, codes};
use crate::lower::{Callee, Lowered, scalar_tokens};
use crate::tokens::range::SourceRange;

/// Puts a rewritten kernel in place of the lowered one.
pub fn adopt(lowered: &mut Lowered, found: ByResults) {
    let kernel = found.kernel;
    lowered.assumed_functions = found.functions;
    let stmts = lowered.kernel.stmts.iter().zip(kernel.stmt_locs.iter());
    let calls = stmts.zip(&lowered.stmt_spans);
    let calls = calls.filter(|((stmt, _), _)| matches!(stmt, Stmt::Call { .. }));
    let spans: HashMap<Loc, SourceRange> = calls.map(|((_, loc), span)| (*loc, *span)).collect();
    let span = |loc: &Loc| {
        spans
            .get(loc)
            .copied()
            .unwrap_or_else(SourceRange::call_site)
    };
    let new = &kernel.expr_locs[lowered.expr_spans.len()..];
    lowered.expr_spans.extend(new.iter().map(span));
    let new = &kernel.stmt_locs[lowered.stmt_spans.len()..];
    lowered.stmt_spans.extend(new.iter().map(span));
    for function in &lowered.assumed_functions {
        let callee = first_callee(&kernel, function, &lowered.callees);
        for coefficient in &function.coefficients {
            let ty = kernel.links[coefficient.link.index()].ty.as_scalar();
            let ty = ty.map(|ty| scalar_tokens(ty, &callee.krate));
            let (formula, is_negative) = (callee.formula(), coefficient.is_negative);
            let product = product(&kernel, callee, &coefficient.arguments);
            let span = Span::mixed_site().located_at(callee.span);
            let of = formula_type(callee, span);
            lowered.links.push(
                quote_spanned!(span=> (#of::factor(&#formula, #product, #is_negative) as #ty)),
            );
            lowered.link_types.extend(ty);
        }
    }
    lowered.kernel = kernel;
}

/// The path of `Formula`.
fn formula_type(callee: &Callee, span: Span) -> TokenStream {
    let krate = crate::tokens::at(&callee.krate, span);
    quote_spanned!(span=> #krate::__private::host::formula::Formula)
}

/// The called function at the first of the calls. The others have the same formula.
fn first_callee<'a>(
    kernel: &Kernel,
    function: &AssumedFunction,
    callees: &'a [Callee],
) -> &'a Callee {
    let called = kernel.calls[function.calls[0].index()].called.function();
    &callees[called.expect("no callable parameter").index()]
}

/// A product of arguments, as a slice of `Variable`.
fn product(kernel: &Kernel, callee: &Callee, arguments: &[Part]) -> TokenStream {
    let krate = &callee.krate;
    let variables = arguments.iter().map(|part| {
        let argument = match part {
            Part::Argument(argument) => argument,
            Part::Tree(tree) => {
                return super::formula::variable(&quote!(#krate::__private::host), tree, kernel);
            }
        };
        let parameter = Literal::usize_unsuffixed(argument.position as usize);
        let field = argument.field.map(|name| &kernel.names[name.index()]);
        let field = field.map_or("", |name| name);
        quote!(#krate::__private::host::formula::Variable::new(#parameter, #field))
    });
    quote!(&[#(#variables),*])
}

/// Asserts that the functions return what the proof assumes.
pub(super) fn checks(lowered: &Lowered, at: &dyn Fn(CallId) -> Span) -> Vec<TokenStream> {
    let each = lowered.assumed_functions.iter();
    each.flat_map(|function| checks_of(lowered, function, at))
        .collect()
}

fn checks_of(
    lowered: &Lowered,
    function: &AssumedFunction,
    at: &dyn Fn(CallId) -> Span,
) -> Vec<TokenStream> {
    let kernel = &lowered.kernel;
    let first = first_callee(kernel, function, &lowered.callees);
    let result = kernel.calls[function.calls[0].index()].result;
    let ty = result.and_then(|local| kernel.locals[local.index()].ty.as_scalar());
    let ty = ty.expect("the result is an integer");
    let formula = first.formula();
    let name = first
        .method
        .as_ref()
        .map_or_else(|| first.path().replace(' ', ""), crate::tokens::plain_name);
    let texts: Vec<String> = function
        .forms
        .iter()
        .map(|form| format!("`{}`", text(lowered, form)))
        .collect();
    let parameters: Vec<String> = (0..kernel.calls[function.calls[0].index()].args.len())
        .map(|position| letter(position as u32))
        .collect();
    let mistake = Mistake::new(
        codes::RACE,
        "two threads may use the same element at once, unless this function returns an index by which they differ",
        "write the index in the kernel, or declare the kernel `unsafe fn`",
    );
    let mistake = mistake.because(format!(
        "`{name}({})` is not known to return {}, to which a number may be added; only arithmetic on \
         integers of one type is followed, without branches",
        parameters.join(", "),
        texts.join(" or "),
    ));
    let message = mistake.to_string();
    let span = at(function.calls[0]);
    let forms = function.forms.iter().map(|form| {
        let form = conditions(lowered, first, ty, form);
        let of = formula_type(first, span);
        quote_spanned!(span=> #of::has(&#formula, #form))
    });
    let own = quote_spanned!(span=> if !(#(#forms)||*) { ::core::panic!(#message) });
    let others = function.calls[1..].iter().map(|call| {
        let (other, span) = (lowered.callee(*call).formula(), at(*call));
        let of = formula_type(first, span);
        quote_spanned!(span=> if !#of::is(&#other, &#formula) { ::core::panic!(#message) })
    });
    std::iter::once(own).chain(others).collect()
}

/// A form as a slice of conditions on terms.
fn conditions(lowered: &Lowered, callee: &Callee, ty: Scalar, form: &Form) -> TokenStream {
    let krate = &callee.krate;
    let number = |of: u64| Literal::i128_unsuffixed(of.into());
    // A coefficient has the type of the result, and must not wrap there.
    let largest = largest(ty);
    let is_constant = |term: &&Term| term.arguments.is_empty();
    let each = form.terms.iter().filter(|term| !is_constant(term));
    let each = each.map(|term| {
        let [least, most] = match &term.scale {
            Scale::One => [quote!(1), quote!(1)],
            Scale::Constants(links) => {
                let paths = links.iter().map(|link| &lowered.links[link.index()]);
                let value = paths.fold(
                    quote!(1),
                    |product, path| quote!(#product * (#path) as ::core::primitive::i128),
                );
                [value.clone(), value]
            }
            Scale::Between(least, most) => {
                let (least, most) = (
                    number(*least),
                    number(most.map_or(largest, |most| most.min(largest))),
                );
                [quote!(#least), quote!(#most)]
            }
        };
        let [least, most] = match term.is_negative {
            false => [least, most],
            true => [quote!(-(#most)), quote!(-(#least))],
        };
        (term.arguments.clone(), least, most)
    });
    // The number that is added has a term for each sign.
    let (mut least, mut most) = (-i128::from(largest), i128::from(largest));
    for term in form.terms.iter().filter(is_constant) {
        let Scale::Between(from, to) = term.scale else {
            continue;
        };
        let (from, to) = (i128::from(from), i128::from(to.unwrap_or(largest)));
        let [low, high] = match term.is_negative {
            false if from > 0 => [from, to],
            false => [i128::MIN, to],
            true if from > 0 => [-to, -from],
            true => [-to, i128::MAX],
        };
        (least, most) = (least.max(low), most.min(high));
    }
    let [least, most] = [least, most].map(|bound| {
        let size = Literal::u128_unsuffixed(bound.unsigned_abs());
        match bound < 0 {
            true => quote!(-#size),
            false => quote!(#size),
        }
    });
    let each = each.chain([(vec![], quote!(#least), quote!(#most))]);
    let each = each.map(|(arguments, least, most)| {
        let factors = product(&lowered.kernel, callee, &arguments);
        quote!(#krate::__private::host::formula::FormTerm { factors: #factors, least: #least, most: #most })
    });
    quote!(&[#(#each),*])
}

/// The largest integer that a type has on every device.
fn largest(ty: Scalar) -> u64 {
    let bits = match ty {
        Scalar::Usize => 32,
        other => other.bits(),
    };
    u64::MAX >> (64 - bits) >> u32::from(ty.is_signed())
}

/// The name of an argument in messages.
fn letter(position: u32) -> String {
    let letters = 'a'..='z';
    let of = letters.into_iter().nth(position as usize);
    of.map_or_else(|| format!("a{position}"), String::from)
}

/// A form in messages, without the number that is added.
fn text(lowered: &Lowered, form: &Form) -> String {
    let kernel = &lowered.kernel;
    let mut sum = String::new();
    for term in form.terms.iter().filter(|term| !term.arguments.is_empty()) {
        let parameter = |position: u32, field: Option<NameId>| {
            let field = field.map(|name| format!(".{}", kernel.names[name.index()]));
            letter(position) + &field.unwrap_or_default()
        };
        let is_sole = term.arguments.len() == 1 && term.scale == Scale::One;
        let arguments = term.arguments.iter().map(|part| match part {
            Part::Argument(argument) => parameter(argument.position, argument.field),
            Part::Tree(tree @ Tree::Binary(..)) if !is_sole => {
                format!("({})", tree.shown(&parameter))
            }
            Part::Tree(tree) => tree.shown(&parameter),
        });
        let factors: Vec<String> = match &term.scale {
            Scale::One => vec![],
            Scale::Constants(links) => {
                let names = links.iter().map(|link| &kernel.links[link.index()].path);
                names.map(ToString::to_string).collect()
            }
            Scale::Between(least, most) => {
                let most = most.map(|most| format!(" and at most {most}"));
                vec![format!(
                    "(a number of at least {least}{})",
                    most.unwrap_or_default()
                )]
            }
        };
        let product: Vec<String> = arguments.chain(factors).collect();
        sum += match (sum.is_empty(), term.is_negative) {
            (true, false) => "",
            (false, false) => " + ",
            (true, true) => "- ",
            (false, true) => " - ",
        };
        sum += &product.join(" * ");
    }
    sum
}
