//! Places: the left sides of assignments, and indexing.

use proc_macro2::Span;
use sarek_ir::{
    Access, Compound, Expr, ExprId, LocalId, Memory, Root, Scalar, SiteId, SiteKind, Step,
};

use super::array::{index_chain, peeled};
use crate::diagnostics::codes;
use crate::lower::resolve::suggest::nearest;
use crate::lower::{Binding, Known, Lowerer, Ty, Value};
use crate::tokens::range::{Ranged, SourceRange};

/// An assignable place.
#[derive(Clone)]
pub(in crate::lower) enum Place {
    Local(LocalId),
    Element {
        memory: Memory,
        index: ExprId,
        site: Option<SiteId>,
        elem: Ty,
    },
    /// A part of a local or an element.
    Part {
        root: Root,
        steps: Vec<Step>,
        ty: Ty,
    },
}

impl Lowerer<'_> {
    /// `slice[index]` as a value.
    pub(in crate::lower) fn load(&mut self, e: &syn::ExprIndex) -> Value {
        if self.is_inside(e) {
            return self.part_index(e);
        }
        if let Some(view) = self.find_view(&e.expr) {
            return match self.view_element(view, &e.index) {
                Some((memory, index, elem)) => {
                    let site = None;
                    let load = Expr::Load {
                        memory,
                        index,
                        site,
                    };
                    Value::Scalar(self.expr(load, elem, e.range()))
                }
                None => Value::Never,
            };
        }
        if let Some(row) = self.row_value(e) {
            return row;
        }
        let Some((memory, index, site, elem)) = self.element(e) else {
            return Value::Never;
        };
        if self.kernel.access(memory) == Access::Atomic {
            self.atomic_misuse(memory, e.range());
            return Value::Never;
        }
        Value::Scalar(self.expr(
            Expr::Load {
                memory,
                index,
                site,
            },
            elem,
            e.range(),
        ))
    }

    /// True if the last index leads into an element, or into a value that is no memory.
    fn is_inside(&mut self, e: &syn::ExprIndex) -> bool {
        let (base, indices) = index_chain(&e.expr);
        if self.find_view(base).is_some() {
            return !indices.is_empty();
        }
        match self.find_memory(peeled(base)) {
            Some((memory, elem)) => {
                let is_scalar = matches!(self.types.look(elem), Known::Scalar(_));
                !is_scalar && indices.len() >= self.rank(memory)
            }
            None => as_range(&e.index).is_none() && self.is_value(peeled(base)),
        }
    }

    /// True if the expression has a value, and is no unknown name.
    fn is_value(&mut self, base: &syn::Expr) -> bool {
        match base {
            syn::Expr::Path(e) => match e.path.get_ident().and_then(|name| self.find(name)) {
                Some(binding) => matches!(
                    binding,
                    Binding::Local(_)
                        | Binding::Reference(_)
                        | Binding::Part(_)
                        | Binding::Place(_)
                        | Binding::Const(_)
                ),
                None => is_constant_name(&e.path),
            },
            _ => true,
        }
    }

    /// The place that an expression denotes. `None` if it denotes none, which is reported.
    pub(in crate::lower) fn place(&mut self, expr: &syn::Expr) -> Option<Place> {
        match expr {
            syn::Expr::Paren(e) => self.place(&e.expr),
            syn::Expr::Group(e) => self.place(&e.expr),
            syn::Expr::Field(e) => self.field_place(e),
            syn::Expr::Index(e) if self.is_inside(e) => self.element_place(e),
            syn::Expr::Index(e) => {
                let (memory, index, site, elem) = match self.find_view(&e.expr) {
                    Some(view) => {
                        let (memory, index, elem) = self.view_element(view, &e.index)?;
                        self.writable_view(memory, e.expr.range())?;
                        (memory, index, None, elem)
                    }
                    None => {
                        let element = self.element(e)?;
                        self.writable(element.0, e.expr.range())?;
                        element
                    }
                };
                Some(Place::Element {
                    memory,
                    index,
                    site,
                    elem,
                })
            }
            syn::Expr::Unary(e) if matches!(e.op, syn::UnOp::Deref(_)) => {
                if let Some(local) = self.referent(&e.expr) {
                    self.kernel.locals.to_mut()[local.index()].mutable = true;
                    return Some(Place::Local(local));
                }
                if let Some(place) = self.named_place(&e.expr) {
                    return Some(place);
                }
                let (memory, index, elem) = self.unchecked_element(&e.expr, "get_unchecked_mut")?;
                self.writable(memory, e.expr.range())?;
                Some(Place::Element {
                    memory,
                    index,
                    site: None,
                    elem,
                })
            }
            syn::Expr::Path(e) => self.local_place(e),
            other => {
                self.errors.at(
                    codes::ASSIGNMENT,
                    other.range(),
                    "a kernel cannot assign to this",
                    "assign to variables, or to elements of `&mut [T]` arguments and arrays",
                );
                None
            }
        }
    }

    fn local_place(&mut self, e: &syn::ExprPath) -> Option<Place> {
        let name = e.path.get_ident();
        match name.and_then(|name| self.find(name)) {
            Some(Binding::Local(local) | Binding::Reference(local)) => {
                self.kernel.locals.to_mut()[local.index()].mutable = true;
                Some(Place::Local(local))
            }
            Some(Binding::Scalar(_)) => {
                self.errors.at(
                    codes::ASSIGNMENT,
                    e.range(),
                    "this argument is not mutable",
                    "declare it `mut` in the signature",
                );
                None
            }
            Some(Binding::Memory(_) | Binding::View(_)) => {
                self.errors.at(
                    codes::ASSIGNMENT,
                    e.range(),
                    "a slice cannot be rebound",
                    "assign to its elements",
                );
                None
            }
            Some(Binding::Place(index)) => Some(self.referred_place(index)),
            Some(
                Binding::Const(_)
                | Binding::Closure(_)
                | Binding::Callable(_)
                | Binding::SubSlice(_)
                | Binding::Part(_),
            )
            | None => {
                self.errors.at(
                    codes::ASSIGNMENT,
                    e.range(),
                    "this is not a variable of the kernel",
                    "assign to a variable that `let mut` declares",
                );
                None
            }
        }
    }

    fn writable(&mut self, memory: Memory, span: SourceRange) -> Option<()> {
        match self.kernel.access(memory) {
            Access::Write => Some(()),
            Access::Atomic => {
                self.atomic_misuse(memory, span);
                None
            }
            Access::Read => {
                let name = self.kernel.memory_name(memory);
                let what = format!("`{name}` cannot be written");
                let instead = format!("declare it `{name}: &mut [T]`");
                self.errors.at(codes::READ_ONLY, span, what, instead);
                None
            }
        }
    }

    /// The current value of a place, and the place for reuse. Its index is evaluated once.
    pub(in crate::lower) fn read_place(
        &mut self,
        place: Place,
        span: SourceRange,
    ) -> (Place, ExprId) {
        match place {
            Place::Local(local) => (place, self.read(local, span)),
            Place::Part { root, steps, ty } => self.read_part(root, steps, ty, span),
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

    /// `place.name`
    fn field_place(&mut self, e: &syn::ExprField) -> Option<Place> {
        let place = self.place(&e.base)?;
        let (root, mut steps, of) = self.parts(place);
        let (name, ty) = self.field_type(of, &e.member)?;
        steps.push(Step::Field(name));
        Some(Place::Part { root, steps, ty })
    }

    /// `place[index]`, where the place is an array inside of a value.
    fn element_place(&mut self, e: &syn::ExprIndex) -> Option<Place> {
        let place = self.place(&e.expr)?;
        let (mut root, mut steps, of) = self.parts(place);
        self.settle_steps(&mut root, &mut steps);
        let index = self.scalar(&e.index);
        self.expect(index, Scalar::Usize);
        let ty = self.element_of(of, e.range())?;
        let (memory, before) = match root {
            Root::Local(local) => (Memory::Local(local), 0),
            Root::Element { memory, .. } => (memory, self.rank(memory)),
            Root::Param(_) => unreachable!("kernels have no `&mut T` parameters"),
        };
        let indices = steps.iter().filter(|s| matches!(s, Step::Index { .. }));
        let dimension = (before + indices.count()) as u32;
        let site = Some(self.site(SiteKind::Dimension(memory, dimension), e.range()));
        steps.push(Step::Index { index, site });
        Some(Place::Part { root, steps, ty })
    }

    /// Splits a place into a root and projections.
    fn parts(&mut self, place: Place) -> (Root, Vec<Step>, Ty) {
        match place {
            Place::Local(local) => (Root::Local(local), vec![], self.local_types[local.index()]),
            Place::Element {
                memory,
                index,
                site,
                elem,
            } => {
                let root = Root::Element {
                    memory,
                    index,
                    site,
                };
                (root, vec![], elem)
            }
            Place::Part { root, steps, ty } => (root, steps, ty),
        }
    }

    /// Evaluates the indices of the projections into leaves, so that they can be used several times
    /// and later statements do not change them.
    pub(super) fn settle_steps(&mut self, root: &mut Root, steps: &mut [Step]) {
        if let Root::Element { index, .. } = root {
            *index = self.reusable(*index);
        }
        for step in steps {
            if let Step::Index { index, .. } = step {
                *index = self.reusable(*index);
            }
        }
    }

    fn read_part(
        &mut self,
        mut root: Root,
        mut steps: Vec<Step>,
        ty: Ty,
        span: SourceRange,
    ) -> (Place, ExprId) {
        self.settle_steps(&mut root, &mut steps);
        let (mut value, mut of) = match root {
            Root::Local(local) => (self.read(local, span), self.local_types[local.index()]),
            Root::Element {
                memory,
                index,
                site,
            } => {
                let index = self.copy(index);
                let site = site.map(|_| self.site(SiteKind::Index(memory), span));
                let load = Expr::Load {
                    memory,
                    index,
                    site,
                };
                let elem = self.element_type(memory);
                (self.expr(load, elem, span), elem)
            }
            Root::Param(_) => unreachable!("kernels have no `&mut T` parameters"),
        };
        for step in &steps {
            value = match *step {
                Step::Field(name) => {
                    let text = self.kernel.name(name).to_string();
                    of = self.types.field(of, name, &text);
                    self.compound(Compound::Field { base: value, name }, of, span)
                }
                Step::Index { index, site } => {
                    of = self.types.element(of);
                    let index = self.copy(index);
                    let site = site.map(|s| {
                        let kind = self.kernel.sites[s.index()].kind.clone();
                        self.site(kind, span)
                    });
                    let base = value;
                    self.compound(Compound::Index { base, index, site }, of, span)
                }
            };
        }
        (Place::Part { root, steps, ty }, value)
    }

    fn element(&mut self, e: &syn::ExprIndex) -> Option<(Memory, ExprId, Option<SiteId>, Ty)> {
        let (mut base, mut indices) = index_chain(&e.expr);
        indices.push(&e.index);
        if let Some(range) = indices.iter().find_map(|index| as_range(index)) {
            self.errors.unsupported(
                codes::RANGE,
                range.range(),
                "a sub-slice is",
                "index one element at a time",
            );
            return None;
        }
        base = peeled(base);
        if let Some(part) = self.find_sub_slice(base) {
            return self.element_of_part(part, &indices, e.range());
        }
        let Some((memory, elem)) = self.memory(base) else {
            for index in indices {
                self.scalar(index);
            }
            return None;
        };
        self.check_rank(memory, indices.len(), e.range())?;
        let (index, site) = self.element_index(memory, &indices, e.range());
        Some((memory, index, site, elem))
    }

    /// The element type of a memory.
    pub(in crate::lower) fn element_type(&mut self, memory: Memory) -> Ty {
        match memory {
            Memory::Slice(param) => self.param_types[param.index()],
            Memory::Shared(shared) => self.shared_types[shared.index()],
            Memory::Local(local) => self.local_types[local.index()],
            Memory::Table(_) => unreachable!("a name is bound to no constant's memory"),
        }
    }

    /// The slice or array that an expression names, with its element type.
    pub(in crate::lower) fn memory(&mut self, expr: &syn::Expr) -> Option<(Memory, Ty)> {
        if let Some(found) = self.find_memory(expr) {
            return Some(found);
        }
        if self.names_error_type(expr) {
            return None;
        }
        let instead = match self.meant(expr) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => "index an argument of type `&[T]` or `&mut [T]`, or an array".into(),
        };
        self.errors.at(
            codes::INDEX,
            expr.range(),
            "this is neither a slice nor an array of the kernel",
            instead,
        );
        None
    }

    /// The variable of a similar name, if the expression is a name without a binding.
    fn meant(&self, expr: &syn::Expr) -> Option<String> {
        let syn::Expr::Path(path) = peeled(expr) else {
            return None;
        };
        let name = path.path.get_ident()?.to_string();
        let known = || self.scopes.iter().flat_map(|scope| scope.keys());
        let is_known = known().any(|other| *other == name);
        let mut names: Vec<&str> = known().map(String::as_str).collect();
        names.sort_unstable();
        let meant = nearest(&name, names.into_iter());
        meant.filter(|_| !is_known).map(ToOwned::to_owned)
    }

    /// As [`Self::memory`], but reports nothing.
    pub(in crate::lower) fn find_memory(&mut self, expr: &syn::Expr) -> Option<(Memory, Ty)> {
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

    /// `*x.get_unchecked(i)`: a load without a check; rustc requires `unsafe` around it.
    pub(in crate::lower) fn deref(&mut self, e: &syn::ExprUnary, star: Span) -> Value {
        if let Some(local) = self.referent(&e.expr) {
            return Value::Scalar(self.read(local, e.range()));
        }
        if self.may_be_reference(&e.expr) {
            return self.value(&e.expr);
        }
        if self.names_error_type(&e.expr) {
            return self.value(&e.expr);
        }
        let call = match &*e.expr {
            syn::Expr::MethodCall(call) if call.method == "get_unchecked" => &e.expr,
            syn::Expr::Unsafe(_) | syn::Expr::MethodCall(_) => {
                self.errors.unsupported(
                    codes::REFERENCE,
                    star,
                    "this `*` is",
                    "write `unsafe { *x.get_unchecked(i) }`",
                );
                return Value::Never;
            }
            _ => {
                self.errors.at(
                    codes::REFERENCE,
                    star,
                    "`*` is not supported in a kernel here",
                    "use the name itself: it is not a reference",
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
                Value::Scalar(self.expr(load, elem, e.range()))
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
                    codes::REFERENCE,
                    other.range(),
                    "this place is",
                    &format!("index the slice where the element is used, `x[i]`, or write `*x.{method}(i)`"),
                );
                return None;
            }
        };
        let slice = self.memory(&call.receiver);
        let index = self.scalar(&call.args[0]);
        self.expect(index, Scalar::Usize);
        let (memory, elem) = slice?;
        self.check_rank(memory, 1, call.receiver.range())?;
        if self.kernel.access(memory) == Access::Atomic {
            self.atomic_misuse(memory, call.range());
            return None;
        }
        Some((memory, index, elem))
    }
}

/// True for a name in capitals only, as constants have.
fn is_constant_name(path: &syn::Path) -> bool {
    let name = path.segments.last().map(|last| last.ident.to_string());
    name.is_some_and(|name| {
        let has_letter = name.chars().any(char::is_alphabetic);
        has_letter && !name.chars().any(char::is_lowercase)
    })
}

/// The index as a range, if it is one.
fn as_range(index: &syn::Expr) -> Option<&syn::ExprRange> {
    match peeled(index) {
        syn::Expr::Range(range) => Some(range),
        _ => None,
    }
}
