//! Strided views: their elements, and their extents.

use std::collections::BTreeSet;

use sarek_ir::{
    Access, Argument, BinaryOp, Call, Compound, Expr, ExprId, Kernel, Memory, Param, ParamId,
    ParamKind, Scalar, SiteKind, Value as Constant, ViewPart,
};

use super::array::peeled;
use crate::diagnostics::codes;
use crate::lower::{Binding, Lowered, Lowerer, Ty, Value};
use crate::tokens::range::{Ranged, SourceRange};

impl Lowered {
    /// True for an extent, the offset or a stride of a view. These are the same for all threads.
    pub fn is_view_part(&self, param: ParamId) -> bool {
        let before = self.views.range(..param).next_back();
        before.is_some_and(|(view, rank)| param.0 < view.0 + Kernel::view_params(*rank))
    }

    /// The positions of such arguments in a call.
    pub fn view_parts_in(&self, call: &Call) -> BTreeSet<usize> {
        let args = call.args.iter().enumerate();
        let views = args.filter_map(|(at, arg)| match arg {
            Argument::Memory(Memory::Slice(param)) => self.views.get(param).map(|rank| (at, *rank)),
            Argument::Memory(_) | Argument::Value(_) | Argument::Local(_) => None,
        });
        let parts = views.flat_map(|(at, rank)| at + 1..at + Kernel::view_params(rank) as usize);
        parts.collect()
    }

    /// The source position of a call's argument, given its position in the IR.
    pub fn written_position(&self, call: &Call, at: usize) -> usize {
        at - self.view_parts_in(call).range(..=at).count()
    }
}

/// The names of dimensions, which are also the methods that return their extents.
fn dimensions(rank: u32) -> &'static [&'static str] {
    const ALL: [&str; 3] = ["depth", "rows", "cols"];
    &ALL[ALL.len() - rank as usize..]
}

/// The name of the index along each dimension.
fn coordinates(rank: u32) -> &'static [&'static str] {
    const ALL: [&str; 3] = ["plane", "row", "col"];
    &ALL[ALL.len() - rank as usize..]
}

impl Lowerer<'_> {
    /// Adds the parameters after that of a view's slice, in the order of [`Kernel::view_param`].
    pub(in crate::lower) fn view_params(&mut self, view: &str, rank: u32) {
        let extents = dimensions(rank).iter().map(|d| format!("{view}_{d}"));
        let strides = coordinates(rank).iter();
        let strides = strides.map(|c| format!("{view}_{c}_stride"));
        let offset = [format!("{view}_offset")];
        let names: Vec<String> = extents.chain(offset).chain(strides).collect();
        for name in names {
            let (name, kind) = (name.into(), ParamKind::Scalar(Scalar::Usize));
            let align = 0;
            let param = Param { name, kind, align };
            self.kernel.params.to_mut().push(param);
            let ty = self.types.known(Scalar::Usize);
            self.param_types.push(ty);
            self.own_types.0.push(ty);
            let written = self.type_tokens(ty);
            self.param_tokens.push(written.unwrap_or_default());
        }
    }

    /// The view that an expression names.
    pub(in crate::lower) fn find_view(&mut self, expr: &syn::Expr) -> Option<ParamId> {
        match peeled(expr) {
            syn::Expr::Path(e) if e.qself.is_none() => match self.find(e.path.get_ident()?)? {
                Binding::View(view) => Some(view),
                Binding::Local(_)
                | Binding::Scalar(_)
                | Binding::Reference(_)
                | Binding::Memory(_)
                | Binding::Const(_)
                | Binding::Closure(_)
                | Binding::Callable(_)
                | Binding::Part(_)
                | Binding::Place(_)
                | Binding::SubSlice(_) => None,
            },
            _ => None,
        }
    }

    /// The view that an argument of a call names, by reference or by value.
    pub(in crate::lower) fn given_view(&mut self, argument: &syn::Expr) -> Option<ParamId> {
        match peeled(argument) {
            syn::Expr::Reference(e) => self.given_view(&e.expr),
            syn::Expr::Unary(e) if matches!(e.op, syn::UnOp::Deref(_)) => self.given_view(&e.expr),
            other => self.find_view(other),
        }
    }

    /// The arguments for a view: its slice, and the parameters after it.
    pub(in crate::lower) fn view_arguments(
        &mut self,
        view: ParamId,
        span: SourceRange,
    ) -> Vec<Argument> {
        let parts = (view.0 + 1)..(view.0 + Kernel::view_params(self.views[&view]));
        let parts: Vec<Argument> = parts
            .map(|part| {
                let part = Expr::Param(ParamId(part));
                Argument::Value(self.known(part, Scalar::Usize, span))
            })
            .collect();
        let slice = Argument::Memory(Memory::Slice(view));
        [slice].into_iter().chain(parts).collect()
    }

    fn extent(&mut self, view: ParamId, dimension: u32, span: SourceRange) -> ExprId {
        let part = ViewPart::Extent(dimension);
        let param = Kernel::view_param(view, self.views[&view], part);
        self.known(Expr::Param(param), Scalar::Usize, span)
    }

    /// `view[[row, col]]`: the slice, the index in it, and the element type.
    pub(in crate::lower) fn view_element(
        &mut self,
        view: ParamId,
        index: &syn::Expr,
    ) -> Option<(Memory, ExprId, Ty)> {
        let (rank, memory) = (self.views[&view], Memory::Slice(view));
        let indices: Vec<&syn::Expr> = match peeled(index) {
            syn::Expr::Array(array) if array.elems.len() == rank as usize => {
                array.elems.iter().collect()
            }
            other => {
                let name = self.kernel.memory_name(memory);
                let wanted = coordinates(rank).join(", ");
                self.errors.at(
                    codes::INDEX,
                    other.range(),
                    "a view is indexed by all its coordinates at once",
                    format!("write `{name}[[{wanted}]]`"),
                );
                return None;
            }
        };
        let found = self.operands(&indices);
        let mut checked = vec![];
        for (d, at) in (0..rank).zip(found) {
            let span = indices[d as usize].range();
            self.expect(at, Scalar::Usize);
            let len = self.extent(view, d, span);
            let site = Some(self.site(SiteKind::Dimension(memory, d), span));
            let bounded = Expr::Bounded {
                index: at,
                len,
                site,
            };
            checked.push(self.known(bounded, Scalar::Usize, span));
        }
        let indices = self.kernel.push_list(&checked);
        let ty = self.types.known(Scalar::Usize);
        let at = self.compound(Compound::At { view, indices }, ty, index.range());
        Some((memory, at, self.element_type(memory)))
    }

    /// Reports a store through a read-only view.
    pub(in crate::lower) fn writable_view(
        &mut self,
        memory: Memory,
        span: SourceRange,
    ) -> Option<()> {
        if self.kernel.access(memory) == Access::Write {
            return Some(());
        }
        let name = self.kernel.memory_name(memory);
        let rank = self.rank(memory);
        self.errors.at(
            codes::READ_ONLY,
            span,
            format!("`{name}` cannot be written"),
            match self.is_function {
                true => format!("declare it `{name}: &mut ViewMut{rank}<T>`"),
                false => format!("declare it `mut {name}: ViewMut{rank}<T>`"),
            },
        );
        None
    }

    /// `rows()`, `cols()`, `depth()` and `shape()`.
    pub(in crate::lower) fn view_method(
        &mut self,
        view: ParamId,
        e: &syn::ExprMethodCall,
    ) -> Value {
        let (name, rank) = (e.method.to_string(), self.views[&view]);
        let span = e.range();
        self.audit_view_method(view, e);
        let dimension = dimensions(rank).iter().position(|d| *d == name);
        match (dimension, name.as_str(), e.args.is_empty()) {
            (Some(d), _, true) => Value::Scalar(self.extent(view, d as u32, span)),
            (None, "shape", true) => {
                let extents: Vec<ExprId> = (0..rank).map(|d| self.extent(view, d, span)).collect();
                let elem = self.ty(extents[0]);
                let dim = super::length::Dim::fixed(rank.into());
                let ty = self.types.array(elem, dim);
                let items = self.kernel.push_list(&extents);
                Value::Scalar(self.compound(Compound::Array { items }, ty, span))
            }
            (None, "is_empty", true) => {
                let mut empty = None;
                for d in 0..rank {
                    let extent = self.extent(view, d, span);
                    let zero = self.constant(Constant::Usize(0), span);
                    let rhs = self.plain(BinaryOp::Eq, extent, zero, span);
                    empty = Some(match empty {
                        None => rhs,
                        Some(lhs) => self.known(Expr::Or { lhs, rhs }, Scalar::Bool, span),
                    });
                }
                Value::Scalar(empty.expect("a view has dimensions"))
            }
            _ => {
                let what = format!("the method `{name}` of a view is");
                let there = dimensions(rank).join("`, `");
                let instead = format!("use `{there}`, `shape` and indexing");
                self.errors
                    .unsupported(codes::SLICE_METHOD, e.method.range(), &what, &instead);
                Value::Never
            }
        }
    }
}
