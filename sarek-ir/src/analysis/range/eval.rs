//! Evaluates expressions to ranges.

use super::Analyser;
use crate::analysis::linear::{Interval, Relation};
use crate::analysis::shape::same;
use crate::numeric::Widening;
use crate::{
    BinaryOp, DivideOp, Expr, ExprId, Intrinsic, List, Memory, Scalar, SiteId, UnaryOp, Value,
    operators,
};

impl Analyser<'_> {
    /// Evaluates an expression that is executed here, and records its sites and overflows.
    pub(super) fn eval(&mut self, id: ExprId) -> Interval {
        let outer = std::mem::replace(&mut self.overflowed, false);
        let ty = self.kernel.scalar_of(id);
        let mut range = self.node(id, ty);
        let wraps = std::mem::take(&mut self.wraps);
        if let Some(site) = self.kernel.overflow_site(id) {
            // The operands were evaluated first, so that `exceeds` belongs to this operator.
            self.check(Some(site), !self.exceeds);
        }
        if !self.env.facts.is_empty() {
            range = self.known(id, range);
        }
        if self.record {
            self.out.overflow[id.index()] |= self.overflowed;
            self.out.wraps[id.index()] |= wraps;
            if ty == Scalar::Usize && range.hi > i128::from(u32::MAX) {
                range = self.refined(id, range);
            }
            if ty == Scalar::Usize && range.hi > i128::from(u32::MAX) {
                self.out.fits_u32 = false;
            }
        }
        self.overflowed |= outer;
        range
    }

    /// Evaluates an expression that may not be executed here, and records nothing.
    pub(super) fn peek(&mut self, id: ExprId) -> Interval {
        let (record, overflowed) = (self.record, self.overflowed);
        self.record = false;
        let range = self.eval(id);
        (self.record, self.overflowed) = (record, overflowed);
        range
    }

    /// Narrows a range by the guards on expressions of the same shape.
    fn known(&self, id: ExprId, range: Interval) -> Interval {
        let facts = self.env.facts.iter();
        facts.fold(range, |range, &(fact, to)| {
            let met = range.meet(to);
            if !met.is_empty() && same(self.kernel, id, fact) {
                met
            } else {
                range
            }
        })
    }

    fn node(&mut self, id: ExprId, ty: Scalar) -> Interval {
        let full = Interval::of(ty);
        match self.kernel.expr(id) {
            Expr::Literal(value) => of_value(value),
            Expr::Link(_) => full,
            Expr::Compound(_) => unreachable!("linking leaves no compound"),
            Expr::Local(local) => {
                self.overflowed |= self.tainted[local.index()];
                self.env.locals[local.index()]
            }
            Expr::Param(param) => self.scalar_arg(param, full),
            Expr::Len(memory) => Interval::exactly(self.len(memory)),
            Expr::Builtin(builtin) => self.env.builtin(builtin),
            Expr::Load {
                memory,
                index,
                site,
            } => {
                self.index(memory, index, site);
                match memory {
                    Memory::Table(table) => {
                        let range = self.kernel.tables[table.index()].range();
                        range.map_or(full, |(lo, hi)| Interval::new(lo, hi))
                    }
                    Memory::Slice(_) | Memory::Shared(_) | Memory::Local(_) => full,
                }
            }
            Expr::Bounded {
                index: index_id,
                len: len_id,
                site,
            } => {
                let (index, len) = (self.eval(index_id), self.eval(len_id));
                let inside = Interval::new(0, len.lo - 1);
                let holds = index.within(inside) || self.is_below(index_id, len_id);
                self.check(site, holds);
                if holds {
                    let met = index.meet(inside);
                    return if met.is_empty() { index } else { met };
                }
                // After a failed check, the value is 0.
                let passed = index.meet(Interval::new(0, len.hi - 1));
                passed.join(Interval::exactly(0))
            }
            Expr::Unary { op, arg } => {
                let arg = self.eval(arg);
                self.unary(op, arg, ty)
            }
            Expr::Binary { op, lhs, rhs } => self.binary(op, lhs, rhs, ty),
            Expr::Divide { op, lhs, rhs, site } => {
                let (l, mut r) = (self.eval(lhs), self.eval(rhs));
                if r.contains(0) {
                    r = self.refined(rhs, r);
                }
                self.divide(op, l, r, site, full)
            }
            Expr::And { lhs, rhs } => self.short_circuit(lhs, rhs, true),
            Expr::Or { lhs, rhs } => self.short_circuit(lhs, rhs, false),
            Expr::Cast { arg } => {
                let range = self.eval(arg);
                let from = self.kernel.scalar_of(arg);
                if from.is_float() || ty.is_float() {
                    return full;
                }
                self.wrap(range, ty)
            }
            Expr::Call { intrinsic, args } => self.call(intrinsic, args, ty),
            Expr::Faulted => Interval::BIT,
        }
    }

    /// Evaluates an index, and checks that it is in bounds.
    pub(super) fn index(&mut self, memory: Memory, index: ExprId, site: Option<SiteId>) {
        let range = self.eval(index);
        let inside = Interval::new(0, self.len(memory) - 1);
        let holds = range.within(inside) || self.refined(index, range).within(inside);
        self.check(site, holds);
    }

    /// True if sums prove that an index is below a length.
    fn is_below(&mut self, index: ExprId, len: ExprId) -> bool {
        let difference = self.difference(index, len);
        difference.is_some_and(|d| d.hi < 0) && self.refined(index, Interval::ANY).lo >= 0
    }

    /// Records a site that may fail.
    pub(super) fn check(&mut self, site: Option<SiteId>, holds: bool) {
        self.doubtful |= !holds;
        if let Some(site) = site
            && self.record
            && !holds
        {
            self.out.proved[site.index()] = false;
        }
    }

    /// Wraps the exact result of an operation to a type.
    pub(super) fn wrap(&mut self, exact: Interval, ty: Scalar) -> Interval {
        let full = Interval::of(ty);
        self.exceeds = !exact.within(full);
        if !self.exceeds {
            return exact;
        }
        self.overflowed = true;
        if self.record && ty == Scalar::Usize {
            self.out.fits_u32 = false;
        }
        let period = 1i128 << ty.bits();
        if exact.lo > -(1 << 100) && exact.hi < (1 << 100) {
            let turns = (exact.lo - full.lo).div_euclid(period);
            let wrapped = exact.shift_by(-turns * period);
            if wrapped.within(full) {
                return wrapped;
            }
        }
        full
    }

    fn unary(&mut self, op: UnaryOp, arg: Interval, ty: Scalar) -> Interval {
        match op {
            UnaryOp::Neg if ty.is_float() => Interval::ANY,
            UnaryOp::Neg => self.wrap(arg.negated(), ty),
            UnaryOp::Not if ty == Scalar::Bool => Interval::exactly(1).minus(arg),
            // `!x` is `-x - 1` in signed types and `MAX - x` in unsigned ones.
            UnaryOp::Not if ty.is_signed() => arg.negated().shift_by(-1),
            UnaryOp::Not => Interval::exactly(Interval::of(ty).hi).minus(arg),
        }
    }

    fn binary(&mut self, op: BinaryOp, lhs: ExprId, rhs: ExprId, ty: Scalar) -> Interval {
        let (l, r) = (self.eval(lhs), self.eval(rhs));
        let full = Interval::of(ty);
        if ty.is_float() {
            return Interval::ANY;
        }
        match op {
            BinaryOp::Add => self.wrap_sum(op, (lhs, rhs), l.plus(r), ty),
            BinaryOp::Sub => self.wrap_sum(op, (lhs, rhs), l.minus(r), ty),
            BinaryOp::Mul => self.wrap_sum(op, (lhs, rhs), l.times(r), ty),
            BinaryOp::Div | BinaryOp::Rem => full,
            // Sign extension commutes with the bit operators.
            BinaryOp::BitAnd => both(l, r, |a, b| a & b).unwrap_or_else(|| l.and(r, full)),
            BinaryOp::BitOr => {
                both(l, r, |a, b| a | b).unwrap_or_else(|| l.or_xor(r, true, full).meet(full))
            }
            BinaryOp::BitXor => {
                both(l, r, |a, b| a ^ b).unwrap_or_else(|| l.or_xor(r, false, full).meet(full))
            }
            BinaryOp::Shl | BinaryOp::Shr => self.shift(op, l, r, ty),
            BinaryOp::Eq
            | BinaryOp::Ne
            | BinaryOp::Lt
            | BinaryOp::Le
            | BinaryOp::Gt
            | BinaryOp::Ge => {
                if self.kernel.scalar_of(lhs).is_float() {
                    return Interval::BIT;
                }
                let range = compare(op, l, r);
                if range == Interval::BIT
                    && !self.env.sums.is_empty()
                    && let Some(difference) = self.difference(lhs, rhs)
                {
                    return compare(op, difference, Interval::exactly(0));
                }
                range
            }
        }
    }

    /// [`Self::wrap`] for a sum, a difference or a product of two operands.
    fn wrap_sum(
        &mut self,
        op: BinaryOp,
        (lhs, rhs): (ExprId, ExprId),
        exact: Interval,
        ty: Scalar,
    ) -> Interval {
        let exact = match exact.within(Interval::of(ty)) {
            true => exact,
            false => self.refined_exact(op, lhs, rhs, exact),
        };
        self.wrap(exact, ty)
    }

    fn shift(&mut self, op: BinaryOp, l: Interval, count: Interval, ty: Scalar) -> Interval {
        if ty == Scalar::Usize && self.record && !count.within(Interval::new(0, 31)) {
            self.out.fits_u32 = false;
        }
        // The count is masked to the width, which changes nothing if it is smaller.
        let most = Interval::new(0, i128::from(ty.bits()) - 1);
        let exceeds = !count.within(most);
        let count = if exceeds { most } else { count };
        // By another count, the value is not the product by a power of two, nor the quotient.
        self.overflowed |= exceeds;
        let range = if op == BinaryOp::Shl {
            self.wrap(l.shifted_left(count), ty)
        } else {
            l.shifted_right(count)
        };
        // Bits may be shifted out without a fault.
        self.exceeds = exceeds;
        range
    }

    fn divide(
        &mut self,
        op: DivideOp,
        l: Interval,
        r: Interval,
        site: Option<SiteId>,
        full: Interval,
    ) -> Interval {
        let overflows = full.lo < 0 && l.contains(full.lo) && r.contains(-1);
        let safe = !r.contains(0) && !overflows;
        self.check(site, safe);
        if !safe {
            return full;
        }
        match op {
            DivideOp::Div => l.quotient(r),
            DivideOp::Rem => l.remainder(r),
            DivideOp::DivEuclid => l.quotient_euclid(r),
            DivideOp::RemEuclid => l.remainder_euclid(r),
        }
    }

    /// `&&` if `and`, else `||`: the right operand is evaluated only if the left one equals `and`.
    fn short_circuit(&mut self, lhs: ExprId, rhs: ExprId, and: bool) -> Interval {
        let l = self.eval(lhs);
        let decided = Interval::exactly(i128::from(!and));
        if l == decided {
            return decided;
        }
        let before = self.env.clone();
        self.assume(lhs, and);
        let r = if self.env.live {
            self.eval(rhs)
        } else {
            decided
        };
        self.env = before;
        if and { l.min(r) } else { l.max(r) }
    }

    fn call(&mut self, intrinsic: Intrinsic, args: List, ty: Scalar) -> Interval {
        let kernel = self.kernel;
        let mut ranges = [Interval::ANY; 3];
        let mut on = ty;
        for (i, arg) in kernel.list(args).enumerate() {
            if i == 0 {
                on = kernel.scalar_of(arg);
            }
            ranges[i.min(2)] = self.eval(arg);
        }
        if on.is_float() || ty.is_float() {
            return Interval::of(ty);
        }
        let arity = args.len as usize;
        let result = match constant(intrinsic, on, &ranges[..arity]) {
            Some(v) => {
                self.check_width(intrinsic, on, ranges[1]);
                v
            }
            None => self.int_call(intrinsic, on, ranges, ty),
        };
        let magnitude = ranges[0].abs();
        let fits = match intrinsic == Intrinsic::Pow {
            true => magnitude.power(ranges[1]).within(Interval::of(on)),
            false => intrinsic != Intrinsic::Abs || magnitude.within(Interval::of(on)),
        };
        self.exceeds = !fits;
        self.wraps = self.may_wrap(intrinsic, args, (ranges, ty));
        result
    }

    /// True if an operation that wraps by definition may wrap.
    fn may_wrap(
        &mut self,
        intrinsic: Intrinsic,
        args: List,
        ([l, r, _], ty): ([Interval; 3], Scalar),
    ) -> bool {
        let (op, exact) = match intrinsic {
            Intrinsic::WrappingAdd => (BinaryOp::Add, l.plus(r)),
            Intrinsic::WrappingSub => (BinaryOp::Sub, l.minus(r)),
            Intrinsic::WrappingMul => (BinaryOp::Mul, l.times(r)),
            _ => return false,
        };
        let full = Interval::of(ty);
        let operands: Vec<ExprId> = self.kernel.list(args).collect();
        match operands.as_slice() {
            _ if exact.within(full) => false,
            &[lhs, rhs] => !self.refined_exact(op, lhs, rhs, exact).within(full),
            _ => true,
        }
    }

    /// Records a `usize` method whose result depends on the width of `usize`. Counts of zero bits do not:
    /// [`crate::passes::narrow_usize`] keeps their 64-bit results.
    fn check_width(&mut self, intrinsic: Intrinsic, on: Scalar, arg: Interval) {
        let widening = intrinsic.lowering().widening;
        let moves_bits = matches!(widening, Widening::Rotate | Widening::Reverse);
        let shifts = matches!(widening, Widening::Shift(_));
        let depends = moves_bits || (shifts && !arg.within(Interval::new(0, 31)));
        if on == Scalar::Usize && depends && self.record {
            self.out.fits_u32 = false;
        }
    }

    fn int_call(
        &mut self,
        intrinsic: Intrinsic,
        on: Scalar,
        [x, a, b]: [Interval; 3],
        ty: Scalar,
    ) -> Interval {
        let full = Interval::of(ty);
        self.check_width(intrinsic, on, a);
        match intrinsic {
            Intrinsic::Min => x.min(a),
            Intrinsic::Max => x.max(a),
            Intrinsic::Clamp => x.max(a).min(b),
            Intrinsic::Abs | Intrinsic::WrappingAbs | Intrinsic::UnsignedAbs => {
                self.wrap_silently(x.abs(), ty)
            }
            Intrinsic::AbsDiff => x.minus(a).abs(),
            Intrinsic::Signum => x.saturated(Interval::new(-1, 1)),
            Intrinsic::Pow if x.lo >= 0 => self.wrap_silently(x.power(a), ty),
            Intrinsic::LeadingZeros if x.within(Interval::of(Scalar::U64)) => {
                let zeros = |v: i128| i128::from((v as u64).leading_zeros() + on.bits()) - 64;
                Interval::new(zeros(x.hi), zeros(x.lo))
            }
            Intrinsic::CountOnes | Intrinsic::LeadingZeros | Intrinsic::TrailingZeros => {
                Interval::new(0, on.bits().into())
            }
            Intrinsic::WrappingAdd => self.wrap_silently(x.plus(a), ty),
            Intrinsic::WrappingSub => self.wrap_silently(x.minus(a), ty),
            Intrinsic::WrappingMul => self.wrap_silently(x.times(a), ty),
            Intrinsic::WrappingNeg => self.wrap_silently(x.negated(), ty),
            Intrinsic::SaturatingAdd => x.plus(a).saturated(full),
            Intrinsic::SaturatingSub => x.minus(a).saturated(full),
            Intrinsic::SaturatingMul => x.times(a).saturated(full),
            Intrinsic::WrappingShl => self.silently(|this| this.shift(BinaryOp::Shl, x, a, ty)),
            Intrinsic::WrappingShr => self.silently(|this| this.shift(BinaryOp::Shr, x, a, ty)),
            // Any number: of bit permutations, of powers of bases that may be negative, and of floats, which are not tracked.
            _ => full,
        }
    }

    /// [`Self::wrap`] for an operation that wraps by definition.
    fn wrap_silently(&mut self, exact: Interval, ty: Scalar) -> Interval {
        self.silently(|this| this.wrap(exact, ty))
    }

    /// Computes a value without recording an overflow.
    fn silently(&mut self, compute: impl FnOnce(&mut Self) -> Interval) -> Interval {
        let overflowed = self.overflowed;
        let range = compute(self);
        self.overflowed = overflowed;
        range
    }
}

pub(super) fn of_value(value: Value) -> Interval {
    match value {
        Value::Bool(b) => Interval::exactly(b.into()),
        Value::F16(_) | Value::Bf16(_) | Value::F32(_) | Value::F64(_) => Interval::ANY,
        Value::I8(_)
        | Value::U8(_)
        | Value::I16(_)
        | Value::U16(_)
        | Value::I32(_)
        | Value::U32(_)
        | Value::I64(_)
        | Value::U64(_)
        | Value::Usize(_) => value.as_int().map_or(Interval::ANY, Interval::exactly),
    }
}

/// The result of an integer call with constant operands.
fn constant(intrinsic: Intrinsic, on: Scalar, ranges: &[Interval]) -> Option<Interval> {
    let mut values = [Value::Bool(false); 3];
    for (i, range) in ranges.iter().enumerate() {
        let arg = intrinsic.args().get(i.wrapping_sub(1));
        let ty = arg.map_or(on, |arg| arg.of(on));
        values[i] = Value::int(ty, range.exact()?)?;
    }
    Some(of_value(operators::call(
        intrinsic,
        &values[..ranges.len()],
    )))
}

/// The result for two constants.
fn both(l: Interval, r: Interval, f: impl Fn(i128, i128) -> i128) -> Option<Interval> {
    Some(Interval::exactly(f(l.exact()?, r.exact()?)))
}

/// The result of a comparison: 0, 1 or both.
fn compare(op: BinaryOp, l: Interval, r: Interval) -> Interval {
    Relation::of(op).map_or(Interval::BIT, |relation| relation.decided(l, r))
}
