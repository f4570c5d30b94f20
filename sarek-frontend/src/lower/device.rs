//! `#[device]` functions: their parameters and results, and calls of them.
//!
//! A `&mut T` parameter is a local that holds the value while the function runs: it is copied in at
//! the beginning and out wherever the function returns. Rust's borrows make that the same.

use proc_macro2::{Literal, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use sarek_ir::{
    Argument, Call, CallId, ExprId, FunctionId, LinkId, LocalId, Memory, PlaceId, Root, Stmt,
};
use syn::spanned::Spanned;

use super::array::peeled;
use super::place::Place;
use super::{Binding, Known, Lowerer, Ty, Value};
use crate::parse::{Parameters, Signature};

/// How a called function is reached from Rust.
pub struct Callee {
    /// What implements it: a type.
    pub owner: TokenStream,
    /// The method, if it is one.
    pub method: Option<syn::Ident>,
    /// Is its first argument a receiver?
    pub has_receiver: bool,
    /// Is it the function itself, so many calls deep as `inline` says?
    pub is_self: bool,
    /// What stands for a free function in expansions, without generic arguments.
    pub alias: syn::Ident,
    /// The types of its arguments, the receiver's first; of slices, their elements'.
    pub(super) given: Vec<Typed>,
    /// The type of its result where that is used.
    pub(super) result: Option<Ty>,
    /// A call of it that is never made, of a free function.
    pub(super) inferred: TokenStream,
    /// Where it is called first.
    pub span: Span,
    /// The path of the façade crate.
    pub krate: TokenStream,
}

/// What tells the type of an argument.
#[derive(Clone, Copy)]
pub(super) enum Typed {
    By(Ty),
    /// A literal without a suffix, which may be of several types.
    Int,
    Float,
}

/// An argument of a call before its value is lowered.
enum Given<'a> {
    Value(&'a syn::Expr),
    Memory(Memory),
    /// `&mut name`
    Local(LocalId),
    /// `&mut place`: a temporary, written back after the call.
    Place(&'a syn::Expr),
}

/// What a call changes through a temporary: the place, the temporary, where it stands.
pub(super) type Back = (Place, LocalId, Span);

impl Lowerer<'_> {
    // The function itself.

    /// Declares what the function yields, before all else.
    pub(super) fn declare_result(&mut self, ty: Option<&syn::Type>, span: Span) {
        let Some(ty) = ty else { return };
        let ty = self.written_type(ty).unwrap_or_else(|| self.types.any());
        self.own_types.1 = Some(ty);
        let local = self.local("result", ty, true);
        self.push(Stmt::Let { local, init: None }, span);
        self.kernel.result = Some(local);
    }

    /// Returns from the function, with a value if it yields one.
    pub(super) fn leave_function(&mut self, value: Value, span: Span) {
        let result = self.kernel.result;
        match (value, result) {
            (Value::Scalar(id), Some(local)) => {
                let (wanted, found) = (self.local_types[local.index()], self.ty(id));
                self.unify(wanted, found, self.span(id));
                self.push(Stmt::Assign { local, value: id }, self.span(id));
            }
            (Value::Scalar(id), None) => {
                let message = "this function returns nothing: end this expression with `;`";
                self.errors.at(self.span(id), message);
            }
            (Value::Unit, Some(_)) => {
                let message = "this function yields a value, and none is given here";
                self.errors.at(span, message);
            }
            (Value::Unit, None) => {}
            (Value::Never, _) => return,
        }
        for (param, local) in self.references.clone() {
            let value = self.read(local, span);
            let place = PlaceId(self.kernel.places.len() as u32);
            self.kernel.places.to_mut().push(sarek_ir::Place {
                root: Root::Param(param),
                steps: vec![].into(),
            });
            self.push(Stmt::Update { place, value }, span);
        }
    }

    /// The local behind a name that is a reference: what `*name` and `name.field` mean.
    pub(super) fn referent(&mut self, expr: &syn::Expr) -> Option<LocalId> {
        let syn::Expr::Path(path) = peeled(expr) else {
            return None;
        };
        match self.find(path.path.get_ident()?)? {
            Binding::Reference(local) => Some(local),
            _ => None,
        }
    }

    /// The value before a `.` or an index, where the name of a reference means what it refers to.
    pub(super) fn referred(&mut self, expr: &syn::Expr) -> Option<ExprId> {
        match self.referent(expr) {
            Some(local) => Some(self.read(local, expr.span())),
            None => self.scalar_or_never(expr),
        }
    }

    // Calls.

    /// `f(args…)` of a function that is not one of this crate's own.
    pub(super) fn device_call(
        &mut self,
        e: &syn::ExprCall,
        path: &syn::Path,
        wanted: bool,
    ) -> Value {
        let callee = self.new_callee(path.to_token_stream(), None, path.span());
        let arguments: Vec<&syn::Expr> = e.args.iter().collect();
        self.call_function(callee, &arguments, wanted, e.span())
    }

    pub(super) fn call_function(
        &mut self,
        callee: Callee,
        arguments: &[&syn::Expr],
        wanted: bool,
        span: Span,
    ) -> Value {
        let function = self.function_id(callee);
        let Some((args, back)) = self.arguments(arguments) else {
            return Value::Never;
        };
        self.call_with(function, args, back, wanted, span)
    }

    /// A call with its arguments evaluated.
    pub(super) fn call_with(
        &mut self,
        function: FunctionId,
        args: Vec<Argument>,
        back: Vec<Back>,
        wanted: bool,
        span: Span,
    ) -> Value {
        self.tell_types(function, &args);
        self.unify_arguments(function, &args);
        let result = wanted.then(|| {
            let ty = self.types.result(function);
            self.callees[function.index()].result = Some(ty);
            let local = self.result(ty);
            self.push(Stmt::Let { local, init: None }, span);
            local
        });
        let call = CallId(self.kernel.calls.len() as u32);
        self.kernel.calls.to_mut().push(Call {
            function,
            args: args.into(),
            result,
        });
        self.push(Stmt::Call { call }, span);
        for (place, local, span) in back {
            let value = self.read(local, span);
            self.write(place, value, span);
        }
        result.map_or(Value::Unit, |local| Value::Scalar(self.read(local, span)))
    }

    /// Keeps what the arguments tell of a generic function.
    fn tell_types(&mut self, function: FunctionId, args: &[Argument]) {
        let typed = args.iter().map(|arg| match *arg {
            Argument::Value(id) => match self.types.look(self.ty(id)) {
                Known::Int if self.is_literal(id) => Typed::Int,
                Known::Float if self.is_literal(id) => Typed::Float,
                _ => Typed::By(self.ty(id)),
            },
            Argument::Local(local) => Typed::By(self.local_types[local.index()]),
            Argument::Memory(memory) => Typed::By(self.element_type(memory)),
        });
        let typed = typed.collect();
        self.callees[function.index()].given = typed;
    }

    fn is_literal(&self, id: ExprId) -> bool {
        self.literals.iter().any(|pending| pending.expr == id)
    }

    pub(super) fn new_callee(
        &self,
        owner: TokenStream,
        method: Option<syn::Ident>,
        span: Span,
    ) -> Callee {
        let plain = without_arguments(&owner);
        let text = super::path_text(&plain);
        let same = |c: &&Callee| super::path_text(without_arguments(&c.owner)) == text;
        let known = self.callees.iter().find(same).map(|c| c.alias.clone());
        let alias = known.unwrap_or_else(|| {
            quote::format_ident!("__sarek_f{}", self.callees.len(), span = Span::mixed_site())
        });
        Callee {
            owner,
            method,
            has_receiver: false,
            is_self: false,
            alias,
            given: vec![],
            result: None,
            inferred: TokenStream::new(),
            span,
            krate: self.krate.clone(),
        }
    }

    /// Writes the calls that tell rustc which instances are called. One that takes what another yields follows it.
    pub(super) fn infer_callees(&mut self) {
        let mut left: Vec<usize> = (0..self.callees.len()).collect();
        left.retain(|index| !self.callees[*index].is_self);
        while !left.is_empty() {
            let ready = |index: &usize| {
                let given = &self.callees[*index].given;
                given.iter().all(|typed| self.told(*typed).is_some())
            };
            // Where all wait for others, the types of the first are no matter, or not to be told.
            let next = left.iter().position(ready).unwrap_or(0);
            self.infer_callee(left.remove(next));
        }
    }

    fn infer_callee(&mut self, index: usize) {
        let callee = &self.callees[index];
        let args = callee.given.iter().map(|typed| self.told(*typed));
        // Any type: the function's own, if it asks for one.
        let any = || quote!(::core::unreachable!());
        let args: Vec<TokenStream> = args.map(|told| told.unwrap_or_else(any)).collect();
        let result = callee.result.and_then(|ty| self.type_tokens(ty));
        let infer = callee.item("infer");
        let span = Span::mixed_site().located_at(callee.span);
        self.callees[index].inferred = match result {
            Some(ty) => quote_spanned! {span=> {
                let __call = #infer((#(#args,)*));
                let _: &#ty = &__call.1;
                __call
            }},
            None => quote_spanned!(span=> #infer((#(#args,)*))),
        };
    }

    /// An expression of the type of an argument, never to be evaluated.
    fn told(&self, typed: Typed) -> Option<TokenStream> {
        match typed {
            Typed::Int => Some(quote!(0)),
            Typed::Float => Some(quote!(0.0)),
            Typed::By(ty) => self.probe(ty),
        }
    }

    /// An argument's type is that of the parameter, which tells the types of literals.
    fn unify_arguments(&mut self, function: FunctionId, args: &[Argument]) {
        for (index, arg) in (0..).zip(args) {
            let wanted = self.types.parameter(function, index);
            let (found, span) = match *arg {
                Argument::Value(id) => (self.ty(id), self.span(id)),
                Argument::Local(local) => (
                    self.local_types[local.index()],
                    self.callees[function.index()].span,
                ),
                Argument::Memory(memory) => (
                    self.element_type(memory),
                    self.callees[function.index()].span,
                ),
            };
            self.unify(wanted, found, span);
        }
    }

    /// Lowers an expression statement if it is a call whose result nothing uses.
    pub(super) fn call_statement(&mut self, expr: &syn::Expr) -> Option<Value> {
        match peeled(expr) {
            syn::Expr::Call(call) => Some(self.call_wanted(call, false)),
            syn::Expr::MethodCall(call) => Some(self.method_wanted(call, false)),
            _ => None,
        }
    }

    pub(super) fn temporary(&mut self, value: ExprId, span: Span) -> LocalId {
        let ty = self.ty(value);
        let local = self.local("t", ty, true);
        let init = Some(value);
        self.push(Stmt::Let { local, init }, span);
        local
    }

    /// Evaluates arguments in order. `None` when it is reported that one has no meaning.
    pub(super) fn arguments(&mut self, exprs: &[&syn::Expr]) -> Option<(Vec<Argument>, Vec<Back>)> {
        let (mut args, mut back) = (vec![], vec![]);
        let mut is_whole = true;
        for expr in exprs {
            let mark = self.mark();
            let Some(given) = self.given(expr) else {
                is_whole = false;
                continue;
            };
            let arg = match given {
                Given::Value(expr) => Argument::Value(self.scalar(expr)),
                Given::Memory(memory) => Argument::Memory(memory),
                Given::Local(local) => Argument::Local(local),
                Given::Place(expr) => match self.place(expr) {
                    Some(place) => {
                        let (place, value) = self.read_place(place, expr.span());
                        let local = self.temporary(value, expr.span());
                        back.push((place, local, expr.span()));
                        Argument::Local(local)
                    }
                    None => {
                        is_whole = false;
                        continue;
                    }
                },
            };
            self.settle_arguments(&mut args, mark);
            args.push(arg);
        }
        is_whole.then_some((args, back))
    }

    /// Evaluates earlier arguments before the statements of a later one, if that has some.
    pub(super) fn settle_arguments(&mut self, args: &mut [Argument], mark: usize) {
        if self.mark() == mark {
            return;
        }
        let mut at = mark;
        for arg in args {
            if let Argument::Value(id) = arg
                && !self.is_leaf(*id)
            {
                *id = self.spill_at(at, *id);
                at += 1;
            }
        }
    }

    fn given<'a>(&mut self, argument: &'a syn::Expr) -> Option<Given<'a>> {
        if let Some((memory, _)) = self.find_memory(argument) {
            if let Memory::Local(_) = memory {
                let name = self.kernel.memory_name(memory).to_string();
                let message = format!("arrays are passed as slices: `&{name}` or `&mut {name}`");
                self.errors.at(argument.span(), message);
                return None;
            }
            return Some(Given::Memory(memory));
        }
        let reference = match peeled(argument) {
            syn::Expr::Reference(reference) => reference,
            other => {
                return Some(match self.referent(other) {
                    Some(local) => Given::Local(local),
                    None => Given::Value(argument),
                });
            }
        };
        if let Some((memory, _)) = self.find_memory(&reference.expr) {
            return Some(Given::Memory(memory));
        }
        if reference.mutability.is_none() {
            return Some(Given::Value(&reference.expr));
        }
        let inner = match peeled(&reference.expr) {
            syn::Expr::Unary(e) if matches!(e.op, syn::UnOp::Deref(_)) => &e.expr,
            other => other,
        };
        if let Some(local) = self.referent(inner) {
            return Some(Given::Local(local));
        }
        if let syn::Expr::Path(path) = inner
            && let Some(name) = path.path.get_ident()
            && let Some(Binding::Local(local)) = self.find(name)
        {
            self.kernel.locals.to_mut()[local.index()].mutable = true;
            return Some(Given::Local(local));
        }
        Some(Given::Place(&reference.expr))
    }

    pub(super) fn function_id(&mut self, callee: Callee) -> FunctionId {
        let path = match &callee.method {
            Some(method) => format!("{}::{method}", super::path_text(&callee.owner)),
            None => super::path_text(&callee.owner),
        };
        // Each call of a function whose generic arguments rustc infers may be of another instance.
        let is_told = callee.method.is_some() || callee.is_self || callee.is_told();
        let known = self
            .kernel
            .functions
            .iter()
            .position(|f| is_told && *f == path);
        let index = known.unwrap_or_else(|| {
            self.kernel.functions.to_mut().push(path.into());
            self.callees.push(callee);
            self.callees.len() - 1
        });
        FunctionId(index as u32)
    }
}

impl Callee {
    /// Its name with `what` before it, among the items of its owner.
    fn item(&self, what: &str) -> TokenStream {
        let span = Span::mixed_site().located_at(self.span);
        let name = match &self.method {
            Some(method) => format!("__sarek_{what}_{}", super::plain_name(method)),
            None => format!("__sarek_{what}"),
        };
        let name = syn::Ident::new(&name, span);
        match &self.method {
            Some(_) => {
                let owner = &self.owner;
                quote_spanned!(span=> <#owner>::#name)
            }
            None => {
                let (alias, arguments) = (&self.alias, self.arguments());
                quote_spanned!(span=> #alias #arguments::#name)
            }
        }
    }

    /// The same for what a constant expression may name, where nothing is inferred.
    fn constant(&self, what: &str) -> TokenStream {
        if self.method.is_some() {
            return self.item(what);
        }
        let span = Span::mixed_site().located_at(self.span);
        let name = syn::Ident::new(&format!("__sarek_{what}"), span);
        let (alias, arguments) = (&self.alias, self.arguments().filter(|_| self.is_told()));
        quote_spanned!(span=> <#alias #arguments>::#name)
    }

    /// The generic arguments that are written: `::<f32>`.
    fn arguments(&self) -> Option<TokenStream> {
        let path: syn::Path = syn::parse2(self.owner.clone()).ok()?;
        match &path.segments.last()?.arguments {
            syn::PathArguments::AngleBracketed(list) => {
                let list = &list.args;
                Some(quote!(::<#list>))
            }
            syn::PathArguments::None | syn::PathArguments::Parenthesized(_) => None,
        }
    }

    /// Are its generic arguments written, so that rustc need not infer any?
    fn is_told(&self) -> bool {
        let arguments = self.arguments();
        let any = |tokens: TokenStream| {
            tokens
                .into_iter()
                .any(|t| matches!(&t, proc_macro2::TokenTree::Ident(i) if i == "_"))
        };
        arguments.is_some_and(|tokens| !any(tokens))
    }

    /// Makes the alias mean the function; where there is none of that name, what reports it.
    pub fn import(&self) -> Option<TokenStream> {
        if self.method.is_some() || self.is_self {
            return None;
        }
        let (alias, path) = (&self.alias, without_arguments(&self.owner));
        Some(quote!(#[allow(unused_imports)] use #path as #alias;))
    }

    /// What the alias means where the function is not marked.
    pub fn stand_in(&self) -> Option<TokenStream> {
        if self.method.is_some() || self.is_self {
            return None;
        }
        let (alias, krate) = (&self.alias, &self.krate);
        Some(quote!(#[allow(unused_imports)] use #krate::__private::direct::Unmarked as #alias;))
    }

    /// Asserts that the function is marked.
    pub fn is_marked(&self) -> Option<TokenStream> {
        if self.method.is_some() || self.is_self {
            return None;
        }
        let span = Span::mixed_site().located_at(self.span);
        let (alias, name) = (
            &self.alias,
            super::path_text(without_arguments(&self.owner)),
        );
        let message = format!(
            "`{name}` is no `#[device]` function: kernels call functions that are marked. Write `#[device]` before it"
        );
        Some(quote_spanned!(span=> ::core::assert!(<#alias>::__sarek_is_device, #message);))
    }

    /// An expression of the type of its result, never to be evaluated.
    pub(super) fn probe(&self) -> Option<TokenStream> {
        let inferred = &self.inferred;
        (!inferred.is_empty()).then(|| quote!((#inferred).1))
    }

    /// Its compiled body.
    pub fn body(&self) -> TokenStream {
        self.item("body")
    }

    /// Its compiled body for all lanes of a block.
    pub fn block(&self) -> TokenStream {
        self.item("block")
    }

    /// For each parameter: must all threads of a block give the same?
    pub fn uniform(&self) -> TokenStream {
        match self.is_self {
            true => quote!(&[]),
            false => self.constant("uniform"),
        }
    }

    /// For each parameter: may it be lent a shared array in a safe kernel?
    pub fn takes(&self) -> TokenStream {
        match self.is_self {
            true => quote!(&[]),
            false => self.constant("takes"),
        }
    }

    /// Does it change its receiver?
    pub(super) fn mutates(&self) -> TokenStream {
        self.item("mutates")
    }

    /// How many sites it has, those of what it calls included.
    pub fn sites(&self) -> TokenStream {
        match self.is_self {
            true => quote_spanned!(Span::mixed_site()=> __nested),
            false => self.constant("sites"),
        }
    }

    /// Do threads work together in it?
    pub fn collective(&self) -> TokenStream {
        match self.is_self {
            true => quote!(false),
            false => self.constant("collective"),
        }
    }

    /// The function with its links.
    pub fn function(&self) -> TokenStream {
        match self.method {
            None if self.is_self => quote!(Self::__sarek_nested(__depth)),
            Some(_) => {
                let function = self.item("function");
                quote!(#function())
            }
            None => {
                let (krate, inferred) = (&self.krate, &self.inferred);
                quote!(#krate::__private::direct::function_of(|| #inferred))
            }
        }
    }
}

/// A path without the generic arguments of its last segment.
fn without_arguments(path: &TokenStream) -> TokenStream {
    match syn::parse2::<syn::Path>(path.clone()) {
        Ok(mut path) => {
            if let Some(last) = path.segments.last_mut() {
                last.arguments = syn::PathArguments::None;
            }
            path.to_token_stream()
        }
        Err(_) => path.clone(),
    }
}

/// Where the values of links stand.
pub(super) fn linked(signature: &Signature) -> TokenStream {
    if !signature.is_function {
        let name = &signature.name;
        let generics = Parameters::of(&signature.generics).names;
        return quote!(<#name<#generics>>::LINKED);
    }
    let name = match &signature.method {
        Some(method) => format!("__sarek_linked_{method}"),
        None => "__sarek_linked".to_string(),
    };
    let name = syn::Ident::new(&name, Span::mixed_site());
    quote!(Self::#name)
}

impl super::Lowered {
    /// The value of a link.
    pub fn linked(&self, link: LinkId, span: Span) -> TokenStream {
        // As the length of an array, a constant parameter can stand by itself only.
        let tokens = &self.links[link.index()];
        let names = self.parameters.names.clone().into_iter();
        let text = tokens.to_string();
        if names.map(|t| t.to_string()).any(|name| name == text) {
            return tokens.clone();
        }
        if self.open_links.contains(&link.index()) {
            return quote_spanned!(span=> (#tokens));
        }
        let (linked, index) = (&self.linked, Literal::usize_unsuffixed(link.index()));
        quote_spanned!(span=> #linked.#index)
    }
}
