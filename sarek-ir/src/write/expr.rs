//! Writes expressions.

use crate::numeric::Operator;
use crate::{
    Access, Arithmetic, BinaryOp, DivideOp, Expr, ExprId, Intrinsic, List, Memory, ParamId,
    ParamKind, Scalar, SiteId, Value,
};

use super::stmt::Writer;
use super::{Packed, Precedence, Text, Unsupported};

impl Writer<'_> {
    pub(super) fn expr(&self, id: ExprId) -> Result<Text, Unsupported> {
        let ty = self.kernel.scalar_of(id);
        if let Some(site) = self.kernel.overflow_site(id) {
            return self.exact(id, site);
        }
        Ok(match self.kernel.expr(id) {
            Expr::Literal(value) => self.dialect.literal(value),
            Expr::Link(_) | Expr::Compound(_) => unreachable!("only closed kernels are written"),
            Expr::Local(local) => Text::primary(self.namer.local(local)),
            Expr::Param(param) => self.param(param),
            Expr::Len(memory) => self.len(memory),
            Expr::Builtin(builtin) => self.ids.text(builtin).clone(),
            Expr::Load {
                memory,
                index,
                site,
            } => self.load(memory, index, site, ty)?,
            Expr::Bounded { index, len, site } => self.bounded(index, len, site)?,
            Expr::Unary { op, arg } => {
                let [arg] = self.operands([arg])?;
                self.dialect.unary(op, ty, &arg)
            }
            Expr::Binary { op, lhs, rhs } => self.binary(op, lhs, rhs)?,
            Expr::Divide { op, lhs, rhs, site } => self.divide(op, lhs, rhs, site, ty)?,
            Expr::And { lhs, rhs } => Text::logic("&&", &self.expr(lhs)?, &self.expr(rhs)?),
            Expr::Or { lhs, rhs } => Text::logic("||", &self.expr(lhs)?, &self.expr(rhs)?),
            Expr::Cast { arg } => self.cast(arg, ty)?,
            Expr::Call { intrinsic, args } => self.call(intrinsic, args)?,
            Expr::Faulted => self.dialect.faulted(),
        })
    }

    /// The operands of an operation. At least one of them is not a constant to the target.
    fn operands<const N: usize>(&self, ids: [ExprId; N]) -> Result<[Text; N], Unsupported> {
        let mut texts = ids.map(|_| Text::primary(""));
        for (text, id) in texts.iter_mut().zip(ids) {
            *text = self.expr(id)?;
        }
        self.decide_at_runtime(&mut texts, &ids);
        Ok(texts)
    }

    fn decide_at_runtime(&self, texts: &mut [Text], ids: &[ExprId]) {
        if texts.iter().all(|t| t.constant)
            && let (Some(first), Some(id)) = (texts.first_mut(), ids.first())
        {
            *first = self
                .dialect
                .runtime(first.clone(), self.kernel.scalar_of(*id));
        }
    }

    pub(super) fn param(&self, param: ParamId) -> Text {
        let name = self.dialect.scalar_argument(self.argument(param));
        match self.kernel.params[param.index()].kind {
            ParamKind::Scalar(Scalar::Bool) => {
                let zero = self.dialect.literal(Value::U32(0));
                Text::infix(Precedence::Compare, "!=", &Text::primary(name), &zero)
            }
            ParamKind::Scalar(_) => Text::primary(name),
            ParamKind::Value(_) | ParamKind::Reference(_) | ParamKind::Slice { .. } => {
                unreachable!("a parameter of a closed kernel is a scalar or a slice")
            }
        }
    }

    fn load(
        &self,
        memory: Memory,
        index: ExprId,
        site: Option<SiteId>,
        ty: Scalar,
    ) -> Result<Text, Unsupported> {
        let mut index = self.index_of(memory, index)?;
        if let Some(site) = site {
            let helper = format!("srk_index_{}", self.index);
            index = self.checked(&helper, [index, self.len(memory)], site);
        }
        if let Some(packed) = self.packed_element(memory, &index) {
            return Ok(self.dialect.packed_load(&packed));
        }
        let name = self.memory(memory);
        let element = self.dialect.element(name, &index, self.index);
        Ok(match memory {
            Memory::Slice(_) | Memory::Shared(_) => self.dialect.loaded(element, ty),
            Memory::Local(_) | Memory::Table(_) => Text::primary(element),
        })
    }

    /// An element of a packed buffer, if the memory is one.
    pub(super) fn packed_element<'t>(
        &'t self,
        memory: Memory,
        index: &'t Text,
    ) -> Option<Packed<'t>> {
        let Memory::Slice(param) = memory else {
            return None;
        };
        let ty = self.packed_type(param)?;
        Some(Packed {
            buffer: self.memory(memory),
            ty,
            mutable: self.kernel.access(memory) != Access::Read,
            index,
            index_type: self.index,
        })
    }

    /// The type of the elements of a packed buffer, if the parameter is one.
    pub(super) fn packed_type(&self, param: ParamId) -> Option<Scalar> {
        match self.kernel.params[param.index()].kind {
            ParamKind::Slice { elem, access } if access != Access::Atomic => {
                Some(elem.scalar()).filter(|ty| self.dialect.packs(*ty))
            }
            ParamKind::Slice { .. }
            | ParamKind::Scalar(_)
            | ParamKind::Value(_)
            | ParamKind::Reference(_) => None,
        }
    }

    /// An index. In unreachable code, a constant may lie beyond an array's end; targets would reject it, so it is made
    /// opaque.
    pub(super) fn index_of(&self, memory: Memory, index: ExprId) -> Result<Text, Unsupported> {
        let text = self.expr(index)?;
        let value = self.kernel.literal(index).and_then(Value::as_int);
        let is_beyond = match (self.fixed_len(memory), value) {
            (Some(len), Some(n)) => n >= i128::from(len),
            (Some(_), None) => text.constant,
            (None, _) => false,
        };
        Ok(match is_beyond {
            true => self.dialect.runtime(text, self.index),
            false => text,
        })
    }

    fn bounded(
        &self,
        index: ExprId,
        len: ExprId,
        site: Option<SiteId>,
    ) -> Result<Text, Unsupported> {
        let index = self.expr(index)?;
        let Some(site) = site else { return Ok(index) };
        let helper = format!("srk_index_{}", self.index);
        let len = self.expr(len)?;
        Ok(self.checked(&helper, [index, len], site))
    }

    /// A call of a helper that faults at `site`.
    pub(super) fn checked<const N: usize>(
        &self,
        helper: &str,
        args: [Text; N],
        site: SiteId,
    ) -> Text {
        let mut all: Vec<Text> = vec![];
        all.extend(self.dialect.fault_argument().map(Text::primary));
        all.extend(args);
        all.push(self.dialect.literal(Value::U32(site.0)));
        Text::call(helper, &all)
    }

    /// Arithmetic that faults on overflow. The helper takes operands of the first one's type, and a shift count as a
    /// `u32`.
    fn exact(&self, id: ExprId, site: SiteId) -> Result<Text, Unsupported> {
        let arithmetic = self.kernel.arithmetic(id);
        let Some(arithmetic) = arithmetic else {
            unreachable!("only arithmetic overflows");
        };
        let mut operands = self.kernel.operands(id);
        let is_literal = |operand: ExprId| self.kernel.literal(operand).is_some();
        // The WGSL helper divides by the first factor, and NVIDIA's Vulkan compiler fails on some divisions by a
        // constant.
        if arithmetic == Arithmetic::Mul && is_literal(operands[0]) {
            operands.reverse();
        }
        let ty = self.kernel.scalar_of(operands[0]);
        let helper = format!("srk_exact_{}_{ty}", arithmetic.name());
        let first = self.expr(operands[0])?;
        let Some(&second) = operands.get(1) else {
            return Ok(self.checked(&helper, [first], site));
        };
        let mut text = self.expr(second)?;
        let count = self.kernel.scalar_of(second);
        if arithmetic.is_shift() && count != Scalar::U32 {
            text = Text::call(&format!("srk_count_{count}"), &[text]);
        }
        Ok(self.checked(&helper, [first, text], site))
    }

    fn binary(&self, op: BinaryOp, lhs: ExprId, rhs: ExprId) -> Result<Text, Unsupported> {
        let ty = self.kernel.scalar_of(lhs);
        if op.is_shift() {
            return self.shift(op, lhs, rhs);
        }
        let [lhs, rhs] = self.operands([lhs, rhs])?;
        Ok(match self.kernel.strict && ty.is_float() {
            true => self.dialect.strict_binary(op, ty, &lhs, &rhs),
            false => self.dialect.binary(op, ty, &lhs, &rhs),
        })
    }

    /// A shift whose count is masked to a `u32` below the width.
    fn shift(&self, op: BinaryOp, lhs: ExprId, rhs: ExprId) -> Result<Text, Unsupported> {
        let ty = self.kernel.scalar_of(lhs);
        let mask = ty.bits() - 1;
        let [lhs] = self.operands([lhs])?;
        let count = match self.kernel.literal(rhs).and_then(Value::as_int) {
            Some(n) => self.dialect.literal(Value::U32(n as u32 & mask)),
            None => {
                let count = self.cast(rhs, Scalar::U32)?;
                let mask = self.dialect.literal(Value::U32(mask));
                self.dialect
                    .binary(BinaryOp::BitAnd, Scalar::U32, &count, &mask)
            }
        };
        Ok(self.dialect.binary(op, ty, &lhs, &count))
    }

    fn divide(
        &self,
        op: DivideOp,
        lhs: ExprId,
        rhs: ExprId,
        site: Option<SiteId>,
        ty: Scalar,
    ) -> Result<Text, Unsupported> {
        let value = self.kernel.literal(rhs).and_then(Value::as_int);
        let [lhs, mut rhs] = self.operands([lhs, rhs])?;
        if value == Some(0) && site.is_none() {
            // The code is unreachable, but targets reject it nevertheless.
            rhs = self.dialect.runtime(rhs, ty);
        }
        Ok(match site {
            Some(site) => {
                let helper = format!("srk_checked_{}_{ty}", op.name());
                self.checked(&helper, [lhs, rhs], site)
            }
            None => self.dialect.divide(op, ty, &lhs, &rhs),
        })
    }

    fn cast(&self, arg: ExprId, to: Scalar) -> Result<Text, Unsupported> {
        let from = self.kernel.scalar_of(arg);
        let [arg] = self.operands([arg])?;
        Ok(if from == to {
            arg
        } else {
            self.dialect.cast(&arg, from, to)
        })
    }

    fn call(&self, intrinsic: Intrinsic, args: List) -> Result<Text, Unsupported> {
        let ids: Vec<ExprId> = self.kernel.list(args).collect();
        let ty = self.kernel.scalar_of(ids[0]);
        if let Some(operator) = self.operator(intrinsic, &ids, ty)? {
            return Ok(operator);
        }
        let function = match self.kernel.strict && ty.is_float() {
            true => self.dialect.strict_function(intrinsic, ty),
            false => self.dialect.function(intrinsic, ty),
        };
        let Some(function) = function else {
            let construct = format!("`{}` on {ty}", intrinsic.name());
            return Err(Unsupported::new(self.dialect.name(), construct));
        };
        let mut texts = vec![];
        for &id in &ids {
            texts.push(self.expr(id)?);
        }
        self.decide_at_runtime(&mut texts, &ids);
        Ok(Text::call(&function, &texts))
    }

    /// Writes a method that means the same as an operator.
    fn operator(
        &self,
        intrinsic: Intrinsic,
        args: &[ExprId],
        ty: Scalar,
    ) -> Result<Option<Text>, Unsupported> {
        match intrinsic.lowering().operator {
            Some(Operator::Unary(op)) => {
                let [arg] = self.operands([args[0]])?;
                Ok(Some(self.dialect.unary(op, ty, &arg)))
            }
            Some(Operator::Binary(op)) => self.binary(op, args[0], args[1]).map(Some),
            None => Ok(None),
        }
    }
}
