//! The surroundings of a lane's code: the arrays of lanes, and the active masks.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use proc_macro2::{Ident, Span, TokenStream};
use quote::format_ident;
use sarek_ir::analysis::regions::{MaskId, Place, Plan};
use sarek_ir::{ExprId, LabelId, LocalId, StmtId, Value};

use super::grid_stride::Turns;
use super::{Writer, mixed};

/// The lanes that a loop runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lanes {
    /// All lanes of a block.
    Block,
    /// `__STRIP` lanes that are adjacent along x, or that fill whole rows:
    /// [`super::register_tile`].
    Strip,
}

/// The condition under which a lane belongs to a mask.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mask {
    /// The lane has not returned.
    Root,
    /// The lane has taken this branch.
    Branch,
    /// The lane has not left the loop.
    Live(LabelId),
    /// The lane has not continued with the loop's next iteration.
    Iteration(LabelId),
}

/// The surroundings of the code that is being written.
#[derive(Clone)]
pub struct Frame<'a> {
    pub plan: &'a Plan,
    pub lanes: Lanes,
    /// The enclosing masks, outer ones first.
    pub masks: Vec<(Mask, MaskId)>,
    /// True outside of the loops over lanes.
    pub once: bool,
    /// True if all lanes take part, regardless of the masks.
    pub full: bool,
    /// True if the caller decides which lanes take part: all if `__FULL`, else those of `__active`.
    pub given: bool,
    /// The loops that a strip runs step by step: [`super::divergent_loops`].
    pub steps: HashSet<StmtId>,
    /// The grid-stride loops in which a strip takes turns: [`super::grid_stride`].
    pub turns: BTreeMap<StmtId, Turns>,
    /// In the body of such a loop: the local that holds a lane's index, `__turn + __w`.
    pub turn: Option<LocalId>,
    /// In a divergent loop: the locals with one value in all lanes that have not left it.
    pub same: HashSet<LocalId>,
    /// In a divergent loop: the locals whose values in lanes that have left do not matter.
    pub discarded: HashSet<LocalId>,
    /// The local arrays that are kept in rows: [`super::lane_rows`].
    pub rows: BTreeSet<LocalId>,
    /// True if a strip is too wide for registers.
    pub wide: bool,
    /// True if only the first `__count` lanes of a strip run.
    pub elastic: bool,
    /// In a strip of several rows: the length of each row.
    pub row: Option<u32>,
    /// In a strip of several rows: the loads that read a copy, [`super::pack`].
    pub packed: BTreeMap<ExprId, TokenStream>,
    /// True if a strip consists of complete subgroups that exchange values: [`super::subgroup_strips`].
    pub subgroups: bool,
    /// In an unrolled loop of such a strip: the values of the locals that are known.
    pub known: BTreeMap<LocalId, Value>,
}

impl<'a> Frame<'a> {
    pub fn new(plan: &'a Plan, lanes: Lanes) -> Frame<'a> {
        Frame {
            plan,
            lanes,
            masks: plan
                .tree
                .root
                .map(|m| (Mask::Root, m))
                .into_iter()
                .collect(),
            once: true,
            full: false,
            given: false,
            steps: HashSet::new(),
            turns: BTreeMap::new(),
            turn: None,
            same: HashSet::new(),
            discarded: HashSet::new(),
            rows: BTreeSet::new(),
            wide: false,
            elastic: false,
            row: None,
            packed: BTreeMap::new(),
            subgroups: false,
            known: BTreeMap::new(),
        }
    }

    pub fn lane(&self) -> Frame<'a> {
        Frame {
            once: false,
            ..self.clone()
        }
    }

    pub fn under(&self, mask: Mask, id: MaskId) -> Frame<'a> {
        let mut frame = self.clone();
        frame.masks.push((mask, id));
        frame.full = false;
        frame
    }

    /// The frame in which all lanes take part.
    pub fn full(&self) -> Frame<'a> {
        Frame {
            full: true,
            ..self.clone()
        }
    }

    /// The mask of the lanes that take part.
    pub fn mask(&self) -> Option<MaskId> {
        self.masks.last().map(|(_, id)| *id).filter(|_| !self.full)
    }

    /// The array of a local's values.
    pub fn array(&self, local: LocalId) -> Ident {
        self.name("lanes", local.0)
    }

    pub fn mask_name(&self, mask: MaskId) -> Ident {
        self.name("mask", mask.0)
    }

    /// The name of an array of lanes.
    pub fn name(&self, what: &str, number: u32) -> Ident {
        let of = match self.lanes {
            Lanes::Block => "",
            Lanes::Strip => "strip_",
        };
        format_ident!("__{of}{what}{number}", span = Span::mixed_site())
    }

    /// The lane's position in arrays of lanes.
    pub fn position(&self) -> TokenStream {
        match self.lanes {
            Lanes::Block => mixed!(__lane),
            Lanes::Strip => mixed!(__w),
        }
    }

    /// The length of arrays of lanes.
    pub fn count(&self) -> TokenStream {
        match self.lanes {
            Lanes::Block => mixed!(__threads),
            Lanes::Strip => mixed!(__STRIP),
        }
    }
}

impl<'a> Writer<'a> {
    /// True outside of the loops over lanes.
    pub fn is_once(&self) -> bool {
        self.frame.is_some_and(|f| f.once)
    }

    /// True if the local lives in an array of lanes between regions.
    pub fn is_kept(&self, local: LocalId) -> bool {
        self.frame
            .is_some_and(|f| f.plan.place(local) == Place::Lanes)
    }

    /// True if one variable serves all lanes, which no region writes.
    pub fn is_for_all(&self, local: LocalId) -> bool {
        self.frame
            .is_some_and(|f| f.plan.place(local) == Place::Once)
    }

    /// True for an array of scalars that lives across regions. It is stored as one array of lanes
    /// per element.
    fn is_kept_apart(&self, local: LocalId) -> bool {
        let is_array = self.lowered.arrays.contains_key(&local) && !self.is_foreign(local);
        self.is_kept(local) && is_array && !self.is_kept_in_row(local)
    }

    /// True for an array of scalars that lives across regions, in a row of elements for each lane.
    /// A region works on a copy of it.
    pub fn is_kept_in_row(&self, local: LocalId) -> bool {
        self.frame.is_some_and(|f| f.rows.contains(&local))
    }

    /// True for a value of several parts that lives across regions, as a `host::LaneValuesSoa`.
    pub fn is_kept_whole(&self, local: LocalId) -> bool {
        let is_scalar = || self.kernel.locals[local.index()].ty.as_scalar().is_some();
        let is_one = || is_scalar() || self.is_kept_in_row(local);
        self.is_kept(local) && !is_one() && !self.is_kept_apart(local)
    }

    /// True if the local's name stands for a pointer. Parts of its value may be missing: the value
    /// may belong to another region, or be an array whose elements are stored one after the other.
    pub fn is_pointer(&self, local: LocalId) -> bool {
        let is_array = self.lowered.arrays.contains_key(&local) && self.is_foreign(local);
        is_array || self.is_kept_whole(local)
    }

    /// The value of a local as a place.
    pub fn variable(&self, local: LocalId) -> TokenStream {
        let name = self.local(local);
        match self.is_pointer(local) {
            true => mixed!((*#name)),
            false => mixed!(#name),
        }
    }

    /// The array, position and number of lanes of a local array that lives across regions.
    pub fn lanes_of(&self, local: LocalId) -> Option<(Ident, TokenStream, TokenStream)> {
        let frame = self.frame.filter(|_| self.is_kept_apart(local))?;
        Some((frame.array(local), frame.position(), frame.count()))
    }

    /// Leaves the region until the end of the code under the innermost of these masks: the lane no
    /// longer takes part under it. `None` if there is no such mask.
    pub fn leave(&self, masks: &[Mask]) -> Option<TokenStream> {
        let frame = self.frame.filter(|f| !f.once)?;
        let outermost = frame.masks.iter().rposition(|(m, _)| masks.contains(m))?;
        let position = frame.position();
        let clear = frame.masks[outermost..].iter().map(|(_, id)| {
            let mask = frame.mask_name(*id);
            let flag = self.of_lane_mut(&mask, &position);
            mixed!(#flag = false;)
        });
        Some(mixed!({ #(#clear)* break 'thread; }))
    }
}
