//! Runs one thread as far as its run is certain.
//!
//! Both branches of an unknown condition are executed, without recording their accesses. Afterwards, values on which
//! the branches disagree are unknown. A thread stops at a loop whose condition is unknown, at an unknown branch that
//! leaves the code around it, and at calls and native code.

use super::Element;
use super::datum::{Datum, Step};
use super::evaluate::{Known, Stop};
use super::world::World;
use crate::analysis::access::Place;
use crate::nodes::Ids;
use crate::{Block, ExprId, Kernel, LabelId, LocalId, Memory, PlaceId, Root, Stmt, StmtId, Value};

/// The number of nodes that one thread may evaluate.
const STEPS: u32 = 4_000;

/// An access of the examined memory.
#[derive(Clone, Copy)]
pub(super) struct Record {
    pub ids: Ids,
    pub place: Place,
    pub element: Element,
    /// The number of barriers that the thread has passed.
    pub interval: u32,
    pub relies: Relies,
}

/// The assumptions about a launch that a thread has used so far.
#[derive(Clone, Copy, Default)]
pub(super) struct Relies {
    /// The values of arguments.
    pub arguments: bool,
    /// The lengths of slices.
    pub lengths: bool,
    /// The elements of slices that are only read.
    pub zeros: bool,
    /// A slice whose length is not read is longer than [`Values::lengths`](super::world::Values).
    pub longer: bool,
}

/// The accesses that are recorded.
#[derive(Clone, Copy)]
pub(super) struct Watched {
    pub memory: Memory,
    /// The two places. `None` stands for all places.
    pub places: [Option<Place>; 2],
}

impl Watched {
    /// True for each place that is watched as the first and as the second one.
    pub fn sides(&self, place: Place) -> [bool; 2] {
        self.places.map(|of| of.is_none_or(|of| place == of))
    }
}

/// A running thread.
pub(super) struct Thread<'w> {
    pub world: &'w World<'w>,
    pub ids: Ids,
    pub locals: Vec<Datum>,
    /// False in code that may not run.
    pub certain: bool,
    pub relies: Relies,
    interval: u32,
    steps: u32,
    watched: Watched,
    records: Vec<Record>,
}

/// The place at which a thread goes on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flow {
    Next,
    Break(LabelId),
    Continue(LabelId),
    Return,
}

/// The certain part of a thread's run.
pub(super) struct Run {
    /// The accesses of the examined memory.
    pub records: Vec<Record>,
    /// The barrier interval in which the thread stopped; `None` if it ran to its end.
    pub stopped: Option<u32>,
    /// True if the thread has read an argument or a length.
    pub asked: bool,
}

impl<'w> Thread<'w> {
    /// Runs a thread.
    pub fn run(world: &'w World<'w>, ids: Ids, watched: Watched) -> Run {
        let kernel = world.kernel();
        let mut thread = Thread {
            world,
            ids,
            locals: vec![Datum::Unknown; kernel.locals.len()],
            certain: true,
            relies: Relies::default(),
            interval: 0,
            steps: STEPS,
            watched,
            records: vec![],
        };
        let ended = thread.start().is_ok();
        Run {
            records: thread.records,
            stopped: (!ended).then_some(thread.interval),
            asked: thread.relies.arguments || thread.relies.lengths,
        }
    }

    fn start(&mut self) -> Known<Flow> {
        self.spend(self.locals.len() as u32 / 4)?;
        self.block(self.kernel().body)
    }

    pub fn kernel(&self) -> &'w Kernel {
        self.world.kernel()
    }

    /// Stops the thread if it has evaluated too many nodes.
    pub fn spend(&mut self, nodes: u32) -> Known<()> {
        let budget = &self.world.budget;
        budget.set(budget.get().saturating_sub(nodes));
        self.steps = self.steps.saturating_sub(nodes);
        match self.steps == 0 || budget.get() == 0 {
            true => Err(Stop),
            false => Ok(()),
        }
    }

    /// Counts the parts of a copied value.
    pub fn spend_copy(&mut self, datum: &Datum) -> Known<()> {
        match datum {
            Datum::Items(items) => self.spend(items.len() as u32),
            Datum::Unknown | Datum::Scalar(_) | Datum::Position(_) | Datum::Fields { .. } => Ok(()),
        }
    }

    /// Records an access, if it is certain and of the examined memory.
    pub fn record(&mut self, memory: Memory, place: Place, element: Element) {
        let watched = self.watched.sides(place).contains(&true);
        if self.certain && memory == self.watched.memory && watched {
            self.records.push(Record {
                ids: self.ids,
                place,
                element,
                interval: self.interval,
                relies: self.relies,
            });
        }
    }

    fn block(&mut self, block: Block) -> Known<Flow> {
        for stmt in self.kernel().block(block) {
            let flow = self.stmt(stmt)?;
            if flow != Flow::Next {
                return Ok(flow);
            }
        }
        Ok(Flow::Next)
    }

    fn stmt(&mut self, id: StmtId) -> Known<Flow> {
        self.spend(1)?;
        let kernel = self.kernel();
        match kernel.stmt(id) {
            Stmt::Let { local, init } => {
                let value = init.map(|init| self.datum(init)).transpose()?;
                self.set(local, value.unwrap_or(Datum::Unknown));
            }
            Stmt::Assign { local, value } => {
                let value = self.datum(value)?;
                self.set(local, value);
            }
            Stmt::Store {
                memory,
                index,
                value,
                site,
            } => {
                let value = self.datum(value)?;
                let element = self.index(memory, index, site)?;
                self.store(memory, (Place::Store(id), element), &[], value)?;
            }
            Stmt::Update { place, value } => {
                let value = self.datum(value)?;
                self.update(id, place, value)?;
            }
            Stmt::Assert { cond, .. } if self.truth(cond)? == Some(true) => {}
            Stmt::If {
                cond,
                then,
                otherwise,
            } => return self.branch(cond, then, otherwise),
            Stmt::Loop { label, cond, body } => return self.repeat(label, cond, body),
            Stmt::For {
                label,
                local,
                start,
                end,
                body,
            } => {
                let range = (self.integer(start)?, self.integer(end)?);
                return self.count(label, local, range, body);
            }
            Stmt::Break { label } => return Ok(Flow::Break(label)),
            Stmt::Continue { label } => return Ok(Flow::Continue(label)),
            Stmt::Return => return Ok(Flow::Return),
            Stmt::Barrier if self.certain => self.interval += 1,
            Stmt::Assert { .. }
            | Stmt::Panic { .. }
            | Stmt::Barrier
            | Stmt::Call { .. }
            | Stmt::Native { .. } => return Err(Stop),
            Stmt::Fence { .. } => {}
            Stmt::Print { print } => self.operands(kernel.prints[print.index()].args)?,
            Stmt::Atomic {
                memory,
                index,
                args,
                result,
                site,
                ..
            } => {
                self.operands(args)?;
                self.index(memory, index, site)?;
                self.forget(result);
            }
            Stmt::Subgroup { args, result, .. } => {
                self.operands(args)?;
                self.forget(Some(result));
            }
        }
        Ok(Flow::Next)
    }

    fn set(&mut self, local: LocalId, value: Datum) {
        self.locals[local.index()] = value;
    }

    fn forget(&mut self, local: Option<LocalId>) {
        if let Some(local) = local {
            self.set(local, Datum::Unknown);
        }
    }

    fn branch(&mut self, cond: ExprId, then: Block, otherwise: Block) -> Known<Flow> {
        match self.truth(cond)? {
            Some(true) => self.block(then),
            Some(false) => self.block(otherwise),
            None => self.both(then, otherwise),
        }
    }

    fn integer(&mut self, id: ExprId) -> Known<i128> {
        self.scalar(id)?.and_then(Value::as_int).ok_or(Stop)
    }

    /// Executes both branches of an unknown condition.
    fn both(&mut self, then: Block, otherwise: Block) -> Known<Flow> {
        let copied = self.locals.len() as u32;
        self.spend(copied)?;
        let certain = std::mem::replace(&mut self.certain, false);
        let before = self.locals.clone();
        let first = self.block(then)?;
        let after = std::mem::replace(&mut self.locals, before);
        let second = self.block(otherwise)?;
        self.certain = certain;
        if first != second {
            return Err(Stop);
        }
        for (mine, other) in self.locals.iter_mut().zip(&after) {
            mine.merge(other);
        }
        Ok(first)
    }

    fn repeat(&mut self, label: LabelId, cond: Option<ExprId>, body: Block) -> Known<Flow> {
        loop {
            self.spend(1)?;
            let goes_on = match cond {
                Some(cond) => self.truth(cond)?.ok_or(Stop)?,
                None => true,
            };
            if !goes_on {
                return Ok(Flow::Next);
            }
            if let Some(flow) = after_round(self.block(body)?, label) {
                return Ok(flow);
            }
        }
    }

    fn count(
        &mut self,
        label: LabelId,
        local: LocalId,
        (mut next, end): (i128, i128),
        body: Block,
    ) -> Known<Flow> {
        let ty = self.kernel().locals[local.index()].ty.as_scalar();
        while next < end {
            self.spend(1)?;
            let counter = ty.and_then(|ty| Value::int(ty, next));
            self.set(local, Datum::from(counter));
            if let Some(flow) = after_round(self.block(body)?, label) {
                return Ok(flow);
            }
            next += 1;
        }
        Ok(Flow::Next)
    }

    /// Stores to a part of an element.
    fn store(
        &mut self,
        memory: Memory,
        (place, element): (Place, Option<Element>),
        path: &[Step],
        value: Datum,
    ) -> Known<()> {
        if let Some(element) = element {
            self.record(memory, place, element);
        }
        match memory {
            Memory::Local(local) => {
                let item = Step::Item {
                    at: element.and_then(Element::single),
                    checked: false,
                };
                let path: Vec<Step> = [item].iter().chain(path).copied().collect();
                self.locals[local.index()].assign(&path, value)
            }
            Memory::Slice(_) | Memory::Shared(_) | Memory::Table(_) => known_path(path),
        }
    }

    fn update(&mut self, id: StmtId, place: PlaceId, value: Datum) -> Known<()> {
        let place = &self.kernel().places[place.index()];
        let element = match place.root {
            Root::Local(_) | Root::Param(_) => None,
            Root::Element {
                memory,
                index,
                site,
            } => self.index(memory, index, site)?,
        };
        let mut path = vec![];
        for step in place.steps.iter() {
            path.push(match *step {
                crate::Step::Field(name) => Step::Field(name),
                crate::Step::Index { index, site } => Step::Item {
                    at: match self.scalar(index)? {
                        Some(Value::Usize(at)) => Some(at),
                        Some(_) | None => None,
                    },
                    checked: site.is_some(),
                },
            });
        }
        match place.root {
            Root::Local(local) => self.locals[local.index()].assign(&path, value),
            Root::Param(_) => known_path(&path),
            Root::Element { memory, .. } => {
                self.store(memory, (Place::Store(id), element), &path, value)
            }
        }
    }
}

/// Stops the thread if a step of the path may fault.
fn known_path(path: &[Step]) -> Known<()> {
    match path.iter().any(Step::may_fault) {
        true => Err(Stop),
        false => Ok(()),
    }
}

/// The place after the loop `label`, if a round of its body leaves the loop.
fn after_round(flow: Flow, label: LabelId) -> Option<Flow> {
    match flow {
        Flow::Next => None,
        Flow::Continue(of) if of == label => None,
        Flow::Break(of) if of == label => Some(Flow::Next),
        Flow::Break(_) | Flow::Continue(_) | Flow::Return => Some(flow),
    }
}
