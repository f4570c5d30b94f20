//! Builds the tree of regions from a kernel body.

use std::collections::{HashMap, HashSet};

use super::{MaskId, MaskedIf, MaskedLoop, Node, RegionId};
use crate::analysis::uniformity::Uniformity;
use crate::facts::{Effect, Flow};
use crate::{Block, ExprId, Kernel, LabelId, Stmt, StmtId};

/// The rules for splitting a body.
pub struct Rules<'a> {
    /// The kernel.
    pub kernel: &'a Kernel,
    /// The values on which lanes agree.
    pub uniformity: &'a Uniformity,
    /// Decides which statements are boundaries, whatever they contain.
    pub boundary: &'a dyn Fn(StmtId) -> bool,
}

/// A split body.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tree {
    /// The parts in order.
    pub nodes: Vec<Node>,
    /// The number of regions.
    pub regions: u32,
    /// The number of masks.
    pub masks: u32,
    /// The mask of lanes that have not returned, if some lanes return before others.
    pub root: Option<MaskId>,
}

impl Tree {
    /// Splits statements. Those in `once` run once for all lanes.
    pub fn split(rules: &Rules<'_>, stmts: &[StmtId], once: &HashSet<StmtId>) -> Tree {
        let mut builder = Builder::new(rules, stmts, once);
        let root = builder.loose_return.then(|| builder.mask());
        let nodes = builder.block(stmts);
        let whole = matches!(nodes[..], [Node::Region { .. }] | []);
        Tree {
            nodes,
            regions: builder.regions,
            masks: if whole { 0 } else { builder.masks },
            root: root.filter(|_| !whole),
        }
    }

    /// True if the body is a single region.
    pub fn is_whole(&self) -> bool {
        matches!(self.nodes[..], [Node::Region { .. }] | [])
    }
}

struct Builder<'a> {
    rules: &'a Rules<'a>,
    /// The statements that become nodes of the tree.
    split: HashSet<StmtId>,
    /// The statements that run once for all lanes.
    once: HashSet<StmtId>,
    /// The loops that some lanes leave, or continue, before others.
    loose_breaks: HashSet<LabelId>,
    loose_continues: HashSet<LabelId>,
    /// True if some lanes return before others.
    loose_return: bool,
    regions: u32,
    masks: u32,
}

impl<'a> Builder<'a> {
    fn new(rules: &'a Rules<'a>, stmts: &[StmtId], once: &HashSet<StmtId>) -> Builder<'a> {
        let mut builder = Builder {
            rules,
            split: HashSet::new(),
            once: once.clone(),
            loose_breaks: HashSet::new(),
            loose_continues: HashSet::new(),
            loose_return: false,
            regions: 0,
            masks: 0,
        };
        let kernel = rules.kernel;
        let all: Vec<StmtId> = kernel.stmts_in(stmts.iter().copied()).collect();
        let label = |stmt: &StmtId| Some((kernel.stmt(*stmt).loop_label()?, *stmt));
        let labels = all.iter().filter_map(label).collect();
        builder.close(stmts, &labels, &all);
        builder.loose_jumps(&all);
        builder
    }

    /// Finds the nodes of the tree: statements that contain a boundary, or a statement that runs once. A jump
    /// out of a node runs once if all lanes take it together.
    fn close(&mut self, stmts: &[StmtId], labels: &HashMap<LabelId, StmtId>, all: &[StmtId]) {
        loop {
            let before = (self.split.len(), self.once.len());
            for &stmt in stmts {
                self.find(stmt);
            }
            for &stmt in all {
                let target = match self.rules.kernel.stmt(stmt).facts().flow {
                    Flow::Break(label) | Flow::Continue(label) => {
                        labels.get(&label).is_some_and(|l| self.split.contains(l))
                    }
                    Flow::Return => !self.split.is_empty(),
                    Flow::Next | Flow::Branch | Flow::Loop(_) | Flow::Panic => false,
                };
                if target && self.rules.uniformity.control(stmt) {
                    self.once.insert(stmt);
                }
            }
            if before == (self.split.len(), self.once.len()) {
                return;
            }
        }
    }

    /// Marks the nodes in a statement. Returns true if the statement is a node or runs once.
    fn find(&mut self, stmt: StmtId) -> bool {
        let kernel = self.rules.kernel;
        let mut split = (self.rules.boundary)(stmt);
        for block in kernel.blocks_of(stmt) {
            for inner in kernel.block(block) {
                split |= self.find(inner);
            }
        }
        if split {
            self.split.insert(stmt);
        }
        split || self.once.contains(&stmt)
    }

    fn loose_jumps(&mut self, all: &[StmtId]) {
        for &stmt in all.iter().filter(|s| !self.once.contains(s)) {
            match self.rules.kernel.stmt(stmt).facts().flow {
                Flow::Break(label) => {
                    self.loose_breaks.insert(label);
                }
                Flow::Continue(label) => {
                    self.loose_continues.insert(label);
                }
                Flow::Return => self.loose_return = true,
                Flow::Next | Flow::Branch | Flow::Loop(_) | Flow::Panic => {}
            }
        }
    }

    fn region(&mut self) -> RegionId {
        self.regions += 1;
        RegionId(self.regions - 1)
    }

    fn mask(&mut self) -> MaskId {
        self.masks += 1;
        MaskId(self.masks - 1)
    }

    fn inner(&mut self, block: Block) -> Vec<Node> {
        let stmts: Vec<StmtId> = self.rules.kernel.block(block).collect();
        self.block(&stmts)
    }

    fn block(&mut self, stmts: &[StmtId]) -> Vec<Node> {
        let (mut nodes, mut open) = (vec![], vec![]);
        self.fill(stmts, &mut nodes, &mut open);
        self.flush(&mut nodes, &mut open);
        nodes
    }

    /// Appends statements; `open` holds those of the region that is not closed yet.
    fn fill(&mut self, stmts: &[StmtId], nodes: &mut Vec<Node>, open: &mut Vec<StmtId>) {
        for &stmt in stmts {
            if self.split.contains(&stmt) {
                self.flush(nodes, open);
                self.node(stmt, nodes, open);
            } else if self.once.contains(&stmt) {
                // The open region assigns nothing that a declaration reads, so that the declaration may move
                // before it.
                if !self.is_let(stmt) || self.has_jump(open) {
                    self.flush(nodes, open);
                }
                nodes.push(Node::Once(stmt));
            } else {
                open.push(stmt);
            }
        }
    }

    fn flush(&mut self, nodes: &mut Vec<Node>, open: &mut Vec<StmtId>) {
        if !open.is_empty() {
            let stmts = std::mem::take(open);
            let id = self.region();
            nodes.push(Node::Region { id, stmts });
        }
    }

    fn is_let(&self, stmt: StmtId) -> bool {
        matches!(self.rules.kernel.stmt(stmt), Stmt::Let { .. })
    }

    fn has_jump(&self, stmts: &[StmtId]) -> bool {
        let kernel = self.rules.kernel;
        let mut all = kernel.stmts_in(stmts.iter().copied());
        all.any(|s| kernel.stmt(s).facts().flow.is_jump())
    }

    fn node(&mut self, stmt: StmtId, nodes: &mut Vec<Node>, open: &mut Vec<StmtId>) {
        let kernel = self.rules.kernel;
        let facts = kernel.stmt(stmt).facts();
        let control = kernel.operands_of(stmt);
        match (facts.flow, &kernel.blocks_of(stmt)[..]) {
            (Flow::Branch, &[then, otherwise]) => {
                let masked = (!self.agree(stmt, &control)).then(|| MaskedIf {
                    cond: self.region(),
                    then: self.mask(),
                    otherwise: self.mask(),
                });
                let (then, otherwise) = (self.inner(then), self.inner(otherwise));
                nodes.push(Node::If {
                    stmt,
                    masked,
                    then,
                    otherwise,
                });
            }
            (Flow::Loop(label), &[body]) => {
                nodes.push(self.loop_node((stmt, label), &control, body));
            }
            (Flow::Branch | Flow::Loop(_), _) => unreachable!("it has two blocks, or a body"),
            (
                Flow::Next | Flow::Break(_) | Flow::Continue(_) | Flow::Return | Flow::Panic,
                inner,
            ) => self.simple_node((stmt, facts.effect), inner, nodes, open),
        }
    }

    /// The node of a statement that is neither a branch nor a loop.
    fn simple_node(
        &mut self,
        (stmt, effect): (StmtId, Effect),
        inner: &[Block],
        nodes: &mut Vec<Node>,
        open: &mut Vec<StmtId>,
    ) {
        match effect {
            Effect::Barrier => nodes.push(Node::Barrier),
            Effect::Subgroup(..) => {
                let id = self.region();
                nodes.push(Node::Subgroup { id, stmt });
            }
            Effect::Native(_) => {
                for fallback in inner {
                    let stmts: Vec<StmtId> = self.rules.kernel.block(*fallback).collect();
                    self.fill(&stmts, nodes, open);
                }
            }
            Effect::None
            | Effect::Store(_)
            | Effect::Atomic(..)
            | Effect::Place(_)
            | Effect::Print(_)
            | Effect::Fence
            | Effect::Call(_) => {
                let id = self.region();
                nodes.push(Node::Region {
                    id,
                    stmts: vec![stmt],
                });
            }
        }
    }

    fn loop_node(
        &mut self,
        (stmt, label): (StmtId, LabelId),
        control: &[ExprId],
        body: Block,
    ) -> Node {
        let masked = !self.agree(stmt, control) || self.loose_breaks.contains(&label);
        let masked = masked.then(|| MaskedLoop {
            cond: self.region(),
            live: self.mask(),
        });
        let continues = self.loose_continues.contains(&label);
        Node::Loop {
            stmt,
            masked,
            iteration: continues.then(|| self.mask()),
            body: self.inner(body),
        }
    }

    /// True if all lanes arrive at the statement together, with the same values.
    fn agree(&self, stmt: StmtId, values: &[ExprId]) -> bool {
        let uniformity = self.rules.uniformity;
        uniformity.control(stmt) && values.iter().all(|v| uniformity.expr(*v))
    }
}
