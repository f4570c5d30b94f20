//! Strip mining with loop interchange: a loop on which all lanes of a row agree moves outside of
//! the loop over lanes.
//!
//! `for x in lanes { for k in 0..n { sum[x] += … } }` runs the chain of additions of one lane after
//! the other, and the vectoriser may not reorder them. For a *strip* of adjacent lanes, whose
//! values are held in registers, the loops are interchanged: `for k in 0..n { for w in strip {
//! sum[w] += … } }`. This is outer-loop vectorization (Nuzman and Zaks, 2008). A strip is split
//! like a block, with these loops as its boundaries. Lanes that fill no strip run as before.

use std::collections::{BTreeMap, HashMap, HashSet};

use proc_macro2::{Ident, Literal, TokenStream};
use sarek_ir::analysis::local_uses;
use sarek_ir::analysis::regions::{MaskId, Node, Place, Plan, RegionId, Rules};
use sarek_ir::analysis::uniformity::{Among, Uniformity};
use sarek_ir::facts::{Effect, Flow};
use sarek_ir::{Expr, ExprId, LabelId, LocalId, Stmt, StmtId};

use super::elastic_strips::{self, elastic};
use super::frame::{Frame, Lanes};
use super::grid_stride::{Turns, WIDE};
use super::names::literal;
use super::strip_guards::StripGuards;
use super::tree::each_node;
use super::{Writer, mixed};

/// The widths of strips whose values fit in registers, wide ones first.
const WIDTHS: [u32; 4] = [32, 16, 8, 4];

/// The width of strips whose lanes keep at most [`LIGHT_BYTES`] each and call nothing. A narrower
/// strip, with four registers of sums, would wait for additions.
pub const LIGHT: u32 = 64;

/// The most loops that move outside of the strips of a region. rustc's borrow checker takes cubic time
/// in the number of loops over strips: 2.2 s for 100 pairs of loops.
const MOST_LOOPS: usize = 64;

/// The size of one number.
const LIGHT_BYTES: usize = 4;

/// The strips of a row.
pub struct Strips {
    /// Runs strips from `__first` on, and leaves `__first` at the first lane that it has not run.
    pub code: TokenStream,
    /// If strips may end before the row does: the number of lanes after which they may go on.
    pub retry: Option<u32>,
    /// Runs strips of several rows first. Leaves `__done`, the columns and rows that they fill.
    pub tiles: Option<TokenStream>,
}

/// The loops that move outside of strips.
#[derive(Default)]
pub struct Moved {
    /// All of them.
    pub loops: HashSet<StmtId>,
    /// Divergent loops, which are run step by step: [`super::divergent_loops`].
    pub steps: HashSet<StmtId>,
    /// Grid-stride loops, in which lanes take turns: [`super::grid_stride`].
    pub turns: BTreeMap<StmtId, Turns>,
}

impl Writer<'_> {
    /// Strips for the lanes of a row. `None` if strips are of no use.
    pub fn strips(
        &self,
        outer: Option<(&Frame<'_>, RegionId)>,
        stmts: &[StmtId],
    ) -> Option<Strips> {
        if !self.shapes.strips {
            return None;
        }
        let frame = outer.map(|(frame, _)| frame);
        let proved = Writer {
            proved: true,
            ..*self
        };
        let guards = self.strip_guards(stmts);
        let known = guards.among(self.known);
        let guarded = Writer {
            known: &known,
            ..proved
        };
        let plain = self.strip_plan(frame, &self.live(stmts), true);
        let in_guarded = || {
            let live = guarded.live(stmts);
            Some((guarded.strip_plan(frame, &live, true)?, &guards))
        };
        let inside = in_guarded().filter(|((_, moved), _)| {
            let is_in_loop = |stmt: &StmtId| self.compares(*stmt, &guards);
            let is_needed = plain.is_none() || moved.loops.iter().any(is_in_loop);
            !guards.inside.is_empty() && is_needed
        });
        if let Some(((plan, moved), guards)) = inside {
            let test = proved.lies_inside(guards);
            let (code, width) = guarded.strips_of(outer, &plan, moved, Some(&test), true);
            return Some(Strips {
                code,
                retry: Some(width),
                tiles: None,
            });
        }
        let (plan, moved) = plain?;
        let live = self.live(stmts);
        let tile = frame.map_or_else(|| self.tile(&live, &moved), |_| None);
        let tiles = tile.map(|tile| proved.tiles_of(&tile, &proved.packs_of(&live, &moved)));
        let stacks = self.stacks(frame, &live, &moved);
        let of_stacks = stacks.iter().map(|stack| proved.stacks_of(outer, stack));
        let mut code: TokenStream = of_stacks.collect();
        if stacks.is_empty() || self.kernel.block.is_none() {
            let few = tiles.is_some() || !stacks.is_empty();
            code.extend(proved.strips_of(outer, &plan, moved, None, few).0);
        }
        Some(Strips {
            code,
            retry: None,
            tiles,
        })
    }

    /// True if a statement evaluates a guard.
    fn compares(&self, stmt: StmtId, guards: &StripGuards) -> bool {
        let mut stmts = self.kernel.stmts_in([stmt]);
        stmts.any(|id| {
            let mut exprs = self.kernel.exprs_in(self.kernel.operands_of(id));
            exprs.any(|expr| guards.inside.contains_key(&expr))
        })
    }

    /// The loops over strips of each width, and the last width. They run only in launches that
    /// proved every provable check, and as long as `inside` holds for a strip. If `few`, there is one
    /// width, as the code has other versions.
    fn strips_of(
        &self,
        outer: Option<(&Frame<'_>, RegionId)>,
        plan: &Plan,
        moved: Moved,
        inside: Option<&TokenStream>,
        few: bool,
    ) -> (TokenStream, u32) {
        // Joined by `&&`, since all of these tests must hold.
        let exact: Vec<_> = moved.turns.values().map(|t| self.is_exact(t)).collect();
        let mut frame = Frame::new(plan, Lanes::Strip);
        let all_turns = moved.loops.len() == moved.turns.len();
        let is_light = self.is_light(plan, &moved);
        let looped = moved.loops;
        frame.steps = moved.steps;
        frame.turns = moved.turns;
        let once = self.read_once(plan);
        let (arrays, back) = self.strip_arrays(&frame, outer);
        if outer.is_none() && self.is_elastic(&frame, &looped) {
            frame.elastic = true;
            let tree = self.tree(&frame);
            return (
                elastic(inside, &mixed!(#arrays #once #tree)),
                elastic_strips::LEAST,
            );
        }
        let mut widths = self.widths(all_turns, is_light);
        widths.truncate(if few { 1 } else { widths.len() });
        let least = widths.last().copied().unwrap_or(LIGHT);
        let each = widths.into_iter().map(|width| {
            frame.wide = all_turns && width > WIDTHS[0];
            let tree = self.tree(&frame);
            let width = Literal::u32_unsuffixed(width);
            let inside = inside.map(|test| mixed!(let __count = __STRIP; if !#test { break; }));
            mixed! {
                while !__CHECK && __lanes[0] - __first >= #width #(&& #exact)* {
                    const __STRIP: __usize = #width;
                    #inside
                    let __thread = [__first, __y, __z];
                    let __lane = __row + __first;
                    #arrays
                    #once
                    #tree
                    #back
                    __first += __STRIP;
                }
            }
        });
        (mixed!(#(#each)*), least)
    }

    /// The widths of the strips that blocks are divided into. They are wide if lanes only take
    /// turns, or do little.
    fn widths(&self, all_turns: bool, is_light: bool) -> Vec<u32> {
        let wide = match (all_turns, is_light) {
            (true, _) => &WIDE[..],
            (false, true) => &[LIGHT],
            (false, false) => &[],
        };
        let mut wide = wide.iter().copied();
        match self.kernel.block {
            Some([x, _, _]) => {
                let fits = wide.chain(WIDTHS).find(|w| x.is_multiple_of(*w));
                fits.into_iter().collect()
            }
            // Without barriers the runtime picks long rows.
            None if all_turns || self.frame.is_none() => {
                wide.next().into_iter().chain([32]).collect()
            }
            None => vec![32, 16],
        }
    }

    /// True if the loops of a strip call nothing, and a lane keeps at most one number.
    pub fn is_light(&self, plan: &Plan, moved: &Moved) -> bool {
        let calls = moved.loops.iter().any(|looped| self.calls(*looped));
        !calls && self.bytes_kept(plan) <= LIGHT_BYTES
    }

    /// True if a statement calls a function.
    fn calls(&self, stmt: StmtId) -> bool {
        self.kernel.stmts_in([stmt]).any(|id| {
            let effect = self.kernel.stmt(id).facts().effect;
            let mut exprs = self.kernel.exprs_in(self.kernel.operands_of(id));
            matches!(effect, Effect::Call(_) | Effect::Native(_))
                || exprs.any(|e| matches!(self.kernel.expr(e), Expr::Call { .. }))
        })
    }

    /// The number of bytes that a lane keeps in arrays of the strip.
    pub fn bytes_kept(&self, plan: &Plan) -> usize {
        let locals = (0..self.kernel.locals.len() as u32).map(LocalId);
        let kept = locals.filter(|local| plan.place(*local) == Place::Lanes);
        let bytes = kept.map(|local| {
            let scalar = self.kernel.locals[local.index()].ty.as_scalar();
            scalar.map_or(usize::MAX, |scalar| scalar.size())
        });
        bytes.fold(0, usize::saturating_add)
    }

    /// Splits a strip of one row, or of several if `row` is false. `None` if there is no loop to
    /// move, or if lanes would diverge.
    pub fn strip_plan(
        &self,
        outer: Option<&Frame<'_>>,
        stmts: &[StmtId],
        row: bool,
    ) -> Option<(Plan, Moved)> {
        let places = outer_places(outer, self.kernel.locals.len());
        let kept = |(local, place): (&LocalId, &Place)| (*place == Place::Lanes).then_some(*local);
        let among = Among {
            known: self.known.clone(),
            varying: places.iter().filter_map(kept).collect(),
            row,
            params: self.arrays.cloned().unwrap_or_default(),
            function: self.is_function,
        };
        let uniformity = Uniformity::among(self.kernel, &among);
        let moved = self.moved(&uniformity, stmts);
        if moved.loops.is_empty() || moved.loops.len() > MOST_LOOPS {
            return None;
        }
        let rules = Rules {
            kernel: self.kernel,
            uniformity: &uniformity,
            boundary: &|stmt| moved.loops.contains(&stmt),
        };
        let plan = Plan::of(&rules, stmts, &places);
        let fits = self.fits_arrays(&plan) && self.is_straight(&plan, &moved.loops);
        fits.then_some((plan, moved))
    }

    /// The loops that move outside of strips.
    pub fn moved(&self, among: &Uniformity, stmts: &[StmtId]) -> Moved {
        let mut moved = Moved::default();
        let straight = self.straight(stmts);
        for stmt in stmts {
            self.loops_to_move(among, &straight, *stmt, &mut moved);
        }
        moved
    }

    /// Finds the loops that all lanes of a row run together and that do something for each lane.
    /// Also finds the loops that lanes only enter together, which are run step by step or in turns.
    fn loops_to_move(
        &self,
        among: &Uniformity,
        straight: &[StmtId],
        stmt: StmtId,
        found: &mut Moved,
    ) {
        let values = self.kernel.operands_of(stmt);
        let agreed = among.control(stmt) && values.iter().all(|v| among.expr(*v));
        let is_loop = self.kernel.stmt(stmt).loop_label().is_some();
        if is_loop && !(agreed && self.left_together(among, stmt, &mut HashSet::new())) {
            let takes_turns = self.shapes.strides && straight.contains(&stmt);
            if self.shapes.masked && self.can_mask(among, stmt) {
                found.loops.insert(stmt);
                found.steps.insert(stmt);
            } else if let Some(turns) = self.turns(among, straight, stmt).filter(|_| takes_turns) {
                found.loops.insert(stmt);
                found.turns.insert(stmt, turns);
            }
            return;
        }
        if is_loop && self.varies(among, stmt) {
            found.loops.insert(stmt);
        }
        for block in self.kernel.blocks_of(stmt) {
            for inner in self.kernel.block(block) {
                self.loops_to_move(among, straight, inner, found);
            }
        }
    }

    /// True if all lanes take each jump together that leaves the statement, or the iteration of the
    /// loop that it is. `inside` collects the loops in it.
    fn left_together(
        &self,
        among: &Uniformity,
        stmt: StmtId,
        inside: &mut HashSet<LabelId>,
    ) -> bool {
        let mut inner = self.kernel.blocks_of(stmt).into_iter();
        let together = inner.all(|block| {
            let mut stmts = self.kernel.block(block);
            stmts.all(|s| {
                inside.extend(self.kernel.stmt(s).loop_label());
                self.left_together(among, s, inside)
            })
        });
        let leaves = match self.kernel.stmt(stmt).facts().flow {
            Flow::Break(label) | Flow::Continue(label) => !inside.contains(&label),
            Flow::Return => true,
            Flow::Next | Flow::Branch | Flow::Loop(_) | Flow::Panic => false,
        };
        together && (!leaves || among.control(stmt))
    }

    /// True if the statement assigns a value that differs between lanes.
    fn varies(&self, among: &Uniformity, stmt: StmtId) -> bool {
        let mut varies = false;
        local_uses::stmt(self.kernel, stmt, &mut |local, touch| {
            varies |= touch != local_uses::LocalUse::Read && !among.local(local);
        });
        varies
    }

    /// True if the arrays that lanes keep are indexed in place. Each region would copy other
    /// arrays.
    fn fits_arrays(&self, plan: &Plan) -> bool {
        let mut locals = (0..self.kernel.locals.len() as u32).map(LocalId);
        locals.all(|local| {
            let is_array = self.kernel.array(local).is_some();
            let is_indexed = self.lowered.arrays.contains_key(&local) && !self.is_foreign(local);
            plan.place(local) != Place::Lanes || !is_array || is_indexed
        })
    }

    /// True if all lanes of a strip stay together, except in `loops`.
    fn is_straight(&self, plan: &Plan, loops: &HashSet<StmtId>) -> bool {
        let mut straight = plan.tree.root.is_none();
        each_node(&plan.tree.nodes, &mut |node| {
            straight &= match node {
                Node::Once(stmt) => self.kernel.stmt(*stmt) != Stmt::Return,
                Node::Region { stmts, .. } => !self.returns(stmts),
                Node::If { masked, .. } => masked.is_none(),
                Node::Loop {
                    stmt,
                    masked: Some(_),
                    ..
                } => loops.contains(stmt),
                Node::Loop { iteration, .. } => iteration.is_none(),
                Node::Barrier | Node::Subgroup { .. } => true,
            }
        });
        straight
    }

    /// Declares the arrays of a strip, filled from those of the block, and writes back the ones
    /// that may have changed.
    pub fn strip_arrays(
        &self,
        frame: &Frame<'_>,
        outer: Option<(&Frame<'_>, RegionId)>,
    ) -> (TokenStream, TokenStream) {
        let shared = outer.map(|(outer, id)| {
            let uses = &outer.plan.uses[id.0 as usize].lanes;
            (outer, uses.iter().copied().collect::<BTreeMap<_, _>>())
        });
        let shared = shared.as_ref().map(|(outer, uses)| (*outer, uses));
        self.strip_arrays_of(frame, shared)
    }

    /// The same; the map holds the locals in arrays of the block, and is true for those that are written.
    pub fn strip_arrays_of(
        &self,
        frame: &Frame<'_>,
        outer: Option<(&Frame<'_>, &BTreeMap<LocalId, bool>)>,
    ) -> (TokenStream, TokenStream) {
        let (mut before, mut after) = (self.strip_masks(frame), TokenStream::new());
        for index in 0..self.kernel.locals.len() {
            let local = LocalId(index as u32);
            if frame.plan.place(local) != Place::Lanes {
                continue;
            }
            let outer = outer.and_then(|(outer, uses)| {
                let writes = uses.get(&local)?;
                Some((outer.array(local), *writes))
            });
            let (first, last) = match self.within(frame).is_kept_whole(local) {
                true => self.strip_whole(frame.array(local), outer),
                false => self.strip_array(frame.array(local), local, outer),
            };
            before.extend(first);
            after.extend(last);
        }
        (before, after)
    }

    /// The same for a scalar, or for an array of scalars. `outer` is the block's array, and true if
    /// it must be written back.
    fn strip_array(
        &self,
        array: Ident,
        local: LocalId,
        outer: Option<(Ident, bool)>,
    ) -> (TokenStream, TokenStream) {
        let scalar = self.kernel.local_scalar(&self.kernel.locals[local.index()]);
        let zero = literal(sarek_ir::Value::zero(scalar));
        let len = self.kernel.array(local).map(|(_, len)| len);
        let each = len.map_or_else(|| mixed!(1), |len| self.const_length(len));
        let is_open = len.is_some_and(|len| self.is_open(len));
        let declared = match (is_open, len.is_some()) {
            (true, _) => {
                let rows = self.nested(local, mixed!([#zero; __STRIP]));
                let flat = self.lengths(local).into_iter();
                let flat = flat.fold(
                    mixed!(&mut __rows),
                    |rows, _| mixed!(__host::flat_mut(#rows)),
                );
                mixed! {
                    let mut __rows = #rows;
                    let #array = #flat;
                }
            }
            (false, true) => mixed!(let #array = &mut [#zero; #each * __STRIP];),
            (false, false) => mixed!(let #array = &mut [#zero; __STRIP];),
        };
        let Some((outer, writes)) = outer else {
            return (declared, TokenStream::new());
        };
        let rest = mixed!(#outer, __lane, __threads, #each);
        let first = mixed!(__host::fetch_strip::<_, __STRIP>(#array, #rest););
        let last = mixed!(__host::keep_strip::<_, __STRIP>(#array, #rest););
        let last = if writes { last } else { TokenStream::new() };
        (mixed!(#declared #first), last)
    }

    /// The same for a value of several parts. Large values are left to the plain loop.
    fn strip_whole(
        &self,
        array: Ident,
        outer: Option<(Ident, bool)>,
    ) -> (TokenStream, TokenStream) {
        let declared = mixed! {
            let #array = __host::Strip::<_, __STRIP>::new();
            if !__host::Strip::is_small(&#array) { break; }
        };
        let Some((outer, writes)) = outer else {
            return (declared, TokenStream::new());
        };
        let first = mixed! {
            for __w in 0..__STRIP {
                __host::LaneStorage::keep(&#array, __w, __host::LaneStorage::fetch(&#outer, __lane + __w));
            }
        };
        let last = mixed! {
            for __w in 0..__STRIP {
                __host::LaneStorage::keep(&#outer, __lane + __w, __host::LaneStorage::fetch(&#array, __w));
            }
        };
        (
            mixed!(#declared #first),
            if writes { last } else { TokenStream::new() },
        )
    }

    /// Declares the masks of loops that test each lane.
    fn strip_masks(&self, frame: &Frame<'_>) -> TokenStream {
        let masks = (0..frame.plan.tree.masks).map(|i| frame.mask_name(MaskId(i)));
        mixed!(#(let #masks = &mut [false; __STRIP];)*)
    }

    /// Declares values again that are the same for the whole strip.
    pub fn read_once(&self, plan: &Plan) -> TokenStream {
        let locals = self
            .values
            .needed(self.kernel, &plan.places, &plan.read_once);
        let lets = locals.into_iter().map(|local| {
            let value: Option<ExprId> = self.values.get(local);
            self.declare(local, value, proc_macro2::Span::mixed_site())
        });
        lets.collect()
    }
}

/// The places of the locals that a block keeps for its regions.
fn outer_places(outer: Option<&Frame<'_>>, locals: usize) -> HashMap<LocalId, Place> {
    let each = (0..locals as u32).map(LocalId);
    let place = |local| Some((local, outer?.plan.place(local)));
    each.filter_map(place)
        .filter(|(_, place)| *place != Place::Lane)
        .collect()
}

#[cfg(test)]
mod tests {
    /// True if a kernel with so many loops has strips.
    fn has_strips(loops: usize) -> bool {
        let each = "for k in 0..n { sum += x[k]; }".repeat(loops);
        let source = format!(
            "fn k(n: usize, x: &[f32], out: &mut [f32]) {{ let mut sum = global_idx_x() as f32; {each} out[global_idx_x()] = sum; }}"
        );
        let tokens = source.parse().expect("the source is tokens");
        let expansion = crate::expand::kernel(proc_macro2::TokenStream::new(), tokens);
        assert_eq!(expansion.errors, [""; 0], "{loops}");
        expansion.tokens.to_string().contains("__STRIP")
    }

    #[test]
    fn bodies_of_very_many_loops_have_no_strips() {
        assert!(has_strips(1));
        assert!(has_strips(super::MOST_LOOPS));
        assert!(!has_strips(super::MOST_LOOPS + 1));
    }
}
