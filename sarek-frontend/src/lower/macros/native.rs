//! `native!`: text in a target's own language.

use proc_macro2::Ident;
use sarek_ir::{
    LocalId, Memory, Native, NativeId, NativeText, Origin, ParamId, Piece, PlaceId, Root, Stmt,
};
use syn::LitStr;

use crate::diagnostics::{Mistake, codes};
use crate::lower::memory::place::Place;
use crate::lower::{Binding, Known, Lowerer, Ty, Value, path_text};
use crate::parse::{NativeArm, NativeCall, Template, name_span};
use crate::tokens::range::{Ranged, SourceRange};

/// An operand of a text. Once types are known, it must be a scalar or memory of scalars.
pub(in crate::lower) struct Operand {
    /// The error if it is not.
    pub mistake: Mistake,
    pub ty: Ty,
    pub span: SourceRange,
}

impl Lowerer<'_> {
    pub(in crate::lower) fn native(&mut self, mac: &syn::Macro) -> Value {
        if self.unsafe_depth == 0 {
            self.errors.at(
                codes::NATIVE_UNSAFE,
                mac.path.range(),
                "`native!` is outside an `unsafe` block",
                "write `unsafe { native!(…) }`",
            );
        }
        let call: NativeCall = match mac.parse_body() {
            Ok(call) => call,
            Err(error) => {
                self.errors.push(error);
                return Value::Never;
            }
        };
        self.scopes.push(Default::default());
        let value = self.native_call(&call, mac);
        self.scopes.pop();
        value
    }

    fn native_call(&mut self, call: &NativeCall, mac: &syn::Macro) -> Value {
        for (name, value) in &call.operands {
            let Some(value) = self.scalar_or_never(value) else {
                return Value::Never;
            };
            self.native_let(name, value);
        }
        for path in &call.preludes {
            self.prelude(path);
        }
        // Operands have the hygiene of whoever wrote `native`, see `emit::reference`.
        let at = name_span(mac);
        let texts: Vec<NativeText> = call
            .texts
            .iter()
            .map(|arm| self.text(arm, at.into()))
            .collect();
        let result = call.result_type().map(|ty| {
            let span = ty.range();
            let ty = self.written_type(ty).unwrap_or_else(|| self.types.any());
            let mistake = several_parts("its result");
            self.natives.push(Operand { mistake, ty, span });
            let local = self.result(ty);
            self.push(Stmt::Let { local, init: None }, mac.path.range());
            local
        });
        let fallback = call.fallback.as_ref().map(|block| {
            let (mut open, value) = self.in_block(|this| this.scoped_block(block));
            match (value, result) {
                (Value::Scalar(_), Some(local)) => self.assign_result(&mut open, value, local),
                (Value::Scalar(id), None) => {
                    self.errors.at(
                        codes::NATIVE_VALUE,
                        self.span(id),
                        "the fallback of this `native!` must not have a value",
                        "end it with `;`",
                    );
                }
                (Value::Unit, Some(_)) => {
                    self.errors.at(
                        codes::NATIVE_VALUE,
                        block.brace_token.span.close(),
                        "the fallback must have a value like the texts, but this is `()`",
                        "end it with a value",
                    );
                }
                (Value::Unit, None) | (Value::Never, _) => {}
            }
            self.close(open)
        });
        let native = NativeId(self.kernel.natives.len() as u32);
        self.kernel.natives.to_mut().push(Native {
            texts: texts.into(),
            fallback,
            result,
            intrinsic: None,
        });
        self.push(Stmt::Native { native }, mac.path.range());
        result.map_or(Value::Unit, |local| {
            Value::Scalar(self.read(local, mac.path.range()))
        })
    }

    /// A variable for the texts and the fallback alone.
    fn native_let(&mut self, name: &Ident, value: sarek_ir::ExprId) -> LocalId {
        let ty = self.ty(value);
        let local = self.local(&name.to_string(), ty, false);
        let init = Some(value);
        self.push(Stmt::Let { local, init }, name.range());
        self.bind(name, Binding::Local(local));
        local
    }

    /// `use PATH`
    fn prelude(&mut self, path: &syn::Path) {
        let text = path_text(path);
        if !self.kernel.prelude_links.iter().any(|p| *p == text) {
            self.kernel.prelude_links.to_mut().push(text.into());
            self.preludes.push(path.clone());
        }
    }

    fn text(&mut self, arm: &NativeArm, at: SourceRange) -> NativeText {
        if let Some(instead) = no_target(&arm.target.value()) {
            self.errors.at(
                codes::NATIVE_TARGET,
                arm.target.range(),
                format!("{:?} is not a known target", arm.target.value()),
                instead,
            );
        }
        let mut pieces = vec![];
        for piece in Template::parse(&arm.text.value()) {
            match piece {
                Template::Text(text) => pieces.push(Piece::Text(text.into())),
                Template::Operand(name) => pieces.extend(self.operand(&name, &arm.text, at)),
            }
        }
        let newlines = |text: &str| text.matches('\n').count();
        NativeText {
            target: arm.target.value().into(),
            pieces: pieces.into(),
            origin: Origin {
                file: "".into(),
                line: arm.text.span().start().line as u32,
                by_line: newlines(&arm.text.value()) == newlines(&arm.text.token().to_string()),
            },
        }
    }

    fn operand(&mut self, name: &str, text: &LitStr, at: SourceRange) -> Option<Piece> {
        if let Some((base, _)) = name.split_once('.') {
            return self.field_operand(base, name, text, at);
        }
        match self.find_text(name, at.first) {
            Some(Binding::Local(local) | Binding::Reference(local)) => {
                self.text_scalar(name, self.local_types[local.index()], text);
                Some(Piece::Local(local))
            }
            Some(Binding::Scalar(param)) => Some(self.param_operand(name, param, text)),
            Some(Binding::Memory(memory)) => {
                let elem = self.element_type(memory);
                self.text_scalar(name, elem, text);
                Some(match memory {
                    Memory::Slice(param) => Piece::Param(param),
                    Memory::Shared(shared) => Piece::Shared(shared),
                    Memory::Local(local) => Piece::Local(local),
                    Memory::Table(_) => unreachable!("a name is bound to no constant's memory"),
                })
            }
            Some(
                Binding::View(_)
                | Binding::Const(_)
                | Binding::Closure(_)
                | Binding::Callable(_)
                | Binding::Part(_)
                | Binding::Place(_)
                | Binding::SubSlice(_),
            ) => {
                self.errors.at(
                    codes::NATIVE_OPERAND,
                    text.range(),
                    format!("`{{{name}}}` is not a variable"),
                    format!("give its value a name, as in `native!(…, v = {name})`"),
                );
                None
            }
            None => {
                self.errors.at(
                    codes::NATIVE_OPERAND,
                    text.range(),
                    format!("`{{{name}}}` names no variable of the kernel"),
                    "name a variable, or write `{{` for a brace",
                );
                None
            }
        }
    }

    fn param_operand(&mut self, name: &str, param: ParamId, text: &LitStr) -> Piece {
        self.text_scalar(name, self.param_types[param.index()], text);
        Piece::Param(param)
    }

    /// `{p.x}`: a scalar inside of a local, which the text may assign; for a parameter, its value.
    fn field_operand(
        &mut self,
        base: &str,
        name: &str,
        text: &LitStr,
        at: SourceRange,
    ) -> Option<Piece> {
        let is_local = match self.find_text(base, at.first) {
            Some(Binding::Local(_) | Binding::Reference(_)) => true,
            Some(Binding::Scalar(_)) => false,
            Some(
                Binding::Memory(_)
                | Binding::View(_)
                | Binding::Const(_)
                | Binding::Closure(_)
                | Binding::Callable(_)
                | Binding::Part(_)
                | Binding::Place(_)
                | Binding::SubSlice(_),
            )
            | None => {
                self.errors.at(
                    codes::NATIVE_OPERAND,
                    text.range(),
                    format!("`{{{name}}}` is not a field of a variable of the kernel"),
                    "name a variable and its fields, as in `{p.x}`",
                );
                return None;
            }
        };
        let expr = Template::expression(name, text, at.first)?;
        if !is_local {
            let value = self.scalar_or_never(&expr)?;
            self.text_scalar(name, self.ty(value), text);
            let name = Ident::new("operand", text.span());
            let local = self.native_let(&name, value);
            return Some(Piece::Local(local));
        }
        let Place::Part { root, steps, ty } = self.place(&expr)? else {
            unreachable!("a field is a part")
        };
        debug_assert!(matches!(root, Root::Local(_)));
        self.text_scalar(name, ty, text);
        let place = PlaceId(self.kernel.places.len() as u32);
        let steps = steps.into();
        let places = self.kernel.places.to_mut();
        places.push(sarek_ir::Place { root, steps });
        Some(Piece::Place(place))
    }

    fn text_scalar(&mut self, name: &str, ty: Ty, text: &LitStr) {
        let (mistake, span) = (several_parts(&format!("`{{{name}}}`")), text.range());
        self.natives.push(Operand { mistake, ty, span });
    }

    /// Reports operands that a text cannot express.
    pub(in crate::lower) fn settle_natives(&mut self) {
        for Operand { mistake, ty, span } in std::mem::take(&mut self.natives) {
            // rustc itself checks types that only it knows.
            if self.types.look(ty) == Known::Compound {
                self.errors.report(span, &mistake);
            }
        }
    }
}

fn several_parts(what: &str) -> Mistake {
    let what = format!("{what} has several parts, but a text can use only scalars");
    let instead = "name one part, as in `{p.x}`";
    Mistake::new(codes::NATIVE_OPERAND, what, instead)
}

/// The reason why a target has no texts, if it is known.
fn no_target(name: &str) -> Option<String> {
    const KNOWN: [&str; 3] = ["cuda", "opencl", "wgsl"];
    match name.to_ascii_lowercase().as_str() {
        "native" | "cpu" | "rust" | "interpreter" => {
            Some("write Rust for the CPU after `_ =>`".into())
        }
        "wgpu" | "vulkan" | "metal" | "webgpu" => Some("write \"wgsl\"".into()),
        "cl" | "ocl" => Some("write \"opencl\"".into()),
        lower if lower != name && KNOWN.contains(&lower) => Some(format!("write {lower:?}")),
        _ => None,
    }
}
