//! Places: what stands left of `=`, and indexing.

use proc_macro2::Span;
use sarek_ir::{Access, Expr, ExprId, LocalId, Memory, ParamKind, Scalar, SiteId, SiteKind};
use syn::spanned::Spanned;

use super::array::{index_chain, peeled};
use super::{Binding, Lowerer, Ty, Value};

/// What can be assigned.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    Local(LocalId),
    Element {
        memory: Memory,
        index: ExprId,
        site: Option<SiteId>,
        elem: Ty,
    },
}

impl Lowerer<'_> {
    /// `slice[index]` as a value.
    pub(super) fn load(&mut self, e: &syn::ExprIndex) -> Value {
        let Some((memory, index, site, elem)) = self.element(e) else {
            return Value::Never;
        };
        if self.kernel.access(memory) == Access::Atomic {
            self.atomic_misuse(memory, e.span());
            return Value::Never;
        }
        Value::Scalar(self.expr(
            Expr::Load {
                memory,
                index,
                site,
            },
            elem,
            e.span(),
        ))
    }

    /// The place that an expression names. `None` when it is reported.
    pub(super) fn place(&mut self, expr: &syn::Expr) -> Option<Place> {
        match expr {
            syn::Expr::Paren(e) => self.place(&e.expr),
            syn::Expr::Group(e) => self.place(&e.expr),
            syn::Expr::Index(e) => {
                let (memory, index, site, elem) = self.element(e)?;
                self.writable(memory, e.expr.span())?;
                Some(Place::Element {
                    memory,
                    index,
                    site,
                    elem,
                })
            }
            syn::Expr::Unary(e) if matches!(e.op, syn::UnOp::Deref(_)) => {
                let (memory, index, elem) = self.unchecked_element(&e.expr, "get_unchecked_mut")?;
                self.writable(memory, e.expr.span())?;
                Some(Place::Element {
                    memory,
                    index,
                    site: None,
                    elem,
                })
            }
            syn::Expr::Path(e) => self.local_place(e),
            other => {
                self.errors.at(other.span(), "a kernel assigns to its variables and to elements of `&mut [T]` arguments and arrays only");
                None
            }
        }
    }

    fn local_place(&mut self, e: &syn::ExprPath) -> Option<Place> {
        let name = e.path.get_ident();
        match name.and_then(|name| self.find(name)) {
            Some(Binding::Local(local)) => {
                self.kernel.locals.to_mut()[local.index()].mutable = true;
                Some(Place::Local(local))
            }
            Some(Binding::Scalar(_)) => {
                self.errors.at(
                    e.span(),
                    "this argument is not mutable: declare it `mut` in the signature",
                );
                None
            }
            Some(Binding::Memory(_)) => {
                self.errors.at(
                    e.span(),
                    "a slice cannot be rebound: assign to its elements",
                );
                None
            }
            Some(Binding::Const(_)) | None => {
                self.errors
                    .at(e.span(), "this is not a variable of the kernel");
                None
            }
        }
    }

    fn writable(&mut self, memory: Memory, span: Span) -> Option<()> {
        match self.kernel.access(memory) {
            Access::Write => Some(()),
            Access::Atomic => {
                self.atomic_misuse(memory, span);
                None
            }
            Access::Read => {
                let message = format!(
                    "`{0}` cannot be written: declare it `{0}: &mut [T]`",
                    self.kernel.memory_name(memory)
                );
                self.errors.at(span, message);
                None
            }
        }
    }

    /// The current value of a place, and the place again: its index is evaluated once.
    pub(super) fn read_place(&mut self, place: Place, span: Span) -> (Place, ExprId) {
        match place {
            Place::Local(local) => (place, self.read(local, span)),
            Place::Element {
                memory,
                index,
                site,
                elem,
            } => {
                let index = self.reusable(index);
                let again = self.copy(index);
                let load_site = site.map(|_| self.site(SiteKind::Index(memory), span));
                let load = Expr::Load {
                    memory,
                    index: again,
                    site: load_site,
                };
                (
                    Place::Element {
                        memory,
                        index,
                        site,
                        elem,
                    },
                    self.expr(load, elem, span),
                )
            }
        }
    }

    fn element(&mut self, e: &syn::ExprIndex) -> Option<(Memory, ExprId, Option<SiteId>, Ty)> {
        let (mut base, mut indices) = index_chain(&e.expr);
        indices.push(&e.index);
        if let Some(range) = indices.iter().find_map(|index| as_range(index)) {
            self.errors.unsupported(
                range.span(),
                "a sub-slice is",
                "index one element at a time",
            );
            return None;
        }
        base = peeled(base);
        let Some((memory, elem)) = self.memory(base) else {
            for index in indices {
                self.scalar(index);
            }
            return None;
        };
        self.check_rank(memory, indices.len(), e.span())?;
        let (index, site) = self.element_index(memory, &indices, e.span());
        Some((memory, index, site, elem))
    }

    /// The type of a memory's elements.
    pub(super) fn element_type(&mut self, memory: Memory) -> Ty {
        match memory {
            Memory::Slice(param) => match self.kernel.params[param.index()].kind {
                ParamKind::Slice { elem, .. } => self.types.known(elem.scalar()),
                ParamKind::Scalar(_) | ParamKind::Value(_) | ParamKind::Reference(_) => {
                    unreachable!("a scalar argument is bound as one")
                }
            },
            Memory::Shared(shared) => self.shared_types[shared.index()],
            Memory::Local(local) => self.local_types[local.index()],
        }
    }

    /// The slice or array that an expression names, with its element type.
    pub(super) fn memory(&mut self, expr: &syn::Expr) -> Option<(Memory, Ty)> {
        if let Some(found) = self.find_memory(expr) {
            return Some(found);
        }
        self.errors.at(
            expr.span(),
            "only slices and arrays of the kernel can be indexed",
        );
        None
    }

    /// As [`Self::memory`], without a report.
    pub(super) fn find_memory(&mut self, expr: &syn::Expr) -> Option<(Memory, Ty)> {
        match expr {
            syn::Expr::Paren(e) => self.find_memory(&e.expr),
            syn::Expr::Group(e) => self.find_memory(&e.expr),
            syn::Expr::Path(e) if e.qself.is_none() => {
                let Some(Binding::Memory(memory)) = self.find(e.path.get_ident()?) else {
                    return None;
                };
                Some((memory, self.element_type(memory)))
            }
            _ => None,
        }
    }

    /// `*x.get_unchecked(i)`: a load without a check, in `unsafe` by rustc's own rule.
    pub(super) fn deref(&mut self, e: &syn::ExprUnary, star: Span) -> Value {
        let call = match &*e.expr {
            syn::Expr::MethodCall(call) if call.method == "get_unchecked" => &e.expr,
            syn::Expr::Unsafe(_) | syn::Expr::MethodCall(_) => {
                self.errors.unsupported(
                    star,
                    "this `*` is",
                    "write `unsafe { *x.get_unchecked(i) }`",
                );
                return Value::Never;
            }
            _ => {
                self.errors.unsupported(
                    star,
                    "`*` is",
                    "kernels have no references: use the name itself",
                );
                return Value::Never;
            }
        };
        match self.unchecked_element(call, "get_unchecked") {
            Some((memory, index, elem)) => {
                let load = Expr::Load {
                    memory,
                    index,
                    site: None,
                };
                Value::Scalar(self.expr(load, elem, e.span()))
            }
            None => Value::Never,
        }
    }

    fn unchecked_element(
        &mut self,
        expr: &syn::Expr,
        method: &str,
    ) -> Option<(Memory, ExprId, Ty)> {
        let call = match expr {
            syn::Expr::Paren(e) => return self.unchecked_element(&e.expr, method),
            syn::Expr::MethodCall(call) if call.method == method && call.args.len() == 1 => call,
            other => {
                self.errors.unsupported(
                    other.span(),
                    "this place is",
                    &format!("write `*x.{method}(i)`"),
                );
                return None;
            }
        };
        let slice = self.memory(&call.receiver);
        let index = self.scalar(&call.args[0]);
        self.expect(index, Scalar::Usize);
        let (memory, elem) = slice?;
        self.check_rank(memory, 1, call.receiver.span())?;
        if self.kernel.access(memory) == Access::Atomic {
            self.atomic_misuse(memory, call.span());
            return None;
        }
        Some((memory, index, elem))
    }
}

/// The range that an index is.
fn as_range(index: &syn::Expr) -> Option<&syn::ExprRange> {
    match peeled(index) {
        syn::Expr::Range(range) => Some(range),
        _ => None,
    }
}
