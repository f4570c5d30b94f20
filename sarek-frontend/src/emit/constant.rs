//! IR as tokens of `const` data: plain struct literals, which rustc checks quickest.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{format_ident, quote};
use sarek_ir::{
    Axis, Block, Builtin, Expr, ExprId, Kernel, List, Loc, Native, ParamKind, Piece, Precondition,
    Scalar, Site, SiteId, SiteKind, Stmt, Value,
};

/// An expression of type `Kernel`; the IR crate is in scope as `ir`.
pub fn kernel(kernel: &Kernel) -> TokenStream {
    let Kernel {
        name,
        file: _,
        block,
        params,
        locals,
        exprs,
        expr_types,
        expr_locs,
        stmts,
        stmt_locs,
        lists,
        body,
        sites,
        natives,
        links,
        preconditions,
    } = kernel;
    let block_size = option(block.map(|b| {
        let b = b.map(Literal::u32_unsuffixed);
        quote!([#(#b),*])
    }));
    let params = slice(params, |p| {
        let (name, kind) = (string(&p.name), param_kind(p.kind));
        quote!(ir::Param { name: #name, kind: #kind })
    });
    let locals = slice(locals, |l| {
        let (name, ty, mutable) = (string(&l.name), scalar(l.ty), l.mutable);
        quote!(ir::Local { name: #name, ty: #ty, mutable: #mutable })
    });
    let exprs = slice(exprs, |e| expr(*e));
    let expr_types = slice(expr_types, |t| scalar(*t));
    let expr_locs = slice(expr_locs, |l| loc(*l));
    let stmts = slice(stmts, |s| stmt(*s));
    let stmt_locs = slice(stmt_locs, |l| loc(*l));
    let lists = slice(lists, |l| {
        let l = Literal::u32_unsuffixed(*l);
        quote!(#l)
    });
    let body = self::block(*body);
    let sites = slice(sites, site);
    let natives = slice(natives, native);
    let links = slice(links, |l| {
        let (path, ty) = (string(&l.path), scalar(l.ty));
        quote!(ir::Link { path: #path, ty: #ty })
    });
    let preconditions = slice(preconditions, |p| precondition(*p));
    let name = string(name);
    quote! {
        ir::Kernel {
            name: #name,
            file: Cow::Borrowed(::core::file!()),
            block: #block_size,
            params: #params,
            locals: #locals,
            exprs: #exprs,
            expr_types: #expr_types,
            expr_locs: #expr_locs,
            stmts: #stmts,
            stmt_locs: #stmt_locs,
            lists: #lists,
            body: #body,
            sites: #sites,
            natives: #natives,
            links: #links,
            preconditions: #preconditions,
        }
    }
}

fn slice<T>(items: &[T], mut each: impl FnMut(&T) -> TokenStream) -> TokenStream {
    let items = items.iter().map(&mut each);
    quote!(Cow::Borrowed(&[#(#items),*]))
}

fn string(text: &str) -> TokenStream {
    quote!(Cow::Borrowed(#text))
}

fn option(value: Option<TokenStream>) -> TokenStream {
    match value {
        Some(value) => quote!(::core::option::Option::Some(#value)),
        None => quote!(::core::option::Option::None),
    }
}

/// The variant of a fieldless enum, by its `Debug` name, which derive makes the variant's own.
fn variant(value: &impl std::fmt::Debug) -> Ident {
    Ident::new(&format!("{value:?}"), Span::mixed_site())
}

/// A handle such as `ExprId(3)`.
fn handle(name: &str, index: u32) -> TokenStream {
    let (name, index) = (format_ident!("{name}"), Literal::u32_unsuffixed(index));
    quote!(ir::#name(#index))
}

fn expr_id(id: ExprId) -> TokenStream {
    handle("ExprId", id.0)
}

fn site_id(site: Option<SiteId>) -> TokenStream {
    option(site.map(|s| handle("SiteId", s.0)))
}

fn list(list: List) -> TokenStream {
    let (start, len) = (
        Literal::u32_unsuffixed(list.start),
        Literal::u32_unsuffixed(list.len),
    );
    quote!(ir::List { start: #start, len: #len })
}

fn block(block: Block) -> TokenStream {
    let list = list(block.0);
    quote!(ir::Block(#list))
}

fn loc(loc: Loc) -> TokenStream {
    let (line, column) = (
        Literal::u32_unsuffixed(loc.line),
        Literal::u32_unsuffixed(loc.column),
    );
    quote!(ir::Loc { line: #line, column: #column })
}

/// A scalar type.
pub fn scalar(scalar: Scalar) -> TokenStream {
    let name = variant(&scalar);
    quote!(ir::Scalar::#name)
}

fn axis(axis: Axis) -> TokenStream {
    let name = variant(&axis);
    quote!(ir::Axis::#name)
}

fn param_kind(kind: ParamKind) -> TokenStream {
    match kind {
        ParamKind::Scalar(ty) => {
            let ty = scalar(ty);
            quote!(ir::ParamKind::Scalar(#ty))
        }
        ParamKind::Slice { elem, mutable } => {
            let elem = scalar(elem);
            quote!(ir::ParamKind::Slice { elem: #elem, mutable: #mutable })
        }
    }
}

fn value(value: Value) -> TokenStream {
    let literal = match value {
        Value::Bool(v) => quote!(#v),
        Value::I8(v) => signed(v.into(), Literal::u64_unsuffixed(v.unsigned_abs().into())),
        Value::I16(v) => signed(v.into(), Literal::u64_unsuffixed(v.unsigned_abs().into())),
        Value::I32(v) => signed(v as i64, Literal::u64_unsuffixed(v.unsigned_abs() as u64)),
        Value::I64(v) => signed(v, Literal::u64_unsuffixed(v.unsigned_abs())),
        Value::U8(v) => {
            let v = Literal::u8_unsuffixed(v);
            quote!(#v)
        }
        Value::U16(v) => {
            let v = Literal::u16_unsuffixed(v);
            quote!(#v)
        }
        Value::U32(v) | Value::F32(v) => {
            let v = Literal::u32_unsuffixed(v);
            quote!(#v)
        }
        Value::U64(v) | Value::Usize(v) | Value::F64(v) => {
            let v = Literal::u64_unsuffixed(v);
            quote!(#v)
        }
    };
    let name = variant(&value.scalar());
    quote!(ir::Value::#name(#literal))
}

fn signed(value: i64, magnitude: Literal) -> TokenStream {
    if value < 0 {
        quote!(-#magnitude)
    } else {
        quote!(#magnitude)
    }
}

fn builtin(builtin: Builtin) -> TokenStream {
    let (name, of) = match builtin {
        Builtin::ThreadIdx(a) => ("ThreadIdx", a),
        Builtin::BlockIdx(a) => ("BlockIdx", a),
        Builtin::BlockDim(a) => ("BlockDim", a),
        Builtin::GridDim(a) => ("GridDim", a),
        Builtin::GlobalIdx(a) => ("GlobalIdx", a),
        Builtin::GlobalDim(a) => ("GlobalDim", a),
        Builtin::GlobalThreadId => return quote!(ir::Builtin::GlobalThreadId),
    };
    let (name, of) = (format_ident!("{name}"), axis(of));
    quote!(ir::Builtin::#name(#of))
}

fn expr(e: Expr) -> TokenStream {
    match e {
        Expr::Literal(v) => {
            let v = value(v);
            quote!(ir::Expr::Literal(#v))
        }
        Expr::Link(id) => of("Link", handle("LinkId", id.0)),
        Expr::Local(id) => of("Local", handle("LocalId", id.0)),
        Expr::Param(id) => of("Param", handle("ParamId", id.0)),
        Expr::Len(id) => of("Len", handle("ParamId", id.0)),
        Expr::Builtin(b) => of("Builtin", builtin(b)),
        Expr::Load {
            buffer,
            index,
            site,
        } => {
            let (buffer, index, site) =
                (handle("ParamId", buffer.0), expr_id(index), site_id(site));
            quote!(ir::Expr::Load { buffer: #buffer, index: #index, site: #site })
        }
        Expr::Unary { op, arg } => {
            let (op, arg) = (variant(&op), expr_id(arg));
            quote!(ir::Expr::Unary { op: ir::UnaryOp::#op, arg: #arg })
        }
        Expr::Binary { op, lhs, rhs } => {
            let (op, lhs, rhs) = (variant(&op), expr_id(lhs), expr_id(rhs));
            quote!(ir::Expr::Binary { op: ir::BinaryOp::#op, lhs: #lhs, rhs: #rhs })
        }
        Expr::Divide { op, lhs, rhs, site } => {
            let (op, lhs, rhs, site) = (variant(&op), expr_id(lhs), expr_id(rhs), site_id(site));
            quote!(ir::Expr::Divide { op: ir::DivideOp::#op, lhs: #lhs, rhs: #rhs, site: #site })
        }
        Expr::And { lhs, rhs } => {
            let (lhs, rhs) = (expr_id(lhs), expr_id(rhs));
            quote!(ir::Expr::And { lhs: #lhs, rhs: #rhs })
        }
        Expr::Or { lhs, rhs } => {
            let (lhs, rhs) = (expr_id(lhs), expr_id(rhs));
            quote!(ir::Expr::Or { lhs: #lhs, rhs: #rhs })
        }
        Expr::Cast { arg } => {
            let arg = expr_id(arg);
            quote!(ir::Expr::Cast { arg: #arg })
        }
        Expr::Call { intrinsic, args } => {
            let (intrinsic, args) = (variant(&intrinsic), list(args));
            quote!(ir::Expr::Call { intrinsic: ir::Intrinsic::#intrinsic, args: #args })
        }
        Expr::Faulted => quote!(ir::Expr::Faulted),
    }
}

fn of(name: &str, content: TokenStream) -> TokenStream {
    let name = format_ident!("{name}");
    quote!(ir::Expr::#name(#content))
}

fn stmt(s: Stmt) -> TokenStream {
    let label = |l: sarek_ir::LabelId| handle("LabelId", l.0);
    let local = |l: sarek_ir::LocalId| handle("LocalId", l.0);
    match s {
        Stmt::Let { local: l, init } => {
            let (l, init) = (local(l), option(init.map(expr_id)));
            quote!(ir::Stmt::Let { local: #l, init: #init })
        }
        Stmt::Assign { local: l, value } => {
            let (l, value) = (local(l), expr_id(value));
            quote!(ir::Stmt::Assign { local: #l, value: #value })
        }
        Stmt::Store {
            buffer,
            index,
            value,
            site,
        } => {
            let (buffer, index, value, site) = (
                handle("ParamId", buffer.0),
                expr_id(index),
                expr_id(value),
                site_id(site),
            );
            quote!(ir::Stmt::Store { buffer: #buffer, index: #index, value: #value, site: #site })
        }
        Stmt::Assert { cond, site } => {
            let (cond, site) = (expr_id(cond), handle("SiteId", site.0));
            quote!(ir::Stmt::Assert { cond: #cond, site: #site })
        }
        Stmt::If {
            cond,
            then,
            otherwise,
        } => {
            let (cond, then, otherwise) = (expr_id(cond), block(then), block(otherwise));
            quote!(ir::Stmt::If { cond: #cond, then: #then, otherwise: #otherwise })
        }
        Stmt::Loop {
            label: l,
            cond,
            body,
        } => {
            let (l, cond, body) = (label(l), option(cond.map(expr_id)), block(body));
            quote!(ir::Stmt::Loop { label: #l, cond: #cond, body: #body })
        }
        Stmt::For {
            label: l,
            local: i,
            start,
            end,
            body,
        } => {
            let (l, i, start, end, body) = (
                label(l),
                local(i),
                expr_id(start),
                expr_id(end),
                block(body),
            );
            quote!(ir::Stmt::For { label: #l, local: #i, start: #start, end: #end, body: #body })
        }
        Stmt::Break { label: l } => {
            let l = label(l);
            quote!(ir::Stmt::Break { label: #l })
        }
        Stmt::Continue { label: l } => {
            let l = label(l);
            quote!(ir::Stmt::Continue { label: #l })
        }
        Stmt::Return => quote!(ir::Stmt::Return),
        Stmt::Native { native } => {
            let native = handle("NativeId", native.0);
            quote!(ir::Stmt::Native { native: #native })
        }
    }
}

fn site(site: &Site) -> TokenStream {
    let kind = match &site.kind {
        SiteKind::Index(param) => {
            let param = handle("ParamId", param.0);
            quote!(ir::SiteKind::Index(#param))
        }
        SiteKind::Divisor => quote!(ir::SiteKind::Divisor),
        SiteKind::Assert(message) => {
            let message = string(message);
            quote!(ir::SiteKind::Assert(#message))
        }
    };
    let (loc, provable) = (loc(site.loc), site.provable);
    quote!(ir::Site { kind: #kind, loc: #loc, provable: #provable })
}

fn native(native: &Native) -> TokenStream {
    let texts = slice(&native.texts, |text| {
        let target = string(&text.target);
        let pieces = slice(&text.pieces, |piece| match piece {
            Piece::Text(text) => {
                let text = string(text);
                quote!(ir::Piece::Text(#text))
            }
            Piece::Local(id) => {
                let id = handle("LocalId", id.0);
                quote!(ir::Piece::Local(#id))
            }
            Piece::Param(id) => {
                let id = handle("ParamId", id.0);
                quote!(ir::Piece::Param(#id))
            }
        });
        quote!(ir::NativeText { target: #target, pieces: #pieces })
    });
    let fallback = option(native.fallback.map(block));
    quote!(ir::Native { texts: #texts, fallback: #fallback })
}

fn precondition(precondition: Precondition) -> TokenStream {
    match precondition {
        Precondition::SingleThread(a) => {
            let a = axis(a);
            quote!(ir::Precondition::SingleThread(#a))
        }
        Precondition::ExtentAtMost(a, most) => {
            let (a, most) = (axis(a), Literal::u64_unsuffixed(most));
            quote!(ir::Precondition::ExtentAtMost(#a, #most))
        }
        Precondition::NoOverflow(id) => {
            let id = expr_id(id);
            quote!(ir::Precondition::NoOverflow(#id))
        }
    }
}
