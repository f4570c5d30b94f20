//! Binds the parameters for the body.

use quote::quote;
use sarek_ir::{
    Axis, Builtin, Expr, ExprId, LocalId, Memory, Param, ParamId, ParamKind, Scalar, SiteId,
    SiteKind, Stmt,
};

use super::{Binding, Lowerer, Ty, plain_name};
use crate::parse::{Argument, ArgumentKind, ElementType, Item, Signature};
use crate::tokens::range::{Ranged, SourceRange};

impl Lowerer<'_> {
    pub(super) fn bind_arguments(&mut self, signature: &Signature) {
        for argument in &signature.arguments {
            if let ArgumentKind::Callable(of) = &argument.kind {
                let binding = self.bind_callable(&argument.name, of);
                self.bind(&argument.name, binding);
                continue;
            }
            let param = ParamId(self.kernel.params.len() as u32);
            let ty = self.argument_type(argument);
            self.param_types.push(ty);
            // As written: the inferred type may have no name.
            let written = self.type_tokens(ty);
            self.param_tokens.push(written.unwrap_or_default());
            self.own_types.0.push(ty);
            // The type is a placeholder until all types are known.
            let known = self.types.resolve(ty).unwrap_or(Scalar::Bool);
            if let ArgumentKind::Slice {
                elem: ElementType::Other(elem),
                ..
            }
            | ArgumentKind::View {
                elem: ElementType::Other(elem),
                ..
            } = &argument.kind
            {
                // A launch requires an element type. Without this check rustc would report nothing
                // else about it.
                let krate = &self.krate;
                let size = match self.is_function {
                    true => quote!(#elem as #krate::KernelType>::TYPE),
                    false => quote!(#elem as #krate::Element>::__TYPE),
                };
                self.has_size(elem, &quote!(<#size));
            }
            let kind = match argument.kind {
                ArgumentKind::Scalar(scalar) => ParamKind::Scalar(scalar),
                ArgumentKind::Value(_) | ArgumentKind::Reference { mutable: false, .. } => {
                    ParamKind::Scalar(Scalar::Bool)
                }
                ArgumentKind::Reference { mutable: true, .. } => {
                    ParamKind::Reference(Scalar::Bool.into())
                }
                ArgumentKind::Slice { access, .. } | ArgumentKind::View { access, .. } => {
                    let elem = known.into();
                    ParamKind::Slice { elem, access }
                }
                ArgumentKind::Callable(_) => unreachable!("bound above"),
            };
            let name = plain_name(&argument.name).into();
            self.kernel.params.to_mut().push(Param {
                name,
                kind,
                align: 0,
            });
            let binding = match argument.kind {
                ArgumentKind::Slice { .. } if argument.item.is_some() => {
                    self.item_argument(argument, param, ty)
                }
                ArgumentKind::Slice { .. } => Binding::Memory(Memory::Slice(param)),
                ArgumentKind::View { rank, .. } => {
                    self.view_params(&plain_name(&argument.name), rank);
                    self.views.insert(param, rank);
                    Binding::View(param)
                }
                ArgumentKind::Scalar(_) if !argument.mutable && !self.is_recursive => {
                    Binding::Scalar(param)
                }
                ArgumentKind::Scalar(_) | ArgumentKind::Value(_) => {
                    Binding::Local(self.copy_argument(argument, param, ty, argument.mutable))
                }
                ArgumentKind::Reference { mutable, .. } => {
                    let local = self.copy_argument(argument, param, ty, mutable);
                    if mutable {
                        self.references.push((param, local));
                    }
                    Binding::Reference(local)
                }
                ArgumentKind::Callable(_) => unreachable!("bound above"),
            };
            self.bind(&argument.name, binding);
        }
    }

    /// Binds the element of a kernel over items to a local copy. If the kernel may change it, the
    /// copy is stored back at the end.
    fn item_argument(&mut self, argument: &Argument, param: ParamId, ty: Ty) -> Binding {
        let span = argument.name.range();
        let (index, site) = self.own_element(param, span);
        let load = Expr::Load {
            memory: Memory::Slice(param),
            index,
            site,
        };
        let init = Some(self.expr(load, ty, span));
        let mutable = argument.mutable || argument.item == Some(Item::Mutable);
        let local = self.local(&argument.name.to_string(), ty, mutable);
        self.push(Stmt::Let { local, init }, span);
        match argument.item {
            Some(Item::Mutable) => {
                self.items.push((param, local, span));
                Binding::Reference(local)
            }
            Some(Item::Shared) => Binding::Reference(local),
            Some(Item::Value) | None => Binding::Local(local),
        }
    }

    /// Stores the items that the kernel may have changed, before it returns.
    pub(super) fn store_items(&mut self) {
        for (param, local, span) in self.items.clone() {
            let value = self.read(local, span);
            let (index, site) = self.own_element(param, span);
            let store = Stmt::Store {
                memory: Memory::Slice(param),
                index,
                value,
                site,
            };
            self.push(store, span);
        }
    }

    /// The index of the thread's own element.
    fn own_element(&mut self, param: ParamId, span: SourceRange) -> (ExprId, Option<SiteId>) {
        let id = Expr::Builtin(Builtin::GlobalIdx(Axis::X));
        let index = self.known(id, Scalar::Usize, span);
        let kind = SiteKind::Index(Memory::Slice(param));
        (index, Some(self.site(kind, span)))
    }

    fn argument_type(&mut self, argument: &Argument) -> Ty {
        let written = match &argument.kind {
            ArgumentKind::Scalar(scalar)
            | ArgumentKind::Slice {
                elem: ElementType::Scalar(scalar),
                ..
            }
            | ArgumentKind::View {
                elem: ElementType::Scalar(scalar),
                ..
            } => return self.types.known(*scalar),
            ArgumentKind::Value(ty)
            | ArgumentKind::Reference { of: ty, .. }
            | ArgumentKind::Slice {
                elem: ElementType::Other(ty),
                ..
            }
            | ArgumentKind::View {
                elem: ElementType::Other(ty),
                ..
            } => ty,
            ArgumentKind::Callable(_) => unreachable!("it is no value"),
        };
        let ty = self.written_type(written);
        ty.unwrap_or_else(|| self.types.any())
    }

    /// Copies a parameter's value to a local.
    fn copy_argument(
        &mut self,
        argument: &Argument,
        param: ParamId,
        ty: Ty,
        mutable: bool,
    ) -> LocalId {
        let span = argument.name.range();
        let init = Some(self.expr(Expr::Param(param), ty, span));
        let local = self.local(&argument.name.to_string(), ty, mutable);
        self.push(Stmt::Let { local, init }, span);
        local
    }
}
