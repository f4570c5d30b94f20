//! Types, and what is done with values of several parts.

use proc_macro2::{Literal, TokenStream};
use quote::quote;
use sarek_ir::{
    Argument, Call, Callable, Called, Closure, Compound, Given, NameId, Place, Root, Step, TypeDef,
};

use super::{expr_id, handle, length, list, memory, option, site_id, slice, ty};

pub(super) fn type_def(def: &TypeDef) -> TokenStream {
    match def {
        TypeDef::Array { elem, len } => {
            let (elem, len) = (ty(*elem), length(*len));
            quote!(ir::TypeDef::Array { elem: #elem, len: #len })
        }
        TypeDef::Tuple(types) => {
            let types = slice(types, |t| ty(*t));
            quote!(ir::TypeDef::Tuple(#types))
        }
        TypeDef::Link(link) => {
            let link = handle("TypeLinkId", link.0);
            quote!(ir::TypeDef::Link(#link))
        }
        TypeDef::Field { of, name } => {
            let (of, name) = (ty(*of), name_id(*name));
            quote!(ir::TypeDef::Field { of: #of, name: #name })
        }
        TypeDef::Element { of } => {
            let of = ty(*of);
            quote!(ir::TypeDef::Element { of: #of })
        }
        TypeDef::Payload { of, variant, name } => {
            let (of, variant, name) = (ty(*of), name_id(*variant), name_id(*name));
            quote!(ir::TypeDef::Payload { of: #of, variant: #variant, name: #name })
        }
        TypeDef::Result(function) => {
            let function = handle("FunctionId", function.0);
            quote!(ir::TypeDef::Result(#function))
        }
        TypeDef::Parameter { of, index } => {
            let (of, index) = (handle("FunctionId", of.0), Literal::u32_unsuffixed(*index));
            quote!(ir::TypeDef::Parameter { of: #of, index: #index })
        }
        TypeDef::Callable {
            of,
            callable,
            takes,
        } => {
            let (of, callable) = (handle("FunctionId", of.0), handle("CallableId", callable.0));
            let takes = option(takes.map(|at| {
                let at = Literal::u32_unsuffixed(at);
                quote!(#at)
            }));
            quote!(ir::TypeDef::Callable { of: #of, callable: #callable, takes: #takes })
        }
    }
}

fn name_id(name: NameId) -> TokenStream {
    handle("NameId", name.0)
}

pub(super) fn compound(compound: &Compound) -> TokenStream {
    match compound {
        Compound::Field { base, name } => {
            let (base, name) = (expr_id(*base), name_id(*name));
            quote!(ir::Compound::Field { base: #base, name: #name })
        }
        Compound::Index { base, index, site } => {
            let (base, index, site) = (expr_id(*base), expr_id(*index), site_id(*site));
            quote!(ir::Compound::Index { base: #base, index: #index, site: #site })
        }
        Compound::IsVariant { value, variant } => {
            let (value, variant) = (expr_id(*value), name_id(*variant));
            quote!(ir::Compound::IsVariant { value: #value, variant: #variant })
        }
        Compound::Payload {
            value,
            variant,
            name,
        } => {
            let (value, variant, name) = (expr_id(*value), name_id(*variant), name_id(*name));
            quote!(ir::Compound::Payload { value: #value, variant: #variant, name: #name })
        }
        Compound::Construct {
            variant,
            fields,
            rest,
        } => {
            let (variant, rest) = (option(variant.map(name_id)), option(rest.map(expr_id)));
            let fields = slice(fields, |(name, value)| {
                let (name, value) = (name_id(*name), expr_id(*value));
                quote!((#name, #value))
            });
            quote!(ir::Compound::Construct { variant: #variant, fields: #fields, rest: #rest })
        }
        Compound::Array { items } => {
            let items = list(*items);
            quote!(ir::Compound::Array { items: #items })
        }
        Compound::Repeat { value } => {
            let value = expr_id(*value);
            quote!(ir::Compound::Repeat { value: #value })
        }
        Compound::Len { base } => {
            let base = expr_id(*base);
            quote!(ir::Compound::Len { base: #base })
        }
        Compound::At { view, indices } => {
            let (view, indices) = (handle("ParamId", view.0), list(*indices));
            quote!(ir::Compound::At { view: #view, indices: #indices })
        }
    }
}

pub(super) fn place(place: &Place) -> TokenStream {
    let root = match place.root {
        Root::Local(local) => {
            let local = handle("LocalId", local.0);
            quote!(ir::Root::Local(#local))
        }
        Root::Param(param) => {
            let param = handle("ParamId", param.0);
            quote!(ir::Root::Param(#param))
        }
        Root::Element {
            memory: m,
            index,
            site,
        } => {
            let (m, index, site) = (memory(m), expr_id(index), site_id(site));
            quote!(ir::Root::Element { memory: #m, index: #index, site: #site })
        }
    };
    let steps = slice(&place.steps, |step| match *step {
        Step::Field(name) => {
            let name = name_id(name);
            quote!(ir::Step::Field(#name))
        }
        Step::Index { index, site } => {
            let (index, site) = (expr_id(index), site_id(site));
            quote!(ir::Step::Index { index: #index, site: #site })
        }
    });
    quote!(ir::Place { root: #root, steps: #steps })
}

pub(super) fn call(call: &Call) -> TokenStream {
    let called = match call.called {
        Called::Function(function) => {
            let function = handle("FunctionId", function.0);
            quote!(ir::Called::Function(#function))
        }
        Called::Callable(callable) => {
            let callable = handle("CallableId", callable.0);
            quote!(ir::Called::Callable(#callable))
        }
    };
    let args = slice(&call.args, |arg| match *arg {
        Argument::Value(value) => {
            let value = expr_id(value);
            quote!(ir::Argument::Value(#value))
        }
        Argument::Memory(m) => {
            let m = memory(m);
            quote!(ir::Argument::Memory(#m))
        }
        Argument::Local(local) => {
            let local = handle("LocalId", local.0);
            quote!(ir::Argument::Local(#local))
        }
    });
    let result = option(call.result.map(|l| handle("LocalId", l.0)));
    let given = slice(&call.given, |given| match *given {
        Given::Closure(closure) => {
            let closure = handle("ClosureId", closure.0);
            quote!(ir::Given::Closure(#closure))
        }
        Given::Function(function) => {
            let function = handle("FunctionId", function.0);
            quote!(ir::Given::Function(#function))
        }
        Given::Callable(callable) => {
            let callable = handle("CallableId", callable.0);
            quote!(ir::Given::Callable(#callable))
        }
    });
    quote!(ir::Call { called: #called, args: #args, given: #given, result: #result })
}

pub(super) fn closure(closure: &Closure) -> TokenStream {
    let params = slice(&closure.params, |local| handle("LocalId", local.0));
    let result = option(closure.result.map(|local| handle("LocalId", local.0)));
    let body = super::block(closure.body);
    quote!(ir::Closure { params: #params, result: #result, body: #body })
}

pub(super) fn callable(callable: &Callable) -> TokenStream {
    let name = super::string(&callable.name);
    let takes = slice(&callable.takes, |of| ty(*of));
    let yields = option(callable.yields.map(ty));
    quote!(ir::Callable { name: #name, takes: #takes, yields: #yields })
}
