//! Translates statements.

use super::build::{Exit, Frame, Linker};
use super::leaf::{Part, Storage};
use super::shape::{Shape, length};
use crate::{
    AtomicOp, Block, Expr, ExprId, LabelId, Length, List, Loc, Local, LocalId, Memory, Native,
    NativeId, NativeText, Origin, Piece, Scalar, SiteId, Stmt, StmtId, SubgroupOp, UnaryOp, Unroll,
};
use std::rc::Rc;

impl Linker {
    pub fn block_stmts(&mut self, frame: &mut Frame<'_>, block: Block) {
        for id in frame.ir.block(block).collect::<Vec<_>>() {
            self.stmt(frame, id);
        }
    }

    pub fn block(&mut self, frame: &mut Frame<'_>, block: Block) -> Block {
        self.in_block(|this| this.block_stmts(frame, block))
    }

    pub fn stmt(&mut self, frame: &mut Frame<'_>, id: StmtId) {
        let loc = frame.stmt_loc(id);
        match frame.ir.stmt(id) {
            Stmt::Let { local, init } => self.let_local(frame, local, init, loc),
            Stmt::Assign { local, value } => {
                let to = frame.local(local);
                self.assign(frame, to, value, loc);
            }
            Stmt::Update { place, value } => {
                let to = self.place(frame, place);
                self.assign(frame, to, value, loc);
            }
            Stmt::Store {
                memory,
                index,
                value,
                site,
            } => {
                let to = self.element(frame, memory, index, site);
                self.assign(frame, to, value, loc);
            }
            Stmt::Assert { cond, site } => {
                let cond = self.expr(frame, cond);
                let site = frame.sites[site.index()];
                self.push(Stmt::Assert { cond, site }, loc);
            }
            Stmt::Panic { site } => {
                let site = self.site(frame, Some(site));
                let site = site.unwrap_or_else(|| unreachable!("a site was given"));
                self.push(Stmt::Panic { site }, loc);
            }
            Stmt::Print { print } => self.print(frame, print, loc),
            Stmt::If {
                cond,
                then,
                otherwise,
            } => {
                let branch = Stmt::If {
                    cond: self.expr(frame, cond),
                    then: self.block(frame, then),
                    otherwise: self.block(frame, otherwise),
                };
                self.push(branch, loc);
            }
            Stmt::Loop { label, cond, body } => self.repeat_while(frame, (label, cond, body), loc),
            Stmt::For {
                label,
                local,
                start,
                end,
                body,
            } => self.count(frame, (label, local), (start, end), body, loc),
            Stmt::Break { label } => {
                let label = frame.labels[&label];
                self.push(Stmt::Break { label }, loc);
            }
            Stmt::Continue { label } => {
                let label = frame.labels[&label];
                self.push(Stmt::Continue { label }, loc);
            }
            Stmt::Return => match frame.exit {
                Exit::Thread => self.push(Stmt::Return, loc),
                Exit::Loop(label) => self.push(Stmt::Break { label }, loc),
                Exit::End => {}
            },
            Stmt::Barrier => self.push(Stmt::Barrier, loc),
            Stmt::Fence { scope } => self.push(Stmt::Fence { scope }, loc),
            Stmt::Atomic {
                op,
                memory,
                index,
                args,
                result,
                site,
            } => self.atomic(frame, (op, args, result), (memory, index, site), loc),
            Stmt::Subgroup { op, args, result } => self.subgroup(frame, (op, args, result), loc),
            Stmt::Call { call } => self.call(frame, call, loc),
            Stmt::Native { native } => self.native(frame, native, loc),
        }
    }

    fn let_local(&mut self, frame: &mut Frame<'_>, local: LocalId, init: Option<ExprId>, loc: Loc) {
        let Local { name, ty, mutable } = frame.ir.locals[local.index()].clone();
        let shape = frame.resolve(ty);
        let part = match (&shape, init) {
            (Shape::Scalar(scalar), init) => {
                let init = init.map(|init| self.expr(frame, init));
                let new = self.scalar_local(&name, *scalar, mutable || init.is_none());
                self.push(Stmt::Let { local: new, init }, loc);
                Part::whole(Storage::Locals(Rc::new([new])), shape)
            }
            (_, init) => {
                let part = self.declare(&name, &shape, loc);
                if let Some(init) = init {
                    self.initialise(frame, part.clone(), init, loc);
                }
                part
            }
        };
        frame.locals[local.index()] = Some(part);
    }

    fn scalar_local(&mut self, name: &str, scalar: Scalar, mutable: bool) -> LocalId {
        self.out.push_local(Local {
            name: name.to_owned().into(),
            ty: scalar.into(),
            mutable,
        })
    }

    /// A new label for a loop, with its unroll hint.
    fn loop_label(&mut self, frame: &mut Frame<'_>, label: LabelId) -> LabelId {
        let new = self.fresh_label();
        frame.labels.insert(label, new);
        if let Some(unroll) = frame.ir.unroll(label) {
            let unroll = match unroll {
                Unroll::Whole | Unroll::Times(_) => unroll,
                Unroll::Link(link) => {
                    let times = length(Length::Link(link), frame.links);
                    Unroll::Times(u32::try_from(times).unwrap_or(u32::MAX))
                }
            };
            self.out.unrolls.to_mut().push((new, unroll));
        }
        new
    }

    /// A condition that needs statements is tested at the head of the body.
    fn repeat_while(
        &mut self,
        frame: &mut Frame<'_>,
        (label, cond, body): (LabelId, Option<ExprId>, Block),
        loc: Loc,
    ) {
        let new = self.loop_label(frame, label);
        self.blocks.push(vec![]);
        let cond = cond.map(|cond| self.expr(frame, cond));
        let before = self.blocks.pop().unwrap_or_default();
        let (cond, body) = match cond {
            Some(cond) if !before.is_empty() => {
                let body = self.in_block(|this| {
                    this.blocks
                        .last_mut()
                        .unwrap_or_else(|| unreachable!("a block is open"))
                        .extend(before);
                    this.leave_unless(cond, new, loc);
                    this.block_stmts(frame, body);
                });
                (None, body)
            }
            cond => (cond, self.block(frame, body)),
        };
        let label = new;
        self.push(Stmt::Loop { label, cond, body }, loc);
    }

    fn leave_unless(&mut self, cond: ExprId, label: LabelId, loc: Loc) {
        let (op, arg) = (UnaryOp::Not, cond);
        let cond = self
            .out
            .push_expr(Expr::Unary { op, arg }, Scalar::Bool, loc);
        let then = self.in_block(|this| this.push(Stmt::Break { label }, loc));
        let otherwise = Block::EMPTY;
        let branch = Stmt::If {
            cond,
            then,
            otherwise,
        };
        self.push(branch, loc);
    }

    fn count(
        &mut self,
        frame: &mut Frame<'_>,
        (label, local): (LabelId, LocalId),
        (start, end): (ExprId, ExprId),
        body: Block,
        loc: Loc,
    ) {
        let (start, end) = (self.expr(frame, start), self.expr(frame, end));
        let new = self.loop_label(frame, label);
        let decl = &frame.ir.locals[local.index()];
        let shape = frame.resolve(decl.ty);
        let counter = self.scalar_local(&decl.name, shape.scalar(), false);
        let part = Part::whole(Storage::Locals(Rc::new([counter])), shape);
        frame.locals[local.index()] = Some(part);
        let body = self.block(frame, body);
        let each = Stmt::For {
            label: new,
            local: counter,
            start,
            end,
            body,
        };
        self.push(each, loc);
    }

    /// The local of a scalar.
    fn one_local(&self, frame: &Frame<'_>, local: LocalId) -> LocalId {
        match &frame.local(local).storage {
            Storage::Locals(locals) => locals[0],
            other => unreachable!("a local is not {other:?}"),
        }
    }

    fn atomic(
        &mut self,
        frame: &mut Frame<'_>,
        (op, args, result): (AtomicOp, List, Option<LocalId>),
        (memory, index, site): (Memory, ExprId, Option<SiteId>),
        loc: Loc,
    ) {
        let args = self.args(frame, args);
        let index = self.expr(frame, index);
        let site = self.site(frame, site);
        let atomic = Stmt::Atomic {
            op,
            memory: super::build::memory_of(&frame.memory(memory)),
            index,
            args,
            result: result.map(|local| self.one_local(frame, local)),
            site,
        };
        self.push(atomic, loc);
    }

    fn subgroup(
        &mut self,
        frame: &mut Frame<'_>,
        (op, args, result): (SubgroupOp, List, LocalId),
        loc: Loc,
    ) {
        let args = self.args(frame, args);
        let result = self.one_local(frame, result);
        self.push(Stmt::Subgroup { op, args, result }, loc);
    }

    pub(super) fn args(&mut self, frame: &mut Frame<'_>, args: List) -> List {
        let args: Vec<ExprId> = frame.ir.list(args).collect();
        let args: Vec<ExprId> = args.into_iter().map(|a| self.expr(frame, a)).collect();
        self.out.push_list(&args)
    }

    fn native(&mut self, frame: &mut Frame<'_>, id: NativeId, loc: Loc) {
        let native = &frame.ir.natives[id.index()];
        let texts: Vec<NativeText> = native.texts.iter().map(|t| self.text(frame, t)).collect();
        let native = Native {
            texts: texts.into(),
            fallback: native.fallback.map(|block| self.block(frame, block)),
            result: native.result.map(|local| self.one_local(frame, local)),
            intrinsic: native.intrinsic.clone(),
        };
        self.out.natives.to_mut().push(native);
        let native = NativeId(self.out.natives.len() as u32 - 1);
        self.push(Stmt::Native { native }, loc);
    }

    fn text(&mut self, frame: &mut Frame<'_>, text: &NativeText) -> NativeText {
        let pieces = text.pieces.iter().map(|piece| match piece {
            Piece::Text(text) => Piece::Text(text.clone()),
            Piece::Local(local) => operand(&frame.local(*local)),
            Piece::Param(param) => operand(&frame.params[param.index()]),
            Piece::Shared(shared) => operand(&frame.shared[shared.index()]),
            Piece::Place(place) => operand(&self.place(frame, *place)),
        });
        NativeText {
            target: text.target.clone(),
            pieces: pieces.collect(),
            origin: Origin {
                file: match text.origin.file.is_empty() {
                    true => frame.ir.file.clone(),
                    false => text.origin.file.clone(),
                },
                ..text.origin.clone()
            },
        }
    }
}

/// The operand of native text for a scalar, or for memory of scalars.
fn operand(part: &Part) -> Piece {
    match &part.storage {
        Storage::Params(params) => Piece::Param(params[part.first]),
        Storage::Slice(param, _) => Piece::Param(*param),
        Storage::Locals(locals) => Piece::Local(locals[part.first]),
        Storage::Shared(arrays) => Piece::Shared(arrays[part.first]),
        Storage::Constant(_) => unreachable!("a constant has no name"),
    }
}
