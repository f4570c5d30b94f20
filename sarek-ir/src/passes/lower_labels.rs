use std::collections::BTreeSet;

use crate::facts::Flow;
use crate::{Block, ExprId, Kernel, LabelId, Loc, Local, LocalId, Scalar, Stmt, StmtId, Value};

/// Lowers exits from several loops at once to flags. The exit sets the flag of its target and leaves the innermost
/// loop; each loop on the way is followed by a test of the flag.
///
/// The flag of a `break` is cleared before its target loop, that of a `continue` at the head of the loop's body.
pub fn lower_labels(kernel: &mut Kernel) {
    let mut pass = Pass {
        kernel,
        loops: vec![],
    };
    let body = pass.kernel.body;
    pass.kernel.body = pass.block(body).0;
}

/// The effect of an exit on its target: `break` or `continue`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Exit {
    Leave,
    Next,
}

/// A loop around the current statement, with the flags that exits to it need.
struct Enclosing {
    label: LabelId,
    leave: Option<LocalId>,
    next: Option<LocalId>,
}

/// Exits that pass through a loop on the way to their target.
type Exits = BTreeSet<(LabelId, Exit)>;

struct Pass<'a> {
    kernel: &'a mut Kernel,
    loops: Vec<Enclosing>,
}

impl Pass<'_> {
    fn block(&mut self, block: Block) -> (Block, Exits) {
        let before: Vec<StmtId> = self.kernel.block(block).collect();
        let mut after = Vec::with_capacity(before.len());
        let mut exits = Exits::new();
        for &id in &before {
            self.stmt(id, &mut after, &mut exits);
        }
        if after == before {
            return (block, exits);
        }
        (self.kernel.push_block(&after), exits)
    }

    fn stmt(&mut self, id: StmtId, out: &mut Vec<StmtId>, exits: &mut Exits) {
        match self.kernel.stmt(id).facts().flow {
            Flow::Break(label) => self.exit(id, label, Exit::Leave, out, exits),
            Flow::Continue(label) => self.exit(id, label, Exit::Next, out, exits),
            Flow::Loop(label) => self.inner_loop(id, label, out, exits),
            Flow::Next | Flow::Branch | Flow::Return | Flow::Panic => {
                self.inside(id, exits);
                out.push(id);
            }
        }
    }

    /// Lowers the blocks of a statement.
    fn inside(&mut self, id: StmtId, exits: &mut Exits) {
        let mut new = vec![];
        for block in self.kernel.blocks_of(id) {
            let (block, through) = self.block(block);
            exits.extend(through);
            new.push(block);
        }
        let mut new = new.into_iter();
        self.kernel
            .map_blocks(id, &mut |_, old| new.next().unwrap_or(old));
    }

    fn exit(
        &mut self,
        id: StmtId,
        label: LabelId,
        exit: Exit,
        out: &mut Vec<StmtId>,
        exits: &mut Exits,
    ) {
        let innermost = self.loops.last().map(|l| l.label);
        let Some(innermost) = innermost.filter(|&l| l != label) else {
            return out.push(id);
        };
        let loc = self.kernel.stmt_locs[id.index()];
        let local = self.flag(label, exit);
        let value = self.kernel.push_literal(Value::Bool(true), loc);
        out.push(self.kernel.push_stmt(Stmt::Assign { local, value }, loc));
        out.push(self.kernel.push_stmt(Stmt::Break { label: innermost }, loc));
        exits.insert((label, exit));
    }

    fn inner_loop(&mut self, id: StmtId, label: LabelId, out: &mut Vec<StmtId>, exits: &mut Exits) {
        self.loops.push(Enclosing {
            label,
            leave: None,
            next: None,
        });
        let mut through = Exits::new();
        self.inside(id, &mut through);
        let flags = self.loops.pop().expect("pushed above");
        let loc = self.kernel.stmt_locs[id.index()];
        if let Some(flag) = flags.next {
            let clear = self.clear(flag, loc);
            self.kernel.map_blocks(id, &mut |kernel, body| {
                let stmts: Vec<StmtId> = [clear].into_iter().chain(kernel.block(body)).collect();
                kernel.push_block(&stmts)
            });
        }
        if let Some(flag) = flags.leave {
            let clear = self.clear(flag, loc);
            out.push(clear);
        }
        out.push(id);
        through.retain(|(target, _)| *target != label);
        for (target, exit) in through {
            let enclosing = self.loops.last().expect("the target encloses this").label;
            let onward = if target == enclosing && exit == Exit::Next {
                Stmt::Continue { label: enclosing }
            } else {
                Stmt::Break { label: enclosing }
            };
            let flag = self.flag(target, exit);
            let cond = self.kernel.push_local_read(flag, loc);
            out.push(self.guarded(cond, onward, loc));
            if target != enclosing {
                exits.insert((target, exit));
            }
        }
    }

    fn flag(&mut self, label: LabelId, exit: Exit) -> LocalId {
        let target = self
            .loops
            .iter_mut()
            .find(|l| l.label == label)
            .expect("an exit names an enclosing loop");
        let (slot, name) = match exit {
            Exit::Leave => (&mut target.leave, "leave"),
            Exit::Next => (&mut target.next, "next"),
        };
        *slot.get_or_insert_with(|| {
            self.kernel.push_local(Local {
                name: name.into(),
                ty: Scalar::Bool.into(),
                mutable: true,
            })
        })
    }

    fn clear(&mut self, local: LocalId, loc: Loc) -> StmtId {
        let init = Some(self.kernel.push_literal(Value::Bool(false), loc));
        self.kernel.push_stmt(Stmt::Let { local, init }, loc)
    }

    fn guarded(&mut self, cond: ExprId, stmt: Stmt, loc: Loc) -> StmtId {
        let stmt = self.kernel.push_stmt(stmt, loc);
        let then = self.kernel.push_block(&[stmt]);
        let otherwise = Block::EMPTY;
        self.kernel.push_stmt(
            Stmt::If {
                cond,
                then,
                otherwise,
            },
            loc,
        )
    }
}
