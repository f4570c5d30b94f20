//! Builds compound values, places and calls.

use super::{Sketch, SketchExpr, SketchLocal};
use crate::{
    Argument, Call, CallId, CallTarget, Callable, CallableArg, CallableId, Closure, ClosureId,
    Compound, CompoundId, Expr, ExprId, FunctionId, Local, LocalId, Memory, NameId, ParamId,
    ParamKind, Place, PlaceId, Root, Scalar, SiteKind, Step, Stmt, Type, TypeDef, TypeLinkId,
};

impl Sketch {
    /// A type of the user's crate; linking provides its [`crate::TypeInfo`].
    pub fn named_type(&self, path: &'static str) -> Type {
        let mut state = self.0.borrow_mut();
        state.kernel.type_links.to_mut().push(path.into());
        let link = TypeLinkId(state.kernel.type_links.len() as u32 - 1);
        state.kernel.push_type(TypeDef::Link(link))
    }

    /// Adds a type.
    pub fn type_of(&self, def: TypeDef) -> Type {
        self.0.borrow_mut().kernel.push_type(def)
    }

    /// The handle of the name of a field or variant.
    pub fn name(&self, name: &'static str) -> NameId {
        let mut state = self.0.borrow_mut();
        let names = state.kernel.names.to_mut();
        let at = names.iter().position(|n| n == name).unwrap_or_else(|| {
            names.push(name.into());
            names.len() - 1
        });
        NameId(at as u32)
    }

    /// A parameter of any type, by value.
    pub fn value(&self, name: &'static str, ty: Type) -> ParamId {
        let kind = match ty {
            Type::Scalar(scalar) => ParamKind::Scalar(scalar),
            Type::Compound(id) => ParamKind::Value(id),
        };
        self.param(name, kind)
    }

    /// A `&mut T` parameter of a function.
    pub fn reference(&self, name: &'static str, ty: impl Into<Type>) -> ParamId {
        self.param(name, ParamKind::Reference(ty.into()))
    }

    /// The value of a parameter of any type.
    pub fn param_value(&self, param: ParamId, ty: impl Into<Type>) -> SketchExpr<'_> {
        self.expr(Expr::Param(param), ty)
    }

    /// `memory[index]` of any type, checked.
    pub fn load_as(
        &self,
        memory: impl Into<Memory>,
        index: SketchExpr<'_>,
        ty: Type,
    ) -> SketchExpr<'_> {
        let memory = memory.into();
        let load = Expr::Load {
            memory,
            index: index.id,
            site: Some(self.site(SiteKind::Index(memory))),
        };
        self.expr(load, ty)
    }

    /// An operation on compound values.
    pub fn compound(&self, compound: Compound, ty: impl Into<Type>) -> SketchExpr<'_> {
        let id = {
            let mut state = self.0.borrow_mut();
            state.kernel.compounds.to_mut().push(compound);
            CompoundId(state.kernel.compounds.len() as u32 - 1)
        };
        self.expr(Expr::Compound(id), ty)
    }

    /// The position of a view's element in its memory.
    pub fn at(&self, view: ParamId, indices: &[SketchExpr<'_>]) -> SketchExpr<'_> {
        let indices: Vec<ExprId> = indices.iter().map(|e| e.id).collect();
        let indices = self.0.borrow_mut().kernel.push_list(&indices);
        self.compound(Compound::At { view, indices }, Scalar::Usize)
    }

    /// `base.name`, of type `ty`.
    pub fn field(
        &self,
        base: SketchExpr<'_>,
        name: &'static str,
        ty: impl Into<Type>,
    ) -> SketchExpr<'_> {
        let (base, name) = (base.id, self.name(name));
        self.compound(Compound::Field { base, name }, ty)
    }

    /// A struct, tuple or variant, from its fields.
    pub fn construct(
        &self,
        variant: Option<&'static str>,
        fields: &[(&'static str, SketchExpr<'_>)],
        ty: Type,
    ) -> SketchExpr<'_> {
        let variant = variant.map(|v| self.name(v));
        let fields = fields.iter().map(|(n, e)| (self.name(n), e.id)).collect();
        let rest = None;
        let construct = Compound::Construct {
            variant,
            fields,
            rest,
        };
        self.compound(construct, ty)
    }

    /// `let mut name: ty;`
    pub fn let_any(
        &self,
        name: &'static str,
        ty: impl Into<Type>,
        init: Option<SketchExpr<'_>>,
    ) -> SketchLocal<'_> {
        let id = self.0.borrow_mut().kernel.push_local(Local {
            name: name.into(),
            ty: ty.into(),
            mutable: true,
        });
        let init = init.map(|e| e.id);
        self.stmt(Stmt::Let { local: id, init });
        SketchLocal { sketch: self, id }
    }

    /// A read of a local of any type.
    pub fn read_any(&self, local: LocalId) -> SketchExpr<'_> {
        let ty = self.0.borrow().kernel.locals[local.index()].ty;
        self.expr(Expr::Local(local), ty)
    }

    /// `place = value;`
    pub fn update(&self, root: Root, steps: Vec<Step>, value: SketchExpr<'_>) {
        let place = {
            let mut state = self.0.borrow_mut();
            let steps = steps.into();
            state.kernel.places.to_mut().push(Place { root, steps });
            PlaceId(state.kernel.places.len() as u32 - 1)
        };
        let value = value.id;
        self.stmt(Stmt::Update { place, value });
    }

    /// Declares a function that calls can name.
    pub fn function(&self, path: &'static str) -> FunctionId {
        let mut state = self.0.borrow_mut();
        state.kernel.functions.to_mut().push(path.into());
        FunctionId(state.kernel.functions.len() as u32 - 1)
    }

    /// `result = function(args…);`
    pub fn call_function(
        &self,
        function: FunctionId,
        args: &[Argument],
        result: Option<SketchLocal<'_>>,
    ) {
        self.call_with(CallTarget::Function(function), args, &[], result);
    }

    /// Declares a callable parameter of the function.
    pub fn callable(&self, name: &'static str, params: &[Type], result: Type) -> CallableId {
        let mut state = self.0.borrow_mut();
        state.kernel.callables.to_mut().push(Callable {
            name: name.into(),
            params: params.to_vec().into(),
            result: Some(result),
        });
        CallableId(state.kernel.callables.len() as u32 - 1)
    }

    /// `|name| -> yields { body }`
    pub fn closure<'s>(
        &'s self,
        name: &'static str,
        takes: Scalar,
        yields: Scalar,
        body: impl FnOnce(SketchLocal<'s>) -> SketchExpr<'s>,
    ) -> CallableArg {
        let param = self.local(name, takes, false);
        let result = self.local("value", yields, true);
        let body = self.block(|| self.set(result, body(param)));
        let mut state = self.0.borrow_mut();
        state.kernel.closures.to_mut().push(Closure {
            params: vec![param.id].into(),
            result: Some(result.id),
            body,
        });
        CallableArg::Closure(ClosureId(state.kernel.closures.len() as u32 - 1))
    }

    /// `result = called(args…, given…);`
    pub fn call_with(
        &self,
        called: CallTarget,
        args: &[Argument],
        callable_args: &[CallableArg],
        result: Option<SketchLocal<'_>>,
    ) {
        let call = {
            let mut state = self.0.borrow_mut();
            let (args, result) = (args.to_vec().into(), result.map(|v| v.id));
            let call = Call {
                called,
                args,
                callable_args: callable_args.to_vec().into(),
                result,
            };
            state.kernel.calls.to_mut().push(call);
            CallId(state.kernel.calls.len() as u32 - 1)
        };
        self.stmt(Stmt::Call { call });
    }

    /// Sets the local that holds the function's result when it returns.
    pub fn set_result(&self, local: SketchLocal<'_>) {
        self.0.borrow_mut().kernel.result = Some(local.id);
    }
}
