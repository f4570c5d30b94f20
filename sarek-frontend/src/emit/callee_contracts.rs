//! Requirements of a kernel or function on its callees, as assertions that rustc evaluates.

use proc_macro2::{Ident, Literal, Span, TokenStream, TokenTree};
use quote::{quote, quote_spanned};
use sarek_ir::analysis::contract::{Contract, passed_arrays};
use sarek_ir::analysis::race::ConstantBound;
use sarek_ir::{CallId, CallableArg, FunctionId, Kernel, Stmt};
use syn::spanned::Spanned;

use super::{assumed_results, cpu};
use crate::diagnostics::{Mistake, codes};
use crate::lower::{Lowered, Probe};
use crate::parse::Own;
use crate::tokens::{flat, names};

/// Assertions in two groups. Those in `standalone` are items of their own, each placed at its call.
/// Those in `inside` name `Self` or depend on type parameters, so they stand in the instance's
/// body.
#[derive(Default)]
pub(super) struct Checks {
    pub standalone: TokenStream,
    pub inside: TokenStream,
    /// Blocks that test which methods the instance's types have.
    probes: TokenStream,
}

impl Checks {
    /// A function that contains the probes, or `None` without probes. It declares its own generic
    /// parameters and where clause.
    pub fn probing(&self, name: &Ident, own: &Own, krate: &TokenStream) -> Option<TokenStream> {
        let (probes, declared) = (&self.probes, own.declared());
        let here = quote!(__Here);
        let clause = own.clause(Some(quote!((): #krate::__private::host::Assumed<#here>)));
        (!probes.is_empty()).then(|| {
            quote! {
                #[doc(hidden)]
                #[allow(warnings, clippy::all)]
                fn #name<#declared #here>() #clause {
                    use #krate::__private::host as __host;
                    #probes
                }
            }
        })
    }
}

/// The assertions on callees, with the code that determines the types of the literals in them.
pub(super) struct Assertions {
    each: Vec<TokenStream>,
    probes: Vec<Probe>,
    literal_types: TokenStream,
}

impl Assertions {
    /// Sorts the assertions by the place where they can stand. `closed` is true if there are no
    /// type parameters.
    pub fn among(self, closed: bool, krate: &TokenStream) -> Checks {
        let mut checks = Checks::default();
        let of_instance = |token: TokenTree| matches!(&token, TokenTree::Ident(i) if i == "Self");
        for Probe {
            declared,
            statement,
        } in self.probes
        {
            let names_instance = flat(statement.clone()).any(of_instance);
            let probe = quote!({ #declared #statement });
            match closed && !names_instance {
                true => {
                    let single = Checks {
                        probes: probe,
                        ..Checks::default()
                    };
                    let name = Ident::new("probes", Span::mixed_site());
                    let function = single.probing(&name, &Own::default(), krate);
                    checks
                        .standalone
                        .extend(quote!(const _: () = { #function };));
                }
                false => checks.probes.extend(probe),
            }
        }
        for check in self.each {
            let span = Span::mixed_site().located_at(check.span());
            let names_instance = flat(check.clone()).any(of_instance);
            let literal_types = names::has_literal_variable(&check).then_some(&self.literal_types);
            let imported = quote_spanned!(span=> { use #krate::__private::host as __host; #literal_types #check });
            match closed && !names_instance {
                true => checks.standalone.extend(
                    quote_spanned!(span=> #[allow(unused_imports)] const _: () = #imported;),
                ),
                false => checks
                    .inside
                    .extend(quote_spanned!(span=> const #imported;)),
            }
        }
        checks
    }
}

/// Collects the requirements of a kernel or function on its callees.
pub(super) fn checks(lowered: &Lowered, is_function: bool) -> Assertions {
    let kernel = &lowered.kernel;
    let parts = Contract::of(kernel, is_function);
    let at = |call: CallId| {
        let stmts = kernel.stmts.iter();
        let stmt = stmts
            .zip(&lowered.stmt_spans)
            .find(|(s, _)| **s == Stmt::Call { call });
        let span = stmt.map_or_else(Span::call_site, |(_, span)| span.first);
        Span::mixed_site().located_at(span)
    };
    let in_recursive = (0..kernel.calls.len() as u32).map(CallId);
    let in_recursive =
        in_recursive.filter(|call| lowered.max_depth.is_some() && !lowered.callee(*call).is_self);
    let in_recursive = in_recursive.map(|call| {
        let (span, is) = (at(call), lowered.callee(call).collective());
        let message = collective(
            "the threads of a block work together in this function, so a recursive function cannot call it",
            "write a loop",
        );
        quote_spanned!(span=> ::core::assert!(!#is, #message);)
    });
    let functions = (0..kernel.calls.len() as u32).map(CallId);
    let functions = functions.filter(|call| kernel.calls[call.index()].called.function().is_some());
    let with_callables = functions.clone().filter(|call| {
        !kernel.calls[call.index()].callable_args.is_empty() || !kernel.callables.is_empty()
    });
    let with_callables = with_callables.map(|call| {
        let (span, is) = (at(call), lowered.callee(call).collective());
        let message = collective(
            "the threads of a block work together in this function, so it cannot take closures, and no function that \
             takes closures can call it",
            "pass values, which each thread computes before the call",
        );
        quote_spanned!(span=> ::core::assert!(!#is, #message);)
    });
    let given = given_functions(kernel).map(|(call, function)| {
        let (span, is) = (at(call), lowered.callees[function.index()].collective());
        let message = collective(
            "the threads of a block work together in the function that is passed here",
            "call it first, and pass its value",
        );
        quote_spanned!(span=> ::core::assert!(!#is, #message);)
    });
    let apart = parts.calls.iter().map(|&call| {
        let (span, is) = (at(call), lowered.callee(call).collective());
        let message = collective(
            "the threads of a block work together in this function, by barriers, shared arrays or subgroups, but some of \
             them may miss this call",
            "move the call to where all threads reach it, outside of conditions and loops that differ between threads",
        );
        quote_spanned!(span=> ::core::assert!(!#is, #message);)
    });
    let differ = parts
        .arguments
        .iter()
        .map(|&(call, argument)| differing(lowered, call, argument, at(call)));
    let lent = passed_arrays(kernel)
        .into_iter()
        .filter(|_| !lowered.is_unsafe);
    let lent = lent.map(|(call, at_argument, memory)| {
        let (span, takes) = (at(call), lowered.callee(call).takes());
        let (at_argument, name) = (at_argument as usize, kernel.memory_name(memory));
        let what = format!(
            "two threads may use the same element of `{name}` at once: this function is not proved to use shared arrays without races"
        );
        let instead = "let the function take it as `&mut [T]`, with barriers between uses and one after the last, pass \
                       values, or declare the caller `unsafe fn`";
        let message = Mistake::new(codes::LENT_MEMORY, what, instead).to_string();
        quote_spanned!(span=> ::core::assert!(__host::ParameterSet::has(#takes, #at_argument), #message);)
    });
    let unsplit = cpu::unsplit(lowered, is_function).into_iter();
    let unsplit = unsplit.map(|(call, message)| {
        let (span, is) = (at(call), lowered.callee(call).collective());
        quote_spanned!(span=> ::core::assert!(!#is, #message);)
    });
    let own = functions.map(|call| (call, lowered.callee(call).exact()));
    let given_on = given_functions(kernel);
    let given_on =
        given_on.map(|(call, function)| (call, lowered.callees[function.index()].exact()));
    let inexact = own.chain(given_on).filter(|_| kernel.strict);
    let inexact = inexact.map(|(call, is)| {
        let span = at(call);
        let message = Mistake::new(
            codes::STRICT,
            "this function, or one that it calls, computes values that differ between devices, such as `exp`, `min` of \
             floats or a target's own text",
            "write it out with `+ - * /`, `sqrt` and `mul_add`",
        )
        .to_string();
        quote_spanned!(span=> ::core::assert!(#is, #message);)
    });
    let bounds = lowered.constant_bounds.iter();
    let bounds = bounds.map(|bound| bounded(lowered, *bound));
    let all = in_recursive
        .chain(with_callables)
        .chain(given)
        .chain(inexact)
        .chain(apart)
        .chain(differ)
        .chain(lent)
        .chain(unsplit);
    Assertions {
        each: lowered
            .checks
            .iter()
            .cloned()
            .chain(all)
            .chain(bounds)
            .chain(assumed_results::checks(lowered, &at))
            .collect(),
        probes: lowered.probes.clone(),
        literal_types: lowered.literal_types.clone(),
    }
}

/// Asserts that a named constant has the bound by which the kernel is free of races.
fn bounded(lowered: &Lowered, bound: ConstantBound) -> TokenStream {
    let path = &lowered.links[bound.link.index()];
    let name = &lowered.kernel.links[bound.link.index()].path;
    let number = Literal::u64_unsuffixed(bound.number);
    let (sign, is) = match bound.is_least {
        true => (">=", quote!(>=)),
        false => ("<=", quote!(<=)),
    };
    let (mut text, mut limit) = (number.to_string(), quote!(#number));
    for of in bound.times.into_iter().flatten() {
        let (path, name) = (
            &lowered.links[of.index()],
            &lowered.kernel.links[of.index()].path,
        );
        text = match bound.number {
            1 if text == "1" => name.to_string(),
            _ => format!("{text} * {name}"),
        };
        limit = quote!((#limit * (#path as i128)));
    }
    let mistake = Mistake::new(
        codes::RACE,
        format!("two threads may use the same element at once unless `{name} {sign} {text}`"),
        "give the constant such a value, or declare the kernel `unsafe fn`",
    );
    let message = mistake.to_string();
    let span = Span::mixed_site().located_at(path.span());
    quote_spanned!(span=> if !((#path as i128) #is #limit) { ::core::panic!(#message) })
}

/// The functions passed as callable arguments, each with the call that passes it.
fn given_functions(kernel: &Kernel) -> impl Iterator<Item = (CallId, FunctionId)> + '_ {
    let calls = (0..).map(CallId).zip(kernel.calls.iter());
    calls.flat_map(|(id, call)| {
        let functions = call.callable_args.iter().filter_map(|given| match given {
            CallableArg::Function(function) => Some(*function),
            CallableArg::Closure(_) | CallableArg::Callable(_) => None,
        });
        functions.map(move |function| (id, function))
    })
}

/// Asserts that no barrier in the callee depends on this argument, which differs between the
/// threads of a block. If the caller is safe, also asserts that the callee is race-free without
/// relying on this argument being uniform.
fn differing(lowered: &Lowered, call: CallId, argument: u32, span: Span) -> TokenStream {
    let (name, callee) = (argument_name(lowered, call, argument), lowered.callee(call));
    let (argument, uniform) = (argument as usize, callee.uniform());
    let what = format!(
        "a barrier in this function depends on {name}, which differs between the threads of a block"
    );
    let message = collective(&what, "pass the same value in all threads");
    let barrier = quote_spanned!(span=> ::core::assert!(!__host::ParameterSet::has(#uniform, #argument), #message););
    if lowered.is_unsafe {
        return barrier;
    }
    let what = format!(
        "two threads may use the same element of a shared array in this function, since {name} differs between the threads of a block"
    );
    let instead = "pass the same value in all threads, or declare the caller `unsafe fn`";
    let why = "the function is proved free of races only if all threads pass the same value there";
    let mistake = Mistake::new(codes::COLLECTIVE_CALL, what, instead).because(why);
    let (message, agreed) = (mistake.to_string(), callee.agreed());
    quote_spanned! {span=>
        #barrier
        ::core::assert!(__host::ParameterSet::has(#uniform, #argument) || !__host::ParameterSet::has(#agreed, #argument), #message);
    }
}

/// The name of a call's argument in messages.
fn argument_name(lowered: &Lowered, call: CallId, argument: u32) -> String {
    let written = lowered.written_position(&lowered.kernel.calls[call.index()], argument as usize);
    match (lowered.callee(call).has_receiver, written) {
        (true, 0) => "its receiver".to_string(),
        (true, written) => format!("argument {written}"),
        (false, written) => format!("argument {}", written + 1),
    }
}

fn collective(what: &str, instead: &str) -> String {
    Mistake::new(codes::COLLECTIVE_CALL, what, instead).to_string()
}
