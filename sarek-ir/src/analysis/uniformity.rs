//! Uniformity analysis, also called divergence analysis: finds the values that are the same for all threads of
//! a block.
//!
//! The analysis is an optimistic dataflow fixpoint. It assumes that everything is uniform, and marks values as
//! varying until nothing changes:
//!
//! - Thread ids vary. So does a load at a varying index, or from memory that the kernel writes.
//! - An expression varies if an operand does.
//! - A local varies if a varying value is assigned to it, or if threads of the block do not arrive at an
//!   assignment together. They may be under a varying condition, or in a loop that some threads leave or
//!   continue before others.
//! - The local of a counted loop varies if a bound does.
//! - A local that native text may assign varies. So does the result of an atomic operation, a subgroup
//!   operation, or a call.
//!
//! A local has one answer for all of its uses. "Uniform" means that the threads that evaluate a use together,
//! in the same iterations, see the same value. A kernel's `return` causes no divergence: a thread that has
//! returned evaluates nothing, and the remaining threads are still together. A function's `return` does cause
//! divergence, because threads continue in the caller.
//!
//! A load from memory that the kernel writes varies even at a uniform index after a barrier. Without races, all
//! threads would read the same value there. But `unsafe` kernels may race, and the proof that safe kernels do
//! not race relies on this analysis. Besides, on an accelerator a thread that has faulted may not have stored
//! the value that all wait for.

use std::collections::{HashMap, HashSet};

use crate::facts::Reads;
use crate::{
    Access, Argument, Axis, Block, Builtin, CallId, Compound, Expr, ExprId, Kernel, LabelId,
    LocalId, Memory, NativeId, ParamId, ParamKind, Root, SharedId, Stmt, StmtId,
};

/// The uniform values and statements of one kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Uniformity {
    exprs: Vec<bool>,
    locals: Vec<bool>,
    control: Vec<Option<Apart>>,
    /// The memories from whose elements threads may read different values.
    differing: HashSet<Memory>,
}

/// The reason why the threads of a block do not arrive at a statement together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Apart {
    /// The statement is under this condition, which differs between threads.
    Branch(ExprId),
    /// The statement is in a loop with this condition or bound, which differs between threads.
    Loop(ExprId),
    /// Before the statement, some threads take this `break` or `continue`, or the `return` of a function, under
    /// this condition, which differs between threads.
    Jump(StmtId, ExprId),
    /// The statement is in a closure that this call passes on. The callee may call the closure in some threads
    /// only.
    Closure(CallId),
}

impl Apart {
    /// The condition or bound that differs between threads, if that is the reason.
    pub fn condition(self) -> Option<ExprId> {
        match self {
            Apart::Branch(cond) | Apart::Loop(cond) | Apart::Jump(_, cond) => Some(cond),
            Apart::Closure(_) => None,
        }
    }
}

/// Assumptions about the threads that are compared.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Among {
    /// Conditions with a known value. Threads for which the value differs are not considered.
    pub known: HashMap<ExprId, bool>,
    /// Locals that are assumed to vary.
    pub varying: HashSet<LocalId>,
    /// If true, only threads whose ids differ along x alone are compared.
    pub row: bool,
    /// Parameters that are assumed to vary; for a slice, its contents.
    pub params: HashSet<ParamId>,
    /// True if this is the body of a function, after which its caller continues.
    pub function: bool,
}

impl Apart {
    /// Turns the reason why only some threads take a jump into the reason for divergence after it.
    fn at_jump(self, jump: StmtId) -> Apart {
        match self.condition() {
            Some(cond) => Apart::Jump(jump, cond),
            None => self,
        }
    }
}

impl Uniformity {
    /// Analyses a kernel.
    pub fn of(kernel: &Kernel) -> Uniformity {
        Uniformity::among(kernel, &Among::default())
    }

    /// Analyses a kernel under assumptions about its threads.
    pub fn among(kernel: &Kernel, among: &Among) -> Uniformity {
        let written = written(kernel);
        let given = among.params.iter().map(|p| Memory::Slice(*p));
        let mut flow = Flow {
            kernel,
            among,
            out: Uniformity {
                exprs: vec![true; kernel.exprs.len()],
                locals: vec![true; kernel.locals.len()],
                control: vec![None; kernel.stmts.len()],
                differing: written.iter().copied().chain(given).collect(),
            },
            split: vec![],
            returned: None,
            changed: true,
        };
        for &local in &among.varying {
            flow.assign(local, false);
        }
        flow.changed = true;
        while flow.changed {
            flow.changed = false;
            flow.returned = None;
            flow.block(kernel.body, None);
        }
        flow.out
    }

    /// True if the expression's value is the same for all threads of a block.
    pub fn expr(&self, id: ExprId) -> bool {
        self.exprs[id.index()]
    }

    /// True if the local's value is the same for all threads of a block.
    pub fn local(&self, id: LocalId) -> bool {
        self.locals[id.index()]
    }

    /// True if all threads of a block that have not returned arrive at the statement together.
    pub fn control(&self, id: StmtId) -> bool {
        self.apart(id).is_none()
    }

    /// True if the argument of a call is the same for all threads of a block; for memory, its contents.
    pub fn argument(&self, argument: Argument) -> bool {
        match argument {
            Argument::Value(id) => self.expr(id),
            Argument::Memory(memory) => self.memory(memory),
            Argument::Local(local) => self.local(local),
        }
    }

    /// True if all threads of a block read the same value from each element.
    fn memory(&self, memory: Memory) -> bool {
        match memory {
            Memory::Slice(_) | Memory::Shared(_) => !self.differing.contains(&memory),
            // Each thread has its own.
            Memory::Local(_) => false,
            Memory::Table(_) => true,
        }
    }

    /// The reason why not all threads of a block that have not returned arrive at the statement together.
    pub fn apart(&self, id: StmtId) -> Option<Apart> {
        self.control[id.index()]
    }
}

/// The memories that a thread may write: those that are stored to, and all mutable ones if there is native
/// text.
fn written(kernel: &Kernel) -> HashSet<Memory> {
    let mut written = HashSet::new();
    for stmt in kernel.stmts.iter() {
        if let Stmt::Store { memory, .. } | Stmt::Atomic { memory, .. } = stmt {
            written.insert(*memory);
        }
    }
    for place in kernel.places.iter() {
        if let Root::Element { memory, .. } = place.root {
            written.insert(memory);
        }
    }
    for arg in kernel.calls.iter().flat_map(|c| c.args.iter()) {
        match arg {
            Argument::Memory(memory) if kernel.access(*memory) != Access::Read => {
                written.insert(*memory);
            }
            Argument::Memory(_) | Argument::Value(_) | Argument::Local(_) => {}
        }
    }
    if kernel.natives.iter().any(|n| !n.texts.is_empty()) {
        // Native text may write any memory whose name it knows.
        let params = (0..kernel.params.len() as u32).map(ParamId);
        let slices = params.filter(|p| is_mutable(kernel, *p));
        written.extend(slices.map(Memory::Slice));
        written.extend((0..kernel.shared.len() as u32).map(|i| Memory::Shared(SharedId(i))));
        let locals = (0..kernel.locals.len() as u32).map(LocalId);
        let arrays = locals.filter(|l| kernel.array(*l).is_some());
        written.extend(arrays.map(Memory::Local));
    }
    written
}

fn is_mutable(kernel: &Kernel, param: ParamId) -> bool {
    match kernel.params[param.index()].kind {
        ParamKind::Slice { access, .. } => access != Access::Read,
        ParamKind::Scalar(_) | ParamKind::Value(_) | ParamKind::Reference(_) => false,
    }
}

/// The state of the fixpoint. Facts only move from uniform to varying, so the iteration terminates.
struct Flow<'a> {
    kernel: &'a Kernel,
    among: &'a Among,
    out: Uniformity,
    /// The enclosing loops, each with the reason why some threads have left it, or its current iteration,
    /// before others.
    split: Vec<(LabelId, Split)>,
    /// The reason why some threads have returned to the caller before others.
    returned: Option<Apart>,
    changed: bool,
}

#[derive(Clone, Copy, Default)]
struct Split {
    left: Option<Apart>,
    skipped: Option<Apart>,
}

impl Flow<'_> {
    /// The reason why the threads of a block are apart here; `entered` is the reason at the start of the block.
    fn apart(&self, entered: Option<Apart>) -> Option<Apart> {
        let inner = self.split.iter().rev();
        entered
            .or_else(|| inner.filter_map(|(_, s)| s.left.or(s.skipped)).next())
            .or(self.returned)
    }

    fn block(&mut self, block: Block, entered: Option<Apart>) {
        for stmt in self.kernel.block(block) {
            let apart = self.apart(entered);
            let known = &mut self.out.control[stmt.index()];
            if known.is_none() && apart.is_some() {
                *known = apart;
                self.changed = true;
            }
            self.stmt(stmt, apart);
        }
    }

    fn stmt(&mut self, id: StmtId, apart: Option<Apart>) {
        let together = apart.is_none();
        match self.kernel.stmt(id) {
            Stmt::Let { local, init } => {
                if let Some(init) = init {
                    let uniform = self.expr(init);
                    // An immutable local holds only the value that the threads here have just put in.
                    let mutable = self.kernel.locals[local.index()].mutable;
                    self.assign(local, uniform && (together || !mutable));
                }
            }
            Stmt::Assign { local, value } => {
                let uniform = self.expr(value);
                self.assign(local, uniform && together);
            }
            Stmt::Store { index, value, .. } => {
                self.expr(value);
                self.expr(index);
            }
            Stmt::Assert { cond, .. } => {
                self.expr(cond);
            }
            Stmt::If {
                cond,
                then,
                otherwise,
            } => {
                let varies = !self.expr(cond);
                let apart = apart.or(varies.then_some(Apart::Branch(cond)));
                self.block(then, apart);
                self.block(otherwise, apart);
            }
            Stmt::Loop { label, cond, body } => {
                let varying = cond.filter(|cond| !self.expr(*cond));
                self.loop_body(label, body, apart, varying);
            }
            Stmt::For {
                label,
                local,
                start,
                end,
                body,
            } => {
                let varying: Vec<ExprId> = [start, end]
                    .into_iter()
                    .filter(|bound| !self.expr(*bound))
                    .collect();
                // Threads that enter the loop at different times still count alike if the bounds agree.
                self.assign(local, varying.is_empty());
                self.loop_body(label, body, apart, varying.first().copied());
            }
            Stmt::Atomic {
                index,
                args,
                result,
                ..
            } => {
                for arg in self.kernel.list(args).chain([index]).collect::<Vec<_>>() {
                    self.expr(arg);
                }
                if let Some(result) = result {
                    self.assign(result, false);
                }
            }
            Stmt::Subgroup { args, result, .. } => {
                for arg in self.kernel.list(args).collect::<Vec<_>>() {
                    self.expr(arg);
                }
                self.assign(result, false);
            }
            Stmt::Update { place, value } => {
                let mut uniform = self.expr(value);
                for operand in self.kernel.place_operands(place) {
                    uniform &= self.expr(operand);
                }
                match self.kernel.places[place.index()].root {
                    Root::Local(local) => self.assign(local, uniform && together),
                    Root::Param(_) | Root::Element { .. } => {}
                }
            }
            Stmt::Call { call } => self.call(call),
            Stmt::Print { print } => {
                let args = self.kernel.prints[print.index()].args;
                for arg in self.kernel.list(args).collect::<Vec<_>>() {
                    self.expr(arg);
                }
            }
            Stmt::Return => {
                if let Some(apart) = apart.filter(|_| self.among.function) {
                    self.returned.get_or_insert(apart.at_jump(id));
                }
            }
            // A thread that panics ends, like one that returns from the kernel. The others go on.
            Stmt::Panic { .. } | Stmt::Barrier | Stmt::Fence { .. } => {}
            Stmt::Break { label } => self.jump(id, label, apart, true),
            Stmt::Continue { label } => self.jump(id, label, apart, false),
            Stmt::Native { native } => self.native(native, apart),
        }
    }

    /// Handles a call. A function that used only its arguments would yield equal results for equal arguments.
    /// But it may use ids and memory, which is not known here, so that results vary.
    fn call(&mut self, id: CallId) {
        for operand in self.kernel.call_operands(id) {
            self.expr(operand);
        }
        let call = &self.kernel.calls[id.index()];
        let changed = call.args.iter().filter_map(|arg| match arg {
            Argument::Local(local) => Some(*local),
            Argument::Memory(Memory::Local(local)) => Some(*local),
            Argument::Value(_) | Argument::Memory(_) => None,
        });
        for local in changed.chain(call.result) {
            self.assign(local, false);
        }
        for closure in self.kernel.closures_of(id) {
            for param in closure.params.iter() {
                self.assign(*param, false);
            }
            // A later run of the closure reads the locals that an earlier run has assigned.
            for _ in 0..2 {
                self.block(closure.body, Some(Apart::Closure(id)));
            }
        }
    }

    fn loop_body(
        &mut self,
        label: LabelId,
        body: Block,
        apart: Option<Apart>,
        varying: Option<ExprId>,
    ) {
        let start = Split {
            left: varying.map(Apart::Loop),
            skipped: None,
        };
        self.split.push((label, start));
        // Jumps found at the end of the body also affect its start, in the next iteration.
        for _ in 0..2 {
            if let Some((_, split)) = self.split.last_mut() {
                split.skipped = None;
            }
            self.block(body, apart);
        }
        self.split.pop();
    }

    /// Records that some threads may take a jump that others do not take.
    fn jump(&mut self, id: StmtId, label: LabelId, apart: Option<Apart>, leaves: bool) {
        let Some(apart) = apart else {
            return;
        };
        let jump = apart.at_jump(id);
        // The jump also leaves all loops inside the one that it names.
        for (of, split) in self.split.iter_mut().rev() {
            let named = *of == label;
            if leaves || !named {
                split.left.get_or_insert(jump);
            } else {
                split.skipped.get_or_insert(jump);
            }
            if named {
                return;
            }
        }
    }

    fn native(&mut self, id: NativeId, apart: Option<Apart>) {
        let kernel = self.kernel;
        for local in kernel.changed_by_text(id) {
            self.assign(local, false);
        }
        if let Some(fallback) = kernel.natives[id.index()].fallback {
            self.block(fallback, apart);
        }
    }

    /// True if only threads that differ along x alone are compared, and the id is the same for all of them.
    fn along_row(&self, builtin: Builtin) -> bool {
        match builtin {
            Builtin::ThreadIdx(axis) | Builtin::GlobalIdx(axis) => {
                self.among.row && axis != Axis::X
            }
            Builtin::BlockIdx(_)
            | Builtin::BlockDim(_)
            | Builtin::GridDim(_)
            | Builtin::GlobalDim(_)
            | Builtin::GlobalThreadId
            | Builtin::SubgroupSize
            | Builtin::SubgroupLane => false,
        }
    }

    fn assign(&mut self, local: LocalId, uniform: bool) {
        let known = &mut self.out.locals[local.index()];
        if *known && !uniform {
            *known = false;
            self.changed = true;
        }
    }

    /// True if it is the length of an array, which does not depend on the contents.
    fn is_length(&self, id: ExprId) -> bool {
        let Expr::Compound(compound) = self.kernel.expr(id) else {
            return false;
        };
        let compound = &self.kernel.compounds[compound.index()];
        matches!(compound, Compound::Len { .. })
    }

    fn expr(&mut self, id: ExprId) -> bool {
        let operands = self.kernel.operands(id);
        let mut uniform = operands.into_iter().fold(true, |all, e| self.expr(e) & all);
        if self.among.known.contains_key(&id) || self.is_length(id) {
            return true;
        }
        uniform &= match self.kernel.expr(id).facts().reads {
            Reads::Local(local) => self.out.locals[local.index()],
            Reads::Id(builtin) => builtin.is_uniform() || self.along_row(builtin),
            Reads::Memory(memory) => !self.out.differing.contains(&memory),
            Reads::Param(param) => !self.among.params.contains(&param),
            Reads::Faults => false,
            Reads::Operands | Reads::Constant | Reads::Len(_) => true,
        };
        let known = &mut self.out.exprs[id.index()];
        if *known && !uniform {
            *known = false;
            self.changed = true;
        }
        uniform
    }
}

#[cfg(test)]
mod tests;
