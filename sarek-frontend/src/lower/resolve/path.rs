//! Lowers names and constants.

use proc_macro2::{Literal, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use sarek_ir::{Expr, Link, LinkId, Memory, Scalar, Value as Constant};

use super::suggest::may_be_meant;
use crate::diagnostics::{Errors, Mistake, codes};
use crate::lower::calls::call::{is_built_in, qualifying_type};
use crate::lower::compound::{is_camel_case, is_type_name};
use crate::lower::memory::array_init::Start;
use crate::lower::{Binding, Lowerer, Ty, Value};
use crate::tokens::range::{Ranged, SourceRange};

impl Lowerer<'_> {
    pub(in crate::lower) fn path(&mut self, e: &syn::ExprPath) -> Value {
        let span = e.range();
        if let Some(qself) = &e.qself {
            self.errors.unsupported(
                codes::PATH,
                qself.lt_token.range(),
                "a qualified path is",
                "name the constant by a plain path",
            );
            return Value::Never;
        }
        if let Some(name) = e.path.get_ident()
            && let Some(binding) = self.find(name)
        {
            return self.bound(binding, name, span);
        }
        if let Some(name) = e.path.get_ident()
            && let Some(mistake) = word_as_value(name)
        {
            self.errors.report(span, &mistake);
            return Value::Never;
        }
        if let Some(name) = e.path.get_ident()
            && is_built_in(&name.to_string())
        {
            let what = format!("`{name}` is a function, not a value");
            let mistake = Mistake::new(codes::PATH, what, format!("call it: `{name}()`"));
            let mistake = mistake.because(
                "a function as a value would be a pointer, and devices have no function pointers",
            );
            self.errors.report(span, &mistake);
            return Value::Never;
        }
        if let Some(constant) = known_constant(&e.path) {
            self.audits.push(audit(&e.path, constant));
            return Value::Scalar(self.constant(constant, span));
        }
        if let Some(value) = self.simd_constant(&e.path) {
            return value;
        }
        if is_phantom(&e.path) {
            return Value::Scalar(self.phantom(&e.path));
        }
        if self.is_unit_variant(&e.path) {
            return self.unit_variant(&e.path);
        }
        if let Some(ty) = self.parameter_constant(&e.path) {
            return Value::Scalar(self.link(e.path.to_token_stream(), ty, span));
        }
        // `usize::MAX` depends on the target, but its type is known.
        let last = e.path.segments.last().map(|s| s.ident.to_string());
        let ty = match (qualifying_type(&e.path), last.as_deref()) {
            (Some(ty), Some("MIN" | "MAX")) => self.types.known(ty),
            (Some(half), Some(name)) if half.is_half() && is_half_constant(name) => {
                self.types.known(half)
            }
            (Some(_), Some("BITS")) => self.types.known(Scalar::U32),
            (Some(_) | None, _) => self.types.constant(LinkId(self.links.len() as u32)),
        };
        let id = self.link_id(e.path.to_token_stream(), ty);
        if let Some(name) = e.path.get_ident() {
            self.links[id.index()] = self.among_constants(self.beside_similar(name));
        }
        Value::Scalar(self.expr(Expr::Link(id), ty, span))
    }

    /// Wraps a name that is no variable. If it is no constant of the user's either, rustc suggests
    /// a variable of a similar name. The similar variables are declared here, too, so that rustc's
    /// message is the same as for the user's function and is printed once.
    fn beside_similar(&self, name: &syn::Ident) -> TokenStream {
        let text = name.to_string();
        let bound = self.scopes.iter().flatten();
        // A name with a capital would be a constant where it is bound.
        let is_similar =
            |other: &str| !other.starts_with(char::is_uppercase) && may_be_meant(&text, other);
        let mut similar: Vec<(&String, Span)> = bound
            .filter(|(other, _)| is_similar(other))
            .map(|(other, (_, span))| (other, *span))
            .collect();
        similar.sort_by_key(|(other, _)| *other);
        similar.dedup_by_key(|(other, _)| *other);
        let variables = similar.into_iter().filter_map(|(other, span)| {
            let mut variable: syn::Ident = syn::parse_str(other).ok()?;
            variable.set_span(span);
            Some(quote!(#[allow(unused)] let #variable = ();))
        });
        let variables: TokenStream = variables.collect();
        match variables.is_empty() {
            true => name.to_token_stream(),
            false => {
                let span = Span::mixed_site().located_at(name.range().first);
                quote_spanned!(span=> { #variables #name })
            }
        }
    }

    /// True for `None` or `Shape::Point`. A name in capitals only is a constant.
    fn is_unit_variant(&self, path: &syn::Path) -> bool {
        let count = path.segments.len();
        match count {
            1 => path.is_ident("None"),
            _ => {
                is_type_name(&path.segments[count - 2].ident)
                    && is_camel_case(&path.segments[count - 1].ident)
            }
        }
    }

    fn bound(&mut self, binding: Binding, name: &syn::Ident, span: SourceRange) -> Value {
        match binding {
            Binding::Local(local) => Value::Scalar(self.read(local, span)),
            // Operators take references, too.
            Binding::Reference(local) if self.lent.contains(&local) => {
                Value::Scalar(self.read(local, span))
            }
            Binding::Reference(_) => {
                self.errors.at(
                    codes::REFERENCE,
                    span,
                    format!("`{name}` is a reference"),
                    format!("write `*{name}` for its value"),
                );
                Value::Never
            }
            Binding::Scalar(param) => {
                let ty = self.param_types[param.index()];
                Value::Scalar(self.expr(Expr::Param(param), ty, span))
            }
            Binding::Memory(memory) => {
                let what = match memory {
                    Memory::Slice(_) => format!("the slice `{name}` is not a value"),
                    Memory::Shared(_) => format!("the shared array `{name}` is not a value"),
                    Memory::Table(_) => unreachable!("a name is bound to no constant's memory"),
                    Memory::Local(_) => {
                        return self.array_copy(memory, Start::default(), 0, span);
                    }
                };
                let instead = "index it, or take its `len()`";
                self.errors.at(codes::MEMORY_AS_VALUE, span, what, instead);
                Value::Never
            }
            Binding::View(_) => {
                self.errors.at(
                    codes::MEMORY_AS_VALUE,
                    span,
                    format!("the view `{name}` is not a value"),
                    format!(
                        "index it, as in `{name}[[row, col]]`, or take its `rows()` and `cols()`"
                    ),
                );
                Value::Never
            }
            Binding::Const(index) => self.local_constant(index, span),
            Binding::Closure(_) | Binding::Callable(_) => {
                self.errors.at(
                    codes::CLOSURE,
                    span,
                    format!("the closure `{name}` is not a value in a kernel"),
                    "call it, or pass it to a `#[device]` function",
                );
                Value::Never
            }
            Binding::Part(index) => {
                let subject = self.aliases[index].clone();
                Value::Scalar(self.read_subject(&subject, span))
            }
            Binding::Place(index) => {
                let place = self.referred_place(index);
                Value::Scalar(self.read_place(place, span).1)
            }
            Binding::SubSlice(_) => {
                let what = format!("the slice `{name}` is not a value");
                let instead = "index it, or take its `len()`";
                self.errors.at(codes::MEMORY_AS_VALUE, span, what, instead);
                Value::Never
            }
        }
    }

    /// A `const` of the kernel: a literal if its value is one, otherwise a link that rustc
    /// evaluates.
    fn local_constant(&mut self, index: usize, span: SourceRange) -> Value {
        let item = self.consts[index].clone();
        let Some(wanted) = self.written_type(&item.ty) else {
            return Value::Never;
        };
        let literal = match &*item.expr {
            syn::Expr::Lit(lit) => Some((lit, false)),
            syn::Expr::Unary(e) => match (&e.op, &*e.expr) {
                (syn::UnOp::Neg(_), syn::Expr::Lit(lit)) => Some((lit, true)),
                _ => None,
            },
            _ => None,
        };
        if let Some((lit, negative)) = literal {
            let value = self.literal(lit, negative);
            if let Value::Scalar(id) = value {
                self.unify(wanted, self.ty(id), span);
            }
            return value;
        }
        Value::Scalar(self.link(item.ident.to_token_stream(), wanted, span))
    }

    pub(in crate::lower) fn link(
        &mut self,
        tokens: TokenStream,
        ty: Ty,
        span: SourceRange,
    ) -> sarek_ir::ExprId {
        let id = self.link_id(tokens, ty);
        self.expr(Expr::Link(id), ty, span)
    }

    /// A constant that only rustc can evaluate. All uses of the same text share one link.
    pub(in crate::lower) fn link_id(&mut self, tokens: TokenStream, ty: Ty) -> LinkId {
        let path = crate::tokens::path_text(&tokens);
        let tokens = self.among_constants(tokens);
        let text = tokens.to_string();
        if let Some(known) = self.linked.get(&text).copied()
            && self.types.unify(self.link_types[known.index()], ty).is_ok()
        {
            return known;
        }
        let id = LinkId(self.links.len() as u32);
        self.linked.insert(text, id);
        self.kernel.links.to_mut().push(Link {
            path: path.into(),
            ty: Scalar::Bool.into(),
        });
        self.links.push(tokens);
        self.link_types.push(ty);
        id
    }

    /// An expression with the kernel's own constants in scope, as they are here.
    pub(in crate::lower) fn among_constants(&self, mut tokens: TokenStream) -> TokenStream {
        // In an array's length, a const parameter can only stand alone.
        if let Ok(name) = syn::parse2::<syn::Ident>(tokens.clone())
            && let text = name.to_string()
            && self.constants.contains_key(&text)
            && !self.scopes.iter().any(|scope| scope.contains_key(&text))
        {
            return tokens;
        }
        for scope in self.scopes.iter().rev() {
            let index = |(binding, _): &(Binding, Span)| match binding {
                Binding::Const(index) => Some(*index),
                Binding::Local(_)
                | Binding::Scalar(_)
                | Binding::Reference(_)
                | Binding::Memory(_)
                | Binding::View(_)
                | Binding::Closure(_)
                | Binding::Callable(_)
                | Binding::Part(_)
                | Binding::Place(_)
                | Binding::SubSlice(_) => None,
            };
            let mut indices: Vec<usize> = scope.values().filter_map(index).collect();
            if !indices.is_empty() {
                indices.sort_unstable();
                let consts = indices.iter().map(|i| &self.consts[*i]);
                // An error in a constant's type is reported at its use.
                let span = Span::mixed_site().located_at(tokens.range().first);
                tokens = quote_spanned! {span=>
                    { #(#[allow(unused, nonstandard_style, clippy::all)] #consts)* #tokens }
                };
            }
        }
        tokens
    }

    /// Reports a constant of unknown type.
    pub(in crate::lower) fn untyped_constant(errors: &mut Errors, span: SourceRange, path: &str) {
        errors.at(
            codes::UNKNOWN_TYPE,
            span,
            format!("the type of `{path}` is not known here"),
            format!("write it, as in `let c: f32 = {path};`"),
        );
    }
}

/// The error for a keyword such as `self` in the place of a value.
pub(in crate::lower) fn word_as_value(name: &syn::Ident) -> Option<Mistake> {
    let is_word = ["crate", "self", "super", "Self"].contains(&name.to_string().as_str());
    is_word.then(|| {
        Mistake::new(
            codes::PATH,
            format!("`{name}` is not a value here"),
            "name a variable or a constant",
        )
    })
}

/// True for an associated constant of a 16-bit float whose type is that float.
fn is_half_constant(name: &str) -> bool {
    let counts = [
        "DIGITS",
        "MANTISSA_DIGITS",
        "RADIX",
        "MAX_EXP",
        "MIN_EXP",
        "MAX_10_EXP",
        "MIN_10_EXP",
    ];
    !counts.contains(&name)
}

macro_rules! constants {
    ($path:expr; $($ty:ident: $($name:ident)*;)*) => {
        match $path {
            $($((stringify!($ty), stringify!($name)) => Some(constants!(@ $ty $ty::$name)),)*)*
            _ => None,
        }
    };
    (@ f32 $value:expr) => { Constant::f32($value) };
    (@ f64 $value:expr) => { Constant::f64($value) };
    (@ i8 $value:expr) => { Constant::I8($value) };
    (@ u8 $value:expr) => { Constant::U8($value) };
    (@ i16 $value:expr) => { Constant::I16($value) };
    (@ u16 $value:expr) => { Constant::U16($value) };
    (@ i32 $value:expr) => { Constant::I32($value) };
    (@ u32 $value:expr) => { Constant::U32($value) };
    (@ i64 $value:expr) => { Constant::I64($value) };
    (@ u64 $value:expr) => { Constant::U64($value) };
}

macro_rules! math_constants {
    ($ty:expr, $name:expr; $($constant:ident)*) => {
        match ($ty, $name) {
            $((Scalar::F32, stringify!($constant)) => Some(Constant::f32(std::f32::consts::$constant)),
              (Scalar::F64, stringify!($constant)) => Some(Constant::f64(std::f64::consts::$constant)),)*
            _ => None,
        }
    };
}

/// Makes rustc check that a path resolves to the assumed constant of core. A module of the user's
/// may have the same name.
fn audit(path: &syn::Path, constant: Constant) -> TokenStream {
    let span = Span::mixed_site().located_at(path.range().first);
    let same = match constant {
        // No NaN equals another one, and core's may have any sign.
        Constant::F16(_) | Constant::Bf16(_) => {
            unreachable!("constants of 16-bit floats are links")
        }
        Constant::F32(bits) if f32::from_bits(bits).is_nan() => {
            quote!(::core::primitive::f32::is_nan(#path))
        }
        Constant::F64(bits) if f64::from_bits(bits).is_nan() => {
            quote!(::core::primitive::f64::is_nan(#path))
        }
        Constant::F32(bits) => {
            let bits = Literal::u32_suffixed(bits);
            quote!(::core::primitive::f32::to_bits(#path) == #bits)
        }
        Constant::F64(bits) => {
            let bits = Literal::u64_suffixed(bits);
            quote!(::core::primitive::f64::to_bits(#path) == #bits)
        }
        Constant::I8(v) => int_audit(path, Literal::i128_suffixed(v.into())),
        Constant::U8(v) => int_audit(path, Literal::i128_suffixed(v.into())),
        Constant::I16(v) => int_audit(path, Literal::i128_suffixed(v.into())),
        Constant::U16(v) => int_audit(path, Literal::i128_suffixed(v.into())),
        Constant::I32(v) => int_audit(path, Literal::i128_suffixed(v.into())),
        Constant::U32(v) => int_audit(path, Literal::i128_suffixed(v.into())),
        Constant::I64(v) => int_audit(path, Literal::i128_suffixed(v.into())),
        Constant::U64(v) | Constant::Usize(v) => int_audit(path, Literal::i128_suffixed(v.into())),
        Constant::Bool(v) => quote!(#path == #v),
    };
    let what = format!(
        "`{}` is not the constant of `core` here",
        crate::tokens::path_text(path)
    );
    let message = Mistake::new(codes::NOT_OF_CORE, what, "rename your own constant").to_string();
    quote_spanned!(span=> const _: () = ::core::assert!(#same, #message);)
}

fn int_audit(path: &syn::Path, value: Literal) -> TokenStream {
    quote!(#path as ::core::primitive::i128 == #value)
}

/// The value of a constant of core: `f32::MAX`, `std::f32::consts::PI`. Others, such as the `MAX`
/// of `usize`, are links.
fn known_constant(path: &syn::Path) -> Option<Constant> {
    let segments: Vec<String> = path.segments.iter().map(|s| s.ident.to_string()).collect();
    let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
    if let ["std" | "core", ty, "consts", name] | [ty, "consts", name] = segments.as_slice() {
        return math_constants!(Scalar::from_name(ty)?, *name;
            PI TAU E SQRT_2 LN_2 LN_10 LOG2_E LOG10_E LOG2_10 LOG10_2 FRAC_PI_2 FRAC_PI_3 FRAC_PI_4
            FRAC_PI_6 FRAC_PI_8 FRAC_1_PI FRAC_2_PI FRAC_2_SQRT_PI FRAC_1_SQRT_2);
    }
    let ty = qualifying_type(path)?;
    let name = *segments.last()?;
    if name == "BITS" && ty.is_int() && ty != Scalar::Usize {
        return Some(Constant::U32(ty.bits()));
    }
    constants!((ty.name(), name);
        f32: MIN MAX EPSILON MIN_POSITIVE INFINITY NEG_INFINITY NAN;
        f64: MIN MAX EPSILON MIN_POSITIVE INFINITY NEG_INFINITY NAN;
        i8: MIN MAX;
        u8: MIN MAX;
        i16: MIN MAX;
        u16: MIN MAX;
        i32: MIN MAX;
        u32: MIN MAX;
        i64: MIN MAX;
        u64: MIN MAX;
    )
}

/// True for core's `PhantomData` without an argument, whose type follows from where it stands.
fn is_phantom(path: &syn::Path) -> bool {
    let names: Vec<String> = path.segments.iter().map(|s| s.ident.to_string()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let is_known = matches!(
        names[..],
        ["PhantomData"] | ["marker", "PhantomData"] | ["std" | "core", "marker", "PhantomData"]
    );
    is_known && path.segments.last().is_some_and(|s| s.arguments.is_empty())
}
