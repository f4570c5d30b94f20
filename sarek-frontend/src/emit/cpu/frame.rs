//! What surrounds a lane: where the arrays of lanes are, and which masks it stands under.

use std::collections::{BTreeMap, HashSet};

use proc_macro2::{Ident, Span, TokenStream};
use quote::format_ident;
use sarek_ir::analysis::regions::{MaskId, Place, Plan};
use sarek_ir::{LabelId, LocalId, StmtId};

use super::grid_stride::Turns;
use super::{Writer, mixed};

/// Which lanes a loop runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lanes {
    /// All of a block.
    Block,
    /// `__STRIP` of them, next to each other along x, or of whole rows: [`super::register_tile`].
    Strip,
}

/// What a mask says of a lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mask {
    /// It has not returned.
    Root,
    /// It has taken this branch.
    Branch,
    /// It has not left the loop.
    Live(LabelId),
    /// It has not gone on with the next iteration of the loop.
    Iteration(LabelId),
}

/// What surrounds the code that is being written.
#[derive(Clone)]
pub struct Frame<'a> {
    pub plan: &'a Plan,
    pub lanes: Lanes,
    /// The masks around, outer ones first.
    pub masks: Vec<(Mask, MaskId)>,
    /// Is it outside of the loops over lanes?
    pub once: bool,
    /// Do all lanes take part, whatever the masks are?
    pub full: bool,
    /// Does the caller say which lanes take part: all if `__FULL`, else those of `__active`?
    pub given: bool,
    /// The loops that a strip runs by steps: [`super::divergent_loops`].
    pub steps: HashSet<StmtId>,
    /// The loops in which a strip takes turns: [`super::grid_stride`].
    pub turns: BTreeMap<StmtId, Turns>,
    /// Of such a loop's body: the local that tells where a lane is, `__turn + __w`.
    pub turn: Option<LocalId>,
    /// Is a strip too wide for registers?
    pub wide: bool,
    /// Of a strip of several rows: how long each is.
    pub row: Option<u32>,
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
            wide: false,
            row: None,
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

    /// Where all lanes take part.
    pub fn full(&self) -> Frame<'a> {
        Frame {
            full: true,
            ..self.clone()
        }
    }

    /// The mask of those who take part.
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

    /// How many lanes there are in arrays of lanes.
    pub fn count(&self) -> TokenStream {
        match self.lanes {
            Lanes::Block => mixed!(__threads),
            Lanes::Strip => mixed!(__STRIP),
        }
    }
}

impl<'a> Writer<'a> {
    /// Is the code outside of the loops over lanes?
    pub fn is_once(&self) -> bool {
        self.frame.is_some_and(|f| f.once)
    }

    /// Does it live in an array of lanes between regions?
    pub fn is_kept(&self, local: LocalId) -> bool {
        self.frame
            .is_some_and(|f| f.plan.place(local) == Place::Lanes)
    }

    /// Is there one for all lanes, that no region writes?
    pub fn is_for_all(&self, local: LocalId) -> bool {
        self.frame
            .is_some_and(|f| f.plan.place(local) == Place::Once)
    }

    /// Is it an array of scalars that lives between regions, an array of lanes for each element?
    fn is_kept_apart(&self, local: LocalId) -> bool {
        self.is_kept(local) && self.lowered.arrays.contains_key(&local) && !self.is_foreign(local)
    }

    /// Is it a value of several parts that lives between regions, as a `direct::Kept`?
    pub fn is_kept_whole(&self, local: LocalId) -> bool {
        let is_scalar = || self.kernel.locals[local.index()].ty.as_scalar().is_some();
        self.is_kept(local) && !is_scalar() && !self.is_kept_apart(local)
    }

    /// Does its name stand for a pointer? Not all of it may have a value: that of another region, or an array whose
    /// elements are stored one after the other.
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

    /// Array, position and number of lanes of a local array that lives in several regions.
    pub fn lanes_of(&self, local: LocalId) -> Option<(Ident, TokenStream, TokenStream)> {
        let frame = self.frame.filter(|_| self.is_kept_apart(local))?;
        Some((frame.array(local), frame.position(), frame.count()))
    }

    /// Leaves the region for what the innermost of some masks guards: the lane takes no part in what
    /// follows under it. Nothing if there is no such mask.
    pub fn leave(&self, masks: &[Mask]) -> Option<TokenStream> {
        let frame = self.frame.filter(|f| !f.once)?;
        let outermost = frame.masks.iter().rposition(|(m, _)| masks.contains(m))?;
        let position = frame.position();
        let clear = frame.masks[outermost..].iter().map(|(_, id)| {
            let mask = frame.mask_name(*id);
            mixed!(*<[_]>::get_unchecked_mut(#mask, #position) = false;)
        });
        Some(mixed!({ #(#clear)* break 'thread; }))
    }
}
