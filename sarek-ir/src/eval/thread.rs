//! One thread of a kernel, statement by statement: the meaning of the IR as a program.
//!
//! Memory is behind [`Host`]. A local that is read before it was assigned, which a kernel from
//! Rust never does, is zero.

use crate::{
    Axis, Block, Builtin, Expr, ExprId, Kernel, LabelId, List, Memory, NativeId, ParamId, Scalar,
    SiteId, Stmt, StmtId, Value, eval,
};

/// What a thread acts on.
pub trait Host {
    /// The value of a scalar parameter.
    fn scalar(&self, param: ParamId) -> Value;

    /// The number of elements of a slice or shared array.
    fn len(&self, memory: Memory) -> u64;

    /// Reads an element; `index` is in bounds.
    fn load(&mut self, memory: Memory, index: u64) -> Value;

    /// Writes an element; `index` is in bounds, `value` of the element's type.
    fn store(&mut self, memory: Memory, index: u64, value: Value);

    /// Is told the value of each expression that was evaluated.
    fn evaluated(&mut self, _expr: ExprId, _value: Value) {}
}

/// Where a thread stands in its launch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ids {
    /// Index of the thread in its block.
    pub thread_idx: [u64; 3],
    /// Index of the block in the grid.
    pub block_idx: [u64; 3],
    /// Threads of a block.
    pub block_dim: [u64; 3],
    /// Blocks of the grid.
    pub grid_dim: [u64; 3],
    /// Threads of the launch.
    pub global_dim: [u64; 3],
}

impl Ids {
    /// Index of the thread in the launch along an axis.
    pub fn global(&self, axis: Axis) -> u64 {
        let a = axis.index();
        self.block_idx[a] * self.block_dim[a] + self.thread_idx[a]
    }

    /// The value of an id or extent.
    pub fn get(&self, builtin: Builtin) -> u64 {
        match builtin {
            Builtin::ThreadIdx(a) => self.thread_idx[a.index()],
            Builtin::BlockIdx(a) => self.block_idx[a.index()],
            Builtin::BlockDim(a) => self.block_dim[a.index()],
            Builtin::GridDim(a) => self.grid_dim[a.index()],
            Builtin::GlobalIdx(a) => self.global(a),
            Builtin::GlobalDim(a) => self.global_dim[a.index()],
            Builtin::SubgroupSize | Builtin::SubgroupLane => todo!(),
            Builtin::GlobalThreadId => {
                let [w, h, _] = self.global_dim;
                let rows = self
                    .global(Axis::Z)
                    .wrapping_mul(h)
                    .wrapping_add(self.global(Axis::Y));
                rows.wrapping_mul(w).wrapping_add(self.global(Axis::X))
            }
        }
    }
}

/// Why a thread stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fault {
    /// Where.
    pub site: SiteId,
    /// The index, the divisor (sign-extended), or 0.
    pub detail: u64,
}

/// Runs threads of a closed kernel in which every native block has a fallback.
pub struct Thread<'k> {
    kernel: &'k Kernel,
    locals: Vec<Value>,
}

/// How control goes on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flow {
    Next,
    Break(LabelId),
    Continue(LabelId),
    Return,
}

impl<'k> Thread<'k> {
    /// Ready to run.
    pub fn new(kernel: &'k Kernel) -> Thread<'k> {
        Thread {
            kernel,
            locals: vec![],
        }
    }

    /// Runs one thread to its end.
    ///
    /// # Errors
    /// The site at which it stopped.
    pub fn run(&mut self, ids: &Ids, host: &mut impl Host) -> Result<(), Fault> {
        let kernel = self.kernel;
        self.locals.clear();
        self.locals.extend(
            kernel
                .locals
                .iter()
                .map(|l| Value::zero(kernel.local_scalar(l))),
        );
        Run {
            kernel,
            locals: &mut self.locals,
            ids,
            host,
        }
        .block(kernel.body)
        .map(|_| ())
    }
}

struct Run<'a, H> {
    kernel: &'a Kernel,
    locals: &'a mut [Value],
    ids: &'a Ids,
    host: &'a mut H,
}

impl<H: Host> Run<'_, H> {
    fn block(&mut self, block: Block) -> Result<Flow, Fault> {
        for i in block.0.range() {
            let flow = self.stmt(StmtId(self.kernel.lists[i]))?;
            if flow != Flow::Next {
                return Ok(flow);
            }
        }
        Ok(Flow::Next)
    }

    fn stmt(&mut self, id: StmtId) -> Result<Flow, Fault> {
        match self.kernel.stmt(id) {
            Stmt::Let { local, init } => {
                if let Some(init) = init {
                    self.locals[local.index()] = self.expr(init)?;
                }
            }
            Stmt::Assign { local, value } => self.locals[local.index()] = self.expr(value)?,
            Stmt::Store {
                memory,
                index,
                value,
                site,
            } => {
                let value = self.expr(value)?;
                let index = self.index(memory, index, site)?;
                self.host.store(memory, index, value);
            }
            Stmt::Assert { cond, site } => {
                if !self.condition(cond)? {
                    return Err(Fault { site, detail: 0 });
                }
            }
            Stmt::If {
                cond,
                then,
                otherwise,
            } => {
                let taken = if self.condition(cond)? {
                    then
                } else {
                    otherwise
                };
                return self.block(taken);
            }
            Stmt::Loop { label, cond, body } => return self.unbounded(label, cond, body),
            Stmt::For {
                label,
                local,
                start,
                end,
                body,
            } => {
                let (start, end) = (self.integer(start)?, self.integer(end)?);
                let ty = self.kernel.locals[local.index()].ty.scalar();
                for i in start..end {
                    self.locals[local.index()] = integer(ty, i);
                    if let Some(flow) = after_iteration(self.block(body)?, label) {
                        return Ok(flow);
                    }
                }
            }
            Stmt::Break { label } => return Ok(Flow::Break(label)),
            Stmt::Continue { label } => return Ok(Flow::Continue(label)),
            Stmt::Return => return Ok(Flow::Return),
            Stmt::Update { .. } | Stmt::Call { .. } => unreachable!("linking leaves no compound"),
            Stmt::Barrier | Stmt::Fence { .. } | Stmt::Atomic { .. } | Stmt::Subgroup { .. } => {
                todo!()
            }
            Stmt::Native { native } => return self.native(native),
        }
        Ok(Flow::Next)
    }

    fn unbounded(
        &mut self,
        label: LabelId,
        cond: Option<ExprId>,
        body: Block,
    ) -> Result<Flow, Fault> {
        loop {
            if let Some(cond) = cond
                && !self.condition(cond)?
            {
                return Ok(Flow::Next);
            }
            if let Some(flow) = after_iteration(self.block(body)?, label) {
                return Ok(flow);
            }
        }
    }

    fn native(&mut self, id: NativeId) -> Result<Flow, Fault> {
        match self.kernel.natives[id.index()].fallback {
            Some(fallback) => self.block(fallback),
            None => unreachable!("only kernels whose native blocks have fallbacks are run"),
        }
    }

    fn condition(&mut self, id: ExprId) -> Result<bool, Fault> {
        Ok(self.expr(id)? == Value::Bool(true))
    }

    fn integer(&mut self, id: ExprId) -> Result<i128, Fault> {
        let value = self.expr(id)?;
        Ok(int_of(value))
    }

    /// Evaluates an index and checks it.
    fn index(&mut self, memory: Memory, index: ExprId, site: Option<SiteId>) -> Result<u64, Fault> {
        let index = self.integer(index)? as u64;
        if index < self.host.len(memory) {
            return Ok(index);
        }
        match site {
            Some(site) => Err(Fault {
                site,
                detail: index,
            }),
            None => unreachable!("an access without a site was proved to be in bounds"),
        }
    }

    fn expr(&mut self, id: ExprId) -> Result<Value, Fault> {
        let value = self.node(id)?;
        self.host.evaluated(id, value);
        Ok(value)
    }

    fn node(&mut self, id: ExprId) -> Result<Value, Fault> {
        let ty = self.kernel.scalar_of(id);
        Ok(match self.kernel.expr(id) {
            Expr::Literal(value) => value,
            Expr::Link(_) | Expr::Compound(_) => unreachable!("a closed kernel has no links"),
            Expr::Local(local) => self.locals[local.index()],
            Expr::Param(param) => self.host.scalar(param),
            Expr::Len(memory) => integer(ty, self.host.len(memory).into()),
            Expr::Builtin(builtin) => integer(ty, self.ids.get(builtin).into()),
            Expr::Load {
                memory,
                index,
                site,
            } => {
                let index = self.index(memory, index, site)?;
                self.host.load(memory, index)
            }
            Expr::Bounded { index, len, site } => {
                let (index, len) = (self.integer(index)?, self.integer(len)?);
                match site {
                    _ if index < len => integer(ty, index),
                    Some(site) => {
                        let detail = index as u64;
                        return Err(Fault { site, detail });
                    }
                    None => unreachable!("an index without a site was proved to be in bounds"),
                }
            }
            Expr::Unary { op, arg } => eval::unary(op, self.expr(arg)?),
            Expr::Binary { op, lhs, rhs } => {
                let lhs = self.expr(lhs)?;
                eval::binary(op, lhs, self.expr(rhs)?)
            }
            Expr::Divide { op, lhs, rhs, site } => {
                let lhs = self.expr(lhs)?;
                let rhs = self.expr(rhs)?;
                match (eval::divide(op, lhs, rhs), site) {
                    (Some(value), _) => value,
                    (None, Some(site)) => {
                        let detail = int_of(rhs) as u64;
                        return Err(Fault { site, detail });
                    }
                    (None, None) => unreachable!("a divisor without a site was proved"),
                }
            }
            Expr::And { lhs, rhs } => Value::Bool(self.condition(lhs)? && self.condition(rhs)?),
            Expr::Or { lhs, rhs } => Value::Bool(self.condition(lhs)? || self.condition(rhs)?),
            Expr::Cast { arg } => eval::cast(self.expr(arg)?, ty),
            Expr::Call { intrinsic, args } => {
                let mut values = [Value::Bool(false); 3];
                let values = self.args(args, &mut values)?;
                eval::call(intrinsic, values)
            }
            Expr::Faulted => Value::Bool(false),
        })
    }

    fn args<'v>(&mut self, args: List, values: &'v mut [Value; 3]) -> Result<&'v [Value], Fault> {
        for (at, i) in args.range().enumerate() {
            values[at] = self.expr(ExprId(self.kernel.lists[i]))?;
        }
        Ok(&values[..args.len as usize])
    }
}

/// What an iteration's end means for its loop: the next one, or leaving it.
fn after_iteration(flow: Flow, label: LabelId) -> Option<Flow> {
    match flow {
        Flow::Next => None,
        Flow::Continue(to) if to == label => None,
        Flow::Break(to) if to == label => Some(Flow::Next),
        Flow::Break(_) | Flow::Continue(_) | Flow::Return => Some(flow),
    }
}

fn integer(ty: Scalar, v: i128) -> Value {
    Value::int(ty, v).unwrap_or_else(|| unreachable!("ids and counters are integers, not {ty}"))
}

fn int_of(value: Value) -> i128 {
    match value.as_int() {
        Some(v) => v,
        None => unreachable!("{value:?} stands where an integer belongs"),
    }
}
