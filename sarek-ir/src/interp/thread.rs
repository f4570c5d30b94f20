//! Executes the statements of one thread, until it waits for other threads or ends.

use super::host::{Halt, Host};
use super::lane::{Common, Lane, Layout, integer};
use super::sanitize::{Deed, Spot};
use crate::nodes::Ids;
use crate::{
    AtomicOp, Block, ExprId, Kernel, LabelId, List, LocalId, Stmt, StmtId, SubgroupOp, Value,
};

/// The state of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Status {
    /// The thread can run.
    Ready,
    /// The thread waits at a barrier.
    Barrier(StmtId),
    /// The thread waits for its subgroup.
    Subgroup {
        op: SubgroupOp,
        value: Value,
        other: u64,
        result: LocalId,
    },
    /// The thread has returned, or reached the end.
    Done,
}

/// A position in a block of statements.
#[derive(Clone, Copy, Debug)]
struct Frame {
    /// The next statement, and the end of the block, in the kernel's lists.
    at: usize,
    end: usize,
    start: usize,
    /// The number of iterations that have begun.
    round: u64,
    repeat: Repeat,
}

/// The action at the end of a block of statements.
#[derive(Clone, Copy, Debug)]
enum Repeat {
    Once,
    While {
        label: LabelId,
        cond: Option<ExprId>,
    },
    For {
        label: LabelId,
        local: LocalId,
        next: i128,
        end: i128,
    },
}

impl Frame {
    fn is(&self, label: LabelId) -> bool {
        match self.repeat {
            Repeat::Once => false,
            Repeat::While { label: own, .. } | Repeat::For { label: own, .. } => own == label,
        }
    }

    /// The sort key of frames in one enclosing frame: the order in which the program runs through them.
    fn key(&self) -> (u64, usize, usize) {
        (self.round, self.start, self.at)
    }
}

/// A thread: its ids, its locals, and its stack of blocks of statements, outermost first.
pub(super) struct Thread {
    pub ids: Ids,
    pub status: Status,
    values: Vec<Value>,
    faulted: bool,
    frames: Vec<Frame>,
}

impl Thread {
    pub fn new(ids: Ids) -> Thread {
        Thread {
            ids,
            status: Status::Ready,
            values: vec![],
            faulted: false,
            frames: vec![],
        }
    }

    /// Resets the thread to the start of the kernel.
    pub fn restart(&mut self, ids: Ids, kernel: &Kernel, layout: &Layout) {
        self.ids = ids;
        self.status = Status::Ready;
        self.faulted = false;
        layout.clear(&mut self.values);
        self.frames.clear();
        self.frames.push(once(kernel.body));
    }

    /// Compares the points in the program of two threads that wait or have returned. The end of the kernel is
    /// later than all other points.
    pub fn place(&self, other: &Thread) -> std::cmp::Ordering {
        let ended = (self.frames.is_empty(), other.frames.is_empty());
        let keys = |t: &Thread| t.frames.iter().map(Frame::key).collect::<Vec<_>>();
        match ended {
            (false, false) => keys(self).cmp(&keys(other)),
            (a, b) => a.cmp(&b),
        }
    }

    /// Stores the result of a subgroup operation, and makes the thread ready.
    pub fn resume_with(&mut self, layout: &Layout, result: LocalId, value: Value) {
        self.values[layout.slot(result)] = value;
        self.status = Status::Ready;
    }

    /// Runs the thread until it waits or ends.
    pub fn run<H: Host>(&mut self, common: &mut Common<'_, H>) -> Result<(), Halt> {
        let mut lane = Lane {
            common,
            ids: &self.ids,
            values: &mut self.values,
            faulted: &mut self.faulted,
        };
        loop {
            let Some(frame) = self.frames.last_mut() else {
                self.status = Status::Done;
                return Ok(());
            };
            if frame.at == frame.end {
                if !again(frame, &mut lane)? {
                    self.frames.pop();
                }
                continue;
            }
            let id = StmtId(lane.kernel().lists[frame.at]);
            frame.at += 1;
            if let Some(status) = step(id, &mut self.frames, &mut lane)? {
                self.status = status;
                return Ok(());
            }
        }
    }
}

fn once(block: Block) -> Frame {
    let range = block.0.range();
    Frame {
        at: range.start,
        end: range.end,
        start: range.start,
        round: 0,
        repeat: Repeat::Once,
    }
}

/// A loop before its first iteration.
fn repeated(block: Block, repeat: Repeat) -> Frame {
    let frame = once(block);
    Frame {
        at: frame.end,
        repeat,
        ..frame
    }
}

/// Begins the next iteration. Returns false if there is none.
fn again<H: Host>(frame: &mut Frame, lane: &mut Lane<'_, '_, H>) -> Result<bool, Halt> {
    let goes_on = match &mut frame.repeat {
        Repeat::Once => false,
        Repeat::While { cond: None, .. } => true,
        Repeat::While {
            cond: Some(cond), ..
        } => lane.condition(*cond)?,
        Repeat::For {
            local, next, end, ..
        } => {
            let inside = next < end;
            if inside {
                let ty = lane.kernel().locals[local.index()].ty.scalar();
                *lane.local(*local) = integer(ty, *next);
                *next += 1;
            }
            inside
        }
    };
    frame.at = frame.start;
    frame.round += 1;
    Ok(goes_on)
}

/// Executes one statement. Returns the new status if the thread waits or ends there.
fn step<H: Host>(
    id: StmtId,
    frames: &mut Vec<Frame>,
    lane: &mut Lane<'_, '_, H>,
) -> Result<Option<Status>, Halt> {
    let kernel = lane.kernel();
    match kernel.stmt(id) {
        Stmt::Let { local, init } => {
            if let Some(init) = init {
                *lane.local(local) = lane.expr(init)?;
            }
        }
        Stmt::Assign { local, value } => *lane.local(local) = lane.expr(value)?,
        Stmt::Store {
            memory,
            index,
            value,
            site,
        } => {
            let value = lane.expr(value)?;
            if let Some(index) = lane.index(memory, index, site)? {
                let loc = kernel.stmt_locs[id.index()];
                lane.touch((memory, index), Deed::Store, Spot { loc, site })?;
                lane.store(memory, index, value);
            }
        }
        Stmt::Assert { cond, site } => {
            if !lane.condition(cond)? {
                lane.fault(Some(site), 0)?;
            }
        }
        Stmt::Panic { site } => {
            lane.fault(Some(site), 0)?;
            return Ok(Some(Status::Done));
        }
        Stmt::Print { print } => {
            let print = &kernel.prints[print.index()];
            let args: Vec<ExprId> = kernel.list(print.args).collect();
            let values: Result<Vec<Value>, Halt> =
                args.into_iter().map(|arg| lane.expr(arg)).collect();
            lane.common.host.print(&print.text(&values?));
        }
        Stmt::If {
            cond,
            then,
            otherwise,
        } => {
            let taken = if lane.condition(cond)? {
                then
            } else {
                otherwise
            };
            frames.push(once(taken));
        }
        Stmt::Loop { label, cond, body } => {
            frames.push(repeated(body, Repeat::While { label, cond }));
        }
        Stmt::For {
            label,
            local,
            start,
            end,
            body,
        } => {
            let (next, end) = (lane.integer(start)?, lane.integer(end)?);
            let repeat = Repeat::For {
                label,
                local,
                next,
                end,
            };
            frames.push(repeated(body, repeat));
        }
        Stmt::Break { label } => {
            leave_to(frames, label);
            frames.pop();
        }
        Stmt::Continue { label } => {
            leave_to(frames, label);
            if let Some(frame) = frames.last_mut() {
                frame.at = frame.end;
            }
        }
        Stmt::Return => return Ok(Some(Status::Done)),
        Stmt::Barrier => return Ok(Some(Status::Barrier(id))),
        // The threads of a block run one after the other, and see each other's writes at once.
        Stmt::Fence { .. } => {
            if let Some(sanitizer) = &mut lane.common.sanitizer {
                sanitizer.fence(lane.ids);
            }
        }
        Stmt::Atomic {
            op,
            memory,
            index,
            args,
            result,
            site,
        } => {
            let mut values = [Value::Bool(false); 2];
            let args = lane.args(args, &mut values)?;
            let old = match lane.index(memory, index, site)? {
                Some(index) => {
                    let loc = kernel.stmt_locs[id.index()];
                    // Shared atomics begin uninitialised like all elements, and every operation except a store
                    // reads the element.
                    let deed = match op {
                        AtomicOp::Store => Deed::Publish,
                        AtomicOp::Load
                        | AtomicOp::Swap
                        | AtomicOp::Add
                        | AtomicOp::Sub
                        | AtomicOp::Min
                        | AtomicOp::Max
                        | AtomicOp::And
                        | AtomicOp::Or
                        | AtomicOp::Xor
                        | AtomicOp::CompareExchange => Deed::Atomic,
                    };
                    lane.touch((memory, index), deed, Spot { loc, site })?;
                    let old = lane.load(memory, index);
                    lane.store(memory, index, super::atomic(op, old, args));
                    old
                }
                None => Value::zero(kernel.element(memory)),
            };
            if let Some(result) = result {
                *lane.local(result) = old;
            }
        }
        Stmt::Subgroup { op, args, result } => return subgroup(op, args, result, lane).map(Some),
        Stmt::Update { .. } | Stmt::Call { .. } => {
            unreachable!("linking leaves no compound")
        }
        Stmt::Native { native } => {
            if lane.intrinsic(native) {
                return Ok(None);
            }
            match kernel.natives[native.index()].fallback {
                Some(fallback) => frames.push(once(fallback)),
                None => unreachable!("only kernels whose native blocks have fallbacks are run"),
            }
        }
    }
    Ok(None)
}

/// Evaluates the thread's operands of a subgroup operation.
fn subgroup<H: Host>(
    op: SubgroupOp,
    args: List,
    result: LocalId,
    lane: &mut Lane<'_, '_, H>,
) -> Result<Status, Halt> {
    let mut values = [Value::Usize(0); 2];
    lane.args(args, &mut values)?;
    let other = values[1].as_int().unwrap_or(0) as u64;
    Ok(Status::Subgroup {
        op,
        value: values[0],
        other,
        result,
    })
}

/// Pops the frames inside of a loop.
fn leave_to(frames: &mut Vec<Frame>, label: LabelId) {
    while frames.last().is_some_and(|frame| !frame.is(label)) {
        frames.pop();
    }
}
