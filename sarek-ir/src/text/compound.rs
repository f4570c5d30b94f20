//! Prints types and operations on compound values.

use super::{Prec, Text};
use crate::{
    Argument, CallId, CallTarget, CallableArg, ClosureId, Compound, CompoundId, ExprId, Length,
    LocalId, NameId, PlaceId, Root, SiteId, Step, Type, TypeDef, TypeId,
};

impl Text<'_> {
    pub(super) fn ty(&mut self, ty: Type) {
        match ty {
            Type::Scalar(scalar) => self.put(scalar),
            Type::Compound(id) => self.type_def(id),
        }
    }

    /// Prints the type of a memory's elements.
    pub(super) fn element(&mut self, elem: Type, atomic: bool) {
        if atomic {
            self.put("Atomic<");
        }
        self.ty(elem);
        if atomic {
            self.put(">");
        }
    }

    fn type_def(&mut self, id: TypeId) {
        let kernel = self.kernel;
        match &kernel.types[id.index()] {
            TypeDef::Array { elem, len } => {
                self.put("[");
                self.ty(*elem);
                self.put("; ");
                self.length(*len);
                self.put("]");
            }
            TypeDef::Tuple(types) => {
                self.put("(");
                for (i, ty) in types.iter().enumerate() {
                    if i > 0 {
                        self.put(", ");
                    }
                    self.ty(*ty);
                }
                self.put(")");
            }
            TypeDef::Link(link) => self.put(&kernel.type_links[link.index()]),
            TypeDef::Field { of, name } => {
                self.part(*of);
                self.name(*name);
            }
            TypeDef::Element { of } => {
                self.part(*of);
                self.put("[]");
            }
            TypeDef::Payload { of, variant, name } => {
                self.part(*of);
                self.name(*variant);
                self.put(".");
                self.name(*name);
            }
            TypeDef::Result(function) => {
                self.put(&kernel.functions[function.index()]);
                self.put("()");
            }
            TypeDef::Parameter { of, index } => {
                self.put(&kernel.functions[of.index()]);
                self.put(format_args!("(#{index})"));
            }
            TypeDef::Callable {
                of,
                callable,
                takes,
            } => {
                self.put(&kernel.functions[of.index()]);
                self.put(format_args!("(fn{})", callable.0));
                match takes {
                    Some(at) => self.put(format_args!("(#{at})")),
                    None => self.put("()"),
                }
            }
        }
    }

    /// Prints the prefix before the name of a part of a type.
    fn part(&mut self, of: Type) {
        self.ty(of);
        self.put("::");
    }

    pub(super) fn length(&mut self, len: Length) {
        match len {
            Length::Fixed(n) => self.put(n),
            Length::Link(link) => {
                let name = self.links[link.index()].clone();
                self.put(name);
            }
            Length::Launch(len) => self.expr(len, Prec::Lowest),
        }
    }

    fn name(&mut self, name: NameId) {
        let kernel = self.kernel;
        self.put(kernel.name(name));
    }

    fn index(&mut self, index: ExprId, site: Option<SiteId>) {
        self.put("[");
        self.expr(index, Prec::Lowest);
        self.put("]");
        self.site(site);
    }

    pub(super) fn compound(&mut self, id: CompoundId) {
        let kernel = self.kernel;
        match &kernel.compounds[id.index()] {
            Compound::Field { base, name } => {
                self.expr(*base, Prec::Postfix);
                self.put(".");
                self.name(*name);
            }
            Compound::Index { base, index, site } => {
                self.expr(*base, Prec::Postfix);
                self.index(*index, *site);
            }
            Compound::IsVariant { value, variant } => {
                self.expr(*value, Prec::Postfix);
                self.put(".is(");
                self.name(*variant);
                self.put(")");
            }
            Compound::Payload {
                value,
                variant,
                name,
            } => {
                self.expr(*value, Prec::Postfix);
                self.put(".");
                self.name(*variant);
                self.put(".");
                self.name(*name);
            }
            Compound::Construct {
                variant,
                fields,
                rest,
            } => {
                if let Some(variant) = variant {
                    self.name(*variant);
                    self.put(" ");
                }
                self.fields(fields, *rest);
            }
            Compound::Array { items } => {
                self.put("[");
                self.list(*items);
                self.put("]");
            }
            Compound::Repeat { value } => {
                self.put("[");
                self.expr(*value, Prec::Lowest);
                self.put("; _]");
            }
            Compound::Len { base } => {
                self.expr(*base, Prec::Postfix);
                self.put(".len()");
            }
            Compound::At { view, indices } => {
                self.param(*view);
                self.put(".at(");
                self.list(*indices);
                self.put(")");
            }
        }
    }

    fn fields(&mut self, fields: &[(NameId, ExprId)], rest: Option<ExprId>) {
        self.put("{");
        for (i, (name, value)) in fields.iter().enumerate() {
            self.put(if i == 0 { " " } else { ", " });
            self.name(*name);
            self.put(": ");
            self.expr(*value, Prec::Lowest);
        }
        if let Some(rest) = rest {
            self.put(if fields.is_empty() { " .." } else { ", .." });
            self.expr(rest, Prec::Lowest);
        }
        self.put(" }");
    }

    pub(super) fn place(&mut self, id: PlaceId) {
        let kernel = self.kernel;
        let place = &kernel.places[id.index()];
        match place.root {
            Root::Local(local) => self.local(local),
            Root::Param(param) => self.param(param),
            Root::Element {
                memory,
                index,
                site,
            } => self.access(memory, index, site),
        }
        for step in place.steps.iter() {
            match *step {
                Step::Field(name) => {
                    self.put(".");
                    self.name(name);
                }
                Step::Index { index, site } => self.index(index, site),
            }
        }
    }

    pub(super) fn device_call(&mut self, id: CallId) {
        let kernel = self.kernel;
        let call = &kernel.calls[id.index()];
        self.result(call.result);
        match call.called {
            CallTarget::Function(function) => self.put(&kernel.functions[function.index()]),
            CallTarget::Callable(callable) => self.put(&kernel.callables[callable.index()].name),
        }
        self.put("(");
        for (i, arg) in call.args.iter().enumerate() {
            if i > 0 {
                self.put(", ");
            }
            match *arg {
                Argument::Value(value) => self.expr(value, Prec::Lowest),
                Argument::Memory(memory) => self.memory(memory),
                Argument::Local(local) => {
                    self.put("&mut ");
                    self.local(local);
                }
            }
        }
        for (i, given) in call.callable_args.iter().enumerate() {
            if i + call.args.len() > 0 {
                self.put(", ");
            }
            match *given {
                CallableArg::Closure(closure) => self.closure(closure),
                CallableArg::Function(function) => self.put(&kernel.functions[function.index()]),
                CallableArg::Callable(callable) => {
                    self.put(&kernel.callables[callable.index()].name)
                }
            }
        }
        self.put(");");
    }

    /// `|x: f32| -> y: f32 { … }`
    fn closure(&mut self, id: ClosureId) {
        let kernel = self.kernel;
        let closure = &kernel.closures[id.index()];
        self.put("|");
        for (i, param) in closure.params.iter().enumerate() {
            if i > 0 {
                self.put(", ");
            }
            self.typed(*param);
        }
        self.put("| ");
        if let Some(result) = closure.result {
            self.put("-> ");
            self.typed(result);
            self.put(" ");
        }
        self.block(closure.body);
    }

    fn typed(&mut self, local: LocalId) {
        let kernel = self.kernel;
        self.local(local);
        self.put(": ");
        self.ty(kernel.locals[local.index()].ty);
    }
}
