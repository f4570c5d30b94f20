//! Accesses elements of slices as units.

use super::build::Linker;
use super::leaf::{Part, Unit};
use super::shape::{Leaf, Shape};
use crate::{BinaryOp, Expr, ExprId, Intrinsic, Loc, Memory, ParamId, Scalar, SiteId, Stmt, Value};

impl Unit {
    /// The largest unit of which all scalars of the elements consist.
    pub fn of(elem: &Shape) -> Unit {
        let leaves = elem.leaves();
        let first = leaves.first().map_or(Scalar::U32, |leaf| leaf.scalar);
        let one_type = leaves.iter().all(|leaf| leaf.scalar == first);
        let least = leaves.iter().map(|leaf| leaf.scalar.size()).min();
        let scalar = match least {
            _ if one_type => first,
            Some(1) => Scalar::U8,
            Some(2) => Scalar::U16,
            Some(8) => Scalar::U64,
            Some(_) | None => Scalar::U32,
        };
        Unit {
            scalar,
            per: elem.size() / scalar.size() as u64,
        }
    }

    fn count(self, leaf: Scalar) -> u64 {
        leaf.size() as u64 / self.scalar.size() as u64
    }
}

impl Linker {
    pub fn load(&mut self, memory: Memory, index: ExprId, ty: Scalar, loc: Loc) -> ExprId {
        self.load_checked(memory, (index, None), ty, loc)
    }

    pub fn load_checked(
        &mut self,
        memory: Memory,
        (index, site): (ExprId, Option<SiteId>),
        ty: Scalar,
        loc: Loc,
    ) -> ExprId {
        let load = Expr::Load {
            memory,
            index,
            site,
        };
        self.out.push_expr(load, ty, loc)
    }

    pub fn store(
        &mut self,
        memory: Memory,
        (index, site): (ExprId, Option<SiteId>),
        value: ExprId,
        loc: Loc,
    ) {
        let store = Stmt::Store {
            memory,
            index,
            value,
            site,
        };
        self.push(store, loc);
    }

    /// Reads a scalar inside an element of a slice.
    pub fn read_units(&mut self, param: ParamId, unit: Unit, part: &Part, loc: Loc) -> ExprId {
        let memory = Memory::Slice(param);
        let leaf = part.whole.leaves()[part.first].clone();
        if unit.per == 1 && leaf.dims.is_empty() {
            let index = part.indices[0];
            let value = self.load_checked(memory, (index.expr, index.site), unit.scalar, loc);
            return self.scalar_of_unit(value, leaf.scalar, loc);
        }
        let mut part = part.clone();
        let count = unit.count(leaf.scalar);
        if count > 1 {
            self.settle(&mut part, loc);
        }
        let mut value: Option<ExprId> = None;
        for k in 0..count {
            let one = self.again_if(&part, count > 1, loc);
            let index = self.unit_index(unit, &one, &leaf, k, loc);
            let loaded = self.load(memory, index, unit.scalar, loc);
            value = Some(match value {
                None if count == 1 => self.scalar_of_unit(loaded, leaf.scalar, loc),
                None => self.widened(loaded, leaf.scalar, loc),
                Some(low) => {
                    let high = self.widened(loaded, leaf.scalar, loc);
                    self.joined(low, high, k * unit.scalar.size() as u64 * 8, loc)
                }
            });
        }
        let bits = value.unwrap_or_else(|| unreachable!("a scalar has at least one unit"));
        match count {
            1 => bits,
            _ => self.scalar_of_unit(bits, leaf.scalar, loc),
        }
    }

    pub fn write_units(
        &mut self,
        param: ParamId,
        unit: Unit,
        part: &Part,
        value: ExprId,
        loc: Loc,
    ) {
        let memory = Memory::Slice(param);
        let leaf = part.whole.leaves()[part.first].clone();
        let count = unit.count(leaf.scalar);
        if unit.per == 1 && leaf.dims.is_empty() {
            let value = self.unit_of_scalar(value, unit.scalar, loc);
            let index = part.indices[0];
            return self.store(memory, (index.expr, index.site), value, loc);
        }
        if count == 1 {
            let value = self.unit_of_scalar(value, unit.scalar, loc);
            let index = self.unit_index(unit, part, &leaf, 0, loc);
            return self.store(memory, (index, None), value, loc);
        }
        let wide = self.bits_of(leaf.scalar);
        let bits = self.unit_of_scalar(value, wide, loc);
        let bits = self.bind("bits", bits, loc);
        let mut part = part.clone();
        self.settle(&mut part, loc);
        for k in 0..count {
            let one = self.again(&part, loc);
            let index = self.unit_index(unit, &one, &leaf, k, loc);
            let all = self.read_local(bits, loc);
            let shift = self.literal(Value::U32((k * unit.scalar.size() as u64 * 8) as u32), loc);
            let shifted = self.binary(BinaryOp::Shr, all, shift, wide, loc);
            let piece = self.narrowed(shifted, unit.scalar, loc);
            self.store(memory, (index, None), piece, loc);
        }
    }

    fn again_if(&mut self, part: &Part, several: bool, loc: Loc) -> Part {
        match several {
            true => self.again(part, loc),
            false => part.clone(),
        }
    }

    /// The index of the `k`th unit of a scalar.
    fn unit_index(&mut self, unit: Unit, part: &Part, leaf: &Leaf, k: u64, loc: Loc) -> ExprId {
        let size = unit.scalar.size() as u64;
        let element = self.checked_index(part, 0, loc);
        let mut at = self.scale(element, unit.per, loc);
        for (d, &(_, stride)) in leaf.dims.iter().enumerate() {
            if d + 1 < part.indices.len() {
                let index = self.checked_index(part, d + 1, loc);
                let scaled = self.scale(index, stride / size, loc);
                at = self.sum(at, scaled, loc);
            }
        }
        let offset = self.literal(Value::Usize(leaf.offset / size + k), loc);
        self.sum(at, offset, loc)
    }

    /// The unsigned integer type that holds the bits of a scalar.
    fn bits_of(&self, scalar: Scalar) -> Scalar {
        match scalar.size() {
            8 => Scalar::U64,
            _ => Scalar::U32,
        }
    }

    fn widened(&mut self, unit: ExprId, leaf: Scalar, loc: Loc) -> ExprId {
        let to = self.bits_of(leaf);
        self.cast(unit, to, loc)
    }

    fn narrowed(&mut self, bits: ExprId, unit: Scalar, loc: Loc) -> ExprId {
        self.cast(bits, unit, loc)
    }

    fn joined(&mut self, low: ExprId, high: ExprId, by: u64, loc: Loc) -> ExprId {
        let ty = self.out.scalar_of(high);
        let by = self.literal(Value::U32(by as u32), loc);
        let high = self.binary(BinaryOp::Shl, high, by, ty, loc);
        self.binary(BinaryOp::BitOr, low, high, ty, loc)
    }

    /// The scalar with these bits; unchanged if it has the type already.
    fn scalar_of_unit(&mut self, bits: ExprId, to: Scalar, loc: Loc) -> ExprId {
        let from = self.out.scalar_of(bits);
        if from == to {
            return bits;
        }
        if to.is_float() {
            // The bits of a 16-bit float were joined from bytes in a wider number.
            let bits = match to.is_half() {
                true => self.cast(bits, Scalar::U16, loc),
                false => bits,
            };
            return self.intrinsic(Intrinsic::from_bits(to), bits, loc);
        }
        if to == Scalar::Bool {
            let zero = self.literal(Value::zero(from), loc);
            return self.binary(BinaryOp::Ne, bits, zero, Scalar::Bool, loc);
        }
        self.cast(bits, to, loc)
    }

    fn unit_of_scalar(&mut self, value: ExprId, to: Scalar, loc: Loc) -> ExprId {
        let from = self.out.scalar_of(value);
        if from == to {
            return value;
        }
        let bits = match from.is_float() {
            true => self.intrinsic(Intrinsic::ToBits, value, loc),
            false => value,
        };
        self.cast(bits, to, loc)
    }
}
