//! IR as tokens of `const` data: plain struct literals, which rustc checks quickest.

mod compound;
mod print;

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{format_ident, quote};
use sarek_ir::{
    Axis, Block, Builtin, Expr, ExprId, Kernel, Length, List, Loc, Memory, Native, Origin,
    ParamKind, Piece, Precondition, Scalar, SharedArray, Site, SiteId, SiteKind, Stmt, Type, Value,
};

use compound::{call, callable, closure, compound, place, type_def};

/// An expression of type `Kernel`; the IR crate is in scope as `ir`.
pub fn kernel(kernel: &Kernel) -> TokenStream {
    let Kernel {
        name,
        file: _,
        block,
        strict,
        params,
        shared,
        types,
        names,
        compounds,
        places,
        calls,
        closures,
        callables,
        functions,
        type_links,
        result,
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
        preludes,
        prelude_links,
        prints,
        links,
        preconditions,
        // Linking tells them.
        last_strides: _,
    } = kernel;
    let block_size = option(block.map(|b| {
        let b = b.map(Literal::u32_unsuffixed);
        quote!([#(#b),*])
    }));
    let params = slice(params, |p| {
        let (name, kind) = (string(&p.name), param_kind(p.kind));
        quote!(ir::Param { name: #name, kind: #kind, align: 0 })
    });
    let shared = slice(shared, shared_array);
    let types = slice(types, type_def);
    let names = slice(names, |n| string(n));
    let compounds = slice(compounds, compound);
    let places = slice(places, place);
    let calls = slice(calls, call);
    let closures = slice(closures, closure);
    let callables = slice(callables, callable);
    let functions = slice(functions, |f| string(f));
    let type_links = slice(type_links, |t| string(t));
    let result = option(result.map(|l| handle("LocalId", l.0)));
    let locals = slice(locals, |l| {
        let (name, ty, mutable) = (string(&l.name), ty(l.ty), l.mutable);
        quote!(ir::Local { name: #name, ty: #ty, mutable: #mutable })
    });
    let exprs = slice(exprs, |e| expr(*e));
    let expr_types = slice(expr_types, |t| ty(*t));
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
    // A macro sees only the paths of preludes.
    let preludes = slice(preludes, |_| unreachable!("linking finds preludes"));
    let prelude_links = slice(prelude_links, |p| string(p));
    let prints = slice(prints, print::print);
    let links = slice(links, |l| {
        let (path, ty) = (string(&l.path), ty(l.ty));
        quote!(ir::Link { path: #path, ty: #ty })
    });
    let preconditions = slice(preconditions, |p| precondition(*p));
    let name = string(name);
    quote! {
        ir::Kernel {
            name: #name,
            file: Cow::Borrowed(::core::file!()),
            block: #block_size,
            strict: #strict,
            params: #params,
            shared: #shared,
            types: #types,
            names: #names,
            compounds: #compounds,
            places: #places,
            calls: #calls,
            closures: #closures,
            callables: #callables,
            functions: #functions,
            type_links: #type_links,
            result: #result,
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
            preludes: #preludes,
            prelude_links: #prelude_links,
            prints: #prints,
            links: #links,
            preconditions: #preconditions,
            last_strides: Cow::Borrowed(&[]),
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
        ParamKind::Slice { elem, access } => {
            let (elem, access) = (ty(elem), variant(&access));
            quote!(ir::ParamKind::Slice { elem: #elem, access: ir::Access::#access })
        }
        ParamKind::Value(id) => {
            let id = handle("TypeId", id.0);
            quote!(ir::ParamKind::Value(#id))
        }
        ParamKind::Reference(of) => {
            let of = ty(of);
            quote!(ir::ParamKind::Reference(#of))
        }
    }
}

fn ty(ty: Type) -> TokenStream {
    match ty {
        Type::Scalar(ty) => {
            let ty = scalar(ty);
            quote!(ir::Type::Scalar(#ty))
        }
        Type::Compound(id) => {
            let id = handle("TypeId", id.0);
            quote!(ir::Type::Compound(#id))
        }
    }
}

fn shared_array(array: &SharedArray) -> TokenStream {
    let (name, elem) = (string(&array.name), ty(array.elem));
    let (len, atomic) = (length(array.len), array.atomic);
    quote!(ir::SharedArray { name: #name, elem: #elem, len: #len, atomic: #atomic })
}

fn length(length: Length) -> TokenStream {
    let (name, content) = match length {
        Length::Fixed(n) => {
            let n = Literal::u64_unsuffixed(n);
            ("Fixed", quote!(#n))
        }
        Length::Link(link) => ("Link", handle("LinkId", link.0)),
        Length::Launch(len) => ("Launch", expr_id(len)),
    };
    let name = format_ident!("{name}");
    quote!(ir::Length::#name(#content))
}

fn memory(memory: Memory) -> TokenStream {
    let (name, content) = match memory {
        Memory::Slice(param) => ("Slice", handle("ParamId", param.0)),
        Memory::Shared(shared) => ("Shared", handle("SharedId", shared.0)),
        Memory::Local(local) => ("Local", handle("LocalId", local.0)),
    };
    let name = format_ident!("{name}");
    quote!(ir::Memory::#name(#content))
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
        Value::U16(v) | Value::F16(v) | Value::Bf16(v) => {
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
        Builtin::GlobalThreadId | Builtin::SubgroupSize | Builtin::SubgroupLane => {
            let name = variant(&builtin);
            return quote!(ir::Builtin::#name);
        }
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
        Expr::Len(m) => of("Len", memory(m)),
        Expr::Builtin(b) => of("Builtin", builtin(b)),
        Expr::Load {
            memory: m,
            index,
            site,
        } => {
            let (m, index, site) = (memory(m), expr_id(index), site_id(site));
            quote!(ir::Expr::Load { memory: #m, index: #index, site: #site })
        }
        Expr::Bounded { index, len, site } => {
            let (index, len, site) = (expr_id(index), expr_id(len), site_id(site));
            quote!(ir::Expr::Bounded { index: #index, len: #len, site: #site })
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
        Expr::Compound(id) => of("Compound", handle("CompoundId", id.0)),
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
            memory: m,
            index,
            value,
            site,
        } => {
            let (m, index, value, site) =
                (memory(m), expr_id(index), expr_id(value), site_id(site));
            quote!(ir::Stmt::Store { memory: #m, index: #index, value: #value, site: #site })
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
        Stmt::Barrier => quote!(ir::Stmt::Barrier),
        Stmt::Fence { scope } => {
            let scope = variant(&scope);
            quote!(ir::Stmt::Fence { scope: ir::Scope::#scope })
        }
        Stmt::Atomic {
            op,
            memory: m,
            index,
            args,
            result,
            site,
        } => {
            let (op, m, index, args) = (variant(&op), memory(m), expr_id(index), list(args));
            let (result, site) = (option(result.map(local)), site_id(site));
            quote! {
                ir::Stmt::Atomic {
                    op: ir::AtomicOp::#op,
                    memory: #m,
                    index: #index,
                    args: #args,
                    result: #result,
                    site: #site,
                }
            }
        }
        Stmt::Subgroup { op, args, result } => {
            let (op, args, result) = (variant(&op), list(args), local(result));
            quote!(ir::Stmt::Subgroup { op: ir::SubgroupOp::#op, args: #args, result: #result })
        }
        Stmt::Update { place, value } => {
            let (place, value) = (handle("PlaceId", place.0), expr_id(value));
            quote!(ir::Stmt::Update { place: #place, value: #value })
        }
        Stmt::Call { call } => {
            let call = handle("CallId", call.0);
            quote!(ir::Stmt::Call { call: #call })
        }
        Stmt::Panic { site } => {
            let site = handle("SiteId", site.0);
            quote!(ir::Stmt::Panic { site: #site })
        }
        Stmt::Print { print } => {
            let print = handle("PrintId", print.0);
            quote!(ir::Stmt::Print { print: #print })
        }
        Stmt::Native { native } => {
            let native = handle("NativeId", native.0);
            quote!(ir::Stmt::Native { native: #native })
        }
    }
}

fn site(site: &Site) -> TokenStream {
    let kind = match &site.kind {
        SiteKind::Index(m) => {
            let m = memory(*m);
            quote!(ir::SiteKind::Index(#m))
        }
        SiteKind::Dimension(m, axis) => {
            let (m, axis) = (memory(*m), Literal::u32_unsuffixed(*axis));
            quote!(ir::SiteKind::Dimension(#m, #axis))
        }
        SiteKind::Divisor => quote!(ir::SiteKind::Divisor),
        SiteKind::Assert(message) => {
            let message = string(message);
            quote!(ir::SiteKind::Assert(#message))
        }
        SiteKind::Panic(message) => {
            let message = string(message);
            quote!(ir::SiteKind::Panic(#message))
        }
    };
    let (file, loc, provable) = (string(&site.file), loc(site.loc), site.provable);
    quote!(ir::Site { kind: #kind, file: #file, loc: #loc, provable: #provable })
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
            Piece::Shared(id) => {
                let id = handle("SharedId", id.0);
                quote!(ir::Piece::Shared(#id))
            }
            Piece::Place(id) => {
                let id = handle("PlaceId", id.0);
                quote!(ir::Piece::Place(#id))
            }
        });
        let Origin {
            file,
            line,
            by_line,
        } = &text.origin;
        let (file, line) = (string(file), Literal::u32_unsuffixed(*line));
        let origin = quote!(ir::Origin { file: #file, line: #line, by_line: #by_line });
        quote!(ir::NativeText { target: #target, pieces: #pieces, origin: #origin })
    });
    let fallback = option(native.fallback.map(block));
    let result = option(native.result.map(|l| handle("LocalId", l.0)));
    let intrinsic = option(native.intrinsic.as_ref().map(|name| string(name)));
    quote!(ir::Native {
        texts: #texts,
        fallback: #fallback,
        result: #result,
        intrinsic: #intrinsic
    })
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
        Precondition::BlockAtMost(a, most) => {
            let (a, most) = (axis(a), Literal::u64_unsuffixed(most));
            quote!(ir::Precondition::BlockAtMost(#a, #most))
        }
        Precondition::NoOverflow(id) => {
            let id = expr_id(id);
            quote!(ir::Precondition::NoOverflow(#id))
        }
        Precondition::Holds(site) => {
            let site = site.0;
            quote!(ir::Precondition::Holds(ir::SiteId(#site)))
        }
    }
}
