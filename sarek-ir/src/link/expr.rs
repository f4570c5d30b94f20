//! Translates expressions.

use super::build::{Frame, Linker};
use super::leaf::{Index, Part, Storage};
use super::shape::Shape;
use crate::operators::cast;
use crate::{
    BinaryOp, Compound, CompoundId, DivideOp, Expr, ExprId, Intrinsic, Kernel, List, Loc, Local,
    Memory, ParamId, Scalar, SiteId, Stmt, Value, ViewPart,
};

impl Linker {
    /// Translates a scalar expression.
    pub fn expr(&mut self, frame: &mut Frame<'_>, id: ExprId) -> ExprId {
        let loc = frame.expr_loc(id);
        let made = match self.part(frame, id) {
            Some(part) => self.read(&part, loc),
            None => self.operation(frame, id, loc),
        };
        frame.made.borrow_mut().entry(id).or_default().push(made);
        made
    }

    /// The part that an expression names; `None` if it computes a value.
    pub fn part(&mut self, frame: &mut Frame<'_>, id: ExprId) -> Option<Part> {
        match frame.ir.expr(id) {
            Expr::Local(local) => Some(frame.local(local)),
            Expr::Param(param) => Some(frame.params[param.index()].clone()),
            Expr::Link(link) => Some(self.constant(frame, link)),
            Expr::Load {
                memory,
                index,
                site,
            } => Some(self.element(frame, memory, index, site)),
            Expr::Compound(compound) => self.compound_part(frame, compound),
            Expr::Literal(_)
            | Expr::Len(_)
            | Expr::Builtin(_)
            | Expr::Bounded { .. }
            | Expr::Unary { .. }
            | Expr::Binary { .. }
            | Expr::Divide { .. }
            | Expr::And { .. }
            | Expr::Or { .. }
            | Expr::Cast { .. }
            | Expr::Call { .. }
            | Expr::Faulted => None,
        }
    }

    /// `memory[index]`
    pub fn element(
        &mut self,
        frame: &mut Frame<'_>,
        memory: Memory,
        index: ExprId,
        site: Option<SiteId>,
    ) -> Part {
        let expr = self.expr(frame, index);
        let site = self.site(frame, site);
        let mut part = frame.memory(memory);
        let index = Index { expr, site };
        match part.storage {
            Storage::Slice(..) | Storage::Shared(_) => {
                part.indices.push(index);
                part
            }
            Storage::Locals(_) | Storage::Params(_) | Storage::Constant(_) => part.index(index),
        }
    }

    fn compound_part(&mut self, frame: &mut Frame<'_>, id: CompoundId) -> Option<Part> {
        let ir = frame.ir;
        match &ir.compounds[id.index()] {
            Compound::Field { base, name } => {
                Some(self.named_part(frame, *base).field(ir.name(*name)))
            }
            Compound::Payload {
                value,
                variant,
                name,
            } => {
                let part = self.named_part(frame, *value);
                Some(part.payload(ir.name(*variant), ir.name(*name)))
            }
            Compound::Index { base, index, site } => {
                let part = self.named_part(frame, *base);
                let expr = self.expr(frame, *index);
                let site = self.site(frame, *site);
                Some(part.index(Index { expr, site }))
            }
            Compound::IsVariant { .. }
            | Compound::Construct { .. }
            | Compound::Array { .. }
            | Compound::Repeat { .. }
            | Compound::Len { .. }
            | Compound::At { .. } => None,
        }
    }

    fn named_part(&mut self, frame: &mut Frame<'_>, id: ExprId) -> Part {
        match self.part(frame, id) {
            Some(part) => part,
            None => unreachable!("parts are taken of what has a name"),
        }
    }

    fn operation(&mut self, frame: &mut Frame<'_>, id: ExprId, loc: Loc) -> ExprId {
        if let Expr::Binary {
            op: op @ (BinaryOp::Eq | BinaryOp::Ne),
            lhs,
            rhs,
        } = frame.ir.expr(id)
            && !matches!(frame.resolve(frame.ir.type_of(lhs)), Shape::Scalar(_))
        {
            return self.equality(frame, (lhs, rhs), op == BinaryOp::Eq, loc);
        }
        let ty = frame.ir.type_of(id);
        let scalar = frame.resolve(ty).scalar();
        let expr = match frame.ir.expr(id) {
            // A literal whose type was open has the widest type.
            Expr::Literal(value) => Expr::Literal(cast(value, scalar)),
            Expr::Len(memory) => return self.len(frame, memory, loc),
            Expr::Builtin(builtin) => Expr::Builtin(builtin),
            Expr::Bounded { index, len, site } => Expr::Bounded {
                index: self.expr(frame, index),
                len: self.expr(frame, len),
                site: self.site(frame, site),
            },
            Expr::Unary { op, arg } => Expr::Unary {
                op,
                arg: self.expr(frame, arg),
            },
            Expr::Binary { op, lhs, rhs } => Expr::Binary {
                op,
                lhs: self.expr(frame, lhs),
                rhs: self.expr(frame, rhs),
            },
            Expr::Divide { op, lhs, rhs, site } => {
                let (lhs, rhs) = (self.expr(frame, lhs), self.expr(frame, rhs));
                match float_division(op, scalar) {
                    Some(op) => Expr::Binary { op, lhs, rhs },
                    None => Expr::Divide {
                        op,
                        lhs,
                        rhs,
                        site: self.site(frame, site),
                    },
                }
            }
            Expr::And { lhs, rhs } => return self.short_circuit(frame, (lhs, rhs), true, loc),
            Expr::Or { lhs, rhs } => return self.short_circuit(frame, (lhs, rhs), false, loc),
            Expr::Cast { arg } if frame.ir.type_of(arg).as_scalar().is_none() => {
                return self.cast_of_open(frame, arg, scalar, loc);
            }
            Expr::Cast { arg } => Expr::Cast {
                arg: self.expr(frame, arg),
            },
            Expr::Call { intrinsic, args } => self.call_intrinsic(frame, intrinsic, args),
            Expr::Compound(compound) => return self.compound(frame, compound, loc),
            Expr::Faulted => Expr::Faulted,
            Expr::Link(_) | Expr::Local(_) | Expr::Param(_) | Expr::Load { .. } => {
                unreachable!("these are parts")
            }
        };
        let made = self.out.push_expr(expr, scalar, loc);
        if scalar.is_int()
            && let Some(site) = self.site(frame, frame.ir.overflow_site(id))
        {
            self.out.overflows.to_mut().push((made, site));
        }
        made
    }

    /// Converts a value whose type was open before linking: a number, or an enum by its tag. Some conversions take two steps on every target.
    fn cast_of_open(&mut self, frame: &mut Frame<'_>, arg: ExprId, to: Scalar, loc: Loc) -> ExprId {
        let shape = frame.resolve(frame.ir.type_of(arg));
        let arg = match shape {
            Shape::Enum(_) => {
                let part = self.named_part(frame, arg);
                self.read(&part.tag(), loc)
            }
            Shape::Scalar(_) | Shape::Struct(..) | Shape::Array(..) => self.expr(frame, arg),
        };
        match (self.out.scalar_of(arg), to) {
            (Scalar::Bool, _) if to.is_float() => {
                let byte = self.cast(arg, Scalar::U8, loc);
                self.cast(byte, to, loc)
            }
            (Scalar::I8 | Scalar::U8, _) if to.is_half() => {
                let wide = self.cast(arg, Scalar::F32, loc);
                self.cast(wide, to, loc)
            }
            _ => self.cast(arg, to, loc),
        }
    }

    fn call_intrinsic(&mut self, frame: &mut Frame<'_>, intrinsic: Intrinsic, args: List) -> Expr {
        let args: Vec<ExprId> = frame.ir.list(args).collect();
        let args: Vec<ExprId> = args.into_iter().map(|a| self.expr(frame, a)).collect();
        Expr::Call {
            intrinsic,
            args: self.out.push_list(&args),
        }
    }

    fn len(&mut self, frame: &Frame<'_>, memory: Memory, loc: Loc) -> ExprId {
        let part = frame.memory(memory);
        match (&part.storage, &part.shape) {
            (Storage::Slice(..) | Storage::Shared(_), _) => self.memory_len(&part, loc),
            (
                Storage::Locals(_) | Storage::Params(_) | Storage::Constant(_),
                Shape::Array(_, n),
            ) => self.literal(Value::Usize(*n), loc),
            (_, other) => unreachable!("rustc found no length of {other:?}"),
        }
    }

    /// Translates an operation on compound values that yields a scalar.
    fn compound(&mut self, frame: &mut Frame<'_>, id: CompoundId, loc: Loc) -> ExprId {
        let ir = frame.ir;
        match &ir.compounds[id.index()] {
            Compound::IsVariant { value, variant } => {
                let part = self.named_part(frame, *value);
                let tag = part.shape.variant(ir.name(*variant)).tag;
                let found = self.read(&part.tag(), loc);
                let wanted = self.literal(tag, loc);
                self.binary(BinaryOp::Eq, found, wanted, Scalar::Bool, loc)
            }
            Compound::Len { base } => match self.named_part(frame, *base).shape {
                Shape::Array(_, n) => self.literal(Value::Usize(n), loc),
                other => unreachable!("rustc found no length of {other:?}"),
            },
            Compound::At { view, indices } => self.at(frame, *view, *indices, loc),
            Compound::Field { .. }
            | Compound::Index { .. }
            | Compound::Payload { .. }
            | Compound::Construct { .. }
            | Compound::Array { .. }
            | Compound::Repeat { .. } => unreachable!("these are parts, or made in their place"),
        }
    }

    /// The position of an element of a view.
    fn at(&mut self, frame: &mut Frame<'_>, view: ParamId, indices: List, loc: Loc) -> ExprId {
        let indices: Vec<ExprId> = frame.ir.list(indices).collect();
        let rank = indices.len() as u32;
        let read = |this: &mut Linker, part| {
            let param = &frame.params[Kernel::view_param(view, rank, part).index()];
            this.read(&param.clone(), loc)
        };
        let mut at = read(self, ViewPart::Offset);
        let strides: Vec<ExprId> = (0..rank).map(|d| read(self, ViewPart::Stride(d))).collect();
        if let Some(Expr::Param(last)) = strides.last().map(|last| self.out.expr(*last))
            && !self.out.last_strides.contains(&last)
        {
            self.out.last_strides.to_mut().push(last);
        }
        for (index, stride) in indices.into_iter().zip(strides) {
            let index = self.expr(frame, index);
            let scaled = self.binary(BinaryOp::Mul, index, stride, Scalar::Usize, loc);
            at = self.binary(BinaryOp::Add, at, scaled, Scalar::Usize, loc);
        }
        at
    }

    /// `lhs && rhs` if `all`, else `lhs || rhs`. Statements that `rhs` needs run only if `lhs` doesn't decide the
    /// result.
    fn short_circuit(
        &mut self,
        frame: &mut Frame<'_>,
        (lhs, rhs): (ExprId, ExprId),
        all: bool,
        loc: Loc,
    ) -> ExprId {
        let lhs = self.expr(frame, lhs);
        self.blocks.push(vec![]);
        let rhs = self.expr(frame, rhs);
        let mut stmts = self.blocks.pop().unwrap_or_default();
        if stmts.is_empty() {
            let expr = match all {
                true => Expr::And { lhs, rhs },
                false => Expr::Or { lhs, rhs },
            };
            return self.out.push_expr(expr, Scalar::Bool, loc);
        }
        let local = self.out.push_local(Local {
            name: "both".into(),
            ty: Scalar::Bool.into(),
            mutable: true,
        });
        let init = Some(lhs);
        self.push(Stmt::Let { local, init }, loc);
        let assign = Stmt::Assign { local, value: rhs };
        stmts.push(self.out.push_stmt(assign, loc));
        let asked = self.out.push_block(&stmts);
        let (then, otherwise) = match all {
            true => (asked, crate::Block::EMPTY),
            false => (crate::Block::EMPTY, asked),
        };
        let cond = self.read_local(local, loc);
        let branch = Stmt::If {
            cond,
            then,
            otherwise,
        };
        self.push(branch, loc);
        self.read_local(local, loc)
    }
}

/// The operator for `/` or `%` on floats, which cannot fault.
fn float_division(op: DivideOp, ty: Scalar) -> Option<BinaryOp> {
    match op {
        DivideOp::Div if ty.is_float() => Some(BinaryOp::Div),
        DivideOp::Rem if ty.is_float() => Some(BinaryOp::Rem),
        DivideOp::Div | DivideOp::Rem | DivideOp::DivEuclid | DivideOp::RemEuclid => None,
    }
}
