//! The compiled body: IR as Rust, a loop over the threads of a block around it.
//!
//! The body is one `unsafe` block of this module's making: whatever the user wrote in it was lowered
//! first. Accesses are unchecked but for the tests written here: those of provable sites stand under
//! `CHECK`, a const generic; those of other sites always stand. Guards against threads beyond the
//! data are no tests but the ends of the loops, see [`super::trim`].

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{format_ident, quote_spanned};
use sarek_ir::{
    Access, BinaryOp, Builtin, DivideOp, Expr, ExprId, Intrinsic, Kernel, LabelId, LocalId, Memory,
    ParamId, ParamKind, Scalar, SiteId, Stmt, StmtId, Type, UnaryOp, Value,
};

use super::direct_compound::foreign_literal;
use super::trim::{Trim, can_divide};
use crate::lower::Lowered;
use crate::parse::Parameters;

/// Tokens with mixed-site spans: one hygiene for all names of the body, none of them the user's. They
/// begin with `__` nevertheless: a constant of the user's would be taken for a pattern.
macro_rules! mixed {
    ($($token:tt)*) => { quote_spanned!(Span::mixed_site()=> $($token)*) };
}
pub(super) use mixed;

/// The items of `impl DirectKernel`; the runtime's module `direct` is in scope.
pub fn body(lowered: &Lowered) -> TokenStream {
    let kernel = &lowered.kernel;
    let writer = Writer {
        lowered,
        kernel,
        trim: Trim::of(kernel),
        is_function: false,
    };
    let weight = Literal::u32_unsuffixed(weight(kernel));
    let names: Vec<Ident> = (0..kernel.params.len())
        .map(|i| param_name(ParamId(i as u32)))
        .collect();
    let params = kernel.params.iter().zip(&lowered.param_types);
    let types = params.map(|(p, written)| match p.kind {
        ParamKind::Scalar(ty) => rust_type(ty),
        ParamKind::Value(_) => written.clone(),
        ParamKind::Reference(_) => unreachable!("a kernel has no `&mut T`"),
        ParamKind::Slice {
            access: Access::Read,
            ..
        } => mixed!(&[#written]),
        ParamKind::Slice {
            access: Access::Write | Access::Atomic,
            ..
        } => mixed!(direct::Output<'_, #written>),
    });
    let values = kernel.params.iter().enumerate().map(|(i, p)| {
        let i = Literal::usize_unsuffixed(i);
        match p.kind {
            ParamKind::Scalar(_) => mixed!(direct::scalar(__args, #i)),
            ParamKind::Value(_) => mixed!(direct::value(__args, #i)),
            ParamKind::Reference(_) => unreachable!("a kernel has no `&mut T`"),
            ParamKind::Slice {
                access: Access::Read,
                ..
            } => mixed!(direct::input(__args, #i)),
            ParamKind::Slice {
                access: Access::Write | Access::Atomic,
                ..
            } => mixed!(direct::output(__args, #i)),
        }
    });
    let lanes = writer.lanes();
    let Parameters {
        declared,
        names: generics,
        clause,
        ..
    } = &lowered.parameters;
    let declared = (!declared.is_empty()).then(|| mixed!(#declared,));
    let generics = (!generics.is_empty()).then(|| mixed!(#generics,));
    let stmts = writer.block(kernel.body);
    mixed! {
        const WEIGHT: ::core::primitive::u32 = #weight;

        #[inline(always)]
        #[allow(unused, clippy::all)]
        unsafe fn block<const CHECK: ::core::primitive::bool>(
            __args: &[direct::DirectArg],
            __block: &direct::Block,
        ) -> ::core::result::Result<(), direct::RawFault> {
            #[inline(always)]
            unsafe fn lanes<#declared const CHECK: ::core::primitive::bool>(
                __block: &direct::Block,
                #(#names: #types),*
            ) -> ::core::result::Result<(), direct::RawFault> #clause {
                #lanes
                for __z in 0..__lanes[2] {
                    for __y in 0..__lanes[1] {
                        for __x in 0..__lanes[0] {
                            let __thread = [__x, __y, __z];
                            'thread: {
                                unsafe { #stmts }
                            }
                        }
                    }
                }
                ::core::result::Result::Ok(())
            }
            unsafe { lanes::<#generics CHECK>(__block, #(#values),*) }
        }
    }
}

/// The parameters and statements of a `#[device]` function's body.
pub fn function(lowered: &Lowered) -> (TokenStream, TokenStream) {
    let kernel = &lowered.kernel;
    let writer = Writer {
        lowered,
        kernel,
        trim: Trim::default(),
        is_function: true,
    };
    let params = kernel.params.iter().zip(&lowered.param_types).enumerate();
    let params = params.map(|(i, (param, written))| {
        let name = param_name(ParamId(i as u32));
        match param.kind {
            ParamKind::Scalar(_) | ParamKind::Value(_) if i == 0 && lowered.has_receiver => {
                mixed!(#name: &mut #written,)
            }
            ParamKind::Scalar(ty) => {
                let ty = rust_type(ty);
                mixed!(#name: #ty,)
            }
            ParamKind::Value(_) => mixed!(#name: #written,),
            ParamKind::Reference(_) => mixed!(#name: &mut #written,),
            ParamKind::Slice { .. } => mixed!(#name: direct::Output<'_, #written>,),
        }
    });
    // What holds the result outlives the block that a `return` leaves.
    let (result, yields) = match kernel.result {
        Some(local) => {
            let name = writer.local(local);
            (mixed!(let mut #name;), mixed!(#name))
        }
        None => (TokenStream::new(), mixed!(())),
    };
    let is_result = |id: StmtId| match kernel.stmt(id) {
        Stmt::Let { local, .. } => kernel.result == Some(local),
        _ => false,
    };
    let stmts = kernel.block(kernel.body).filter(|id| !is_result(*id));
    let stmts = stmts.map(|id| writer.stmt(id));
    let body = mixed! {
        #result
        'thread: { #(#stmts)* }
        ::core::result::Result::Ok(#yields)
    };
    let params = mixed! {
        __block: &direct::Block,
        __thread: [::core::primitive::usize; 3],
        __base: ::core::primitive::u32,
        #(#params)*
    };
    (params, body)
}

/// A rough count of a thread's operations: a loop counts for 32 iterations.
fn weight(kernel: &Kernel) -> u32 {
    fn stmts(kernel: &Kernel, block: sarek_ir::Block) -> u32 {
        let each = |id: StmtId| match kernel.stmt(id) {
            Stmt::If {
                then, otherwise, ..
            } => stmts(kernel, then)
                .max(stmts(kernel, otherwise))
                .saturating_add(4),
            Stmt::Loop { body, .. } | Stmt::For { body, .. } => {
                stmts(kernel, body).saturating_mul(32)
            }
            Stmt::Let { .. } | Stmt::Assign { .. } | Stmt::Store { .. } | Stmt::Assert { .. } => 4,
            Stmt::Break { .. }
            | Stmt::Continue { .. }
            | Stmt::Return
            | Stmt::Barrier
            | Stmt::Fence { .. }
            | Stmt::Native { .. } => 1,
            Stmt::Update { .. } => 4,
            Stmt::Atomic { .. } | Stmt::Subgroup { .. } | Stmt::Call { .. } => 16,
        };
        kernel.block(block).map(each).fold(1, u32::saturating_add)
    }
    stmts(kernel, kernel.body)
}

pub(super) struct Writer<'a> {
    pub(super) lowered: &'a Lowered,
    pub(super) kernel: &'a Kernel,
    trim: Trim,
    /// Is it the body of a `#[device]` function?
    pub(super) is_function: bool,
}

impl Writer<'_> {
    /// How many threads of the block have something to do.
    fn lanes(&self) -> TokenStream {
        let fixed = self.trim.fixed.iter().map(|id| self.stmt(*id));
        let bounds = self.trim.bounds.iter().map(|(axis, bound)| {
            let (axis, bound) = (Literal::usize_unsuffixed(axis.index()), self.expr(*bound));
            mixed!(__lanes[#axis] = __block.lanes_below(#axis, __lanes[#axis], #bound);)
        });
        mixed! {
            let mut __lanes = __block.lanes;
            unsafe {
                #(#fixed)*
                #(#bounds)*
            }
            let __lanes = __lanes;
        }
    }

    fn block(&self, block: sarek_ir::Block) -> TokenStream {
        self.kernel.block(block).map(|id| self.stmt(id)).collect()
    }

    fn stmt(&self, id: StmtId) -> TokenStream {
        let span = located(self.lowered.stmt_spans[id.index()]);
        match self.kernel.stmt(id) {
            Stmt::Let { local, init } => {
                let ty = match self.kernel.locals[local.index()].ty {
                    Type::Scalar(ty) => ty,
                    Type::Compound(_) => return self.declare(local, init, span),
                };
                let mutable = (init.is_none() || self.kernel.locals[local.index()].mutable)
                    .then(|| mixed!(mut));
                let init = match init {
                    Some(init) => self.expr(init),
                    None => literal(Value::zero(ty)),
                };
                let (local, ty) = (self.local(local), rust_type(ty));
                quote_spanned!(span=> let #mutable #local: #ty = #init;)
            }
            Stmt::Assign { local, value } => {
                let (local, value) = (self.local(local), self.expr(value));
                quote_spanned!(span=> #local = #value;)
            }
            Stmt::Store {
                memory,
                index,
                value,
                site,
            } => {
                let (buffer, index, value) =
                    (self.memory(memory), self.expr(index), self.expr(value));
                let check = self.bounds_check(site, &buffer);
                quote_spanned! {span=> {
                    let __value = #value;
                    let __index: ::core::primitive::usize = #index;
                    #check
                    #buffer.set(__index, __value);
                }}
            }
            Stmt::Assert { cond, site } => {
                let (cond, fault) = (self.expr(cond), self.fault(site, mixed!(0)));
                let always = self.always(site);
                quote_spanned!(span=> if #always !#cond { #fault })
            }
            Stmt::If {
                cond,
                then,
                otherwise,
            } => {
                let (cond, then) = (self.expr(cond), self.block(then));
                let otherwise = (!otherwise.is_empty()).then(|| {
                    let otherwise = self.block(otherwise);
                    mixed!(else { #otherwise })
                });
                quote_spanned!(span=> if #cond { #then } #otherwise)
            }
            Stmt::Loop {
                label,
                cond: Some(cond),
                body,
            } => {
                let (label, cond, body) = (loop_label(label), self.expr(cond), self.block(body));
                quote_spanned!(span=> #label: while #cond { #body })
            }
            Stmt::Loop {
                label,
                cond: None,
                body,
            } => {
                let (label, body) = (loop_label(label), self.block(body));
                quote_spanned!(span=> #label: loop { #body })
            }
            Stmt::For {
                label,
                local,
                start,
                end,
                body,
            } => {
                let (label, local) = (loop_label(label), self.local(local));
                let (start, end, body) = (self.expr(start), self.expr(end), self.block(body));
                // In parentheses: after a bare `..`, a bound that is a block would be taken for the body.
                quote_spanned!(span=> #label: for #local in (#start..#end) { #body })
            }
            Stmt::Break { label } => {
                let label = loop_label(label);
                quote_spanned!(span=> break #label;)
            }
            Stmt::Continue { label } => {
                let label = loop_label(label);
                quote_spanned!(span=> continue #label;)
            }
            Stmt::Return => quote_spanned!(span=> break 'thread;),
            Stmt::Barrier | Stmt::Fence { .. } | Stmt::Atomic { .. } | Stmt::Subgroup { .. } => {
                todo!()
            }
            Stmt::Call { call } => self.call_function(call, span),
            Stmt::Update { place, value } => self.update(place, value, span),
            Stmt::Native { native } => match self.kernel.natives[native.index()].fallback {
                Some(fallback) => {
                    let fallback = self.block(fallback);
                    mixed!({ #fallback })
                }
                // The runtime does not launch here: the kernel's requirements say why.
                None => mixed!(::core::unreachable!("`native!` has no Rust fallback");),
            },
        }
    }

    pub(super) fn expr(&self, id: ExprId) -> TokenStream {
        let span = located(self.lowered.expr_spans[id.index()]);
        let ty = self.kernel.type_of(id);
        if let Some(known) = self.trim.known.get(&id) {
            return mixed!(#known);
        }
        match self.kernel.expr(id) {
            Expr::Literal(value) if ty.as_scalar().is_none() => foreign_literal(value),
            Expr::Literal(value) => literal(value),
            Expr::Link(link) => self.lowered.linked(link, span),
            Expr::Local(local) => {
                let local = self.local(local);
                mixed!(#local)
            }
            Expr::Param(param) => {
                let name = param_name(param);
                match self.kernel.params[param.index()].kind {
                    ParamKind::Reference(_) => mixed!((*#name)),
                    ParamKind::Scalar(_) | ParamKind::Value(_)
                        if param.index() == 0 && self.lowered.has_receiver =>
                    {
                        mixed!((*#name))
                    }
                    ParamKind::Scalar(_) | ParamKind::Value(_) | ParamKind::Slice { .. } => {
                        mixed!(#name)
                    }
                }
            }
            Expr::Len(memory) => {
                let param = self.memory(memory);
                quote_spanned!(span=> #param.len())
            }
            Expr::Builtin(builtin) => self.builtin(builtin),
            Expr::Load {
                memory,
                index,
                site,
            } => {
                let (buffer, index) = (self.memory(memory), self.expr(index));
                let check = self.bounds_check(site, &buffer);
                quote_spanned! {span=> {
                    let __index: ::core::primitive::usize = #index;
                    #check
                    *#buffer.get_unchecked(__index)
                }}
            }
            Expr::Bounded { index, len, site } => {
                let (index, len) = (self.expr(index), self.expr(len));
                let check = site.map(|site| {
                    let detail = mixed!(__index as ::core::primitive::u64);
                    let (always, fault) = (self.always(site), self.fault(site, detail));
                    mixed!(if #always __index >= #len { #fault })
                });
                quote_spanned! {span=> {
                    let __index: ::core::primitive::usize = #index;
                    #check
                    __index
                }}
            }
            Expr::Unary { op, arg } => {
                let arg = self.operand(arg);
                match op {
                    UnaryOp::Neg => quote_spanned!(span=> (-#arg)),
                    UnaryOp::Not => quote_spanned!(span=> (!#arg)),
                }
            }
            Expr::Binary { op, lhs, rhs } => {
                let (lhs, rhs) = (self.operand(lhs), self.operand(rhs));
                let op = operator(op, span);
                quote_spanned!(span=> (#lhs #op #rhs))
            }
            Expr::Divide { op, lhs, rhs, site } => self.divide(op, lhs, rhs, site, span),
            Expr::And { lhs, rhs } => {
                let (lhs, rhs) = (self.expr(lhs), self.expr(rhs));
                quote_spanned!(span=> (#lhs && #rhs))
            }
            Expr::Or { lhs, rhs } => {
                let (lhs, rhs) = (self.expr(lhs), self.expr(rhs));
                quote_spanned!(span=> (#lhs || #rhs))
            }
            Expr::Cast { arg } if self.lowered.conversions.contains_key(&id) => {
                let (arg, function) = (self.expr(arg), &self.lowered.conversions[&id]);
                quote_spanned!(span=> #function(#arg))
            }
            Expr::Cast { arg } => {
                let (arg, ty) = (self.operand(arg), rust_type(ty.scalar()));
                quote_spanned!(span=> (#arg as #ty))
            }
            Expr::Call { intrinsic, args } => {
                let args: Vec<ExprId> = self.kernel.list(args).collect();
                self.call(intrinsic, &args, ty, span)
            }
            Expr::Compound(compound) => self.compound(compound, span),
            Expr::Faulted => unreachable!("only passes for accelerators make it"),
        }
    }

    fn divide(
        &self,
        op: DivideOp,
        lhs: ExprId,
        rhs: ExprId,
        site: Option<SiteId>,
        span: Span,
    ) -> TokenStream {
        let method = Ident::new(op.name(), span);
        let ty = self.kernel.type_of(lhs).as_scalar().map(rust_type);
        let ty = ty.map(|ty| mixed!(: (#ty, #ty)));
        let site = site.filter(|_| !can_divide(self.kernel, rhs));
        let (lhs, rhs) = (self.operand(lhs), self.operand(rhs));
        let check = site.map(|site| {
            let fault = self.fault(site, mixed!(direct::Divide::detail(__divisor)));
            let always = self.always(site);
            mixed!(if #always !direct::Divide::is_defined(__dividend, __divisor) { #fault })
        });
        quote_spanned! {span=> {
            let (__dividend, __divisor) #ty = (#lhs, #rhs);
            #check
            direct::Divide::#method(__dividend, __divisor)
        }}
    }

    fn call(&self, intrinsic: Intrinsic, args: &[ExprId], ty: Type, span: Span) -> TokenStream {
        let on = match (intrinsic, self.kernel.type_of(args[0])) {
            (Intrinsic::FromBits, _) => rust_type(ty.scalar()),
            (_, Type::Scalar(on)) => rust_type(on),
            (_, Type::Compound(_)) => return self.foreign_call(intrinsic, args, span),
        };
        let args = args.iter().map(|a| self.expr(*a));
        match intrinsic {
            Intrinsic::Rsqrt => quote_spanned!(span=> direct::Float::rsqrt(#(#args),*)),
            Intrinsic::Clamp => quote_spanned!(span=> direct::clamp(#(#args),*)),
            _ if intrinsic.is_elementary() => {
                let name = Ident::new(intrinsic.name(), span);
                quote_spanned!(span=> direct::Elementary::#name(#(#args),*))
            }
            Intrinsic::Min | Intrinsic::Max if !is_float(&on) => {
                let name = Ident::new(intrinsic.name(), span);
                quote_spanned!(span=> ::core::cmp::Ord::#name(#(#args),*))
            }
            _ => {
                let name = Ident::new(intrinsic.name(), span);
                quote_spanned!(span=> #on::#name(#(#args),*))
            }
        }
    }

    fn builtin(&self, builtin: Builtin) -> TokenStream {
        let at = |a: sarek_ir::Axis| Literal::usize_unsuffixed(a.index());
        match builtin {
            Builtin::ThreadIdx(a) => {
                let a = at(a);
                mixed!(__thread[#a])
            }
            Builtin::BlockIdx(a) => {
                let a = at(a);
                mixed!(__block.idx[#a])
            }
            Builtin::BlockDim(a) => {
                let a = at(a);
                mixed!(__block.dim[#a])
            }
            Builtin::GridDim(a) => {
                let a = at(a);
                mixed!(__block.grid[#a])
            }
            Builtin::GlobalIdx(a) => {
                let a = at(a);
                mixed!((__block.first[#a] + __thread[#a]))
            }
            Builtin::GlobalDim(a) => {
                let a = at(a);
                mixed!(__block.extent[#a])
            }
            Builtin::SubgroupSize | Builtin::SubgroupLane => todo!(),
            Builtin::GlobalThreadId => mixed! {
                (((__block.first[2] + __thread[2]) * __block.extent[1] + (__block.first[1] + __thread[1]))
                    * __block.extent[0] + (__block.first[0] + __thread[0]))
            },
        }
    }

    /// The test of `index` against a buffer's length.
    pub(super) fn bounds_check(&self, site: Option<SiteId>, buffer: &Ident) -> Option<TokenStream> {
        site.map(|site| {
            let (always, fault) = (
                self.always(site),
                self.fault(site, mixed!(__index as ::core::primitive::u64)),
            );
            mixed!(if #always __index >= #buffer.len() { #fault })
        })
    }

    /// Nothing for a test that always stands; `CHECK &&` for one that a launch can prove.
    pub(super) fn always(&self, site: SiteId) -> Option<TokenStream> {
        self.kernel.sites[site.index()]
            .provable
            .then(|| mixed!(CHECK &&))
    }

    pub(super) fn fault(&self, site: SiteId, detail: TokenStream) -> TokenStream {
        let site = Literal::u32_unsuffixed(site.0);
        let base = self.is_function.then(|| mixed!(__base+));
        mixed!(return __block.fault(#base #site, #detail, __thread);)
    }

    pub(super) fn memory(&self, memory: Memory) -> Ident {
        match memory {
            Memory::Slice(param) => param_name(param),
            Memory::Local(local) => self.local(local),
            Memory::Shared(_) => todo!(),
        }
    }

    pub(super) fn local(&self, local: LocalId) -> Ident {
        let name = &self.kernel.locals[local.index()].name;
        Ident::new(&format!("{name}_{}", local.0), Span::mixed_site())
    }
}

/// The place of a span, without the user's lints looking at it.
fn located(span: Span) -> Span {
    Span::mixed_site().located_at(span)
}

/// No local has this name: those all end in `_` and a number.
pub(super) fn param_name(param: ParamId) -> Ident {
    format_ident!("__arg{}", param.0, span = Span::mixed_site())
}

fn loop_label(label: LabelId) -> syn::Lifetime {
    syn::Lifetime::new(&format!("'loop_{}", label.0), Span::mixed_site())
}

/// `::core::primitive::f32`: no item of the user's can stand in for it.
pub fn rust_type(ty: Scalar) -> TokenStream {
    let name = Ident::new(ty.name(), Span::mixed_site());
    mixed!(::core::primitive::#name)
}

fn is_float(ty: &TokenStream) -> bool {
    let text = ty.to_string();
    text.ends_with("f32") || text.ends_with("f64")
}

fn literal(value: Value) -> TokenStream {
    match value {
        Value::Bool(v) => mixed!(#v),
        Value::I8(i8::MIN) => mixed!(::core::primitive::i8::MIN),
        Value::I16(i16::MIN) => mixed!(::core::primitive::i16::MIN),
        Value::I32(i32::MIN) => mixed!(::core::primitive::i32::MIN),
        Value::I64(i64::MIN) => mixed!(::core::primitive::i64::MIN),
        Value::I8(v) => signed(v < 0, Literal::i8_suffixed(v.wrapping_abs())),
        Value::I16(v) => signed(v < 0, Literal::i16_suffixed(v.wrapping_abs())),
        Value::I32(v) => signed(v < 0, Literal::i32_suffixed(v.wrapping_abs())),
        Value::I64(v) => signed(v < 0, Literal::i64_suffixed(v.wrapping_abs())),
        Value::U8(v) => unsigned(Literal::u8_suffixed(v)),
        Value::U16(v) => unsigned(Literal::u16_suffixed(v)),
        Value::U32(v) => unsigned(Literal::u32_suffixed(v)),
        Value::U64(v) => unsigned(Literal::u64_suffixed(v)),
        Value::Usize(v) => {
            let v = Literal::u64_unsuffixed(v);
            mixed!((#v as ::core::primitive::usize))
        }
        Value::F32(bits) => {
            let v = f32::from_bits(bits);
            if v.is_finite() {
                return signed(v.is_sign_negative(), Literal::f32_suffixed(v.abs()));
            }
            let bits = Literal::u32_suffixed(bits);
            mixed!(::core::primitive::f32::from_bits(#bits))
        }
        Value::F64(bits) => {
            let v = f64::from_bits(bits);
            if v.is_finite() {
                return signed(v.is_sign_negative(), Literal::f64_suffixed(v.abs()));
            }
            let bits = Literal::u64_suffixed(bits);
            mixed!(::core::primitive::f64::from_bits(#bits))
        }
    }
}

fn unsigned(literal: Literal) -> TokenStream {
    mixed!(#literal)
}

fn signed(negative: bool, magnitude: Literal) -> TokenStream {
    if negative {
        mixed!((-#magnitude))
    } else {
        mixed!(#magnitude)
    }
}

fn operator(op: BinaryOp, span: Span) -> TokenStream {
    match op {
        BinaryOp::Add => quote_spanned!(span=> +),
        BinaryOp::Sub => quote_spanned!(span=> -),
        BinaryOp::Mul => quote_spanned!(span=> *),
        BinaryOp::Div => quote_spanned!(span=> /),
        BinaryOp::Rem => quote_spanned!(span=> %),
        BinaryOp::BitAnd => quote_spanned!(span=> &),
        BinaryOp::BitOr => quote_spanned!(span=> |),
        BinaryOp::BitXor => quote_spanned!(span=> ^),
        BinaryOp::Shl => quote_spanned!(span=> <<),
        BinaryOp::Shr => quote_spanned!(span=> >>),
        BinaryOp::Eq => quote_spanned!(span=> ==),
        BinaryOp::Ne => quote_spanned!(span=> !=),
        BinaryOp::Lt => quote_spanned!(span=> <),
        BinaryOp::Le => quote_spanned!(span=> <=),
        BinaryOp::Gt => quote_spanned!(span=> >),
        BinaryOp::Ge => quote_spanned!(span=> >=),
    }
}
