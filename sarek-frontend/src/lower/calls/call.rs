//! Dispatches calls of functions. Lowers ids, and numeric functions written as `f32::sqrt(x)`.

use quote::quote;
use sarek_ir::{Builtin, Expr, Scalar, SubgroupOp};

use crate::diagnostics::codes;
use crate::lower::compound::is_type_name;
use crate::lower::{Lowerer, Value};
use crate::parse::named_scalar;
use crate::tokens::range::Ranged;

impl Lowerer<'_> {
    pub(in crate::lower) fn call(&mut self, e: &syn::ExprCall) -> Value {
        self.call_wanted(e, true)
    }

    /// A call; `wanted` is true if its result is used.
    pub(in crate::lower) fn call_wanted(&mut self, e: &syn::ExprCall, wanted: bool) -> Value {
        let own = |this: &mut Self| this.self_call(e, wanted);
        if let Some(value) = self.closure_call(e).or_else(|| own(self)) {
            return value;
        }
        let path = match &*e.func {
            syn::Expr::Path(path) if path.qself.is_none() => &path.path,
            syn::Expr::Path(path) => return self.qualified_call(e, path, wanted),
            other => {
                self.errors.unsupported(
                    codes::CALLEE,
                    other.range(),
                    "calling this is",
                    "call a function by its name",
                );
                return Value::Never;
            }
        };
        let Some(last) = path.segments.last() else {
            return Value::Never;
        };
        if let Some(value) = self.stray_shared_array(path) {
            return value;
        }
        let is_own = qualifying_type(path).is_some()
            || self.is_of_facade(path) && is_built_in(&last.ident.to_string());
        if is_own && let Some(arguments) = path.segments.iter().find(|s| !s.arguments.is_empty()) {
            self.errors.unsupported(
                codes::CALLEE,
                arguments.arguments.range(),
                "a generic call is",
                "drop the type arguments",
            );
            return Value::Never;
        }
        let name = last.ident.to_string();
        if let Some(scalar) = qualifying_type(path) {
            return self.associated_call(scalar, path, e);
        }
        if let Some(value) = self.simd_call(path, e) {
            return value;
        }
        if let Some(value) = self.std_function(path, e) {
            return value;
        }
        if let Some(builtin) = Builtin::from_name(&name)
            && self.is_of_facade(path)
        {
            if let Some(argument) = e.args.first() {
                self.errors.at(
                    codes::ARGUMENT_COUNT,
                    argument.range(),
                    format!("`{name}()` takes no arguments"),
                    "drop it",
                );
            }
            self.audit_of_facade(path, &quote!());
            return Value::Scalar(self.known(Expr::Builtin(builtin), Scalar::Usize, e.range()));
        }
        if let Some(value) = self.collective(path, e) {
            return value;
        }
        if is_type_name(&last.ident) {
            return self.tuple_struct(path, e);
        }
        if let Some(value) = self.associated_function(e, path, wanted) {
            return value;
        }
        self.device_call(e, path, wanted)
    }

    /// True for a bare name, or a path in the façade crate or its prelude.
    pub(in crate::lower) fn is_of_facade(&self, path: &syn::Path) -> bool {
        let mut module = path.clone();
        module.segments.pop();
        module.segments.pop_punct();
        let module = crate::tokens::path_text(&module);
        let module = module.strip_suffix("::prelude").unwrap_or(&module);
        let krate = crate::tokens::path_text(&self.krate);
        ["", "sarek", "::sarek", krate.as_str()].contains(&module)
    }

    /// `T::method(receiver, …)`
    fn associated_call(&mut self, on: Scalar, path: &syn::Path, e: &syn::ExprCall) -> Value {
        let Some(method) = path.segments.last() else {
            return Value::Never;
        };
        let arguments: Vec<&syn::Expr> = e.args.iter().collect();
        if let [argument] = *arguments
            && let Some(value) = self.of_bytes(on, &method.ident, argument, method.ident.span())
        {
            self.audit_associated(on, path, &[]);
            return value;
        }
        let ids = self.operands(&arguments);
        self.audit_associated(on, path, &ids);
        if let Some(value) = self.parsed_or_tried(on, method) {
            return value;
        }
        if let Some(value) = self.half_from(on, method, &ids, e.range()) {
            return value;
        }
        if let Some(value) = self.value_from(on, method, &ids, e.range()) {
            return value;
        }
        if method.ident == "from_bits" {
            return self.float_from_bits(on, &ids, e.range());
        }
        let Some(&receiver) = ids.first() else {
            self.errors.at(
                codes::ARGUMENT_COUNT,
                method.ident.range(),
                format!("`{on}::{}` needs an argument", method.ident),
                "pass the value that it is called on",
            );
            return Value::Never;
        };
        self.expect(receiver, on);
        self.method(&method.ident, ids, e.range())
    }
}

/// The scalar type before the last segment: `f32::sqrt`, `std::primitive::f32::sqrt`.
pub(in crate::lower) fn qualifying_type(path: &syn::Path) -> Option<Scalar> {
    let mut ty = path.clone();
    ty.segments.pop();
    ty.segments.pop_punct();
    if let [std, primitive, name] = &*ty.segments.iter().collect::<Vec<_>>()
        && (std.ident == "std" || std.ident == "core")
        && primitive.ident == "primitive"
    {
        return Scalar::from_name(&name.ident.to_string());
    }
    named_scalar(&ty)
}

/// True for a function that kernels have built in.
pub(in crate::lower) fn is_built_in(name: &str) -> bool {
    Builtin::from_name(name).is_some()
        || SubgroupOp::from_name(name).is_some()
        || ["barrier", "block_fence", "device_fence"].contains(&name)
}
