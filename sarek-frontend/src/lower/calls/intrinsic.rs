//! `#[device(intrinsic)]`: a function whose text for each target is registered when a program runs.
//!
//! Its Rust is what the CPU and the interpreter run. To the rest of the pipeline it is a `native!` whose texts are not known
//! yet, with that Rust as the fallback.

use sarek_ir::{Expr, Native, NativeId, NativeText, Origin, ParamId, Piece, Stmt};

use crate::diagnostics::codes;
use crate::lower::{Lowerer, Value};
use crate::parse::Signature;
use crate::tokens::range::Ranged;

impl Lowerer<'_> {
    pub(in crate::lower) fn intrinsic_body(
        &mut self,
        name: &str,
        signature: &Signature,
        body: &syn::Block,
    ) {
        if self.param_types.len() < signature.arguments.len() {
            return; // a parameter has an error
        }
        let span = signature.name.range();
        let params = (0..signature.arguments.len() as u32).map(ParamId);
        let operands: Vec<Piece> = params
            .map(|param| {
                let ty = self.param_types[param.index()];
                // A variable: where the call is put, an argument may be a constant, which has no name.
                let local = self.local("operand", ty, false);
                let init = Some(self.expr(Expr::Param(param), ty, span));
                self.push(Stmt::Let { local, init }, span);
                Piece::Local(local)
            })
            .collect();
        let Some(ty) = self.own_types.1 else {
            return;
        };
        let result = self.result(ty);
        let (local, init) = (result, None);
        self.push(Stmt::Let { local, init }, span);
        let (mut open, value) = self.in_block(|this| this.scoped_block(body));
        match value {
            Value::Scalar(_) => self.assign_result(&mut open, value, result),
            Value::Unit => {
                self.errors.at(
                    codes::RESULT,
                    body.brace_token.span.close(),
                    "this function returns a value, but there is none here",
                    "end with the value, without a `;` after it",
                );
            }
            Value::Never => {}
        }
        let fallback = Some(self.close(open));
        let native = NativeId(self.kernel.natives.len() as u32);
        self.kernel.natives.to_mut().push(Native {
            texts: vec![NativeText {
                target: "".into(),
                pieces: operands.into(),
                origin: Origin {
                    line: span.first.start().line as u32,
                    ..Origin::default()
                },
            }]
            .into(),
            fallback,
            result: Some(result),
            intrinsic: Some(name.to_owned().into()),
        });
        self.push(Stmt::Native { native }, span);
        let value = Value::Scalar(self.read(result, span));
        self.leave_function(value, span);
    }
}
