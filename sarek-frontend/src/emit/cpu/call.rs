//! Writes calls of `#[device]` functions. The called body is `#[inline(always)]`. If it stops at a
//! fault site, it returns the fault, and the caller returns it, too.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, format_ident, quote_spanned};
use sarek_ir::{
    Access, Argument, Call, CallId, CallTarget, CallableArg, CallableId, ClosureId, Expr,
    FunctionId, LocalId, Memory, ParamId, ParamKind,
};

use super::memory::shared_name;
use super::names::{located, param_name, rust_type};
use super::{Writer, instance_name, mixed};
use crate::lower::Lowered;
use crate::parse::CallableKind;

impl Writer<'_> {
    pub(super) fn device_call(&self, id: CallId, span: Span) -> TokenStream {
        let call = &self.kernel.calls[id.index()];
        match call.called {
            CallTarget::Function(_) => self.call_function(id, span),
            CallTarget::Callable(callable) => self.call_callable(call, callable, span),
        }
    }

    fn call_function(&self, id: CallId, span: Span) -> TokenStream {
        let call = &self.kernel.calls[id.index()];
        let callee = self.lowered.callee(id);
        let body = match (callee.is_unnamed, call.args.first()) {
            (true, Some(Argument::Value(value))) => {
                let name = given_name(0, self.lowered.expr_span(*value));
                callee.body_of(&mixed!(__host::again(&#name)))
            }
            (true, Some(Argument::Local(local))) => {
                let local = self.variable(*local);
                callee.body_of(&mixed!(__host::again(&#local)))
            }
            (true, Some(Argument::Memory(_)) | None) => {
                unreachable!("a receiver is a value")
            }
            (false, _) => callee.body(),
        };
        let base = self.base(id);
        let (mut given, mut names) = (vec![], vec![]);
        let args = call.args.iter().enumerate();
        let args = args.map(|(i, arg)| match *arg {
            Argument::Value(value) => {
                // Bound to a name with the argument's span, so that rustc reports a type mismatch
                // there.
                let name = given_name(i, self.lowered.expr_span(value));
                let is_borrowed = self.lowered.borrowed.contains(&value);
                let is_constant = matches!(self.kernel.expr(value), Expr::Link(_));
                let value = self.expr(value);
                match i == 0 && callee.has_receiver {
                    true => {
                        given.push(mixed!(let mut #name = #value;));
                        mixed!(&mut #name)
                    }
                    false if i == 0 && callee.method.is_some() => {
                        // In `P::norm(p)`, only the callee's type tells whether the argument is a
                        // receiver.
                        given.push(mixed!(let mut #name = #value;));
                        quote_spanned!(name.span()=> __host::pass_mut(&mut #name))
                    }
                    false if is_borrowed && is_constant => {
                        given.push(mixed!(let #name = const { &#value };));
                        quote_spanned!(name.span()=> __host::pass_constant(#name))
                    }
                    false if is_borrowed => {
                        given.push(mixed!(let mut #name = #value;));
                        quote_spanned!(name.span()=> __host::pass_ref(&mut #name))
                    }
                    false => {
                        given.push(mixed!(let #name = #value;));
                        name.to_token_stream()
                    }
                }
            }
            Argument::Memory(memory) => {
                // Evaluated before the closures that refer to the same memory.
                let (name, lent) = (given_name(i, span), self.lend(memory));
                given.push(mixed!(let #name = #lent;));
                name.to_token_stream()
            }
            Argument::Local(local) => {
                let variable = self.variable(local);
                let is_receiver = i == 0 && callee.has_receiver;
                match self.is_received(local) && !is_receiver {
                    true => mixed!(__host::pass_mut(&mut #variable)),
                    false => mixed!(&mut #variable),
                }
            }
        });
        names.extend(args);
        names.extend(self.given_on(id, span));
        let result = self.result(call);
        let lent = call.args.iter().filter_map(|arg| match *arg {
            Argument::Memory(Memory::Local(local)) => self.gathered(local),
            Argument::Memory(_) | Argument::Value(_) | Argument::Local(_) => None,
        });
        let (before, after): (Vec<_>, Vec<_>) = lent.unzip();
        let (deeper, body, depth) = match callee.is_self {
            true => (
                Some(
                    mixed!(if __depth == 0 { return __host::Block::fault(__block, #base, 0, __thread); }),
                ),
                mixed!(Self::__sarek_nest::<__CHECK>),
                Some(mixed!(__depth - 1,)),
            ),
            false => (None, body, None),
        };
        let flag = (!callee.is_self).then(|| mixed!(__host::Flag::<__CHECK>,));
        let args = quote_spanned!(located(span)=> (#(#names,)*));
        // rustc infers the parameter types of closures from the function. With closures, the error
        // gate is therefore around the function, not the arguments.
        let (body, args) = match call.callable_args.is_empty() {
            true => (body, callee.known(&args)),
            // A method call is no value.
            false if callee.is_unnamed || callee.of_trait.is_some() => (body, args),
            false => (callee.known(&body), args),
        };
        let of = call.called.function().map(instance_name);
        let call = quote_spanned! {located(span)=>
            #body(#flag __block, __thread, __dim, #base, #depth #args)
        };
        let call = match callee.is_self {
            true => call,
            // In a `let` of its own, so that rustc infers the arguments' types first.
            false => quote_spanned! {located(span)=> {
                let __yielded = #call;
                __host::returned(#of, __yielded)
            }},
        };
        let call = callee.known(&passed_on(&call, span));
        quote_spanned! {span=>
            #(#before)*
            #result {
                #(#given)*
                #deeper
                #call
            };
            #(#after)*
        }
    }

    /// True if rustc must convert `&mut local` to the type of the callee's parameter. The parameter
    /// may be `&T` for a local that a `&mut T` parameter refers to, and a slice for an array.
    pub(super) fn is_received(&self, local: LocalId) -> bool {
        let ty = self.kernel.locals[local.index()].ty;
        self.lowered.references.contains(&local) || ty.as_scalar().is_none()
    }

    /// A call of a callable parameter.
    fn call_callable(&self, call: &Call, callable: CallableId, span: Span) -> TokenStream {
        let name = callable_name(callable);
        let args = call.args.iter().map(|arg| match *arg {
            Argument::Value(value) => self.expr(value),
            Argument::Memory(_) | Argument::Local(_) => {
                unreachable!("what a function is given takes values")
            }
        });
        let (result, call) = (
            self.result(call),
            mixed!(#name(__host::Call::new(), (#(#args,)*))),
        );
        let call = passed_on(&call, span);
        quote_spanned!(span=> #result { #call };)
    }

    fn result(&self, call: &Call) -> Option<TokenStream> {
        call.result.map(|local| {
            let local = self.variable(local);
            mixed!(#local =)
        })
    }

    /// The callable arguments of a call, each as a function of one tuple.
    fn given_on(&self, id: CallId, span: Span) -> Vec<TokenStream> {
        let call = &self.kernel.calls[id.index()];
        let (base, called) = (self.base(id), self.lowered.callee(id).sites());
        let mut before = mixed!(#base + #called);
        let each = call.callable_args.iter().map(|given| match *given {
            CallableArg::Closure(closure) => self.closure(closure, span),
            CallableArg::Function(function) => {
                let callee = &self.lowered.callees[function.index()];
                let (body, sites) = (callee.body(), callee.sites());
                let next = mixed!(#before + #sites);
                let base = std::mem::replace(&mut before, next);
                let (given, of) = (callee.known(&mixed!(__given)), instance_name(function));
                quote_spanned! {located(callee.span)=>
                    |_: __host::Call, __given| __host::returned(#of, #body(
                        __host::Flag::<__CHECK>, __block, __thread, __dim, #base, #given,
                    ))
                }
            }
            CallableArg::Callable(callable) => {
                let name = callable_name(callable);
                match self.lowered.callables[callable.index()].kind {
                    CallableKind::Fn => mixed!(&#name),
                    CallableKind::FnMut => mixed!(&mut #name),
                    CallableKind::FnOnce => name.to_token_stream(),
                }
            }
        });
        each.collect()
    }

    /// A closure of the user's, which captures the lane's variables.
    fn closure(&self, id: ClosureId, span: Span) -> TokenStream {
        let closure = &self.kernel.closures[id.index()];
        let params = closure.params.iter().map(|param| {
            let (name, local) = (self.local(*param), &self.kernel.locals[param.index()]);
            let mutable = local.mutable.then(|| mixed!(mut));
            mixed!(#mutable #name)
        });
        let params: Vec<TokenStream> = params.collect();
        let body = self.block(closure.body);
        let (declared, value) = match closure.result {
            Some(result) => {
                let name = self.local(result);
                (mixed!(let #name;), mixed!(#name))
            }
            None => (TokenStream::new(), mixed!(())),
        };
        quote_spanned! {span=>
            |_: __host::Call, (#(#params,)*)| {
                #declared
                #body
                ::core::result::Result::Ok(#value)
            }
        }
    }

    /// The elements of an array that lives across regions are not adjacent. Returns code that
    /// copies them to a contiguous array, and code that copies them back.
    fn gathered(&self, local: LocalId) -> Option<(TokenStream, TokenStream)> {
        self.lanes_of(local)?;
        let memory = Memory::Local(local);
        let (name, len) = (lent_name(local), self.len(memory, Span::mixed_site()));
        // One-dimensional, as slices are.
        let ty = self.nested(local, mixed!(_));
        let at = mixed!(__index);
        let (load, store) = (self.load(memory, &at), self.store(memory, &at));
        let before = mixed! {
            let mut #name: #ty = ::core::array::from_fn(|__index| #load);
        };
        let after = mixed! {
            for __index in (0..#len) {
                let __value = #name[__index];
                #store
            }
        };
        Some((before, after))
    }

    /// The number of the first fault site in a call's callees.
    pub(super) fn base(&self, id: CallId) -> TokenStream {
        let first = self.is_function.then(|| mixed!(__base+));
        let own = self.lowered.sites_before(id.index());
        mixed!(#first #own)
    }

    /// Passes a memory as an argument. `#[device]` functions take every slice as a `host::RawSliceMut`.
    pub(super) fn lend(&self, memory: Memory) -> TokenStream {
        match memory {
            Memory::Slice(param) => {
                let name = self.slice_of_lane(param);
                match self.kernel.access(memory) {
                    Access::Read if !self.is_function => {
                        mixed!(__host::lend(__block, ::core::ptr::from_ref(#name)))
                    }
                    Access::Read | Access::Write | Access::Atomic => name,
                }
            }
            Memory::Local(local) => {
                let array = match self.lanes_of(local) {
                    Some(_) => lent_name(local).to_token_stream(),
                    None => self.variable(local),
                };
                // A closure may read it and be called by several functions.
                let lent = match self.lowered.lent_mutably.contains(&local) {
                    true => mixed!(__host::lend(__block, &raw mut #array)),
                    false => mixed!(__host::lend(__block, ::core::ptr::from_ref(&#array))),
                };
                self.rows(memory, &mixed!(__host::RawSliceMut), lent)
            }
            Memory::Shared(shared) => {
                let name = shared_name(shared);
                match self.kernel.access(memory) {
                    Access::Atomic => mixed!(__host::lend_atomics(__block, &raw mut *#name)),
                    Access::Read | Access::Write => {
                        let lent = mixed!(__host::lend(__block, &raw mut *#name));
                        self.rows(memory, &mixed!(__host::RawSliceMut), lent)
                    }
                }
            }
            Memory::Table(_) => unreachable!("a constant is lent as a value"),
        }
    }
}

impl Writer<'_> {
    /// The parameters of a `#[device]` function's body.
    pub(super) fn function_params(&self, depth: Option<TokenStream>) -> TokenStream {
        let names = self.param_names();
        let params = self.kernel.params.iter().zip(&self.lowered.param_types);
        let params = params.enumerate().map(|(i, (param, written))| {
            let is_receiver = i == 0 && self.lowered.has_receiver;
            match param.kind {
                ParamKind::Scalar(_) | ParamKind::Value(_) if is_receiver => mixed!(&mut #written),
                ParamKind::Scalar(ty) => rust_type(ty),
                ParamKind::Value(_) => mixed!(#written),
                ParamKind::Reference(_) => mixed!(&mut #written),
                ParamKind::Slice { access, .. } => match access {
                    Access::Read | Access::Write => mixed!(__host::RawSliceMut<'_, #written>),
                    Access::Atomic => mixed!(&[__host::Atomic<#written>]),
                },
            }
        });
        let (calls, called) = self.callable_params();
        mixed! {
            __block: &__host::Block,
            __thread: [__usize; 3],
            __dim: [__usize; 3],
            __base: __u32,
            #depth
            (#(#names,)* #(mut #calls,)*): (#(#params,)* #(#called,)*)
        }
    }

    /// The names and types of the callable parameters.
    pub(super) fn callable_params(&self) -> (Vec<Ident>, Vec<TokenStream>) {
        let callables = self.lowered.callables.iter();
        let each = (0..).zip(callables);
        each.map(|(i, callable)| (callable_name(CallableId(i)), callable.body.clone()))
            .unzip()
    }

    pub(super) fn param_names(&self) -> Vec<Ident> {
        let params = (0..self.kernel.params.len() as u32).map(ParamId);
        params.map(param_name).collect()
    }

    /// The statements of a `#[device]` function's body, and its result. The result variable is
    /// declared outside of the block that a `return` leaves.
    pub(super) fn function_body(&self) -> (TokenStream, TokenStream) {
        let kernel = self.kernel;
        let (result, result_type) = match kernel.result {
            Some(local) => {
                let name = self.local(local);
                (mixed!(let mut #name;), self.known(mixed!(#name)))
            }
            None => (TokenStream::new(), mixed!(())),
        };
        let stmts = self.body_stmts().into_iter().map(|id| self.stmt(id));
        let (params, instances) = (self.known_params(), self.instances());
        let raw_slices = self.raw_slices();
        let body = mixed! {
            #instances
            #params
            #raw_slices
            #result
            'thread: { #(#stmts)* }
        };
        (body, result_type)
    }

    /// The value of a parameter.
    pub(super) fn param_value_of(&self, param: ParamId) -> TokenStream {
        if let Some(value) = self.param_of_lane(param) {
            return value;
        }
        let name = param_name(param);
        let is_receiver = param.index() == 0 && self.lowered.has_receiver;
        match self.kernel.params[param.index()].kind {
            ParamKind::Reference(_) => mixed!((*#name)),
            ParamKind::Scalar(_) | ParamKind::Value(_) if is_receiver => mixed!((*#name)),
            ParamKind::Scalar(_) | ParamKind::Value(_) | ParamKind::Slice { .. } => mixed!(#name),
        }
    }
}

/// The result of a call; a fault is returned to the caller.
fn passed_on(call: &TokenStream, span: Span) -> TokenStream {
    quote_spanned! {span=>
        match #call {
            ::core::result::Result::Ok(__value) => __value,
            ::core::result::Result::Err(__fault) => {
                return ::core::result::Result::Err(__fault);
            }
        }
    }
}

/// The name of a callable parameter.
fn callable_name(callable: CallableId) -> Ident {
    format_ident!("__call{}", callable.0, span = Span::mixed_site())
}

/// The name of an argument's value.
pub(super) fn given_name(argument: usize, at: Span) -> Ident {
    format_ident!("__given{argument}", span = located(at))
}

fn lent_name(local: LocalId) -> Ident {
    format_ident!("__lent{}", local.0, span = Span::mixed_site())
}

impl Lowered {
    /// The number of fault sites, including those of callees.
    pub fn sites(&self) -> TokenStream {
        self.sites_before(self.kernel.calls.len())
    }

    /// The number of its own fault sites and of those in the first `calls` calls.
    fn sites_before(&self, calls: usize) -> TokenStream {
        let own = Literal::u32_unsuffixed(self.kernel.sites.len() as u32);
        let functions = self.functions_of(&self.kernel.calls[..calls]);
        if functions.is_empty() {
            return mixed!(#own);
        }
        let (table, index) = (&self.sites, Literal::usize_unsuffixed(functions.len()));
        let of_self = functions.iter().filter(|f| self.callees[f.index()].is_self);
        let of_self = Literal::u32_unsuffixed(of_self.count() as u32);
        let nested = self.max_depth.map(|_| mixed!(+ #of_self * __nested));
        mixed!((const { #own + #table[#index] } #nested))
    }

    /// The functions that calls run, in the order of their fault sites: of each call the callee, then each function
    /// that is passed to it.
    pub fn functions_of(&self, calls: &[Call]) -> Vec<FunctionId> {
        let each = calls.iter().flat_map(|call| {
            let given = call.callable_args.iter().filter_map(|given| match given {
                CallableArg::Function(function) => Some(*function),
                CallableArg::Closure(_) | CallableArg::Callable(_) => None,
            });
            call.called.function().into_iter().chain(given)
        });
        each.collect()
    }
}
