//! Parts of slices and arrays: `let row = &x[a..b];`, `&x[a..][..n]`.
//!
//! A part is its memory, the place of its first element and its length. The bounds are checked where Rust checks them.

use sarek_ir::{
    Access, BinaryOp, Expr, ExprId, Intrinsic, Memory, Scalar, SiteId, SiteKind, Value as Constant,
};

use super::array::peeled;
use crate::diagnostics::codes;
use crate::lower::{Binding, Lowerer, Ty};
use crate::tokens::range::{Ranged, SourceRange};

/// A part of a slice or array.
#[derive(Clone, Copy)]
pub(in crate::lower) struct SubSlice {
    memory: Memory,
    /// The place of its first element, a leaf. `None` stands for 0.
    start: Option<ExprId>,
    /// Its length: a leaf.
    len: ExprId,
}

impl Lowerer<'_> {
    /// Binds a name to a part of a slice. False if the value is none.
    pub(in crate::lower) fn part_let(&mut self, pat: &syn::PatIdent, init: &syn::Expr) -> bool {
        if !self.is_sub_slice(init) {
            return false;
        }
        if let Some(part) = self.sub_slice(init) {
            self.bind_sub_slice(&pat.ident, part);
        }
        true
    }

    pub(in crate::lower) fn bind_sub_slice(&mut self, name: &syn::Ident, part: SubSlice) {
        self.sub_slices.push(part);
        self.bind(name, Binding::SubSlice(self.sub_slices.len() - 1));
    }

    /// True for `x[a..b]` of a slice or array, and for references to it.
    pub(in crate::lower) fn is_sub_slice(&mut self, expr: &syn::Expr) -> bool {
        match peeled(expr) {
            syn::Expr::Reference(e) => self.is_sub_slice(&e.expr),
            syn::Expr::Index(e) if matches!(peeled(&e.index), syn::Expr::Range(_)) => {
                let base = peeled(&e.expr);
                self.is_sub_slice(base)
                    || self.find_sub_slice(base).is_some()
                    || self
                        .find_memory(base)
                        .is_some_and(|(memory, _)| self.rank(memory) == 1)
            }
            _ => false,
        }
    }

    /// The part that a name is bound to.
    pub(in crate::lower) fn find_sub_slice(&mut self, expr: &syn::Expr) -> Option<SubSlice> {
        let syn::Expr::Path(path) = peeled(expr) else {
            return None;
        };
        match self.find(path.path.get_ident()?)? {
            Binding::SubSlice(index) => Some(self.sub_slices[index]),
            _ => None,
        }
    }

    /// Evaluates a part, and checks its bounds. `None` if it is invalid, which is reported.
    pub(in crate::lower) fn sub_slice(&mut self, expr: &syn::Expr) -> Option<SubSlice> {
        match peeled(expr) {
            syn::Expr::Reference(e) => self.sub_slice(&e.expr),
            syn::Expr::Index(e) => {
                let of = self.sub_slice(&e.expr)?;
                match peeled(&e.index) {
                    syn::Expr::Range(range) => self.narrowed(of, range),
                    _ => None,
                }
            }
            other => {
                if let Some(part) = self.find_sub_slice(other) {
                    return Some(part);
                }
                let (memory, _) = self.memory(other)?;
                self.check_rank(memory, 1, other.range())?;
                if self.kernel.access(memory) == Access::Atomic {
                    self.atomic_misuse(memory, other.range());
                    return None;
                }
                let len = self.len(memory, other.range());
                let len = self.reusable(len);
                let start = None;
                Some(SubSlice { memory, start, len })
            }
        }
    }

    /// `of[a..b]`
    fn narrowed(&mut self, of: SubSlice, range: &syn::ExprRange) -> Option<SubSlice> {
        let span = range.range();
        let bounds: Vec<&syn::Expr> = [&range.start, &range.end]
            .into_iter()
            .flatten()
            .map(|bound| &**bound)
            .collect();
        let ids = self.operands(&bounds);
        let mut ids = ids.into_iter().map(|id| {
            self.expect(id, Scalar::Usize);
            self.reusable(id)
        });
        let ids: Vec<ExprId> = ids.by_ref().collect();
        let start = range.start.as_ref().and(ids.first().copied());
        let end = range.end.as_ref().and(ids.last().copied());
        let closed = matches!(range.limits, syn::RangeLimits::Closed(_));
        let end = match end {
            None => of.len,
            Some(end) => {
                let (e, len) = (self.copy(end), self.copy(of.len));
                let op = if closed { BinaryOp::Lt } else { BinaryOp::Le };
                let fits = self.plain(op, e, len, span);
                self.assert(
                    fits,
                    "the end of this part is beyond the slice".into(),
                    span,
                );
                match closed {
                    false => end,
                    true => {
                        let (e, one) = (self.copy(end), self.constant(Constant::Usize(1), span));
                        let after = self.plain(BinaryOp::Add, e, one, span);
                        self.reusable(after)
                    }
                }
            }
        };
        let Some(start) = start else {
            let end = self.copy(end);
            let len = self.at_most(end, of.len, span);
            return Some(SubSlice { len, ..of });
        };
        let (s, e) = (self.copy(start), self.copy(end));
        let fits = self.plain(BinaryOp::Le, s, e, span);
        self.assert(fits, "this part begins after its end".into(), span);
        let (s, e) = (self.copy(start), self.copy(end));
        let len = self.plain(BinaryOp::Sub, e, s, span);
        let len = self.at_most(len, of.len, span);
        let start = match of.start {
            None => start,
            Some(before) => {
                let (before, s) = (self.copy(before), self.copy(start));
                let sum = self.plain(BinaryOp::Add, before, s, span);
                self.reusable(sum)
            }
        };
        let (memory, start) = (of.memory, Some(start));
        Some(SubSlice { memory, start, len })
    }

    /// A length that ends loops over the part also on devices where a thread goes on behind a bound that does not fit.
    fn at_most(&mut self, len: ExprId, most: ExprId, span: SourceRange) -> ExprId {
        let most = self.copy(most);
        let args = self.kernel.push_list(&[len, most]);
        let intrinsic = Intrinsic::Min;
        let least = self.known(Expr::Call { intrinsic, args }, Scalar::Usize, span);
        self.reusable(least)
    }

    /// True for a place in memory that other threads may change while a reference to it has a name: at a barrier.
    pub(in crate::lower) fn others_may_change(&mut self, of: &syn::Expr) -> bool {
        match peeled(of) {
            syn::Expr::Reference(e) => self.others_may_change(&e.expr),
            syn::Expr::Index(e) => self.others_may_change(&e.expr),
            syn::Expr::Field(e) => self.others_may_change(&e.base),
            syn::Expr::MethodCall(e) => self.others_may_change(&e.receiver),
            name => {
                let memory = match self.find_sub_slice(name) {
                    Some(part) => Some(part.memory),
                    None => self.find_memory(name).map(|(memory, _)| memory),
                };
                memory.is_some_and(|memory| {
                    let is_own = matches!(memory, Memory::Local(_));
                    !is_own && self.kernel.access(memory) != Access::Read
                })
            }
        }
    }

    /// The number of elements of a part.
    pub(in crate::lower) fn part_len(&mut self, part: SubSlice) -> ExprId {
        self.copy(part.len)
    }

    /// `part[index]`
    pub(in crate::lower) fn element_of_part(
        &mut self,
        part: SubSlice,
        indices: &[&syn::Expr],
        span: SourceRange,
    ) -> Option<(Memory, ExprId, Option<SiteId>, Ty)> {
        let [index] = indices else {
            self.errors.unsupported(
                codes::RANGE,
                span,
                "a part of a slice whose elements are arrays is",
                "index the slice itself",
            );
            return None;
        };
        let index = self.scalar(index);
        self.expect(index, Scalar::Usize);
        let len = self.copy(part.len);
        let site = Some(self.site(SiteKind::Dimension(part.memory, 0), span));
        let bounded = Expr::Bounded { index, len, site };
        let mut at = self.known(bounded, Scalar::Usize, span);
        if let Some(start) = part.start {
            let start = self.copy(start);
            at = self.plain(BinaryOp::Add, start, at, span);
        }
        let elem = self.element_type(part.memory);
        // A thread whose part does not fit may run on, so that the place is tested, too.
        let site = Some(self.site(SiteKind::Index(part.memory), span));
        Some((part.memory, at, site, elem))
    }
}
