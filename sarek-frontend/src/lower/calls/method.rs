//! Methods of slices and numbers.

use proc_macro2::Ident;
use sarek_ir::numeric;
use sarek_ir::{
    ArgType, BinaryOp, Compound, Expr, ExprId, Intrinsic, ResultType, Scalar, SiteKind, Stmt,
    Value as Constant,
};

use crate::diagnostics::{Mistake, codes};
use crate::lower::memory::array::{index_chain, peeled};
use crate::lower::resolve::suggest::nearest;
use crate::lower::types::Node;
use crate::lower::{Known, Lowerer, Value};
use crate::tokens::range::{Ranged, SourceRange};

/// True for a method of `Option`, `Result` or a vector that kernels support if they see the
/// receiver's type.
pub(crate) fn is_known_method(name: &str) -> bool {
    super::option_result::is_one(name) || crate::lower::numeric::simd::is_one(name)
}

impl Lowerer<'_> {
    pub(in crate::lower) fn method_call(&mut self, e: &syn::ExprMethodCall) -> Value {
        self.method_wanted(e, true)
    }

    /// A method call; `wanted` is true if its result is used.
    pub(in crate::lower) fn method_wanted(
        &mut self,
        e: &syn::ExprMethodCall,
        wanted: bool,
    ) -> Value {
        if let Some(value) = self.iterated(e) {
            return value;
        }
        if let Some(turbofish) = &e.turbofish {
            if let Some(value) = self.own_method(e, wanted) {
                return value;
            }
            let is_memory = self.find_memory(&e.receiver).is_some();
            if !is_memory && let Err(value) = self.receiver_value(e, wanted) {
                return value;
            }
            self.errors.unsupported(
                codes::CALLEE,
                turbofish.range(),
                "a generic call is",
                "drop the type arguments",
            );
            return Value::Never;
        }
        if let Some((memory, _)) = self.find_memory(&e.receiver) {
            return self.slice_method(memory, e);
        }
        if let Some(value) = self.part_method(e) {
            return value;
        }
        if let Some(value) = self.row_length(e) {
            return value;
        }
        if let Some(view) = self.find_view(&e.receiver) {
            return self.view_method(view, e);
        }
        if let Some(value) = self.atomic_call(e, true) {
            return value;
        }
        if let syn::Expr::Range(range) = peeled(&e.receiver) {
            if let Some(value) = self.range_contains(e, range) {
                return value;
            }
            self.errors.unsupported(
                codes::RANGE,
                range.range(),
                "a range is",
                "loop over it with `for`",
            );
            return Value::Never;
        }
        if let Some(value) = self.own_method(e, wanted) {
            return value;
        }
        match self.receiver_value(e, wanted) {
            Ok(receiver) => {
                if let Some(value) = self.optional_call(e, receiver) {
                    return value;
                }
                // Reported below: these take references.
                let is_told = ["cmp", "partial_cmp", "total_cmp"]
                    .iter()
                    .any(|n| e.method == n);
                let arguments = e.args.iter().map(|argument| match argument {
                    syn::Expr::Reference(lent) if is_told => &*lent.expr,
                    _ => argument,
                });
                let arguments: Vec<&syn::Expr> = arguments.collect();
                let ids = self.more_operands(vec![receiver], &arguments);
                self.audit_method(e, ids[0]);
                self.method(&e.method, ids, e.range())
            }
            Err(value) => value,
        }
    }

    fn slice_method(&mut self, memory: sarek_ir::Memory, e: &syn::ExprMethodCall) -> Value {
        let name = e.method.to_string();
        self.audit_memory_method(memory, e);
        if let Some(value) = self.slice_search(e) {
            return value;
        }
        match (name.as_str(), e.args.is_empty()) {
            ("len", true) => Value::Scalar(self.len(memory, e.range())),
            ("is_empty", true) => {
                let n = self.len(memory, e.range());
                let zero = self.constant(Constant::Usize(0), e.range());
                Value::Scalar(self.plain(BinaryOp::Eq, n, zero, e.range()))
            }
            ("swap", false) if e.args.len() == 2 && self.rank(memory) == 1 => self.swap(e),
            ("get_unchecked" | "get_unchecked_mut", false) => {
                self.errors.at(
                    codes::REFERENCE,
                    e.method.range(),
                    format!("`{name}` returns a reference"),
                    format!("write `*x.{name}(i)`"),
                );
                Value::Never
            }
            _ => {
                let what = format!("the slice method `{name}` is");
                self.errors.unsupported(
                    codes::SLICE_METHOD,
                    e.method.range(),
                    &what,
                    "use `len`, `is_empty`, `get`, `first`, `last`, `contains`, `swap`, `fill`, loops and indexing",
                );
                Value::Never
            }
        }
    }

    /// `len` and `is_empty` of a row of an array of arrays, whose indices may be out of bounds.
    /// `None` for another method, or if the receiver is no row.
    fn row_length(&mut self, e: &syn::ExprMethodCall) -> Option<Value> {
        let (base, indices) = index_chain(&e.receiver);
        let (memory, _) = self.find_memory(base)?;
        let name = e.method.to_string();
        let is_row = !indices.is_empty() && indices.len() < self.rank(memory);
        if !is_row || !e.args.is_empty() || !["len", "is_empty"].contains(&name.as_str()) {
            return None;
        }
        let length = self.shape(memory)?[indices.len()].length;
        self.audit_row_method(memory, indices.len(), e);
        let row = self.flat_index(memory, &indices, e.receiver.range());
        self.discard(row);
        let n = self.length_expr(length, e.range());
        Some(Value::Scalar(match name == "len" {
            true => n,
            false => {
                let zero = self.constant(Constant::Usize(0), e.range());
                self.plain(BinaryOp::Eq, n, zero, e.range())
            }
        }))
    }

    /// `x.swap(i, j)`, written as an exchange of elements. Both indices are evaluated before
    /// anything is stored.
    fn swap(&mut self, e: &syn::ExprMethodCall) -> Value {
        let (slice, span) = (&e.receiver, e.method.range());
        let (first, second) = (&e.args[0], &e.args[1]);
        self.value(&syn::parse_quote_spanned! {span.first=> {
            let (__first, __second) = (#first, #second);
            let __value = #slice[__first];
            #slice[__first] = #slice[__second];
            #slice[__second] = __value;
        }})
    }

    /// A numeric method on lowered operands, the receiver first.
    pub(in crate::lower) fn method(
        &mut self,
        name: &Ident,
        ids: Vec<ExprId>,
        span: SourceRange,
    ) -> Value {
        if let Some(value) = self.array_length(name, &ids, span) {
            return value;
        }
        if let Some(value) = self.simd_method(name, &ids, span) {
            return value;
        }
        if let Some(value) = self.optional_method(name, &ids, span) {
            return value;
        }
        let on = match self.types.look(self.ty(ids[0])) {
            Known::Scalar(scalar) => scalar,
            // A stand-in for code that was reported or is unreachable.
            Known::Nothing if self.is_error_type(self.ty(ids[0])) => return Value::Never,
            Known::Foreign | Known::Parameter => return self.foreign_method(name, ids, span),
            // These are methods of a trait, which rustc finds before it knows the integer's type.
            Known::Int if ["max", "min", "clamp"].iter().any(|of_ord| name == of_ord) => {
                return self.foreign_method(name, ids, span);
            }
            Known::Int | Known::Float | Known::Nothing | Known::Compound => {
                self.errors.at(
                    codes::UNKNOWN_TYPE,
                    self.span(ids[0]),
                    format!("the type must be known before `.{name}()` is called on it"),
                    "write a suffix, as in `1.0f32`, or annotate the variable",
                );
                return Value::Never;
            }
        };
        let known = self
            .half_method(name, on, &ids, span)
            .or_else(|| self.bytes_of(name, on, &ids, span))
            .or_else(|| self.numeric_method(name, on, &ids, span));
        known.unwrap_or_else(|| {
            self.errors
                .report(name.range(), &no_method(&name.to_string(), on));
            Value::Never
        })
    }

    /// `len` and `is_empty` of an array inside of a value. `None` for another method or another
    /// type.
    fn array_length(&mut self, name: &Ident, ids: &[ExprId], span: SourceRange) -> Option<Value> {
        let ([array], "len" | "is_empty") = (ids, name.to_string().as_str()) else {
            return None;
        };
        let known = match self.types.node(self.ty(*array)) {
            Node::Array(_, dim) => Some(dim.length),
            Node::Hole(_) => None,
            Node::Any
            | Node::Known(_)
            | Node::Int
            | Node::Float
            | Node::Tuple(_)
            | Node::Named(_)
            | Node::Same(_) => return None,
        };
        let n = match known {
            Some(length) => self.length_expr(length, span),
            None => {
                let base = self.named(*array);
                let ty = self.types.known(Scalar::Usize);
                self.compound(Compound::Len { base }, ty, span)
            }
        };
        if name == "len" {
            return Some(Value::Scalar(n));
        }
        let zero = self.constant(Constant::Usize(0), span);
        Some(Value::Scalar(self.plain(BinaryOp::Eq, n, zero, span)))
    }

    /// A method on a number whose type only rustc knows.
    fn foreign_method(&mut self, name: &Ident, mut ids: Vec<ExprId>, span: SourceRange) -> Value {
        let text = name.to_string();
        if ids.len() == 1
            && let Some(value) = self.conversion(name, ids[0], span)
        {
            return value;
        }
        if self.has_type_of_argument(&text, &ids) {
            return self.method(name, ids, span);
        }
        let mut named = Intrinsic::ALL.iter().copied().filter(|i| i.name() == text);
        let intrinsic = named.next().filter(|i| {
            let same = matches!(i.result(), ResultType::Same | ResultType::Fixed(_));
            same && named.next().is_none() && !i.is_from_bits()
        });
        let Some(intrinsic) = intrinsic else {
            let (what, instead) = match self.types.look(self.ty(ids[0])) {
                Known::Parameter => (
                    format!(
                        "not every number has the method `{text}`, and the type of this one is a type parameter"
                    ),
                    "convert it, as in `x.to_i32()`, or take a number of a known type",
                ),
                _ => (
                    format!("the type must be known before `.{text}()` is called on it"),
                    "write it where the value is bound, as in `let x: f32 = …;`",
                ),
            };
            self.errors
                .at(codes::UNKNOWN_TYPE, name.range(), what, instead);
            return Value::Never;
        };
        if !self.arity(name, &ids, intrinsic.args().len()) {
            return Value::Never;
        }
        let on = self.ty(ids[0]);
        for (id, arg) in ids[1..].iter().copied().zip(intrinsic.args()) {
            match arg {
                ArgType::Same => {
                    self.unify(on, self.ty(id), self.span(id));
                }
                ArgType::Fixed(scalar) => self.expect(id, *scalar),
                ArgType::Counterpart => unreachable!("no intrinsic takes one"),
            }
        }
        if intrinsic == Intrinsic::Clamp {
            self.assert_clamp(&mut ids, name.range());
        }
        let args = self.kernel.push_list(&ids);
        let call = Expr::Call { intrinsic, args };
        match intrinsic.result() {
            ResultType::Fixed(scalar) => Value::Scalar(self.known(call, scalar, span)),
            ResultType::Same
            | ResultType::Unsigned
            | ResultType::Float
            | ResultType::Counterpart => Value::Scalar(self.expr(call, on, span)),
        }
    }

    /// Gives the receiver of a method the type of an argument of the same type, if that one is known. True if it was.
    fn has_type_of_argument(&mut self, name: &str, ids: &[ExprId]) -> bool {
        let Known::Foreign = self.types.look(self.ty(ids[0])) else {
            return false;
        };
        let rows: Vec<_> = numeric::methods().filter(|row| row.name == name).collect();
        let is_same = |arg: usize| {
            !rows.is_empty()
                && rows
                    .iter()
                    .all(|row| matches!(row.args.get(arg), Some(ArgType::Same)))
        };
        let mut arguments = ids[1..].iter().enumerate();
        let known =
            arguments.find(|(_, id)| matches!(self.types.look(self.ty(**id)), Known::Scalar(_)));
        let Some((arg, id)) = known else { return false };
        is_same(arg) && self.unify(self.ty(*id), self.ty(ids[0]), self.span(ids[0]))
    }

    pub(in crate::lower) fn arity(&mut self, name: &Ident, ids: &[ExprId], wanted: usize) -> bool {
        if ids.len() - 1 != wanted {
            let (found, s) = (ids.len() - 1, if wanted == 1 { "" } else { "s" });
            self.errors.at(
                codes::ARGUMENT_COUNT,
                name.range(),
                format!("`{name}` takes {wanted} argument{s}, but the call has {found}"),
                format!("pass {wanted}"),
            );
        }
        ids.len() - 1 == wanted
    }

    pub(in crate::lower) fn intrinsic(
        &mut self,
        intrinsic: Intrinsic,
        name: &Ident,
        on: Scalar,
        mut ids: Vec<ExprId>,
        span: SourceRange,
    ) -> Value {
        if !self.arity(name, &ids, intrinsic.args().len()) {
            return Value::Never;
        }
        for (id, arg) in ids[1..].iter().copied().zip(intrinsic.args()) {
            self.expect(id, arg.of(on));
        }
        if intrinsic == Intrinsic::Clamp {
            self.assert_clamp(&mut ids, name.range());
        }
        let args = self.kernel.push_list(&ids);
        let result = intrinsic.result_type(on);
        Value::Scalar(self.known(Expr::Call { intrinsic, args }, result, span))
    }

    /// `clamp` panics unless `lo <= hi`.
    fn assert_clamp(&mut self, ids: &mut [ExprId], span: SourceRange) {
        let at = self.mark();
        for (i, id) in ids.iter_mut().enumerate() {
            if !self.kernel.is_fixed_leaf(*id) {
                *id = self.spill_at(at + i.min(self.mark() - at), *id);
            }
        }
        let (lo, hi) = (self.copy(ids[1]), self.copy(ids[2]));
        let cond = self.plain(BinaryOp::Le, lo, hi, span);
        let kind = SiteKind::Assert("`clamp` needs its lower bound to be at most its upper".into());
        let site = self.site(kind, span);
        self.push(Stmt::Assert { cond, site }, span);
    }

    pub(in crate::lower) fn float_from_bits(
        &mut self,
        on: Scalar,
        ids: &[ExprId],
        span: SourceRange,
    ) -> Value {
        let (bits, [id]) = (
            match on {
                Scalar::F16 | Scalar::Bf16 => Scalar::U16,
                Scalar::F32 => Scalar::U32,
                _ => Scalar::U64,
            },
            ids,
        ) else {
            self.errors.at(
                codes::ARGUMENT_COUNT,
                span,
                "`from_bits` takes one argument",
                "pass only the bits",
            );
            return Value::Never;
        };
        if !on.is_float() {
            self.errors.at(
                codes::NO_METHOD,
                span,
                format!("`{on}` has no function `from_bits`"),
                "call it on `f32` or `f64`",
            );
            return Value::Never;
        }
        self.expect(*id, bits);
        let args = self.kernel.push_list(&[*id]);
        let call = Expr::Call {
            intrinsic: Intrinsic::from_bits(on),
            args,
        };
        Value::Scalar(self.known(call, on, span))
    }
}

/// The mistake of calling a method that a type does not have, with a replacement.
fn no_method(name: &str, on: Scalar) -> Mistake {
    let what = format!("`{on}` has no method `{name}` in a kernel");
    let mistake = |instead: &str| Mistake::new(codes::NO_METHOD, &what, instead);
    if let Some(instead) = numeric::instead_of(name) {
        return mistake(instead);
    }
    if on == Scalar::Usize && name.ends_with("_signed") {
        return mistake("kernels have no `isize`: convert to `i64` or `u64`, which have it");
    }
    let known = numeric::methods().filter(|row| row.stands_on(on));
    match nearest(name, known.map(|row| row.name)) {
        Some(meant) => mistake(&format!("did you mean `{meant}`?")),
        None => mistake(
            "use a method of numbers, which the chapter Methods of the book lists; if a trait of yours has it, write `#[device]` before \
             `trait` and before its `impl`s",
        )
        .because("kernels have the methods of numbers that are the same on all devices, and those of traits with `#[device]`"),
    }
}

/// True for a method of numbers, slices or arrays. If the receiver's type is unknown, it cannot be
/// a method of the user's.
pub(in crate::lower) fn is_built_in(name: &Ident) -> bool {
    let text = name.to_string();
    let is_conversion = text.strip_prefix("to_").and_then(Scalar::from_name);
    is_conversion.is_some()
        || ["len", "is_empty"].contains(&text.as_str())
        || numeric::methods().any(|row| row.name == text)
}
