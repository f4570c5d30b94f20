//! SIMD vectors of the façade (`f32x4` and its kin), scalarized: operations on a vector become
//! expressions on its components. `sarek_runtime::simd` implements the same in Rust; rustc checks
//! that a name resolves to that type.

use proc_macro2::Ident;
use quote::{format_ident, quote};
use sarek_ir::numeric;
use sarek_ir::{BinaryOp, Compound, Expr, ExprId, Intrinsic, Scalar, UnaryOp, Value as Constant};

use crate::diagnostics::codes;
use crate::lower::operator::Infix;
use crate::lower::types::Node;
use crate::lower::{Known, Lowerer, Ty, Value};
use crate::parse::{LETTERS, SimdType, simd_type};
use crate::tokens::range::{Ranged, SourceRange};

/// True for a method that only vectors have.
pub(in crate::lower) fn is_one(name: &str) -> bool {
    let of_components = [
        "dot",
        "cross",
        "length_squared",
        "distance",
        "normalize",
        "to_array",
    ];
    let is_swizzle = name.len() > 1 && name.chars().all(|letter| "xyzw".contains(letter));
    is_swizzle || of_components.contains(&name)
}

impl Lowerer<'_> {
    /// The vector type that a type is, if it is one.
    pub(in crate::lower) fn simd(&self, ty: Ty) -> Option<SimdType> {
        match self.types.node(ty) {
            Node::Named(named) => named.simd,
            _ => None,
        }
    }

    pub(in crate::lower) fn simd_ty(&mut self, simd: SimdType) -> Ty {
        let (krate, name) = (&self.krate, format_ident!("{}", simd.name()));
        let path = quote!(#krate::#name);
        self.types.simd(path, simd)
    }

    /// A vector with these components.
    fn simd_of(&mut self, parts: Vec<ExprId>, lane: Scalar, span: SourceRange) -> ExprId {
        let simd = SimdType {
            lane,
            count: parts.len(),
        };
        let (krate, name) = (&self.krate, format_ident!("{}", simd.name()));
        let path = quote!(#krate::#name);
        let names = LETTERS.map(|letter| self.name_id(letter));
        let construct = Compound::Construct {
            variant: None,
            fields: names.into_iter().zip(parts).collect(),
            rest: None,
        };
        let ty = self.simd_ty(simd);
        self.compound_by(construct, path, ty, span)
    }

    /// The components of a vector, each for a single use.
    fn components(&mut self, value: ExprId, simd: SimdType) -> Vec<ExprId> {
        if let Expr::Compound(id) = self.kernel.expr(value)
            && let Compound::Construct {
                fields, rest: None, ..
            } = &self.kernel.compounds[id.index()]
            && fields.len() == simd.count
        {
            let mut fields = fields.to_vec();
            fields.sort_by_key(|(name, _)| {
                LETTERS.iter().position(|l| *l == self.kernel.name(*name))
            });
            // The vector node itself has no other use.
            self.kernel.exprs.to_mut()[value.index()] = Expr::Literal(Constant::Bool(false));
            return fields.into_iter().map(|(_, part)| part).collect();
        }
        let leaf = self.reusable(value);
        (0..simd.count)
            .map(|at| self.component(leaf, at, simd))
            .collect()
    }

    /// A component of a leaf.
    fn component(&mut self, leaf: ExprId, at: usize, simd: SimdType) -> ExprId {
        let (base, span) = (self.copy(leaf), self.span(leaf));
        let (name, ty) = (self.name_id(LETTERS[at]), self.types.known(simd.lane));
        self.compound(Compound::Field { base, name }, ty, span)
    }

    // Operators.

    /// `lhs op rhs`, if one of them is a vector.
    pub(in crate::lower) fn simd_binary(
        &mut self,
        op: Infix,
        (lhs, rhs): (ExprId, ExprId),
        span: SourceRange,
        at: SourceRange,
    ) -> Option<ExprId> {
        let (left, right) = (self.simd(self.ty(lhs)), self.simd(self.ty(rhs)));
        let simd = left.or(right)?;
        let (Infix::Plain(_) | Infix::Divide(_)) = op else {
            return None;
        };
        if let Infix::Plain(op) = op
            && !self.stands_on_simd(op, simd, at)
        {
            return Some(if left.is_some() { lhs } else { rhs });
        }
        // An operand that only rustc knows is probably a vector, since numbers are rare beside one.
        // rustc reports a wrong guess.
        if matches!(op, Infix::Plain(BinaryOp::Add | BinaryOp::Sub)) {
            for side in [lhs, rhs] {
                let ty = self.ty(side);
                let is_foreign = matches!(self.types.look(ty), Known::Foreign | Known::Parameter);
                if is_foreign && self.simd(ty).is_none() {
                    let (wanted, found, at) = (self.simd_ty(simd), self.ty(side), self.span(side));
                    self.unify(wanted, found, at);
                }
            }
        }
        let lhs = self.side(lhs, simd);
        let rhs = self.side(rhs, simd);
        let pairs = lhs.into_iter().zip(rhs);
        let parts: Vec<ExprId> = pairs
            .map(|(l, r)| match op {
                Infix::Divide(op) => self.divide(op, l, r, span, at),
                Infix::Plain(op) => self.plain(op, l, r, span),
                Infix::And | Infix::Or => unreachable!("left above"),
            })
            .collect();
        Some(match op {
            Infix::Plain(BinaryOp::Eq) => self.joined(parts, true, span),
            Infix::Plain(BinaryOp::Ne) => self.joined(parts, false, span),
            _ => self.simd_of(parts, simd.lane, span),
        })
    }

    fn stands_on_simd(&mut self, op: BinaryOp, simd: SimdType, at: SourceRange) -> bool {
        let (fits, instead) = match op {
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Eq | BinaryOp::Ne => {
                (true, "")
            }
            BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor => (
                simd.lane.is_int(),
                "take the bits of its components: they are floats",
            ),
            BinaryOp::Shl | BinaryOp::Shr => (false, "shift its components"),
            BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => {
                (false, "compare its components")
            }
            BinaryOp::Div | BinaryOp::Rem => unreachable!("lowered as divisions"),
        };
        if !fits {
            let what = format!("`{}` on `{}` is", op.symbol(), simd.name());
            self.errors.unsupported(codes::VECTOR, at, &what, instead);
        }
        fits
    }

    /// An operand for each component: the vector's component, or the number itself.
    fn side(&mut self, value: ExprId, simd: SimdType) -> Vec<ExprId> {
        let (ty, span) = (self.ty(value), self.span(value));
        if let Some(own) = self.simd(ty) {
            if own != simd {
                self.errors.at(
                    codes::MISMATCH,
                    span,
                    format!(
                        "mismatched types: expected `{}`, found `{}`",
                        simd.name(),
                        own.name()
                    ),
                    "use a value of that type",
                );
            }
            return self.components(value, own);
        }
        match self.types.look(ty) {
            Known::Scalar(other) if other != simd.lane => {
                self.expect(value, simd.lane);
                let zero = Constant::zero(simd.lane);
                return (0..simd.count).map(|_| self.constant(zero, span)).collect();
            }
            Known::Scalar(_) | Known::Int | Known::Float => self.expect(value, simd.lane),
            Known::Nothing if self.is_error_type(ty) => {}
            Known::Nothing | Known::Foreign | Known::Parameter | Known::Compound => {
                self.errors.at(
                    codes::UNKNOWN_TYPE,
                    span,
                    "this may be a number or a vector",
                    format!("write its type, as in `let a: {} = …;`", simd.lane),
                );
            }
        }
        let leaf = self.reusable(value);
        (0..simd.count).map(|_| self.copy(leaf)).collect()
    }

    /// The conjunction or disjunction of all parts. Each part is evaluated, since a component may
    /// fault.
    fn joined(&mut self, parts: Vec<ExprId>, all: bool, span: SourceRange) -> ExprId {
        let op = match all {
            true => BinaryOp::BitAnd,
            false => BinaryOp::BitOr,
        };
        let parts = parts.into_iter();
        let joined = parts.reduce(|lhs, rhs| {
            let expr = Expr::Binary { op, lhs, rhs };
            self.known(expr, Scalar::Bool, span)
        });
        joined.unwrap_or_else(|| unreachable!("a vector has components"))
    }

    /// `op arg`, if the operand is a vector.
    pub(in crate::lower) fn simd_unary(
        &mut self,
        op: UnaryOp,
        arg: ExprId,
        span: SourceRange,
    ) -> Option<ExprId> {
        let simd = self.simd(self.ty(arg))?;
        let parts = self.components(arg, simd).into_iter();
        let parts = parts.map(|arg| {
            let ty = self.ty(arg);
            self.expr(Expr::Unary { op, arg }, ty, span)
        });
        let parts = parts.collect();
        Some(self.simd_of(parts, simd.lane, span))
    }

    // Methods.

    /// A method of a vector. `None` if the receiver is no vector.
    pub(in crate::lower) fn simd_method(
        &mut self,
        name: &Ident,
        ids: &[ExprId],
        span: SourceRange,
    ) -> Option<Value> {
        let simd = self.simd(self.ty(ids[0]))?;
        let text = name.to_string();
        let of_floats = simd.lane.is_float();
        let row = numeric::method(&text, simd.lane).filter(|row| row.lanes);
        let known = match text.as_str() {
            "dot" | "to_array" => true,
            "cross" => simd.count == 3,
            "length" | "length_squared" | "distance" | "normalize" => of_floats,
            _ => row.is_some(),
        };
        if let Some(order) = swizzle(&text, simd).filter(|_| ids.len() == 1) {
            let leaf = self.reusable(ids[0]);
            let parts = order.into_iter().map(|at| self.component(leaf, at, simd));
            let parts = parts.collect();
            return Some(Value::Scalar(self.simd_of(parts, simd.lane, span)));
        }
        if !known {
            self.errors.at(
                codes::NO_METHOD,
                name.range(),
                format!("`{}` has no method `{text}` in a kernel", simd.name()),
                match LETTERS[..simd.count].contains(&text.as_str()) {
                    true => format!("drop the `()`: `{text}` is a field"),
                    false => "call a method of its components".to_owned(),
                },
            );
            return Some(Value::Never);
        }
        let arguments = match text.as_str() {
            "dot" | "cross" | "distance" => 1,
            _ => row.map_or(0, |row| row.args.len()),
        };
        if !self.arity(name, ids, arguments) {
            return Some(Value::Never);
        }
        for &id in &ids[1..] {
            let (wanted, found, at) = (self.simd_ty(simd), self.ty(id), self.span(id));
            self.unify(wanted, found, at);
            if self.simd(self.ty(id)) != Some(simd) {
                self.errors.at(
                    codes::VECTOR,
                    at,
                    format!("`{text}` takes a vector of the same type"),
                    format!("pass a `{}`", simd.name()),
                );
                return Some(Value::Never);
            }
        }
        Some(Value::Scalar(match text.as_str() {
            "dot" => self.dot(ids[0], ids[1], simd, span),
            "cross" => self.cross(ids[0], ids[1], simd, span),
            "length_squared" => self.squares(ids[0], simd, span),
            "length" => self.length(ids[0], simd, span),
            "distance" => {
                let difference = (ids[0], ids[1]);
                let difference = self.plain_simd(BinaryOp::Sub, difference, simd, span);
                self.length(difference, simd, span)
            }
            "normalize" => {
                let leaf = self.reusable(ids[0]);
                let again = self.copy(leaf);
                let length = self.length(leaf, simd, span);
                let op = Infix::Divide(sarek_ir::DivideOp::Div);
                let divided = self.simd_binary(op, (again, length), span, span);
                divided.unwrap_or_else(|| unreachable!("it is a vector"))
            }
            "to_array" => {
                let parts = self.components(ids[0], simd);
                let elem = self.types.known(simd.lane);
                let len = crate::lower::memory::length::Dim::fixed(simd.count as u64);
                let ty = self.types.array(elem, len);
                let items = self.kernel.push_list(&parts);
                self.compound(Compound::Array { items }, ty, span)
            }
            _ => return Some(self.each(name, ids, simd, span)),
        }))
    }

    /// Applies a method to each component.
    fn each(&mut self, name: &Ident, ids: &[ExprId], simd: SimdType, span: SourceRange) -> Value {
        let columns: Vec<Vec<ExprId>> = ids.iter().map(|id| self.components(*id, simd)).collect();
        let mut parts = vec![];
        for at in 0..simd.count {
            let row = columns.iter().map(|column| column[at]).collect();
            match self.method(name, row, span) {
                Value::Scalar(part) => parts.push(part),
                Value::Unit | Value::Never => return Value::Never,
            }
        }
        Value::Scalar(self.simd_of(parts, simd.lane, span))
    }

    fn plain_simd(
        &mut self,
        op: BinaryOp,
        operands: (ExprId, ExprId),
        simd: SimdType,
        span: SourceRange,
    ) -> ExprId {
        let made = self.simd_binary(Infix::Plain(op), operands, span, span);
        made.unwrap_or_else(|| unreachable!("{} is a vector", simd.name()))
    }

    fn dot(&mut self, a: ExprId, b: ExprId, simd: SimdType, span: SourceRange) -> ExprId {
        let products = self.plain_simd(BinaryOp::Mul, (a, b), simd, span);
        let products = self.components(products, simd).into_iter();
        let sum = products.reduce(|a, b| self.plain(BinaryOp::Add, a, b, span));
        sum.unwrap_or_else(|| unreachable!("a vector has components"))
    }

    fn squares(&mut self, value: ExprId, simd: SimdType, span: SourceRange) -> ExprId {
        let leaf = self.reusable(value);
        let again = self.copy(leaf);
        self.dot(leaf, again, simd, span)
    }

    fn length(&mut self, value: ExprId, simd: SimdType, span: SourceRange) -> ExprId {
        let squares = self.squares(value, simd, span);
        let args = self.kernel.push_list(&[squares]);
        let call = Expr::Call {
            intrinsic: Intrinsic::Sqrt,
            args,
        };
        self.known(call, simd.lane, span)
    }

    fn cross(&mut self, a: ExprId, b: ExprId, simd: SimdType, span: SourceRange) -> ExprId {
        let (a, b) = (self.reusable(a), self.reusable(b));
        let parts = [(1, 2), (2, 0), (0, 1)].map(|(i, k)| {
            let [lhs, rhs] = [(i, k), (k, i)].map(|(i, k)| {
                let (x, y) = (self.component(a, i, simd), self.component(b, k, simd));
                self.plain(BinaryOp::Mul, x, y, span)
            });
            self.plain(BinaryOp::Sub, lhs, rhs, span)
        });
        self.simd_of(parts.to_vec(), simd.lane, span)
    }

    /// `vector[0]`, with a constant index. `None` if the base is no vector.
    pub(in crate::lower) fn simd_index(
        &mut self,
        base: ExprId,
        e: &syn::ExprIndex,
    ) -> Option<Value> {
        let simd = self.simd(self.ty(base))?;
        let at = match crate::lower::memory::array::peeled(&e.index) {
            syn::Expr::Lit(syn::ExprLit {
                lit: syn::Lit::Int(int),
                ..
            }) => int.base10_parse::<usize>().ok(),
            _ => None,
        };
        let Some(at) = at.filter(|at| *at < simd.count) else {
            self.errors.at(
                codes::VECTOR,
                e.index.range(),
                format!("this is not a component of `{}`", simd.name()),
                format!(
                    "name one of `.x` to `.{}`, or index by a constant below {}",
                    LETTERS[simd.count - 1],
                    simd.count
                ),
            );
            return Some(Value::Never);
        };
        let leaf = self.reusable(base);
        Some(Value::Scalar(self.component(leaf, at, simd)))
    }

    // Functions and constants.

    /// `f32x4::new(…)`. `None` if the path names no function of a vector.
    pub(in crate::lower) fn simd_call(
        &mut self,
        path: &syn::Path,
        e: &syn::ExprCall,
    ) -> Option<Value> {
        let (simd, name) = self.simd_item(path)?;
        if name == "from" {
            return Some(self.simd_from(simd, &name, e));
        }
        let arguments: Vec<&syn::Expr> = e.args.iter().collect();
        let ids = self.operands(&arguments);
        let wanted = match name.to_string().as_str() {
            "new" => simd.count,
            "splat" => 1,
            _ if !ids.is_empty() => {
                let ty = self.simd_ty(simd);
                self.unify(ty, self.ty(ids[0]), self.span(ids[0]));
                return Some(self.method(&name, ids, e.range()));
            }
            other => {
                self.errors.at(
                    codes::NO_METHOD,
                    name.range(),
                    format!("`{}` has no function `{other}` in a kernel", simd.name()),
                    "create it with `new`, `splat` or `from`",
                );
                return Some(Value::Never);
            }
        };
        if ids.len() != wanted {
            self.errors.at(
                codes::ARGUMENT_COUNT,
                name.range(),
                format!(
                    "`{name}` takes {wanted} numbers, but the call has {}",
                    ids.len()
                ),
                format!("pass {wanted}"),
            );
            return Some(Value::Never);
        }
        for &id in &ids {
            self.expect(id, simd.lane);
        }
        let parts = match name == "splat" {
            true => {
                let leaf = self.reusable(ids[0]);
                (0..simd.count).map(|_| self.copy(leaf)).collect()
            }
            false => ids,
        };
        Some(Value::Scalar(self.simd_of(parts, simd.lane, e.range())))
    }

    /// `f32x4::from([a, b, c, d])`
    fn simd_from(&mut self, simd: SimdType, name: &Ident, e: &syn::ExprCall) -> Value {
        let (count, span) = (simd.count, e.range());
        let parts = match e.args.first() {
            Some(syn::Expr::Array(array)) if e.args.len() == 1 && array.elems.len() == count => {
                let elems: Vec<&syn::Expr> = array.elems.iter().collect();
                self.operands(&elems)
            }
            Some(argument) if e.args.len() == 1 && !is_literal(argument) => {
                let value = self.scalar(argument);
                if let Node::Tuple(_) | Node::Known(_) | Node::Int | Node::Float =
                    self.types.node(self.ty(value))
                {
                    self.no_array(simd, name);
                    return Value::Never;
                }
                let array = self.reusable(value);
                let parts = (0..count).map(|at| {
                    let at = syn::Index::from(at);
                    let part = syn::parse_quote_spanned!(span.first=> __x[#at]);
                    self.rust(&[array], span, &part)
                });
                parts.collect()
            }
            _ => {
                self.no_array(simd, name);
                return Value::Never;
            }
        };
        for &id in &parts {
            self.expect(id, simd.lane);
        }
        Value::Scalar(self.simd_of(parts, simd.lane, span))
    }

    fn no_array(&mut self, simd: SimdType, name: &Ident) {
        let (wanted, count, lane) = (simd.name(), simd.count, simd.lane);
        self.errors.at(
            codes::NO_METHOD,
            name.range(),
            format!("`{wanted}::from` takes an array of {count} numbers, `[{lane}; {count}]`"),
            format!("pass such an array, or write `{wanted}::new(…)`"),
        );
    }

    /// `f32x4::ZERO`. `None` if the path names no item of a vector.
    pub(in crate::lower) fn simd_constant(&mut self, path: &syn::Path) -> Option<Value> {
        let (simd, name) = self.simd_item(path)?;
        let value = match name.to_string().as_str() {
            "ZERO" => Constant::zero(simd.lane),
            "ONE" => sarek_ir::operators::cast(Constant::U32(1), simd.lane),
            other => {
                self.errors.at(
                    codes::NO_METHOD,
                    name.range(),
                    format!("`{}` has no constant `{other}` in a kernel", simd.name()),
                    "write it with `splat`",
                );
                return Some(Value::Never);
            }
        };
        let span = path.range();
        let parts = (0..simd.count).map(|_| self.constant(value, span));
        let parts = parts.collect();
        Some(Value::Scalar(self.simd_of(parts, simd.lane, span)))
    }

    /// Splits a path into a vector type and an item. rustc checks that the type is the façade's.
    fn simd_item(&mut self, path: &syn::Path) -> Option<(SimdType, Ident)> {
        let mut of = path.clone();
        let name = of.segments.pop()?.ident;
        of.segments.pop_punct();
        let simd = simd_type(&of)?;
        let (krate, ty) = (&self.krate, format_ident!("{}", simd.name()));
        self.audits
            .push(quote!(const _: fn(#of) -> #krate::#ty = |__vector| __vector;));
        Some((simd, name))
    }
}

/// The components that a swizzle such as `zyx` takes, in order.
fn swizzle(name: &str, simd: SimdType) -> Option<Vec<usize>> {
    let at = |letter: char| {
        LETTERS[..simd.count]
            .iter()
            .position(|l| l.starts_with(letter))
    };
    let order: Option<Vec<usize>> = name.chars().map(at).collect();
    order.filter(|order| (2..=4).contains(&order.len()))
}

/// True for a tuple or array expression.
fn is_literal(argument: &syn::Expr) -> bool {
    matches!(argument, syn::Expr::Array(_) | syn::Expr::Tuple(_))
}
