//! `println!` and `print!`.

use proc_macro2::Span;
use quote::quote_spanned;
use sarek_ir::print::{MAX_SCALARS, PrintPiece, Printer};
use sarek_ir::{Compound, Expr, ExprId, List, Print, PrintId, Stmt};

use crate::diagnostics::{Mistake, codes};
use crate::lower::memory::array::index_chain;
use crate::lower::{Lowerer, Value};
use crate::parse::{Said, name_span};
use crate::tokens::range::Ranged;

impl Lowerer<'_> {
    pub(in crate::lower) fn print(
        &mut self,
        said: Option<&Said>,
        line: bool,
        mac: &syn::Macro,
    ) -> Value {
        let mut args = vec![];
        let mut pieces = vec![];
        if let Some(said) = said {
            let taken = match said.pieces() {
                Ok(taken) => taken,
                Err(mistake) => {
                    self.errors.report(said.format.range(), &mistake);
                    return Value::Unit;
                }
            };
            for (at, (_, arg)) in said.args.iter().enumerate() {
                let uses = |piece: &PrintPiece| matches!(piece, PrintPiece::Arg { index, .. } if *index as usize == at);
                if !taken.pieces.iter().any(uses) {
                    let instead = "drop it, or add a `{}` for it";
                    let what = "the format does not use this argument";
                    self.errors.at(codes::FORMAT, arg.range(), what, instead);
                }
            }
            let span = said.format.span().resolved_at(name_span(mac));
            let captured = taken.captured.iter().map(|name| -> syn::Expr {
                let name = syn::Ident::new(name, span);
                syn::parse_quote!(#name)
            });
            let captured: Vec<syn::Expr> = captured.collect();
            let all = said.args.iter().map(|(_, expr)| expr).chain(&captured);
            args = self.printed(&all.collect::<Vec<_>>());
            pieces = taken.pieces;
        }
        if line {
            match pieces.last_mut() {
                Some(PrintPiece::Text(text)) => text.to_mut().push('\n'),
                Some(PrintPiece::Arg { .. }) | None => pieces.push(PrintPiece::Text("\n".into())),
            }
        }
        let args = self.kernel.push_list(&args);
        self.kernel.prints.to_mut().push(Print {
            pieces: pieces.into(),
            args,
            printer: Printer::Pieces,
        });
        let print = PrintId(self.kernel.prints.len() as u32 - 1);
        self.push(Stmt::Print { print }, mac.path.range());
        Value::Unit
    }

    /// Lowers the arguments, in order. A constructed value is evaluated into a local.
    fn printed(&mut self, exprs: &[&syn::Expr]) -> Vec<ExprId> {
        let mut ids = vec![];
        for expr in exprs {
            match self.whole_array(expr) {
                Some(array) => ids.push(array),
                None => ids = self.more_operands(ids, &[expr]),
            }
        }
        for id in &mut ids {
            if self.is_made(*id) {
                *id = self.reusable(*id);
            }
        }
        ids
    }

    /// A whole local array, or a row of one, as a value. `None` for other expressions.
    fn whole_array(&mut self, expr: &syn::Expr) -> Option<ExprId> {
        if !self.yields_array(expr) {
            return None;
        }
        let (base, indices) = index_chain(expr);
        let (memory, _) = self.find_memory(base)?;
        let dims = self.shapes[&memory][indices.len()..].to_vec();
        let lengths: Option<Vec<u64>> = dims.iter().map(|dim| dim.known()).collect();
        let count = |lengths: &[u64]| lengths.iter().try_fold(1u64, |all, n| all.checked_mul(*n));
        let lengths = match lengths {
            None => Err("the length of this array is not known here".to_string()),
            Some(lengths) if count(&lengths).is_none_or(|n| n > MAX_SCALARS) => Err(format!(
                "this array has more than {MAX_SCALARS} scalars, the limit of one print"
            )),
            Some(lengths) => Ok(lengths),
        };
        let lengths = lengths.unwrap_or_else(|problem| {
            let instead = "print its elements in a loop";
            self.errors
                .at(codes::PRINTED, expr.range(), problem, instead);
            vec![1; dims.len()]
        });
        let start = self.start(memory, &indices, expr.range());
        let array = self.elements(memory, start, &lengths, expr.range());
        let at = self.mark();
        Some(self.spill_at(at, array))
    }

    /// True for a constructed value, which can only initialize a local.
    fn is_made(&self, id: ExprId) -> bool {
        match self.kernel.expr(id) {
            Expr::Compound(compound) => matches!(
                self.kernel.compounds[compound.index()],
                Compound::Construct { .. } | Compound::Array { .. } | Compound::Repeat { .. }
            ),
            _ => false,
        }
    }

    /// Makes rustc count the scalars of a printed value, if its type has a name.
    fn count_scalars(&mut self, arg: ExprId) {
        let Some(ty) = self.type_tokens(self.ty(arg)) else {
            return;
        };
        let message = Mistake::new(
            codes::PRINTED,
            format!("this value has more than {MAX_SCALARS} scalars, the limit of one print"),
            "print its parts, each with its own `println!` or in a loop",
        )
        .to_string();
        let span = Span::mixed_site().located_at(self.span(arg).first);
        let (krate, known) = (
            crate::tokens::at(&self.krate, span),
            self.known_type(ty.clone()),
        );
        let test = quote_spanned! {span=>
            ::core::assert!(
                #krate::__private::ir::TypeInfo::scalars(&<#known as #krate::KernelType>::TYPE) <= #MAX_SCALARS,
                #message
            );
        };
        self.check_constant(&ty, test, span);
    }

    /// Once types are settled, generates the functions that format values of types that only rustc
    /// knows.
    pub(in crate::lower) fn settle_prints(&mut self) {
        for at in 0..self.kernel.prints.len() {
            let args: List = self.kernel.prints[at].args;
            let args: Vec<ExprId> = self.kernel.list(args).collect();
            let is_known = |id: &ExprId| self.kernel.type_of(*id).as_scalar().is_some();
            if args.iter().all(is_known) {
                continue;
            }
            let krate = self.krate.clone();
            let mut values = vec![];
            for &arg in &args {
                let span = Span::mixed_site().located_at(self.span(arg).first);
                let is_known = self.kernel.type_of(arg).as_scalar().is_some();
                if !is_known {
                    self.count_scalars(arg);
                }
                match self.probe(self.ty(arg)) {
                    Some(probe) => {
                        let krate = crate::tokens::at(&krate, span);
                        let value = quote_spanned! {span=>
                            #krate::__private::host::printed(&mut __values, || #probe)?
                        };
                        values.push((value, (!is_known).then_some(span)));
                    }
                    None if self.errors.is_empty() => self.errors.at(
                        codes::UNKNOWN_TYPE,
                        self.span(arg),
                        "the type of a printed value must be known here",
                        "write the type, as in `let v: f32 = …;`",
                    ),
                    None => {}
                }
            }
            if values.len() < args.len() {
                continue; // An error was reported.
            }
            let link = Printer::Link(self.printers.len() as u32);
            self.kernel.prints.to_mut()[at].printer = link;
            let host = quote_spanned!(Span::mixed_site()=> #krate::__private::host);
            let then = quote_spanned!(Span::mixed_site()=> ::std::fmt::format);
            let print = &self.kernel.prints[at];
            let text = crate::tokens::formatted(print, &values, &then, &host);
            self.printers.push(quote_spanned! {Span::mixed_site()=>
                let mut __values = ::core::iter::Iterator::copied(<[_]>::iter(__values));
                ::core::option::Option::Some(#text)
            });
        }
    }
}
