//! The shared arrays of staged loads, and the elements that each thread copies to them.

use crate::{
    Axis, BinaryOp, Builtin, Expr, ExprId, Kernel, Length, LocalId, Memory, SharedArray, SharedId,
    StmtId,
};

use super::super::lane::{Ids, split};
use super::Stage;
use super::code::Code;
use super::copy::Stager;
use super::target::{Run, Staged};

/// The bytes of a wide access.
const WIDE: u32 = 16;

/// A shared array with the elements of one load.
pub(super) struct Tile<'t> {
    pub of: &'t Staged,
    pub memory: Memory,
    /// The elements of a turn.
    pub width: u32,
    /// The distance between the elements of a turn and those of the next one.
    pub pitch: u32,
    /// The neighbouring elements that a thread copies at once.
    pub wide: u32,
    /// The places of the elements that a thread copies.
    pub steps: Vec<Step>,
}

/// The first of the elements that a thread copies at once.
pub(super) struct Step {
    /// The turn in the chunk, and the position in the turn, as expressions outside of the kernel. Along the run, they
    /// count groups of [`Tile::wide`].
    pub turn: ExprId,
    pub column: ExprId,
    /// The condition under which the thread copies something of its own.
    pub own: Option<ExprId>,
}

impl Stager<'_> {
    /// Declares the shared array of a load, and the places that each thread copies.
    pub(super) fn tile<'s>(
        &self,
        code: &mut Code<'_>,
        load: &'s Staged,
        thread: LocalId,
        out: &mut Vec<StmtId>,
    ) -> Tile<'s> {
        let Stage { chunk, block, .. } = self.stage;
        let width = load.axis.map_or(1, |axis| self.stage.tile[axis.index()]);
        let wide = self.wide(code, load, width);
        let pitch = width + self.padding(load);
        let buffers = if self.stage.double { 2 } else { 1 };
        let name = match load.memory {
            Memory::Slice(param) => format!("{}_tile", code.kernel.params[param.index()].name),
            Memory::Shared(_) | Memory::Local(_) | Memory::Table(_) => "tile".to_owned(),
        };
        let elem = code.kernel.element_type(load.memory);
        let arrays = code.kernel.shared.to_mut();
        arrays.push(SharedArray {
            name: name.into(),
            elem,
            len: Length::Fixed(u64::from(buffers * chunk * pitch * load.size())),
            atomic: false,
        });
        let memory = Memory::Shared(SharedId(arrays.len() as u32 - 1));
        let threads = block.iter().product::<u32>();
        let copies = match load.run {
            Run::Units => chunk * width,
            Run::Counter | Run::Axis | Run::Neither => chunk * width / wide,
        };
        let mut steps = vec![];
        for at in (0..copies).step_by(threads as usize) {
            steps.push(self.step(
                code,
                load,
                (width, wide),
                (thread, at, copies, threads),
                out,
            ));
        }
        Tile {
            of: load,
            memory,
            width,
            pitch,
            wide,
            steps,
        }
    }

    /// The elements between the turns of a tile, so that threads that store along turns use different banks.
    fn padding(&self, load: &Staged) -> u32 {
        match (load.run, load.axis) {
            (Run::Counter, Some(axis)) => {
                let at = axis.index();
                let lanes = self.stage.tile[at] / self.stage.block[at];
                if lanes.is_multiple_of(4) { 4 } else { 1 }
            }
            (Run::Counter, None) | (Run::Axis | Run::Units | Run::Neither, _) => 0,
        }
    }

    /// One copy of a thread: number `thread + at` of all `copies` of the block.
    fn step(
        &self,
        code: &mut Code<'_>,
        load: &Staged,
        (width, wide): (u32, u32),
        (thread, at, copies, threads): (LocalId, u32, u32, u32),
        out: &mut Vec<StmtId>,
    ) -> Step {
        let number = |code: &mut Code<'_>| {
            let thread = code.read(thread);
            code.plus(thread, at)
        };
        let mut own = None;
        let mut place = number(code);
        if at + threads > copies {
            let (copy, all) = (number(code), code.n(copies));
            own = Some(code.lt(copy, all));
            let last = code.n(copies - 1);
            place = code.min(place, last);
        }
        let (turn, column) = match load.run {
            Run::Counter => {
                let turns = self.stage.chunk / wide;
                let again = code.again(place);
                (code.rem(place, turns), code.div(again, turns))
            }
            Run::Axis | Run::Units | Run::Neither => {
                let columns = if load.run == Run::Axis {
                    width / wide
                } else {
                    width
                };
                let again = code.again(place);
                (code.div(place, columns), code.rem(again, columns))
            }
        };
        let mut kept = |name, value: ExprId| match code.kernel.expr(value) {
            Expr::Divide { .. } => {
                let local = code.bind(name, value, out);
                code.read(local)
            }
            _ => value,
        };
        Step {
            turn: kept("turn", turn),
            column: kept("column", column),
            own,
        }
    }

    /// The number of neighbouring elements that one access loads.
    fn wide(&self, code: &mut Code<'_>, load: &Staged, width: u32) -> u32 {
        let size = code.kernel.element(load.memory).size() as u32;
        let Memory::Slice(param) = load.memory else {
            return 1;
        };
        let wide = WIDE / size.max(1);
        let aligned = code.kernel.params[param.index()].align >= WIDE;
        let of = match load.run {
            Run::Counter => self.stage.chunk,
            Run::Axis => width,
            Run::Units => return load.size(),
            Run::Neither => return 1,
        };
        if size < 4 || !aligned || !of.is_multiple_of(wide) {
            return 1;
        }
        if let (Run::Axis, Some(axis)) = (load.run, load.axis)
            && self.stage.missing[axis.index()] > 0
            && !(self.stage.is_together(axis) && wide == super::TOGETHER)
        {
            return 1;
        }
        let zero = code.n(0);
        let step = Step {
            turn: zero,
            column: code.n(0),
            own: None,
        };
        let chunk = code.n(0);
        let chunk = code.mul(chunk, self.stage.chunk);
        let index = self.element(code, load, (&step, wide, 0), chunk);
        match split(code.kernel, index) {
            (Some(base), 0) if is_multiple(code.kernel, base, wide) => wide,
            (None, n) if n.is_multiple_of(wide.into()) => wide,
            (_, _) => 1,
        }
    }

    /// The index of an element that a thread copies: number `part` of those that it copies at once.
    pub(super) fn element(
        &self,
        code: &mut Code<'_>,
        load: &Staged,
        (step, wide, part): (&Step, u32, u32),
        chunk: ExprId,
    ) -> ExprId {
        let first = self.first(code, chunk);
        let turn = code.again(step.turn);
        let turn = match load.run {
            Run::Counter => {
                let group = code.mul(turn, wide);
                let turn = code.add(first, group);
                code.plus(turn, part)
            }
            Run::Axis | Run::Units | Run::Neither => code.add(first, turn),
        };
        let mut at = match &self.lane.ids {
            Ids::Staged { at, .. } => *at,
            Ids::Merged(..) => [None; 3],
        };
        if let Some(axis) = load.axis {
            let part = if load.run == Run::Axis { part } else { 0 };
            let wide = if load.run == Run::Axis { wide } else { 1 };
            at[axis.index()] = Some(self.column(code, axis, (step, wide, part)));
        }
        let mut lane = self.lane.clone();
        lane.ids = Ids::Staged {
            at,
            turns: [1; 3],
            missing: self.stage.missing,
        };
        lane.values.insert(self.target.counter, turn);
        let index = lane.expr(code.kernel, &self.target.values, load.index);
        match load.run {
            Run::Units => code.plus(index, part),
            Run::Counter | Run::Axis | Run::Neither => index,
        }
    }

    /// The id along `axis` of the thread for which an element is copied.
    fn column(
        &self,
        code: &mut Code<'_>,
        axis: Axis,
        (step, wide, part): (&Step, u32, u32),
    ) -> ExprId {
        let (tile, missing) = (
            self.stage.tile[axis.index()],
            self.stage.missing[axis.index()],
        );
        let block = code.id(Builtin::BlockIdx(axis));
        let column = code.again(step.column);
        if missing > 0 && wide > 1 {
            let block = code.mul(block, tile / wide);
            let group = code.add(block, column);
            let last = code.last(axis, missing, wide);
            let group = code.min(group, last);
            let first = code.mul(group, wide);
            return code.plus(first, part);
        }
        let block = code.mul(block, tile);
        let column = code.mul(column, wide);
        let id = code.add(block, column);
        let id = code.plus(id, part);
        self.stage.clamp(code, axis, id)
    }
}

/// True if a `usize` expression is plainly a multiple of a power of two.
fn is_multiple(kernel: &Kernel, id: ExprId, of: u32) -> bool {
    match kernel.expr(id) {
        Expr::Literal(value) => value.as_int().is_some_and(|n| n % i128::from(of) == 0),
        Expr::Binary { op, lhs, rhs } => {
            let (left, right) = (is_multiple(kernel, lhs, of), is_multiple(kernel, rhs, of));
            match op {
                BinaryOp::Add | BinaryOp::Sub => left && right,
                BinaryOp::Mul => left || right,
                _ => false,
            }
        }
        _ => false,
    }
}
