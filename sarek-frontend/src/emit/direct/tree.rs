//! A split body: loops over lanes for its regions, and around them what is run once for all lanes.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::TokenStream;
use sarek_ir::analysis::regions::{MaskId, MaskedIf, MaskedLoop, Node, RegionId};
use sarek_ir::analysis::touch;
use sarek_ir::{Block, ExprId, LocalId, Stmt, StmtId};

use super::frame::{Frame, Lanes, Mask};
use super::names::{loop_label, rust_type};
use super::trim::Trim;
use super::{Writer, mixed};

impl<'a> Writer<'a> {
    /// The same, in another frame.
    pub fn within<'b>(&'b self, frame: &'b Frame<'b>) -> Writer<'b> {
        Writer {
            frame: Some(frame),
            ..*self
        }
    }

    /// The whole of a split body, its masks set for the lanes that run.
    pub fn tree(&self, frame: &Frame<'_>) -> TokenStream {
        let root = frame
            .plan
            .tree
            .root
            .map(|root| self.set_mask(frame, root, None));
        let nodes = self.nodes(frame, &frame.plan.tree.nodes);
        mixed!(#root #nodes)
    }

    fn nodes(&self, frame: &Frame<'_>, nodes: &[Node]) -> TokenStream {
        nodes.iter().map(|node| self.node(frame, node)).collect()
    }

    fn node(&self, frame: &Frame<'_>, node: &Node) -> TokenStream {
        match node {
            Node::Region { id, stmts } => self.region(frame, *id, stmts),
            Node::Once(stmt) => self.within(frame).stmt(*stmt),
            Node::Barrier => TokenStream::new(),
            Node::Subgroup { id, stmt } => self.subgroup(frame, *id, *stmt),
            Node::If {
                stmt,
                masked,
                then,
                otherwise,
            } => self.if_node(frame, *stmt, *masked, then, otherwise),
            Node::Loop {
                stmt,
                masked: None,
                iteration,
                body,
            } => self.loop_node(frame, *stmt, *iteration, body),
            Node::Loop {
                stmt,
                masked: Some(_),
                ..
            } if frame.steps.contains(stmt) => self.steps(frame, node),
            Node::Loop {
                stmt,
                masked: Some(masked),
                iteration,
                body,
            } => self.masked_loop(frame, *stmt, *masked, *iteration, body),
        }
    }

    fn region(&self, frame: &Frame<'_>, id: RegionId, stmts: &[StmtId]) -> TokenStream {
        let trim = match (frame.lanes, self.shapes.trim) {
            (Lanes::Block, true) => Trim::of_region(self.kernel, self.values, frame.plan, stmts),
            (Lanes::Block, false) | (Lanes::Strip, _) => Trim::default(),
        };
        let mut known = self.known.clone();
        known.extend(&trim.known);
        let trimmed = Writer {
            known: &known,
            ..*self
        };
        let lanes = trimmed.run(frame, id, stmts);
        let lanes = if trim.bounds.is_empty() {
            lanes
        } else {
            let bounds = self.within(frame).bounds(&trim);
            mixed!({ let mut __lanes = __lanes; #bounds #lanes })
        };
        // Once all have returned, nothing may be evaluated for them.
        let left = frame
            .plan
            .tree
            .root
            .filter(|_| self.returns(stmts))
            .map(|root| {
                let root = frame.mask_name(root);
                mixed!(if !direct::any(#root) { return ::core::result::Result::Ok(()); })
            });
        mixed!(#lanes #left)
    }

    /// The loop that runs a region.
    fn run(&self, frame: &Frame<'_>, id: RegionId, stmts: &[StmtId]) -> TokenStream {
        let lane = frame.lane();
        let writer = self.within(&lane);
        let body = stmts.iter().map(|s| writer.stmt(*s));
        let body = self.lane_body(frame, id, mixed!(#(#body)*));
        match (frame.lanes, frame.mask()) {
            (Lanes::Block, None) => {
                let strips = self.within(frame).strips(Some((frame, id)), stmts);
                rows(strips, body)
            }
            (Lanes::Block | Lanes::Strip, mask) => self.lanes(frame, mask, body),
        }
    }

    /// What a lane does in a region: fetches its values, runs the statements, puts the values back.
    fn lane_body(&self, frame: &Frame<'_>, id: RegionId, stmts: TokenStream) -> TokenStream {
        let fetch = self.fetch(frame, id);
        let keep = self.keep(frame, id);
        mixed! {
            #fetch
            'thread: { #stmts }
            #keep
        }
    }

    /// Declares what a region uses of other regions.
    pub fn fetch(&self, frame: &Frame<'_>, id: RegionId) -> TokenStream {
        self.fetch_all(frame, &[id])
    }

    /// Declares what some regions use of others.
    pub fn fetch_all(&self, frame: &Frame<'_>, ids: &[RegionId]) -> TokenStream {
        let lane = frame.lane();
        let writer = self.within(&lane);
        let uses = ids
            .iter()
            .flat_map(|id| &frame.plan.uses[id.0 as usize].again);
        let again: BTreeSet<LocalId> = uses.copied().collect();
        let position = frame.position();
        let lanes = self.scalars(frame, ids).into_iter().map(|(local, writes)| {
            let (name, array) = (self.local(local), frame.array(local));
            let (ty, mutable) = (self.local_type(local), writes.then(|| mixed!(mut)));
            mixed!(let #mutable #name: #ty = *#array.get_unchecked(#position);)
        });
        let again = again.iter().map(|local| {
            let value = self.values.get(*local);
            writer.declare(*local, value, proc_macro2::Span::mixed_site())
        });
        mixed!(#(#lanes)* #(#again)*)
    }

    /// Puts back what a region may have written.
    fn keep(&self, frame: &Frame<'_>, id: RegionId) -> TokenStream {
        self.keep_all(frame, &[id])
    }

    /// Puts back what some regions may have written.
    pub fn keep_all(&self, frame: &Frame<'_>, ids: &[RegionId]) -> TokenStream {
        let position = frame.position();
        let lanes = self
            .scalars(frame, ids)
            .into_iter()
            .filter(|(_, writes)| *writes);
        let lanes = lanes.map(|(local, _)| {
            let (name, array) = (self.local(local), frame.array(local));
            mixed!(*#array.get_unchecked_mut(#position) = #name;)
        });
        mixed!(#(#lanes)*)
    }

    /// The scalars of regions that live in arrays of lanes, and whether they are written.
    fn scalars(&self, frame: &Frame<'_>, ids: &[RegionId]) -> BTreeMap<LocalId, bool> {
        let mut found = BTreeMap::new();
        let lanes = ids
            .iter()
            .flat_map(|id| &frame.plan.uses[id.0 as usize].lanes);
        for (local, writes) in lanes.filter(|(l, _)| self.kernel.array(*l).is_none()) {
            *found.entry(*local).or_default() |= *writes;
        }
        found
    }

    /// A loop over the lanes under a mask.
    pub fn lanes(&self, frame: &Frame<'_>, mask: Option<MaskId>, body: TokenStream) -> TokenStream {
        let position = frame.position();
        let guard = mask.map(|mask| {
            let mask = frame.mask_name(mask);
            mixed!(if !*#mask.get_unchecked(#position) { continue; })
        });
        match frame.lanes {
            Lanes::Block => rows(None, mixed!(#guard #body)),
            Lanes::Strip => mixed! {
                for __w in 0..__STRIP {
                    let __thread = [__thread[0] + __w, __thread[1], __thread[2]];
                    #guard
                    #body
                }
            },
        }
    }

    /// Sets a mask for the lanes under another one, and for no others.
    fn set_mask(&self, frame: &Frame<'_>, mask: MaskId, of: Option<MaskId>) -> TokenStream {
        let (name, position) = (frame.mask_name(mask), frame.position());
        let set = mixed!(*#name.get_unchecked_mut(#position) = true;);
        let lanes = self.lanes(frame, of, set);
        mixed!(#name.fill(false); #lanes)
    }

    fn if_node(
        &self,
        frame: &Frame<'_>,
        stmt: StmtId,
        masked: Option<MaskedIf>,
        then: &[Node],
        otherwise: &[Node],
    ) -> TokenStream {
        let [cond] = touch::operands(self.kernel, stmt)[..] else {
            unreachable!("an `if` has a condition");
        };
        let Some(masked) = masked else {
            let cond = self.within(frame).expr(cond);
            let (then, otherwise) = (self.nodes(frame, then), self.nodes(frame, otherwise));
            return mixed!(if #cond { #then } else { #otherwise });
        };
        let split = self.branch(frame, cond, masked);
        let branch = |mask, nodes| self.nodes(&frame.under(Mask::Branch, mask), nodes);
        let (then, otherwise) = (
            branch(masked.then, then),
            branch(masked.otherwise, otherwise),
        );
        mixed!(#split #then #otherwise)
    }

    /// Sets the masks of two branches.
    fn branch(&self, frame: &Frame<'_>, cond: ExprId, masked: MaskedIf) -> TokenStream {
        let lane = frame.lane();
        let cond = self.within(&lane).expr(cond);
        let (fetch, position) = (self.fetch(frame, masked.cond), frame.position());
        let (then, otherwise) = (
            frame.mask_name(masked.then),
            frame.mask_name(masked.otherwise),
        );
        let lanes = self.lanes(
            frame,
            frame.mask(),
            mixed! {
                #fetch
                let __cond = #cond;
                *#then.get_unchecked_mut(#position) = __cond;
                *#otherwise.get_unchecked_mut(#position) = !__cond;
            },
        );
        mixed!(#then.fill(false); #otherwise.fill(false); #lanes)
    }

    fn loop_node(
        &self,
        frame: &Frame<'_>,
        stmt: StmtId,
        iteration: Option<MaskId>,
        body: &[Node],
    ) -> TokenStream {
        let writer = self.within(frame);
        let parts = LoopParts::of(self, stmt);
        let start = iteration.map(|mask| self.set_mask(frame, mask, frame.mask()));
        let body = match iteration {
            Some(mask) => self.nodes(&frame.under(Mask::Iteration(parts.label), mask), body),
            None => self.nodes(frame, body),
        };
        let label = loop_label(parts.label);
        match parts.head {
            Head::While(Some(cond)) => {
                let cond = writer.expr(cond);
                mixed!(#label: while #cond { #start #body })
            }
            Head::While(None) => mixed!(#label: loop { #start #body }),
            Head::For(local, bounds) => {
                let [from, to] = bounds.map(|e| writer.expr(e));
                let local = self.local(local);
                mixed!(#label: for #local in (#from..#to) { #start #body })
            }
        }
    }

    fn masked_loop(
        &self,
        frame: &Frame<'_>,
        stmt: StmtId,
        masked: MaskedLoop,
        iteration: Option<MaskId>,
        body: &[Node],
    ) -> TokenStream {
        let parts = LoopParts::of(self, stmt);
        let inner = frame.under(Mask::Live(parts.label), masked.live);
        let start = self.set_mask(frame, masked.live, frame.mask());
        let (before, test) = self.tests(frame, &inner, masked.cond, &parts);
        let live = frame.mask_name(masked.live);
        let (mask, body) = match iteration {
            Some(mask) => {
                let within = inner.under(Mask::Iteration(parts.label), mask);
                let set = self.set_mask(&inner, mask, inner.mask());
                (Some(set), self.nodes(&within, body))
            }
            None => (None, self.together(&inner, masked.live, body)),
        };
        mixed! {
            #start
            #before
            loop {
                #test
                if !direct::any(&#live[..]) { break; }
                #mask
                #body
            }
        }
    }

    /// The body of a masked loop. Of a strip, all lanes often are in it: then no flag is asked.
    fn together(&self, frame: &Frame<'_>, live: MaskId, body: &[Node]) -> TokenStream {
        let some = self.nodes(frame, body);
        match (frame.lanes, body) {
            (Lanes::Strip, [Node::Region { .. }]) => {
                let (live, all) = (frame.mask_name(live), self.nodes(&frame.full(), body));
                mixed!(if direct::all(&#live[..]) { #all } else { #some })
            }
            (Lanes::Strip | Lanes::Block, _) => some,
        }
    }

    /// What a masked loop does before it, and what it does before each iteration: those for which the loop is over
    /// leave its mask.
    fn tests(
        &self,
        outer: &Frame<'_>,
        inner: &Frame<'_>,
        id: RegionId,
        parts: &LoopParts,
    ) -> (TokenStream, TokenStream) {
        let lane = inner.lane();
        let writer = self.within(&lane);
        let (fetch, keep) = (self.fetch(inner, id), self.keep(inner, id));
        let position = inner.position();
        let live = inner.mask().map(|m| inner.mask_name(m));
        let tested = |test| {
            self.lanes(
                inner,
                inner.mask(),
                mixed!(#fetch if #test { *#live.get_unchecked_mut(#position) = false; } #keep),
            )
        };
        match parts.head {
            Head::While(None) => (TokenStream::new(), TokenStream::new()),
            Head::While(Some(cond)) => {
                let cond = writer.expr(cond);
                (TokenStream::new(), tested(mixed!(!#cond)))
            }
            Head::For(local, bounds) => {
                let [from, to] = bounds.map(|e| writer.expr(e));
                let [next, end] = counter_names(inner, parts);
                let set = mixed! {
                    #fetch
                    *#next.get_unchecked_mut(#position) = #from;
                    *#end.get_unchecked_mut(#position) = #to;
                };
                let local = self.local(local);
                let fetched = self.is_fetched(inner, id, parts);
                let count = fetched.then(|| mixed!(#local = *#next.get_unchecked(#position);));
                let test = tested(mixed! {
                    *#next.get_unchecked(#position) >= *#end.get_unchecked(#position)
                });
                let step = self.lanes(
                    inner,
                    inner.mask(),
                    mixed! {
                        #fetch
                        #count
                        *#next.get_unchecked_mut(#position) += 1;
                        #keep
                    },
                );
                (self.lanes(outer, outer.mask(), set), mixed!(#test #step))
            }
        }
    }

    /// Does the body of a counted loop use the counter?
    fn is_fetched(&self, frame: &Frame<'_>, id: RegionId, parts: &LoopParts) -> bool {
        match parts.head {
            Head::For(local, _) => self.scalars(frame, &[id]).contains_key(&local),
            Head::While(_) => false,
        }
    }

    pub fn returns(&self, stmts: &[StmtId]) -> bool {
        stmts.iter().any(|&stmt| {
            let inner = touch::blocks(self.kernel, stmt);
            self.kernel.stmt(stmt) == Stmt::Return
                || inner.into_iter().any(|b: Block| {
                    let stmts: Vec<StmtId> = self.kernel.block(b).collect();
                    self.returns(&stmts)
                })
        })
    }
}

/// The loop over all lanes of a block; `strips` runs the first lanes of each row.
pub fn rows(strips: Option<TokenStream>, body: TokenStream) -> TokenStream {
    let first = match strips {
        Some(strips) => mixed!(let mut __first = 0; #strips),
        None => mixed!(let __first = 0;),
    };
    mixed! {
        for __z in 0..__lanes[2] {
            for __y in 0..__lanes[1] {
                let __row = (__z * __dim[1] + __y) * __dim[0];
                #first
                for __x in __first..__lanes[0] {
                    let __thread = [__x, __y, __z];
                    let __lane = __row + __x;
                    #body
                }
            }
        }
    }
}

/// The parts of a loop.
pub struct LoopParts {
    pub label: sarek_ir::LabelId,
    pub head: Head,
}

#[derive(Clone, Copy)]
pub enum Head {
    While(Option<ExprId>),
    For(LocalId, [ExprId; 2]),
}

impl LoopParts {
    pub fn of(writer: &Writer<'_>, stmt: StmtId) -> LoopParts {
        if let Stmt::Loop { label, cond, .. } = writer.kernel.stmt(stmt) {
            let head = Head::While(cond);
            return LoopParts { label, head };
        }
        if let Stmt::For {
            label,
            local,
            start,
            end,
            ..
        } = writer.kernel.stmt(stmt)
        {
            let head = Head::For(local, [start, end]);
            return LoopParts { label, head };
        }
        unreachable!("the statement is a loop")
    }
}

/// The arrays in which a masked counted loop keeps where each lane is, and where it ends.
fn counter_names(frame: &Frame<'_>, parts: &LoopParts) -> [proc_macro2::Ident; 2] {
    ["next", "end"].map(|what| frame.name(what, parts.label.0))
}

/// The arrays that the masked counted loops of a tree need, with the type of their elements.
pub fn counters(writer: &Writer<'_>, frame: &Frame<'_>) -> Vec<(proc_macro2::Ident, TokenStream)> {
    let mut found = vec![];
    each_node(&frame.plan.tree.nodes, &mut |node| {
        if let Node::Loop {
            stmt,
            masked: Some(_),
            ..
        } = node
        {
            let parts = LoopParts::of(writer, *stmt);
            if let Head::For(_, [start, _]) = parts.head {
                let ty = writer.kernel.scalar_of(start);
                found.extend(counter_names(frame, &parts).map(|n| (n, rust_type(ty))));
            }
        }
    });
    found
}

/// Visits all nodes.
pub fn each_node(nodes: &[Node], f: &mut dyn FnMut(&Node)) {
    for node in nodes {
        f(node);
        match node {
            Node::Region { .. } | Node::Once(_) | Node::Barrier | Node::Subgroup { .. } => {}
            Node::If {
                then, otherwise, ..
            } => {
                each_node(then, f);
                each_node(otherwise, f);
            }
            Node::Loop { body, .. } => each_node(body, f),
        }
    }
}
