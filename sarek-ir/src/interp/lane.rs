//! Evaluates expressions in one thread.

use super::host::{Fault, Halt, Host, Like};
use super::sanitize::{Deed, Finding, Sanitizer, Spot};
use crate::nodes::Ids;
use crate::{
    Expr, ExprId, Kernel, Length, List, Loc, LocalId, Memory, NativeId, Piece, Scalar, SiteId,
    Value, operators,
};

/// The position of each local in a thread's values. The elements of an array are consecutive.
pub(super) struct Layout {
    starts: Vec<usize>,
    zeros: Vec<Value>,
}

impl Layout {
    pub fn of(kernel: &Kernel) -> Layout {
        let (mut starts, mut zeros) = (vec![], vec![]);
        for (i, local) in kernel.locals.iter().enumerate() {
            starts.push(zeros.len());
            let count = match kernel.array(LocalId(i as u32)) {
                None => 1,
                Some((_, len)) => fixed(len),
            };
            let zero = Value::zero(kernel.local_scalar(local));
            zeros.extend(std::iter::repeat_n(zero, count as usize));
        }
        Layout { starts, zeros }
    }

    /// A layout of these locals alone, none of which may be an array.
    pub fn of_scalars(locals: &[LocalId]) -> Layout {
        let last = locals.iter().map(|local| local.index() + 1).max();
        let mut starts = vec![usize::MAX; last.unwrap_or(0)];
        for (at, local) in locals.iter().enumerate() {
            starts[local.index()] = at;
        }
        let zeros = vec![];
        Layout { starts, zeros }
    }

    /// Resets the values to those of a new thread.
    pub fn clear(&self, values: &mut Vec<Value>) {
        values.clear();
        values.extend_from_slice(&self.zeros);
    }

    pub fn slot(&self, local: LocalId) -> usize {
        self.starts[local.index()]
    }
}

/// The length of a local array.
fn fixed(len: Length) -> u64 {
    match len {
        Length::Fixed(n) => n,
        Length::Link(_) | Length::Launch(_) => {
            unreachable!("a local array of a closed kernel has a fixed length")
        }
    }
}

/// The state that the threads of a block share.
pub(super) struct Common<'a, H> {
    pub kernel: &'a Kernel,
    pub layout: &'a Layout,
    pub shared: &'a mut [Vec<Value>],
    pub host: &'a mut H,
    pub like: Like,
    /// The first fault after which a thread continued.
    pub first: &'a mut Option<(Fault, [u64; 3])>,
    pub sanitizer: Option<&'a mut Sanitizer>,
}

/// One running thread.
pub(super) struct Lane<'a, 'c, H> {
    pub common: &'a mut Common<'c, H>,
    pub ids: &'a Ids,
    pub values: &'a mut [Value],
    pub faulted: &'a mut bool,
}

impl<'c, H: Host> Lane<'_, 'c, H> {
    pub fn kernel(&self) -> &'c Kernel {
        self.common.kernel
    }

    pub fn local(&mut self, local: LocalId) -> &mut Value {
        &mut self.values[self.common.layout.slot(local)]
    }

    /// Records a fault. If this returns `Ok`, the caller continues with a harmless value.
    pub fn fault(&mut self, site: Option<SiteId>, detail: u64) -> Result<(), Halt> {
        let Some(site) = site else {
            unreachable!("what has no site was proved");
        };
        let fault = Fault { site, detail };
        match self.common.like {
            Like::Host => Err(fault.into()),
            Like::Accelerator => {
                *self.faulted = true;
                let thread = self.ids.thread_idx;
                self.common.first.get_or_insert((fault, thread));
                Ok(())
            }
        }
    }

    pub fn condition(&mut self, id: ExprId) -> Result<bool, Halt> {
        Ok(self.expr(id)? == Value::Bool(true))
    }

    pub fn integer(&mut self, id: ExprId) -> Result<i128, Halt> {
        let value = self.expr(id)?;
        Ok(int_of(value))
    }

    /// Evaluates and checks an index. `None` if it is out of bounds and the thread continues.
    pub fn index(
        &mut self,
        memory: Memory,
        index: ExprId,
        site: Option<SiteId>,
    ) -> Result<Option<u64>, Halt> {
        let index = self.integer(index)? as u64;
        if index < self.len(memory) {
            return Ok(Some(index));
        }
        self.fault(site, index)?;
        Ok(None)
    }

    /// Reports an access to the sanitizer, if there is one.
    pub fn touch(
        &mut self,
        (memory, index): (Memory, u64),
        deed: Deed,
        spot: Spot,
    ) -> Result<(), Halt> {
        match &mut self.common.sanitizer {
            Some(sanitizer) if self.common.kernel.is_shared_between_threads(memory) => {
                Ok(sanitizer.touch((memory, index), deed, spot, self.ids)?)
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Checks arithmetic on these operands for overflow, if the kernel checks it or the sanitizer looks for it.
    fn exact(&mut self, id: ExprId, operands: &[Value]) -> Result<(), Halt> {
        let wanted = self.common.sanitizer.as_ref();
        let wanted = wanted.is_some_and(|s| s.settings.overflow);
        let kernel = self.kernel();
        let site = kernel.overflow_site(id);
        if !wanted && site.is_none() {
            return Ok(());
        }
        let arithmetic = kernel.arithmetic(id);
        if !arithmetic.is_some_and(|arithmetic| arithmetic.overflows(operands)) {
            return Ok(());
        }
        if !wanted {
            return self.fault(site, 0);
        }
        Err(Halt::Found(Box::new(Finding::Overflow {
            what: format!(
                "`{}` leaves `{}`",
                kernel.expr_words(id),
                kernel.scalar_of(id)
            ),
            loc: kernel.expr_locs[id.index()],
            thread: (self.ids.block_idx, self.ids.thread_idx),
        })))
    }

    fn len(&self, memory: Memory) -> u64 {
        match memory {
            Memory::Slice(param) => self.common.host.len(param),
            Memory::Shared(shared) => self.common.shared[shared.index()].len() as u64,
            Memory::Table(table) => self.kernel().tables[table.index()].values().len() as u64,
            Memory::Local(local) => match self.common.kernel.array(local) {
                Some((_, len)) => fixed(len),
                None => unreachable!("only arrays are indexed"),
            },
        }
    }

    pub fn load(&mut self, memory: Memory, index: u64) -> Value {
        match memory {
            Memory::Slice(param) => self.common.host.load(param, index),
            Memory::Shared(shared) => self.common.shared[shared.index()][index as usize],
            Memory::Table(table) => self.kernel().tables[table.index()].values()[index as usize],
            Memory::Local(local) => self.values[self.common.layout.slot(local) + index as usize],
        }
    }

    pub fn store(&mut self, memory: Memory, index: u64, value: Value) {
        match memory {
            Memory::Slice(param) => self.common.host.store(param, index, value),
            Memory::Shared(shared) => self.common.shared[shared.index()][index as usize] = value,
            Memory::Table(_) => unreachable!("nothing is stored to constants"),
            Memory::Local(local) => {
                self.values[self.common.layout.slot(local) + index as usize] = value;
            }
        }
    }

    pub fn expr(&mut self, id: ExprId) -> Result<Value, Halt> {
        let value = self.node(id)?;
        self.common.host.evaluated(id, value);
        Ok(value)
    }

    fn node(&mut self, id: ExprId) -> Result<Value, Halt> {
        let kernel = self.kernel();
        let ty = kernel.scalar_of(id);
        Ok(match kernel.expr(id) {
            Expr::Literal(value) => value,
            Expr::Link(_) | Expr::Compound(_) => unreachable!("a closed kernel has no links"),
            Expr::Local(local) => *self.local(local),
            Expr::Param(param) => self.common.host.scalar(param),
            Expr::Len(memory) => integer(ty, self.len(memory).into()),
            Expr::Builtin(builtin) => integer(ty, self.ids.get(builtin).into()),
            Expr::Load {
                memory,
                index,
                site,
            } => self.element(memory, index, site, kernel.expr_locs[id.index()])?,
            Expr::Bounded { index, len, site } => {
                let (index, len) = (self.integer(index)?, self.integer(len)?);
                if index < len {
                    integer(ty, index)
                } else {
                    self.fault(site, index as u64)?;
                    integer(ty, 0)
                }
            }
            Expr::Unary { op, arg } => {
                let arg = self.expr(arg)?;
                self.exact(id, &[arg])?;
                operators::unary(op, arg)
            }
            Expr::Binary { op, lhs, rhs } => {
                let lhs = self.expr(lhs)?;
                let rhs = self.expr(rhs)?;
                self.exact(id, &[lhs, rhs])?;
                operators::binary(op, lhs, rhs)
            }
            Expr::Divide { op, lhs, rhs, site } => {
                let lhs = self.expr(lhs)?;
                let rhs = self.expr(rhs)?;
                match operators::divide(op, lhs, rhs) {
                    Some(value) => value,
                    None => {
                        self.fault(site, int_of(rhs) as u64)?;
                        // The harmless divisor is 1.
                        let by_one = operators::divide(op, lhs, integer(rhs.scalar(), 1));
                        by_one.unwrap_or_else(|| unreachable!("nothing fails to divide by 1"))
                    }
                }
            }
            Expr::And { lhs, rhs } => Value::Bool(self.condition(lhs)? && self.condition(rhs)?),
            Expr::Or { lhs, rhs } => Value::Bool(self.condition(lhs)? || self.condition(rhs)?),
            Expr::Cast { arg } => operators::cast(self.expr(arg)?, ty),
            Expr::Call { intrinsic, args } => {
                let mut values = [Value::Bool(false); 3];
                let values = self.args(args, &mut values)?;
                self.exact(id, values)?;
                operators::call(intrinsic, values)
            }
            Expr::Faulted => Value::Bool(*self.faulted),
        })
    }

    /// Sets the result of an intrinsic to what the host returns. Returns false if the host returns nothing.
    pub fn intrinsic(&mut self, native: NativeId) -> bool {
        let native = &self.kernel().natives[native.index()];
        let (Some(name), Some(result)) = (&native.intrinsic, native.result) else {
            return false;
        };
        let pieces = native.texts.first().map_or(&[][..], |text| &text.pieces);
        let operands = pieces.iter().filter_map(|piece| match piece {
            Piece::Local(local) => Some(*self.local(*local)),
            Piece::Param(param) => Some(self.common.host.scalar(*param)),
            Piece::Text(_) | Piece::Shared(_) | Piece::Place(_) => None,
        });
        let operands: Vec<Value> = operands.collect();
        let Some(value) = self.common.host.intrinsic(name, self.ids, &operands) else {
            return false;
        };
        let of_type = value.scalar()
            == self
                .kernel()
                .local_scalar(&self.kernel().locals[result.index()]);
        assert!(
            of_type,
            "the host's value for the intrinsic `{name}` is not of its type"
        );
        *self.local(result) = value;
        true
    }

    /// Loads an element. If the index is out of bounds and the thread continues, loads the first element, if
    /// there is one.
    fn element(
        &mut self,
        memory: Memory,
        index: ExprId,
        site: Option<SiteId>,
        loc: Loc,
    ) -> Result<Value, Halt> {
        let index = self.index(memory, index, site)?.unwrap_or(0);
        if index < self.len(memory) {
            self.touch((memory, index), Deed::Load, Spot { loc, site })?;
            return Ok(self.load(memory, index));
        }
        Ok(Value::zero(self.kernel().element(memory)))
    }

    /// Evaluates operands.
    pub fn args<'v, const N: usize>(
        &mut self,
        args: List,
        values: &'v mut [Value; N],
    ) -> Result<&'v [Value], Halt> {
        for (at, i) in args.range().enumerate() {
            values[at] = self.expr(ExprId(self.kernel().lists[i]))?;
        }
        Ok(&values[..args.len as usize])
    }
}

/// An id, a counter or a length, as a value.
pub(super) fn integer(ty: Scalar, v: i128) -> Value {
    Value::int(ty, v).unwrap_or_else(|| unreachable!("ids and counters are integers, not {ty}"))
}

pub(super) fn int_of(value: Value) -> i128 {
    match value.as_int() {
        Some(v) => v,
        None => unreachable!("{value:?} stands where an integer belongs"),
    }
}
