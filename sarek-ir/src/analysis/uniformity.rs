//! Which values are the same for all threads of a block.
//!
//! A dataflow fixpoint from below: everything is taken to be uniform until something says
//! otherwise, and what varies spreads along these ways until nothing changes:
//!
//! - ids of threads vary; so does a load at a varying index, or from memory that the kernel writes;
//! - an expression varies if an operand does;
//! - a local varies if a varying value is assigned to it, or if it is assigned where not all
//!   threads of the block arrive together: under a varying condition, or in a loop that some threads
//!   leave, or go on in, before others;
//! - a counted loop's local varies with its bounds;
//! - a local that native text may assign varies, as does the result of an atomic or subgroup operation, or of a call.
//!
//! A local's answer holds at all of its uses. "Uniform" says that the threads that evaluate a use
//! together, in the same iterations, see the same value. A thread that has returned evaluates nothing, so
//! that a `return` parts nobody: the others are still together, as all of the block that are left. That of a function
//! leads back to its caller, where threads go on; so it parts those that take it from the others.
//!
//! A load from memory that the kernel writes varies even at a uniform index behind a barrier. Where no two threads
//! race, all would read one value there; but kernels that are `unsafe` may race, that others do not is proved with
//! the answers given here, and on an accelerator a thread that has faulted may not have stored what all wait for.

use std::collections::{HashMap, HashSet};

use crate::{
    Access, Argument, Axis, Block, Builtin, CallId, Compound, Expr, ExprId, Kernel, LabelId,
    LocalId, Memory, NativeId, ParamId, ParamKind, Root, SharedId, Stmt, StmtId,
};

/// The answer for one kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Uniformity {
    exprs: Vec<bool>,
    locals: Vec<bool>,
    control: Vec<Option<Apart>>,
    /// The memories from one element of which threads may read different values.
    differing: HashSet<Memory>,
}

/// Why the threads of a block do not arrive at a statement together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Apart {
    /// It stands under this condition, which differs between threads.
    Branch(ExprId),
    /// It stands in a loop with this condition or bound, which differs between threads.
    Loop(ExprId),
    /// Before it, some threads take this `break` or `continue`, or the `return` of a function, depending on this
    /// condition.
    Jump(StmtId, ExprId),
    /// It stands in a closure that this call gives on, which the function may call for some threads only.
    Closure(CallId),
}

impl Apart {
    /// The condition or bound that differs between threads, if that is what parts them.
    pub fn condition(self) -> Option<ExprId> {
        match self {
            Apart::Branch(cond) | Apart::Loop(cond) | Apart::Jump(_, cond) => Some(cond),
            Apart::Closure(_) => None,
        }
    }
}

/// The threads of which a question is asked, and what is known of them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Among {
    /// Conditions of which the value is known: the threads for which it is another are no concern.
    pub known: HashMap<ExprId, bool>,
    /// Locals that are taken to vary.
    pub varying: HashSet<LocalId>,
    /// Only those that differ along x alone.
    pub row: bool,
    /// Parameters that are taken to vary; of a slice, what it contains.
    pub params: HashSet<ParamId>,
    /// Is it the body of a function, which its caller goes on after?
    pub function: bool,
}

impl Apart {
    /// What parts those behind a jump that some threads take for this reason.
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

    /// Asks of some threads of a block.
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

    /// Is the expression's value the same for all threads of a block?
    pub fn expr(&self, id: ExprId) -> bool {
        self.exprs[id.index()]
    }

    /// Is the local's value the same for all threads of a block?
    pub fn local(&self, id: LocalId) -> bool {
        self.locals[id.index()]
    }

    /// Do all threads of a block that have not returned arrive at the statement together?
    pub fn control(&self, id: StmtId) -> bool {
        self.apart(id).is_none()
    }

    /// Do all threads of a block see the same in what a call is given?
    pub fn argument(&self, argument: Argument) -> bool {
        match argument {
            Argument::Value(id) => self.expr(id),
            Argument::Memory(memory) => self.memory(memory),
            Argument::Local(local) => self.local(local),
        }
    }

    /// Do all threads of a block read the same from one element?
    fn memory(&self, memory: Memory) -> bool {
        match memory {
            Memory::Slice(_) | Memory::Shared(_) => !self.differing.contains(&memory),
            // Each has its own.
            Memory::Local(_) => false,
            Memory::Table(_) => true,
        }
    }

    /// Why not all threads of a block that have not returned arrive at the statement together.
    pub fn apart(&self, id: StmtId) -> Option<Apart> {
        self.control[id.index()]
    }
}

/// The slices that some thread may write: those that are stored to, and mutable ones in native text.
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
        // A text may write whatever it knows the name of.
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

/// What is known so far. Only ever moves from uniform to varying, so that it comes to an end.
struct Flow<'a> {
    kernel: &'a Kernel,
    among: &'a Among,
    out: Uniformity,
    /// The loops around, with why some threads have left their iteration (or the loop itself)
    /// before others.
    split: Vec<(LabelId, Split)>,
    /// Why some threads have returned to the caller before others.
    returned: Option<Apart>,
    changed: bool,
}

#[derive(Clone, Copy, Default)]
struct Split {
    left: Option<Apart>,
    skipped: Option<Apart>,
}

impl Flow<'_> {
    /// Why the threads of a block are apart, given why they were on entering the block.
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
                    // A fresh local holds, for the threads that are here, what they put there.
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
                // Threads that do not start together count differently only if they start elsewhere.
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
            // A thread that panics ends as one that returns from the kernel; the others go on.
            Stmt::Panic { .. } | Stmt::Barrier | Stmt::Fence { .. } => {}
            Stmt::Break { label } => self.jump(id, label, apart, true),
            Stmt::Continue { label } => self.jump(id, label, apart, false),
            Stmt::Native { native } => self.native(native, apart),
        }
    }

    /// A function yields one value for one set of arguments, unless it asks for ids or memory: what it does with those
    /// is not known here.
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
            // What a run of it assigns, a later run reads.
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
        // What the first walk finds at the end of the body holds at the head of the next iteration.
        for _ in 0..2 {
            if let Some((_, split)) = self.split.last_mut() {
                split.skipped = None;
            }
            self.block(body, apart);
        }
        self.split.pop();
    }

    /// Some threads may take a jump that others do not.
    fn jump(&mut self, id: StmtId, label: LabelId, apart: Option<Apart>, leaves: bool) {
        let Some(apart) = apart else {
            return;
        };
        let jump = apart.at_jump(id);
        // The loops inside the one that is named are left in any case.
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

    /// Is it the same for threads that differ along x alone, and are they asked of?
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

    /// Is it the length of an array, whatever is in that?
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
        uniform &= match self.kernel.expr(id) {
            Expr::Local(local) => self.out.locals[local.index()],
            Expr::Builtin(builtin) => builtin.is_uniform() || self.along_row(builtin),
            Expr::Load { memory, .. } => !self.out.differing.contains(&memory),
            Expr::Param(param) => !self.among.params.contains(&param),
            Expr::Faulted => false,
            Expr::Literal(_)
            | Expr::Link(_)
            | Expr::Len(_)
            | Expr::Bounded { .. }
            | Expr::Unary { .. }
            | Expr::Binary { .. }
            | Expr::Divide { .. }
            | Expr::And { .. }
            | Expr::Or { .. }
            | Expr::Cast { .. }
            | Expr::Call { .. }
            | Expr::Compound(_) => true,
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
