//! Bounded recursion: functions that nest calls of themselves, up to the depth in `#[device(inline
//! = N)]`.
//!
//! At link time each depth becomes a separate function with the same body and different links. The
//! function at the innermost depth has no body and faults. The compiled body is one Rust function
//! that takes the remaining depth as an argument.

use proc_macro2::{Literal, Span, TokenStream};
use quote::{quote, quote_spanned};
use sarek_ir::{Expr, Kernel, Scalar, Site, SiteId, SiteKind, Stmt, Type, Value};

use super::encode;
use crate::diagnostics::{Errors, codes};
use crate::lower::Lowered;

/// The additional items of a function with bounded recursion.
pub struct BoundedRecursion<'a> {
    lowered: &'a Lowered,
    /// The maximum depth of nested calls.
    pub depth: u32,
}

impl<'a> BoundedRecursion<'a> {
    /// Returns `None` for a function without nested recursion.
    pub fn of(lowered: &'a Lowered) -> Option<BoundedRecursion<'a>> {
        let depth = lowered.max_depth?;
        Some(BoundedRecursion { lowered, depth })
    }

    /// A table with the number of fault sites for each remaining depth.
    pub fn levels(&self) -> TokenStream {
        let (count, sites) = (self.levels_len(), self.lowered.sites());
        quote_spanned! {Span::mixed_site()=>
            const __sarek_levels: [::core::primitive::u32; #count] = {
                let mut levels = [0; #count];
                let mut depth = 0;
                while depth < #count {
                    let nested = if depth == 0 { 1 } else { levels[depth - 1] };
                    levels[depth] = Self::__sarek_level(nested);
                    depth += 1;
                }
                levels
            };

            const fn __sarek_level(__nested: ::core::primitive::u32) -> ::core::primitive::u32 {
                #sites
            }
        }
    }

    fn levels_len(&self) -> Literal {
        Literal::usize_unsuffixed(self.depth as usize + 1)
    }

    /// The number of fault sites at the full depth.
    pub fn sites(&self) -> TokenStream {
        let depth = Literal::usize_unsuffixed(self.depth as usize);
        quote!(Self::__sarek_levels[#depth])
    }

    /// The links of each depth. `given` holds all links except the functions.
    pub fn links(
        &self,
        given: &TokenStream,
        functions: &[TokenStream],
        literal_types: &TokenStream,
        krate: &TokenStream,
    ) -> TokenStream {
        let exhausted = encode::kernel(&self.exhausted());
        quote! {
            fn __sarek_given() -> #krate::__private::ir::link::Links {
                #literal_types
                #krate::__private::links(#given, [])
            }

            fn __sarek_links_at(__depth: ::core::primitive::u32) -> #krate::__private::ir::link::Links {
                #literal_types
                #krate::__private::ir::link::Links {
                    functions: ::std::vec![#(#functions),*],
                    ..Self::__sarek_given()
                }
            }

            /// The callee's IR and links when `depth` calls are left.
            fn __sarek_nested(depth: ::core::primitive::u32) -> #krate::__private::ir::link::Function {
                use #krate::__private::ir as __ir;
                const EXHAUSTED: &__ir::EncodedKernel = #exhausted;
                match ::core::primitive::u32::checked_sub(depth, 1) {
                    ::core::option::Option::Some(depth) => __ir::link::Function {
                        ir: Self::__sarek_ir,
                        links: Self::__sarek_links_at(depth),
                    },
                    ::core::option::Option::None => __ir::link::Function {
                        ir: EXHAUSTED,
                        links: Self::__sarek_given(),
                    },
                }
            }
        }
    }

    /// The kernel called when the recursion is too deep: it always faults.
    fn exhausted(&self) -> Kernel {
        let of = &self.lowered.kernel;
        let mut kernel = Kernel {
            name: of.name.clone(),
            file: of.file.clone(),
            params: of.params.clone(),
            types: of.types.clone(),
            names: of.names.clone(),
            type_links: of.type_links.clone(),
            links: of.links.clone(),
            locals: of.locals.clone(),
            result: of.result,
            ..Kernel::EMPTY
        };
        let loc = self.first_call();
        let mut body = vec![];
        if let Some(local) = of.result {
            let Type::Scalar(scalar) = of.locals[local.index()].ty else {
                unreachable!("it was checked that the result is a scalar")
            };
            let value = kernel.push_literal(Value::zero(scalar), loc);
            body.push(kernel.push_stmt(Stmt::Let { local, init: None }, loc));
            body.push(kernel.push_stmt(Stmt::Assign { local, value }, loc));
        }
        let text = format!(
            "`{}` nests more than {} calls of itself: give `inline` a larger number",
            of.name, self.depth
        );
        kernel.sites = vec![Site {
            kind: SiteKind::Assert(text.into()),
            loc,
            provable: false,
        }]
        .into();
        let cond = kernel.push_expr(Expr::Literal(Value::Bool(false)), Scalar::Bool, loc);
        let site = SiteId(0);
        body.push(kernel.push_stmt(Stmt::Assert { cond, site }, loc));
        kernel.body = kernel.push_block(&body);
        kernel
    }

    fn first_call(&self) -> sarek_ir::Loc {
        let kernel = &self.lowered.kernel;
        let is_own =
            |stmt: &Stmt| matches!(stmt, Stmt::Call { call } if self.lowered.callee(*call).is_self);
        let at = kernel.stmts.iter().position(is_own);
        at.map(|at| kernel.stmt_locs[at]).unwrap_or_default()
    }
}

/// Reports a function that is too large once its calls are inlined.
pub fn check(lowered: &Lowered, errors: &mut Errors, at: Span) {
    /// A driver takes too long to compile more statements and expressions than this.
    const MOST: u64 = 10_000;
    let Some(depth) = lowered.max_depth else {
        return;
    };
    let kernel = &lowered.kernel;
    let own = (kernel.stmts.len() + kernel.exprs.len()) as u64;
    let calls = kernel.calls.iter();
    let is_self = |id: sarek_ir::FunctionId| lowered.callees[id.index()].is_self;
    let calls = calls.filter(|call| call.called.function().is_some_and(is_self));
    let calls = calls.count() as u64;
    let (mut all, mut level) = (own, own);
    for _ in 0..depth {
        level = level.saturating_mul(calls);
        all = all.saturating_add(level);
    }
    if all > MOST {
        errors.at(
            codes::RECURSION,
            at,
            format!("calls nested {depth} deep expand to {all} statements and expressions, and a kernel may contain at \
                     most {MOST} of one function"),
            "give `inline` a smaller number, or write a loop",
        );
    }
}
