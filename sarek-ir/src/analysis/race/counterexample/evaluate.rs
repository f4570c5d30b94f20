//! Evaluates expressions of one thread, as far as their operands are known.
//!
//! An unknown operand gives an unknown result. Where an unknown operand may make a check fail, the thread stops:
//! nothing is known of its further run. Overflow of known operands stops the thread, too, because the race proof may
//! assume that nothing overflows. Overflow of unknown operands wraps, as in a release build.

use super::Element;
use super::datum::Datum;
use super::run::Thread;
use crate::analysis::access::Place;
use crate::{
    Access, BinaryOp, Compound, DivideOp, Expr, ExprId, HELD, Intrinsic, Length, List, LocalId,
    Memory, NameId, ParamId, Scalar, SiteId, TableValues, UnaryOp, Value, operators,
};

/// The thread faults, or its further run is unknown.
pub(super) struct Stop;

/// The result of a step of a thread.
pub(super) type Known<T> = Result<T, Stop>;

/// The largest array whose elements are followed.
const MOST_ITEMS: u64 = 1024;

impl Thread<'_> {
    /// Evaluates an expression. `None` if the value is unknown, or is neither an integer nor a boolean.
    pub fn scalar(&mut self, id: ExprId) -> Known<Option<Value>> {
        self.spend(1)?;
        let kernel = self.kernel();
        Ok(match kernel.expr(id) {
            Expr::Literal(value) => followed(value),
            Expr::Link(_) | Expr::Faulted => None,
            Expr::Local(local) => self.locals[local.index()].scalar(),
            Expr::Param(param) => self.param(param),
            Expr::Len(memory) => self.len(memory)?.map(Value::Usize),
            Expr::Builtin(builtin) => {
                (!builtin.is_of_subgroup()).then(|| Value::Usize(self.ids.get(builtin)))
            }
            Expr::Load {
                memory,
                index,
                site,
            } => self.load(id, (memory, index, site))?.scalar(),
            Expr::Bounded { index, len, site } => {
                let (index, len) = (self.scalar(index)?, self.scalar(len)?);
                match (index, len) {
                    (Some(Value::Usize(i)), Some(Value::Usize(n))) if i < n => index,
                    (Some(_), Some(_)) => return Err(Stop),
                    (_, _) => self.unchecked(site, index)?,
                }
            }
            Expr::Unary { op, arg } => {
                let Some(arg) = self.scalar(arg)? else {
                    return Ok(None);
                };
                self.exact(id, &[arg])?;
                unary(op, arg)
            }
            Expr::Binary { op, lhs, rhs } => {
                let (lhs, rhs) = (self.scalar(lhs)?, self.scalar(rhs)?);
                let (Some(lhs), Some(rhs)) = (lhs, rhs) else {
                    return Ok(None);
                };
                if !op.is_comparison() {
                    self.exact(id, &[lhs, rhs])?;
                }
                binary(op, lhs, rhs)
            }
            Expr::Divide { op, lhs, rhs, site } => {
                let (lhs, rhs) = (self.scalar(lhs)?, self.scalar(rhs)?);
                self.divide(op, (lhs, rhs), site)?
            }
            Expr::And { lhs, rhs } => self.short_circuit(lhs, rhs, false)?,
            Expr::Or { lhs, rhs } => self.short_circuit(lhs, rhs, true)?,
            Expr::Cast { arg } => {
                let arg = self.scalar(arg)?;
                arg.and_then(|arg| cast(arg, kernel.type_of(id).as_scalar()?))
            }
            Expr::Call { intrinsic, args } => self.call(id, intrinsic, args)?,
            Expr::Compound(_) => self.datum(id)?.scalar(),
        })
    }

    /// Evaluates an expression of any type.
    pub fn datum(&mut self, id: ExprId) -> Known<Datum> {
        let kernel = self.kernel();
        match kernel.expr(id) {
            Expr::Local(local) => {
                self.spend(1)?;
                let datum = self.locals[local.index()].clone();
                self.spend_copy(&datum)?;
                Ok(datum)
            }
            Expr::Load {
                memory,
                index,
                site,
            } => {
                self.spend(1)?;
                self.load(id, (memory, index, site))
            }
            Expr::Compound(compound) => {
                self.spend(1)?;
                self.compound(id, &kernel.compounds[compound.index()])
            }
            Expr::Literal(_)
            | Expr::Link(_)
            | Expr::Param(_)
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
            | Expr::Faulted => self.scalar(id).map(Datum::from),
        }
    }

    /// Evaluates a condition.
    pub fn truth(&mut self, id: ExprId) -> Known<Option<bool>> {
        Ok(match self.scalar(id)? {
            Some(Value::Bool(truth)) => Some(truth),
            Some(_) | None => None,
        })
    }

    /// Evaluates operands for their effects.
    pub fn operands(&mut self, list: List) -> Known<()> {
        for operand in self.kernel().list(list) {
            self.datum(operand)?;
        }
        Ok(())
    }

    /// Evaluates an index and checks its bounds. `None` if the element is unknown.
    pub fn index(
        &mut self,
        memory: Memory,
        index: ExprId,
        site: Option<SiteId>,
    ) -> Known<Option<Element>> {
        let at = match self.datum(index)? {
            Datum::Position(element) => return Ok(Some(element)),
            datum => datum.scalar(),
        };
        let len = match memory {
            Memory::Slice(param) => Some(self.world.len(param)),
            Memory::Shared(_) | Memory::Local(_) | Memory::Table(_) => self.len(memory)?,
        };
        let Some(Value::Usize(at)) = at else {
            return self.unchecked(site, None);
        };
        if matches!(memory, Memory::Slice(_)) {
            self.relies.longer |= at >= self.world.values.lengths;
        }
        match len {
            Some(len) if at < len => Ok(Some(Element::from(at))),
            Some(_) => Err(Stop),
            None => self.unchecked(site, Some(Element::from(at))),
        }
    }

    /// The result of a check with an unknown outcome: it stops the thread unless the check is proved, and so has no
    /// site.
    fn unchecked<T>(&self, site: Option<SiteId>, value: Option<T>) -> Known<Option<T>> {
        match site {
            None => Ok(value),
            Some(_) => Err(Stop),
        }
    }

    fn param(&mut self, param: ParamId) -> Option<Value> {
        let (value, is_length) = self.world.argument(param)?;
        self.relies.arguments |= !is_length;
        self.relies.lengths |= is_length;
        Some(value)
    }

    fn len(&mut self, memory: Memory) -> Known<Option<u64>> {
        let kernel = self.kernel();
        let len = match memory {
            Memory::Slice(param) => {
                self.relies.lengths = true;
                return Ok(Some(self.world.len(param)));
            }
            Memory::Shared(shared) => kernel.shared[shared.index()].len,
            Memory::Local(local) => match kernel.array(local) {
                Some((_, len)) => len,
                None => return Ok(None),
            },
            Memory::Table(table) => {
                return Ok(match &kernel.tables[table.index()].values {
                    TableValues::Known { values, .. } => Some(values.len() as u64),
                    TableValues::Link(_) => None,
                });
            }
        };
        match len {
            Length::Fixed(n) => Ok(Some(n)),
            Length::Link(_) => Ok(None),
            Length::Launch(len) => self.launch_time(len),
        }
    }

    /// Evaluates the length of a shared array. It depends on locals that the kernel sets once, if on any.
    fn launch_time(&mut self, len: ExprId) -> Known<Option<u64>> {
        let kernel = self.kernel();
        let changes = |id: ExprId| match kernel.expr(id) {
            Expr::Local(local) => kernel.locals[local.index()].mutable,
            _ => false,
        };
        if kernel.exprs_in([len]).any(changes) {
            return Ok(None);
        }
        Ok(match self.scalar(len)? {
            Some(Value::Usize(len)) => Some(len),
            Some(_) | None => None,
        })
    }

    fn load(
        &mut self,
        id: ExprId,
        (memory, index, site): (Memory, ExprId, Option<SiteId>),
    ) -> Known<Datum> {
        let Some(element) = self.index(memory, index, site)? else {
            return Ok(Datum::Unknown);
        };
        self.record(memory, Place::Load(id), element);
        let kernel = self.kernel();
        Ok(match memory {
            Memory::Slice(param)
                if self.world.zeros && is_read_only(kernel.access(param.into())) =>
            {
                let elem = kernel.element_type(memory).as_scalar();
                self.relies.zeros = true;
                Datum::from(elem.and_then(|elem| followed(Value::zero(elem))))
            }
            Memory::Slice(_) | Memory::Shared(_) => Datum::Unknown,
            Memory::Local(local) => self.item(local, element),
            Memory::Table(table) => match &kernel.tables[table.index()].values {
                TableValues::Known { values, .. } => {
                    let value = element.single().and_then(|at| values.get(at as usize));
                    Datum::from(value.and_then(|value| followed(*value)))
                }
                TableValues::Link(_) => Datum::Unknown,
            },
        })
    }

    fn item(&self, local: LocalId, element: Element) -> Datum {
        let Datum::Items(items) = &self.locals[local.index()] else {
            return Datum::Unknown;
        };
        let found = element.single().and_then(|at| items.get(at as usize));
        found.cloned().unwrap_or(Datum::Unknown)
    }

    /// Stops the thread if arithmetic on these operands overflows.
    fn exact(&self, id: ExprId, operands: &[Value]) -> Known<()> {
        let ints = operands.iter().all(|operand| operand.as_int().is_some());
        match self.kernel().arithmetic(id) {
            Some(arithmetic) if ints && arithmetic.overflows(operands) => Err(Stop),
            Some(_) | None => Ok(()),
        }
    }

    fn divide(
        &self,
        op: DivideOp,
        operands: (Option<Value>, Option<Value>),
        site: Option<SiteId>,
    ) -> Known<Option<Value>> {
        match operands {
            (Some(lhs), Some(rhs)) if lhs.scalar() == rhs.scalar() && lhs.scalar().is_int() => {
                operators::divide(op, lhs, rhs).map(Some).ok_or(Stop)
            }
            (None, Some(rhs)) if !matches!(rhs.as_int(), None | Some(0 | -1)) => Ok(None),
            (_, _) => self.unchecked(site, None),
        }
    }

    /// `lhs && rhs` or `lhs || rhs`; `decides` is the value of a side that decides the result.
    fn short_circuit(&mut self, lhs: ExprId, rhs: ExprId, decides: bool) -> Known<Option<Value>> {
        match self.truth(lhs)? {
            Some(truth) if truth == decides => Ok(Some(Value::Bool(decides))),
            Some(_) => self.scalar(rhs),
            None => {
                let certain = std::mem::replace(&mut self.certain, false);
                let rhs = self.truth(rhs)?;
                self.certain = certain;
                Ok((rhs == Some(decides)).then_some(Value::Bool(decides)))
            }
        }
    }

    fn call(&mut self, id: ExprId, intrinsic: Intrinsic, args: List) -> Known<Option<Value>> {
        let mut values = [Value::Bool(false); 3];
        let mut known = args.len as usize <= values.len();
        for (at, arg) in self.kernel().list(args).enumerate() {
            match (self.scalar(arg)?, values.get_mut(at)) {
                (Some(value), Some(to)) => *to = value,
                (_, _) => known = false,
            }
        }
        let Some(values) = values.get(..args.len as usize).filter(|_| known) else {
            return Ok(None);
        };
        if !has_value(intrinsic, values) {
            return Ok(None);
        }
        self.exact(id, values)?;
        Ok(followed(operators::call(intrinsic, values)))
    }

    fn compound(&mut self, id: ExprId, compound: &Compound) -> Known<Datum> {
        let kernel = self.kernel();
        Ok(match *compound {
            Compound::Field { base, name }
            | Compound::Payload {
                value: base, name, ..
            } => self.part(base, |base| base.field(name))?,
            Compound::Index { base, index, site } => self.item_of(base, index, site)?,
            Compound::IsVariant { value, variant } => {
                let found = self.part(value, Datum::variant)?;
                let is_wanted = |found| match kernel.name(variant) {
                    HELD => matches!(kernel.name(found), "Some" | "Ok"),
                    _ => found == variant,
                };
                Datum::from(found.map(|found| Value::Bool(is_wanted(found))))
            }
            Compound::Construct {
                variant,
                ref fields,
                rest,
            } => Datum::Fields {
                variant,
                fields: self.fields(fields, rest)?,
            },
            Compound::Array { items } => {
                let mut all = vec![];
                for item in kernel.list(items) {
                    all.push(self.datum(item)?);
                }
                Datum::Items(all)
            }
            Compound::Repeat { value } => {
                let value = self.datum(value)?;
                match self.fixed_len(id).filter(|len| *len <= MOST_ITEMS) {
                    Some(len) => {
                        self.spend(len as u32)?;
                        Datum::Items(vec![value; len as usize])
                    }
                    None => Datum::Unknown,
                }
            }
            Compound::Len { base } => Datum::from(self.fixed_len(base).map(Value::Usize)),
            Compound::At { indices, .. } => {
                let mut at = vec![];
                for index in kernel.list(indices) {
                    match self.scalar(index)? {
                        Some(Value::Usize(index)) => at.push(index),
                        Some(_) | None => return Ok(Datum::Unknown),
                    }
                }
                Element::of_view(&at).map_or(Datum::Unknown, Datum::Position)
            }
        })
    }

    fn item_of(&mut self, base: ExprId, index: ExprId, site: Option<SiteId>) -> Known<Datum> {
        let len = self.fixed_len(base);
        let item = |at: u64, base: &Datum| match base {
            Datum::Items(items) => items.get(at as usize).cloned(),
            Datum::Unknown | Datum::Scalar(_) | Datum::Position(_) | Datum::Fields { .. } => None,
        };
        match (self.scalar(index)?, len) {
            (Some(Value::Usize(at)), Some(len)) if at < len => {
                let item = self.part(base, |base| item(at, base))?;
                Ok(item.unwrap_or(Datum::Unknown))
            }
            (Some(_), Some(_)) => Err(Stop),
            (_, _) => {
                self.part(base, |_| ())?;
                Ok(Datum::from(self.unchecked(site, None)?))
            }
        }
    }

    /// The fields of a new value: those that are given, and the others of `rest`.
    fn fields(
        &mut self,
        given: &[(NameId, ExprId)],
        rest: Option<ExprId>,
    ) -> Known<Vec<(NameId, Datum)>> {
        let mut all = vec![];
        for (name, value) in given {
            all.push((*name, self.datum(*value)?));
        }
        if let Some(rest) = rest
            && let Datum::Fields { fields, .. } = self.datum(rest)?
        {
            let others = fields.into_iter();
            all.extend(others.filter(|(name, _)| !given.iter().any(|(of, _)| of == name)));
        }
        Ok(all)
    }

    /// Applies `f` to the value of an expression, without a copy if it is a local.
    fn part<T>(&mut self, base: ExprId, f: impl FnOnce(&Datum) -> T) -> Known<T> {
        match self.kernel().expr(base) {
            Expr::Local(local) => Ok(f(&self.locals[local.index()])),
            _ => Ok(f(&self.datum(base)?)),
        }
    }

    /// The length of an array, if its type tells it.
    fn fixed_len(&self, array: ExprId) -> Option<u64> {
        let kernel = self.kernel();
        match kernel.array_of(kernel.type_of(array))?.1 {
            Length::Fixed(len) => Some(len),
            Length::Link(_) | Length::Launch(_) => None,
        }
    }
}

/// A value, unless it is a float.
fn followed(value: Value) -> Option<Value> {
    (!value.scalar().is_float()).then_some(value)
}

fn is_read_only(access: Access) -> bool {
    access == Access::Read
}

fn unary(op: UnaryOp, arg: Value) -> Option<Value> {
    let defined = match op {
        UnaryOp::Neg => arg.scalar().is_signed(),
        UnaryOp::Not => true,
    };
    defined.then(|| operators::unary(op, arg))
}

fn binary(op: BinaryOp, lhs: Value, rhs: Value) -> Option<Value> {
    let same = lhs.scalar() == rhs.scalar();
    let ints = lhs.scalar().is_int() && rhs.scalar().is_int();
    let defined = match op {
        BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul => same && ints,
        BinaryOp::Div | BinaryOp::Rem => false,
        BinaryOp::Shl | BinaryOp::Shr => ints,
        BinaryOp::BitAnd
        | BinaryOp::BitOr
        | BinaryOp::BitXor
        | BinaryOp::Eq
        | BinaryOp::Ne
        | BinaryOp::Lt
        | BinaryOp::Le
        | BinaryOp::Gt
        | BinaryOp::Ge => same,
    };
    defined.then(|| operators::binary(op, lhs, rhs))
}

fn cast(arg: Value, to: Scalar) -> Option<Value> {
    let defined = to != Scalar::Bool || arg.scalar() == Scalar::Bool;
    defined.then(|| operators::cast(arg, to)).and_then(followed)
}

/// True if the call is defined for integers of these types.
fn has_value(intrinsic: Intrinsic, values: &[Value]) -> bool {
    let Some((receiver, args)) = values.split_first() else {
        return false;
    };
    let on = receiver.scalar();
    let expected = intrinsic.args().iter().map(|arg| arg.of(on));
    on.is_int()
        && intrinsic.row().on.contains(on)
        && intrinsic.lowering().on_ints.is_some()
        && expected.eq(args.iter().map(|arg| arg.scalar()))
}
