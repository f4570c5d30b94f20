//! Writes loops that contain a boundary. A loop on which all lanes agree runs once, around the
//! loops over lanes. Any other loop runs under a mask of the lanes that have not left it.

use proc_macro2::TokenStream;
use sarek_ir::analysis::regions::{MaskId, MaskedLoop, Node, RegionId};
use sarek_ir::{ExprId, LocalId, Stmt, StmtId};

use super::frame::{Frame, Lanes, Mask};
use super::names::loop_label;
use super::tree::each_node;
use super::{Writer, mixed};

impl Writer<'_> {
    pub fn loop_node(
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
                let body = mixed!(#start #body);
                let counted = self.counted(&label, local, [&from, &to], &body);
                counted.unwrap_or_else(|| {
                    let local = self.local(local);
                    mixed!(#label: for #local in (#from..#to) { #body })
                })
            }
        }
    }

    pub fn masked_loop(
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
                if !__host::any(&#live[..]) { break; }
                #mask
                #body
            }
        }
    }

    /// The body of a masked loop. In a strip, all lanes are often active, so the strip has a
    /// version without mask tests.
    fn together(&self, frame: &Frame<'_>, live: MaskId, body: &[Node]) -> TokenStream {
        let some = self.nodes(frame, body);
        match (frame.lanes, body) {
            (Lanes::Strip, [Node::Region { .. }]) => {
                let (live, all) = (frame.mask_name(live), self.nodes(&frame.full(), body));
                mixed!(if __host::all(&#live[..]) { #all } else { #some })
            }
            (Lanes::Strip | Lanes::Block, _) => some,
        }
    }

    /// The code before a masked loop, and the code before each iteration. The latter removes the
    /// lanes that are done from the loop's mask.
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
        let live = live.map(|live| self.of_lane_mut(&live, &position));
        let tested = |test| {
            self.lanes(
                inner,
                inner.mask(),
                mixed!(#fetch if #test { #live = false; } #keep),
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
                let names = counter_names(inner, parts);
                let [next, end] = names.each_ref().map(|name| self.of_lane(name, &position));
                let [next_mut, end_mut] = names.map(|name| self.of_lane_mut(&name, &position));
                let set = mixed! {
                    #fetch
                    #next_mut = #from;
                    #end_mut = #to;
                };
                let local = self.local(local);
                let fetched = self.is_fetched(inner, id, parts);
                let count = fetched.then(|| mixed!(#local = #next;));
                let test = tested(mixed!(#next >= #end));
                let step = self.lanes(
                    inner,
                    inner.mask(),
                    mixed! {
                        #fetch
                        #count
                        #next_mut += 1;
                        #keep
                    },
                );
                (self.lanes(outer, outer.mask(), set), mixed!(#test #step))
            }
        }
    }

    /// True if the body of a counted loop uses the counter.
    fn is_fetched(&self, frame: &Frame<'_>, id: RegionId, parts: &LoopParts) -> bool {
        match parts.head {
            Head::For(local, _) => self.scalars(frame, &[id]).contains_key(&local),
            Head::While(_) => false,
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

/// The arrays of a masked counted loop for the lanes' counters and end values.
fn counter_names(frame: &Frame<'_>, parts: &LoopParts) -> [proc_macro2::Ident; 2] {
    ["next", "end"].map(|what| frame.name(what, parts.label.0))
}

/// The arrays that the masked counted loops of a tree need, with their element types.
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
            if let Head::For(local, _) = parts.head {
                let ty = writer.element_type(local, &writer.kernel.locals[local.index()]);
                found.extend(counter_names(frame, &parts).map(|name| (name, ty.clone())));
            }
        }
    });
    found
}
