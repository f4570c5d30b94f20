//! Writes the staged loop: the copies of elements to tiles, and the turns that read them.

use crate::{
    Axis, Builtin, ExprId, Kernel, LabelId, Local, LocalId, Scalar, Stmt, StmtId, Unroll, Value,
};

use super::super::lane::{Indices, Lane};
use super::Stage;
use super::code::Code;
use super::target::{Run, Target};
use super::tile::{Step, Tile};

/// The longest chunk whose turns are all unrolled.
const UNROLLED: u32 = 16;
/// The number of turns of longer chunks that are unrolled together.
const TOGETHER: u32 = 8;

/// Writes the staged form of a loop.
pub(super) struct Stager<'t> {
    pub(super) stage: Stage,
    pub(super) target: &'t Target,
    /// Copies statements of the user's loop.
    pub(super) lane: Lane,
    indices: &'t Indices,
}

impl<'t> Stager<'t> {
    pub fn new(stage: Stage, target: &'t Target, lane: Lane, indices: &'t Indices) -> Stager<'t> {
        Stager {
            stage,
            target,
            lane,
            indices,
        }
    }

    /// Writes what replaces the loop.
    pub fn staged(&self, code: &mut Code<'_>, out: &mut Vec<StmtId>) {
        let chunk = self.stage.chunk;
        let thread = self.thread(code, out);
        let turns = self.turns(code);
        let chunks = code.div(turns, chunk);
        let chunks = code.bind("chunks", chunks, out);
        let mut tiles = vec![];
        for load in &self.target.loads {
            tiles.push(self.tile(code, load, thread, out));
        }
        let number = code.kernel.push_local(Local {
            name: "chunk".into(),
            ty: Scalar::Usize.into(),
            mutable: false,
        });
        match self.stage.double {
            true => self.two_buffers(code, &tiles, (chunks, number), out),
            false => self.one_buffer(code, &tiles, (chunks, number), out),
        }
        if self.stage.rest {
            let done = code.read(chunks);
            let done = code.mul(done, chunk);
            out.push(self.rest(code, done));
        }
    }

    /// The number of the thread in its block.
    fn thread(&self, code: &mut Code<'_>, out: &mut Vec<StmtId>) -> LocalId {
        let [x, y, _] = self.stage.block;
        let mut number = code.id(Builtin::ThreadIdx(Axis::X));
        for (axis, before) in [(Axis::Y, x), (Axis::Z, x * y)] {
            if self.stage.block[axis.index()] > 1 {
                let id = code.id(Builtin::ThreadIdx(axis));
                let id = code.mul(id, before);
                number = code.add(id, number);
            }
        }
        code.bind("thread", number, out)
    }

    /// A value that is the same for all threads of the launch.
    fn uniform(&self, code: &mut Code<'_>, id: ExprId) -> ExprId {
        self.lane.expr(code.kernel, &self.target.values, id)
    }

    /// The number of turns of the loop.
    fn turns(&self, code: &mut Code<'_>) -> ExprId {
        let [start, end] =
            [self.target.start, self.target.end].map(|bound| self.uniform(code, bound));
        if code.kernel.literal(start) == Some(Value::Usize(0)) {
            return end;
        }
        let again = code.again(start);
        let end = code.max(end, start);
        code.sub(end, again)
    }

    /// The first turn of a chunk.
    pub(super) fn first(&self, code: &mut Code<'_>, chunk: ExprId) -> ExprId {
        let start = self.uniform(code, self.target.start);
        let offset = code.mul(chunk, self.stage.chunk);
        code.add(start, offset)
    }

    fn one_buffer(
        &self,
        code: &mut Code<'_>,
        tiles: &[Tile<'_>],
        (chunks, number): (LocalId, LocalId),
        out: &mut Vec<StmtId>,
    ) {
        let mut body = vec![];
        let chunk = code.read(number);
        let held = self.fetch(code, tiles, chunk, &mut body);
        body.push(code.stmt(Stmt::Barrier));
        self.put(code, tiles, &held, None, &mut body);
        body.push(code.stmt(Stmt::Barrier));
        body.push(self.compute(code, tiles, number, None));
        let end = code.read(chunks);
        out.push(code.count(number, end, &body));
    }

    fn two_buffers(
        &self,
        code: &mut Code<'_>,
        tiles: &[Tile<'_>],
        (chunks, number): (LocalId, LocalId),
        out: &mut Vec<StmtId>,
    ) {
        let mut all = vec![];
        let zero = code.n(0);
        let held = self.fetch(code, tiles, zero, &mut all);
        self.put(code, tiles, &held, None, &mut all);
        all.push(code.stmt(Stmt::Barrier));
        // Measured: a product is a tenth faster than with the remainder of the chunk's number.
        let zero = code.n(0);
        let now = code.declare(("now", true), zero, &mut all);
        let mut body = vec![];
        let next = |code: &mut Code<'_>| {
            let chunk = code.read(number);
            code.plus(chunk, 1)
        };
        let (one, end) = (next(code), code.read(chunks));
        let more = code.lt(one, end);
        let more = code.bind("more", more, &mut body);
        let mut then = vec![];
        let chunk = next(code);
        let loads = self.loads(code, tiles, chunk);
        for (local, value) in held.iter().flatten().zip(loads.into_iter().flatten()) {
            let local = *local;
            then.push(code.stmt(Stmt::Assign { local, value }));
        }
        let cond = code.read(more);
        body.push(code.branch(cond, &then));
        body.push(self.compute(code, tiles, number, Some(now)));
        let mut then = vec![];
        let other = code.other(now);
        self.put(code, tiles, &held, Some(other), &mut then);
        then.push(code.stmt(Stmt::Barrier));
        let (local, value) = (now, code.other(now));
        then.push(code.stmt(Stmt::Assign { local, value }));
        let cond = code.read(more);
        body.push(code.branch(cond, &then));
        let end = code.read(chunks);
        all.push(code.count(number, end, &body));
        let (zero, end) = (code.n(0), code.read(chunks));
        let some = code.lt(zero, end);
        out.push(code.branch(some, &all));
    }

    /// The values that a thread loads for a chunk, for each tile.
    fn loads(&self, code: &mut Code<'_>, tiles: &[Tile<'_>], chunk: ExprId) -> Vec<Vec<ExprId>> {
        let each = tiles.iter().map(|tile| {
            let mut values = vec![];
            for step in &tile.steps {
                for part in 0..tile.wide {
                    let chunk = code.again(chunk);
                    let index = self.element(code, tile.of, (step, tile.wide, part), chunk);
                    values.push(code.load(tile.of.memory, index));
                }
            }
            values
        });
        each.collect()
    }

    /// Loads the elements of a chunk into locals.
    fn fetch(
        &self,
        code: &mut Code<'_>,
        tiles: &[Tile<'_>],
        chunk: ExprId,
        out: &mut Vec<StmtId>,
    ) -> Vec<Vec<LocalId>> {
        let loads = self.loads(code, tiles, chunk).into_iter();
        let mutable = self.stage.double;
        loads
            .map(|values| {
                let values = values.into_iter();
                values
                    .map(|value| code.declare(("next", mutable), value, out))
                    .collect()
            })
            .collect()
    }

    /// Stores the elements of a chunk, which `held` has, to the tiles' buffers of that number.
    fn put(
        &self,
        code: &mut Code<'_>,
        tiles: &[Tile<'_>],
        held: &[Vec<LocalId>],
        number: Option<ExprId>,
        out: &mut Vec<StmtId>,
    ) {
        for (tile, held) in tiles.iter().zip(held) {
            for (step, held) in tile.steps.iter().zip(held.chunks(tile.wide as usize)) {
                let mut stores = vec![];
                for (part, local) in (0..).zip(held) {
                    let buffer = self.buffer(code, tile, number);
                    let place = self.place(code, tile, (step, part));
                    let index = code.add(buffer, place);
                    let value = code.read(*local);
                    stores.push(code.store(tile.memory, index, value));
                }
                match step.own {
                    Some(own) => {
                        let cond = code.again(own);
                        out.push(code.branch(cond, &stores));
                    }
                    None => out.extend(stores),
                }
            }
        }
    }

    /// The first element of a buffer, of the first one without a number.
    fn buffer(&self, code: &mut Code<'_>, tile: &Tile<'_>, number: Option<ExprId>) -> ExprId {
        match number {
            Some(number) => {
                let number = code.again(number);
                code.mul(number, self.stage.chunk * tile.pitch * tile.of.size())
            }
            None => code.n(0),
        }
    }

    /// The position of a copied element in its buffer.
    fn place(&self, code: &mut Code<'_>, tile: &Tile<'_>, (step, part): (&Step, u32)) -> ExprId {
        let (turn, column) = (code.again(step.turn), code.again(step.column));
        match tile.of.run {
            Run::Counter => {
                let turn = code.mul(turn, tile.wide * tile.pitch);
                let turn = code.plus(turn, part * tile.pitch);
                match tile.width {
                    1 => turn,
                    _ => code.add(turn, column),
                }
            }
            Run::Axis | Run::Neither => {
                let turn = code.mul(turn, tile.pitch);
                let column = code.mul(column, tile.wide);
                let column = code.plus(column, part);
                code.add(turn, column)
            }
            Run::Units => {
                let turn = code.mul(turn, tile.pitch);
                let element = code.add(turn, column);
                let first = code.mul(element, tile.of.size());
                code.plus(first, part)
            }
        }
    }

    /// The loop over the turns of a chunk, whose elements are in buffer `now`.
    fn compute(
        &self,
        code: &mut Code<'_>,
        tiles: &[Tile<'_>],
        number: LocalId,
        now: Option<LocalId>,
    ) -> StmtId {
        let turn = code.kernel.push_local(Local {
            name: "turn".into(),
            ty: Scalar::Usize.into(),
            mutable: false,
        });
        let mut lane = self.lane.clone();
        let mut body = vec![];
        for tile in tiles {
            for (unit, loads) in (0..).zip(&tile.of.units) {
                let index = self.own(code, tile, (now, turn), unit);
                let value = code.load(tile.memory, index);
                let local = code.bind("staged", value, &mut body);
                lane.held.extend(loads.iter().map(|load| (*load, local)));
            }
        }
        let chunk = code.read(number);
        let first = self.first(code, chunk);
        let own = code.read(turn);
        lane.values
            .insert(self.target.counter, code.add(first, own));
        for stmt in stmts(code.kernel, self.target.body) {
            lane.stmt(code.kernel, self.indices, stmt, &mut body);
        }
        let end = code.n(self.stage.chunk);
        let each = code.count(turn, end, &body);
        let label = label(code.kernel, each);
        let unroll = match self.stage.chunk {
            0..=UNROLLED => Unroll::Whole,
            _ => Unroll::Times(TOGETHER),
        };
        code.kernel.unrolls.to_mut().push((label, unroll));
        each
    }

    /// The position of the thread's own element in a turn of a chunk.
    fn own(
        &self,
        code: &mut Code<'_>,
        tile: &Tile<'_>,
        (now, turn): (Option<LocalId>, LocalId),
        unit: u32,
    ) -> ExprId {
        let now = now.map(|now| code.read(now));
        let buffer = self.buffer(code, tile, now);
        let row = code.read(turn);
        let mut element = code.mul(row, tile.pitch);
        if let Some(axis) = tile.of.axis {
            let own = code.id(Builtin::GlobalIdx(axis));
            let block = code.id(Builtin::BlockIdx(axis));
            let block = code.mul(block, self.stage.tile[axis.index()]);
            let column = code.sub(own, block);
            element = code.add(element, column);
        }
        let first = code.mul(element, tile.of.size());
        let first = code.add(buffer, first);
        code.plus(first, unit)
    }

    /// The user's loop from turn `done` on.
    fn rest(&self, code: &mut Code<'_>, done: ExprId) -> StmtId {
        let mut lane = self.lane.clone();
        let local = lane.declare(code.kernel, self.target.counter);
        let mut body = vec![];
        for stmt in stmts(code.kernel, self.target.body) {
            lane.stmt(code.kernel, self.indices, stmt, &mut body);
        }
        let start = self.uniform(code, self.target.start);
        let start = code.add(start, done);
        let end = self.uniform(code, self.target.end);
        let body = code.kernel.push_block(&body);
        let label = code.kernel.fresh_label();
        // Few turns are left, and unrolling them takes registers.
        let unrolls = code.kernel.unrolls.to_mut();
        unrolls.push((label, Unroll::Times(1)));
        code.stmt(Stmt::For {
            label,
            local,
            start,
            end,
            body,
        })
    }
}

fn stmts(kernel: &Kernel, block: crate::Block) -> Vec<StmtId> {
    kernel.block(block).collect()
}

fn label(kernel: &Kernel, stmt: StmtId) -> LabelId {
    kernel.stmt(stmt).loop_label().expect("it is a loop")
}
