//! `#[device]` functions: their results, their `&mut T` parameters, and calls of them.
//!
//! A `&mut T` parameter becomes a local. The value is copied in when the function begins, and out
//! wherever it returns. Rust's borrow rules make this equivalent to a reference.

use proc_macro2::{Literal, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use sarek_ir::{
    Builtin, Call, CallId, CallTarget, ExprId, FunctionId, LinkId, LocalId, PlaceId, Root, Stmt,
};

use super::call_args::Arguments;
use super::callee::Callee;
use crate::diagnostics::{Mistake, codes};
use crate::lower::memory::array::peeled;
use crate::lower::memory::array_init::Start;
use crate::lower::resolve::suggest::nearest;
use crate::lower::{Binding, Lowerer, Value};
use crate::parse::{Parameters, Signature};
use crate::tokens::names;
use crate::tokens::range::{Ranged, SourceRange};

impl Lowerer<'_> {
    // The function itself.

    /// Declares the local for the result, before all other statements.
    pub(in crate::lower) fn declare_result(&mut self, ty: Option<&syn::Type>, span: SourceRange) {
        let Some(ty) = ty else { return };
        let ty = self.written_type(ty).unwrap_or_else(|| self.types.any());
        self.own_types.1 = Some(ty);
        let local = self.local("result", ty, true);
        self.push(Stmt::Let { local, init: None }, span);
        self.kernel.result = Some(local);
    }

    /// Returns from the function, with a value if it has a result.
    pub(in crate::lower) fn leave_function(&mut self, value: Value, span: SourceRange) {
        let result = self.kernel.result;
        match (value, result) {
            (Value::Scalar(id), Some(local)) => {
                let (wanted, found) = (self.local_types[local.index()], self.ty(id));
                self.unify(wanted, found, self.span(id));
                self.push(Stmt::Assign { local, value: id }, self.span(id));
            }
            (Value::Scalar(id), None) => {
                self.errors.at(
                    codes::RESULT,
                    self.span(id),
                    "this function returns nothing",
                    "end this expression with `;`",
                );
            }
            (Value::Unit, Some(_)) => {
                self.errors.at(
                    codes::RESULT,
                    span,
                    "this function returns a value, but there is none here",
                    "end each branch with the value, without a `;` after it",
                );
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

    /// The local behind a name that is a reference, as in `*name` and `name.field`.
    pub(in crate::lower) fn referent(&mut self, expr: &syn::Expr) -> Option<LocalId> {
        let syn::Expr::Path(path) = peeled(expr) else {
            return None;
        };
        match self.find(path.path.get_ident()?)? {
            Binding::Reference(local) => Some(local),
            _ => None,
        }
    }

    /// The value before a `.` or an index. The name of a reference means the value that it refers
    /// to.
    pub(in crate::lower) fn referred(&mut self, expr: &syn::Expr) -> Option<ExprId> {
        match self.referent(expr) {
            Some(local) => Some(self.read(local, expr.range())),
            None => self.scalar_or_never(expr),
        }
    }

    // Calls.

    /// `f(args…)`, where `f` is not built in.
    pub(in crate::lower) fn device_call(
        &mut self,
        e: &syn::ExprCall,
        path: &syn::Path,
        wanted: bool,
    ) -> Value {
        if let Some(name) = path.get_ident() {
            self.suspect_id(name);
        }
        let callee = self.new_callee(path.to_token_stream(), None, path.range().first);
        let arguments: Vec<&syn::Expr> = e.args.iter().collect();
        self.call_function(callee, &arguments, wanted, e.range())
    }

    /// Suggests an id for a misspelt name. If there are other errors, rustc does not report that
    /// the function does not exist.
    fn suspect_id(&mut self, name: &syn::Ident) {
        let ids = Builtin::ALL.iter().map(|(id, _)| *id);
        let text = name.to_string();
        if let Some(meant) = nearest(&text, ids) {
            let mistake = Mistake::new(
                codes::NOT_MARKED,
                format!("kernels do not know the id `{text}`"),
                format!("did you mean `{meant}()`?"),
            )
            .because("because of other errors, functions of this name were not looked up");
            self.errors.suspect(name.range(), &mistake);
        }
    }

    pub(in crate::lower) fn call_function(
        &mut self,
        callee: Callee,
        arguments: &[&syn::Expr],
        wanted: bool,
        span: SourceRange,
    ) -> Value {
        let function = self.function_id(callee);
        let Some(arguments) = self.arguments(Some(function), arguments) else {
            return Value::Never;
        };
        self.call_with(function, arguments, wanted, span)
    }

    /// A call with evaluated arguments.
    pub(in crate::lower) fn call_with(
        &mut self,
        function: FunctionId,
        arguments: Arguments,
        wanted: bool,
        span: SourceRange,
    ) -> Value {
        self.tell_types(function, &arguments);
        self.unify_arguments(function, &arguments.args);
        let result = wanted.then(|| {
            let ty = self.types.result(function);
            self.callees[function.index()].result = Some(ty);
            let local = self.result(ty);
            self.push(Stmt::Let { local, init: None }, span);
            local
        });
        let call = CallId(self.kernel.calls.len() as u32);
        self.kernel.calls.to_mut().push(Call {
            called: CallTarget::Function(function),
            args: arguments.args.into(),
            callable_args: arguments.callable_args.into(),
            result,
        });
        self.push(Stmt::Call { call }, span);
        for (memory, local, span) in arguments.lent {
            if let Value::Scalar(value) = self.array_copy(memory, Start::default(), 0, span) {
                self.push(Stmt::Assign { local, value }, span);
            }
        }
        for row in &arguments.rows {
            self.put_back(row);
        }
        for (place, local, span) in arguments.back {
            let value = self.read(local, span);
            self.write(place, value, span);
        }
        result.map_or(Value::Unit, |local| Value::Scalar(self.read(local, span)))
    }

    /// Lowers an expression statement if it is a call with an unused result.
    pub(in crate::lower) fn call_statement(&mut self, expr: &syn::Expr) -> Option<Value> {
        match peeled(expr) {
            syn::Expr::Call(call) => Some(self.call_wanted(call, false)),
            syn::Expr::MethodCall(call) => Some(self.method_wanted(call, false)),
            _ => None,
        }
    }
}

/// The path of an associated constant of a kernel or function: `linked`, the values of its links,
/// `callees`, the facts of its callees, or `sites`, their fault sites. If a method has generic
/// parameters of its own, it is a function.
pub(in crate::lower) fn constants(signature: &Signature, what: &str) -> TokenStream {
    let parameters = Parameters::of(&signature.generics);
    let own = names::fn_type(&signature.name);
    if !signature.is_function {
        let (name, generics) = (constants_name(None, false, what), parameters.names);
        return quote!(<#own<#generics>>::#name);
    }
    let name = constants_name(signature.method.as_deref(), true, what);
    if let Some(carrier) = &signature.carrier {
        return quote!(<#carrier>::#name);
    }
    match signature.own.arguments() {
        Some(arguments) => quote!((const { Self::#name #arguments() })),
        None if signature.method.is_none() && parameters.is_empty() => quote!(<#own>::#name),
        None => quote!(Self::#name),
    }
}

/// The name of such a constant.
pub(crate) fn constants_name(method: Option<&str>, is_function: bool, what: &str) -> syn::Ident {
    let name = match (method, is_function) {
        (Some(method), _) => format!("__sarek_{what}_{method}"),
        (None, true) => format!("__sarek_{what}"),
        (None, false) => what.to_uppercase(),
    };
    syn::Ident::new(&name, Span::mixed_site())
}

impl crate::lower::Lowered {
    /// The value of a link.
    pub fn linked(&self, link: LinkId, span: Span) -> TokenStream {
        // In an array's length, a const parameter can only stand alone.
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
