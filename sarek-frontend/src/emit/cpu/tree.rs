//! Writes a split body: a loop over lanes for each region, and around these loops the code that
//! runs once for all lanes.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::format_ident;
use sarek_ir::analysis::local_uses;
use sarek_ir::analysis::regions::{MaskId, MaskedIf, Node, RegionId};
use sarek_ir::facts::Work;
use sarek_ir::{Expr, ExprId, LocalId, Memory, Stmt, StmtId};

use super::divergent_loops::same_name;
use super::frame::{Frame, Lanes, Mask};
use super::guard_bounds::Trim;
use super::strip_mine::Strips;
use super::{Writer, mixed};

impl<'a> Writer<'a> {
    /// The same writer in another frame.
    pub fn within<'b>(&'b self, frame: &'b Frame<'b>) -> Writer<'b> {
        Writer {
            frame: Some(frame),
            ..*self
        }
    }

    /// The whole split body. Its root mask is set for the lanes that run.
    pub fn tree(&self, frame: &Frame<'_>) -> TokenStream {
        let root = frame
            .plan
            .tree
            .root
            .map(|root| self.set_mask(frame, root, None));
        let nodes = self.nodes(frame, &frame.plan.tree.nodes);
        mixed!(#root #nodes)
    }

    pub fn nodes(&self, frame: &Frame<'_>, nodes: &[Node]) -> TokenStream {
        let (mut code, mut rest) = (TokenStream::new(), nodes);
        while let [first, ..] = rest {
            let (next, count) = match self.subgroup_strips(frame, rest) {
                Some(strips) => strips,
                None => (self.node(frame, first), 1),
            };
            code.extend(next);
            rest = &rest[count..];
        }
        code
    }

    pub fn node(&self, frame: &Frame<'_>, node: &Node) -> TokenStream {
        match node {
            Node::Region { id, stmts } => self.region(frame, *id, stmts),
            Node::Once(stmt) => self.within(frame).stmt(*stmt),
            Node::Barrier => TokenStream::new(),
            Node::Subgroup { id, stmt } if frame.subgroups => {
                self.subgroup_of_strip(frame, *id, *stmt)
            }
            Node::Subgroup { id, stmt } => self.subgroup(frame, *id, *stmt),
            Node::If {
                stmt,
                masked: Some(_),
                then,
                ..
            } if frame.subgroups => self.leaders(frame, *stmt, then),
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
            } => {
                let unrolled = self.unrolled(frame, *stmt, body);
                unrolled.unwrap_or_else(|| self.loop_node(frame, *stmt, *iteration, body))
            }
            Node::Loop {
                stmt,
                masked: Some(_),
                ..
            } if frame.steps.contains(stmt) => self.steps(frame, node),
            Node::Loop {
                stmt,
                masked: Some(_),
                ..
            } if frame.turns.contains_key(stmt) => self.take_turns(frame, node, &frame.turns[stmt]),
            Node::Loop {
                stmt,
                masked: Some(masked),
                iteration,
                body,
            } => self.masked_loop(frame, *stmt, *masked, *iteration, body),
        }
    }

    fn region(&self, frame: &Frame<'_>, id: RegionId, stmts: &[StmtId]) -> TokenStream {
        if let [call] = stmts
            && self.joint.contains(call)
        {
            return self.joint_call(frame, id, *call);
        }
        let stmts = &self.within(frame).needed(stmts)[..];
        if stmts.is_empty() {
            return TokenStream::new();
        }
        let trim = match (frame.lanes, self.shapes.trim) {
            (Lanes::Block, true) => self.trim_of_region(frame.plan, stmts),
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
        // After all lanes have returned, nothing may be evaluated for them.
        let left = frame
            .plan
            .tree
            .root
            .filter(|_| self.returns(stmts))
            .map(|root| {
                let root = frame.mask_name(root);
                let ended = self.ended();
                mixed!(if !__host::any(#root) { return #ended; })
            });
        mixed!(#lanes #left)
    }

    /// The statements of a region without declarations that the region does not use. Other regions
    /// that use them evaluate them again.
    fn needed(&self, stmts: &[StmtId]) -> Vec<StmtId> {
        let mut needed: Vec<StmtId> = vec![];
        for &stmt in stmts.iter().rev() {
            let is_idle = if let Stmt::Let {
                local,
                init: Some(init),
            } = self.kernel.stmt(stmt)
            {
                let is_fixed = !self.is_kept(local) && !self.kernel.locals[local.index()].mutable;
                is_fixed && self.is_idle(init) && !needed.iter().any(|s| self.uses(*s, local))
            } else if let Stmt::Let { local, init: None } = self.kernel.stmt(stmt) {
                self.is_kept(local)
            } else {
                false
            };
            if !is_idle {
                needed.push(stmt);
            }
        }
        needed.reverse();
        needed
    }

    /// True if the evaluation neither faults nor panics, whatever the lane.
    fn is_idle(&self, expr: ExprId) -> bool {
        self.kernel.exprs_in([expr]).all(|id| {
            let is_simple = match self.kernel.expr(id) {
                Expr::Len(memory) => matches!(memory, Memory::Slice(_)),
                Expr::Binary { op, .. } => op.is_comparison(),
                Expr::Faulted => false,
                other => matches!(other.facts().work, Work::Leaf | Work::ShortCircuit),
            };
            is_simple && self.kernel.type_of(id).as_scalar().is_some()
        })
    }

    fn uses(&self, stmt: StmtId, local: LocalId) -> bool {
        let mut uses = false;
        local_uses::stmt(self.kernel, stmt, &mut |touched, _| {
            uses |= touched == local
        });
        uses
    }

    /// The loop that runs a region.
    fn run(&self, frame: &Frame<'_>, id: RegionId, stmts: &[StmtId]) -> TokenStream {
        let lane = frame.lane();
        let body = |writer: &Writer<'_>| {
            let lane = writer.within(&lane);
            let body = stmts.iter().map(|s| lane.stmt(*s));
            writer.lane_body(frame, id, mixed!(#(#body)*))
        };
        match (frame.lanes, frame.mask()) {
            (Lanes::Block, None) if self.uses_rows(frame, id) => self.all_rows(body(self)),
            (Lanes::Block, None) if !frame.given => {
                match self.within(frame).strips(Some((frame, id)), stmts) {
                    Some(strips) => rows(Some(strips), body(self)),
                    None => self.within(frame).peeled_rows(stmts, &body),
                }
            }
            (Lanes::Block | Lanes::Strip, mask) => self.lanes(frame, mask, body(self)),
        }
    }

    /// True if a region uses arrays that are kept in rows.
    fn uses_rows(&self, frame: &Frame<'_>, id: RegionId) -> bool {
        let mut lanes = frame.plan.uses[id.0 as usize].lanes.iter();
        lanes.any(|(local, _)| frame.rows.contains(local))
    }

    /// The code of a lane in a region: loads its values, runs the statements, stores the values
    /// back.
    pub fn lane_body(&self, frame: &Frame<'_>, id: RegionId, stmts: TokenStream) -> TokenStream {
        let fetch = self.fetch(frame, id);
        let keep = self.keep(frame, id);
        mixed! {
            #fetch
            'thread: { #stmts }
            #keep
        }
    }

    /// Declares the locals that a region shares with other regions.
    pub fn fetch(&self, frame: &Frame<'_>, id: RegionId) -> TokenStream {
        self.fetch_all(frame, &[id])
    }

    /// Declares the locals that these regions share with others.
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
            if frame.turn == Some(local) {
                return mixed!(let #mutable #name: #ty = __turn + #position;);
            }
            if frame.same.contains(&local) {
                let same = same_name(local);
                return mixed!(let #mutable #name: #ty = #same;);
            }
            let value = self.of_lane(&array, &position);
            mixed!(let #mutable #name: #ty = #value;)
        });
        let kept = self.kept_whole(frame, ids).into_keys().map(|local| {
            let (name, array) = (self.local(local), frame.array(local));
            let value = kept_name(local);
            let ty = self.pointer_type(local);
            mixed! {
                let mut #value = __host::LaneStorage::fetch(&#array, #position);
                let #name: #ty = ::core::mem::MaybeUninit::as_mut_ptr(&mut #value);
            }
        });
        let again = again.iter().map(|local| {
            let value = self.values.get(*local);
            writer.declare(*local, value, proc_macro2::Span::mixed_site())
        });
        mixed!(#(#lanes)* #(#kept)* #(#again)*)
    }

    /// Stores back the values that a region may have written.
    pub fn keep(&self, frame: &Frame<'_>, id: RegionId) -> TokenStream {
        self.keep_all(frame, &[id])
    }

    /// Stores back the values that these regions may have written.
    pub fn keep_all(&self, frame: &Frame<'_>, ids: &[RegionId]) -> TokenStream {
        let position = frame.position();
        let lanes = self
            .scalars(frame, ids)
            .into_iter()
            .filter(|(local, writes)| {
                *writes && frame.turn != Some(*local) && !frame.same.contains(local)
            });
        let lanes = lanes.map(|(local, _)| {
            let (name, array) = (self.local(local), frame.array(local));
            let place = self.of_lane_mut(&array, &position);
            mixed!(#place = #name;)
        });
        let whole = self.kept_whole(frame, ids).into_iter();
        let whole = whole.filter(|(_, writes)| *writes).map(|(local, _)| {
            let (value, array) = (kept_name(local), frame.array(local));
            mixed!(__host::LaneStorage::keep(&#array, #position, #value);)
        });
        mixed!(#(#lanes)* #(#whole)*)
    }

    /// The values of several parts that these regions share with others; true for those that are
    /// written.
    fn kept_whole(&self, frame: &Frame<'_>, ids: &[RegionId]) -> BTreeMap<LocalId, bool> {
        let writer = self.within(frame);
        let mut all = self.in_lanes(frame, ids);
        all.retain(|local, _| writer.is_kept_whole(*local));
        all
    }

    /// The scalars of these regions that live in arrays of lanes, and arrays in rows; true for those that are
    /// written.
    pub fn scalars(&self, frame: &Frame<'_>, ids: &[RegionId]) -> BTreeMap<LocalId, bool> {
        let mut all = self.in_lanes(frame, ids);
        all.retain(|local, _| {
            let is_scalar = self.kernel.locals[local.index()].ty.as_scalar().is_some();
            is_scalar || frame.rows.contains(local)
        });
        all
    }

    fn in_lanes(&self, frame: &Frame<'_>, ids: &[RegionId]) -> BTreeMap<LocalId, bool> {
        let mut found = BTreeMap::new();
        let lanes = ids
            .iter()
            .flat_map(|id| &frame.plan.uses[id.0 as usize].lanes);
        for (local, writes) in lanes {
            *found.entry(*local).or_default() |= *writes;
        }
        found
    }

    /// A loop over the lanes under a mask.
    pub fn lanes(&self, frame: &Frame<'_>, mask: Option<MaskId>, body: TokenStream) -> TokenStream {
        let position = frame.position();
        let guard = match mask {
            Some(mask) => {
                let flag = self.of_lane(&frame.mask_name(mask), &position);
                Some(mixed!(if !#flag { continue; }))
            }
            None => frame.given.then(
                || mixed!(if !__FULL && !*<[_]>::get_unchecked(__active, #position) { continue; }),
            ),
        };
        match frame.lanes {
            Lanes::Block => self.all_rows(mixed!(#guard #body)),
            Lanes::Strip => self.strip_lanes(frame, &mixed!(#guard #body)),
        }
    }

    /// The plain loop over all lanes of a block.
    pub fn all_rows(&self, body: TokenStream) -> TokenStream {
        match self.shapes.debug {
            true => self.each_lane_in_turn(body),
            false => rows(None, body),
        }
    }

    /// Sets a mask for the lanes under mask `of`, and clears it for all others.
    pub fn set_mask(&self, frame: &Frame<'_>, mask: MaskId, of: Option<MaskId>) -> TokenStream {
        let (name, position) = (frame.mask_name(mask), frame.position());
        let flag = self.of_lane_mut(&name, &position);
        let set = mixed!(#flag = true;);
        let lanes = self.lanes(frame, of, set);
        mixed!(<[_]>::fill(#name, false); #lanes)
    }

    fn if_node(
        &self,
        frame: &Frame<'_>,
        stmt: StmtId,
        masked: Option<MaskedIf>,
        then: &[Node],
        otherwise: &[Node],
    ) -> TokenStream {
        let [cond] = self.kernel.operands_of(stmt)[..] else {
            unreachable!("an `if` has a condition");
        };
        let Some(masked) = masked else {
            let cond = self.within(frame).expr(cond);
            let (then, otherwise) = (self.nodes(frame, then), self.nodes(frame, otherwise));
            let otherwise = (!otherwise.is_empty()).then(|| mixed!(else { #otherwise }));
            return mixed!(if #cond { #then } #otherwise);
        };
        let split = self.branch(frame, cond, masked);
        let branch = |mask, nodes| self.nodes(&frame.under(Mask::Branch, mask), nodes);
        let (then, otherwise) = (
            branch(masked.then, then),
            branch(masked.otherwise, otherwise),
        );
        let trim = match (frame.lanes, self.shapes.trim) {
            (Lanes::Block, true) => self.trim_of_branch(frame.plan, cond),
            (Lanes::Block, false) | (Lanes::Strip, _) => Trim::default(),
        };
        let then = match trim.bounds.is_empty() {
            true => then,
            false => {
                let bounds = self.within(frame).bounds(&trim);
                mixed!({ let mut __lanes = __lanes; #bounds #then })
            }
        };
        mixed!(#split #then #otherwise)
    }

    /// Sets the masks of the two branches.
    fn branch(&self, frame: &Frame<'_>, cond: ExprId, masked: MaskedIf) -> TokenStream {
        let lane = frame.lane();
        let cond = self.within(&lane).expr(cond);
        let (fetch, position) = (self.fetch(frame, masked.cond), frame.position());
        let (then, otherwise) = (
            frame.mask_name(masked.then),
            frame.mask_name(masked.otherwise),
        );
        let [on_then, on_otherwise] =
            [&then, &otherwise].map(|mask| self.of_lane_mut(mask, &position));
        let lanes = self.lanes(
            frame,
            frame.mask(),
            mixed! {
                #fetch
                let __cond = #cond;
                #on_then = __cond;
                #on_otherwise = !__cond;
            },
        );
        mixed!(<[_]>::fill(#then, false); <[_]>::fill(#otherwise, false); #lanes)
    }

    pub fn returns(&self, stmts: &[StmtId]) -> bool {
        let mut all = self.kernel.stmts_in(stmts.iter().copied());
        all.any(|id| self.kernel.stmt(id) == Stmt::Return)
    }
}

/// The variable that holds the value of a local in a region.
pub fn kept_name(local: LocalId) -> Ident {
    format_ident!("__kept{}", local.0, span = Span::mixed_site())
}

/// The loop over all lanes of a block. `strips` runs some lanes of each row.
pub fn rows(strips: Option<Strips>, body: TokenStream) -> TokenStream {
    let lanes = |range, body| each_lane(&range, body);
    match strips {
        None => each_row(lanes(mixed!(0..__lanes[0]), body)),
        Some(Strips {
            code,
            retry: None,
            tiles,
        }) => {
            let rest = lanes(mixed!(__first..__lanes[0]), body);
            let first = match tiles {
                Some(_) => mixed!(if __y < __done[1] { __done[0] } else { 0 }),
                None => mixed!(0),
            };
            each_row_of(
                tiles.unwrap_or_default(),
                mixed!(let mut __first = #first; #code #rest),
            )
        }
        Some(Strips {
            code,
            retry: Some(width),
            tiles: _,
        }) => {
            let some = lanes(mixed!(__first..__end), body);
            let width = Literal::u32_unsuffixed(width);
            each_row(mixed! {
                let mut __first = 0;
                while __first < __lanes[0] {
                    #code
                    let __end = match __CHECK {
                        true => __lanes[0],
                        false => ::core::cmp::Ord::min(__first + #width, __lanes[0]),
                    };
                    #some
                    __first = __end;
                }
            })
        }
    }
}

/// The loop over the rows of a block. `__row` is the position of a row's first lane.
pub fn each_row(row: TokenStream) -> TokenStream {
    each_row_of(TokenStream::new(), row)
}

/// The same, with code that runs before the rows of each plane.
fn each_row_of(plane: TokenStream, row: TokenStream) -> TokenStream {
    // `while` loops, since ranges cost more to compile.
    mixed! {
        let mut __z = 0;
        while __z < __lanes[2] {
            #plane
            let mut __y = 0;
            while __y < __lanes[1] {
                let __row = (__z * __dim[1] + __y) * __dim[0];
                #row
                __y += 1;
            }
            __z += 1;
        }
    }
}

/// The loop over some lanes of a row.
pub fn each_lane(range: &TokenStream, body: TokenStream) -> TokenStream {
    mixed! {
        for __x in #range {
            let __thread = [__x, __y, __z];
            let __lane = __row + __x;
            #body
        }
    }
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
