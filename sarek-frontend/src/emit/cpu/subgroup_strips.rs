//! Subgroup operations in strips: parts of a split body that exchange values within subgroups run strip by strip.
//!
//! If each operation is a boundary of the block, the values of all lanes go through memory at each of them. Here
//! everything between two barriers runs for the lanes of a few subgroups, then for the next ones. The values of a
//! strip lie in arrays whose length is known, and the operations on them are written so that the compiler keeps
//! them in registers ([`sarek_runtime::host::subgroup_strips`]). In a loop such as `while step > 0 { …; step /= 2 }`,
//! distances are constants only if the loop is unrolled, so it is.
//!
//! Such strips consist of complete subgroups whose lanes all take part. Other launches run the operations for the
//! block.
//!
//! [`sarek_runtime::host::subgroup_strips`]: https://docs.rs/sarek-runtime

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use proc_macro2::{Literal, TokenStream};
use sarek_ir::analysis::local_uses::{self, LocalUse};
use sarek_ir::analysis::regions::{Node, Place, Plan, RegionId, Rules};
use sarek_ir::analysis::uniformity::{Among, Uniformity};
use sarek_ir::facts::{Effect, Flow};
use sarek_ir::{LabelId, LocalId, Stmt, StmtId, SubgroupOp};

use super::frame::{Frame, Lanes};
use super::strip_guards::StripGuards;
use super::strip_mine::Moved;
use super::tree::{each_node, each_row};
use super::{Writer, mixed};

/// The widths of strips. Narrow ones fit in registers.
const WIDTHS: [u32; 2] = [64, 32];

/// The width of strips with prefix sums of floats. These are chains in the order of lanes, of which four run side by
/// side.
const CHAINED: u32 = 128;

/// Nodes of a body that run strip by strip.
struct Run<'a> {
    nodes: &'a [Node],
    stmts: Vec<StmtId>,
    /// The locals that occur nowhere else.
    own: HashSet<LocalId>,
}

impl Writer<'_> {
    /// Runs the first nodes strip by strip, if these exchange values within subgroups. Returns the code and the
    /// number of nodes.
    pub fn subgroup_strips(
        &self,
        frame: &Frame<'_>,
        nodes: &[Node],
    ) -> Option<(TokenStream, usize)> {
        if frame.lanes != Lanes::Block || frame.given || !self.shapes.strips {
            return None;
        }
        let run = self.subgroup_run(nodes)?;
        let width = self.subgroup_width(&run)?;
        // Strips of ragged blocks are left to the code below.
        let guards = match self.kernel.block {
            Some([_, 1, 1]) | None => self.within(frame).strip_guards(&run.stmts),
            Some(_) => StripGuards::default(),
        };
        let known = guards.among(self.known);
        let proved = Writer {
            proved: true,
            known: &known,
            ..*self
        };
        let inside = (!guards.inside.is_empty()).then(|| {
            let early = Writer {
                known: self.known,
                ..proved
            };
            let test = early.within(frame).lies_inside(&guards);
            mixed! {
                && __lanes[1] == 1
                && __lanes[2] == 1
                && { let (__first, __y, __z, __count) = (0, 0, 0, __lanes[0]); #test }
            }
        });
        let stmts = proved.live(&run.stmts);
        let (plan, moved) = proved.subgroup_plan(frame, &run, &stmts)?;
        let mut inner = Frame::new(&plan, Lanes::Strip);
        inner.steps = moved.steps;
        inner.subgroups = true;
        let once = proved.read_once(&plan);
        let shared = self.shared_with(frame, &run);
        let (arrays, back) = proved.strip_arrays_of(&inner, Some((frame, &shared)));
        let strip = proved.tree(&inner);
        let slow: TokenStream = nodes[..run.nodes.len()]
            .iter()
            .map(|node| self.node(frame, node))
            .collect();
        let width = Literal::u32_unsuffixed(width);
        let all = frame.mask().map(|mask| {
            let mask = frame.mask_name(mask);
            mixed!(&& __host::all(&#mask[..]))
        });
        let rows = each_row(mixed! {
            let mut __first = 0;
            while __first < __lanes[0] {
                const __STRIP: __usize = #width;
                let __thread = [__first, __y, __z];
                let __lane = __row + __first;
                #arrays
                #once
                #strip
                #back
                __first += __STRIP;
            }
        });
        let code = mixed! {
            if !__CHECK && __dim[0] % #width == 0 && __lanes[0] % #width == 0 && __lanes[0] != 0 #all #inside {
                #rows
            } else {
                #slow
            }
        };
        Some((code, run.nodes.len()))
    }

    /// The longest run from the first node on.
    fn subgroup_run<'a>(&self, nodes: &'a [Node]) -> Option<Run<'a>> {
        let quiet = nodes.iter().take_while(|node| self.is_quiet(node)).count();
        let mut len = quiet;
        while len > 0 && !self.is_end(&nodes[len - 1]) {
            len -= 1;
        }
        let nodes = &nodes[..len];
        let is_start = match nodes.first()? {
            Node::Region { stmts, .. } => !self.has_loops(stmts),
            Node::Once(_) | Node::Subgroup { .. } | Node::If { .. } | Node::Loop { .. } => true,
            Node::Barrier => false,
        };
        let mut exchanges = false;
        each_node(nodes, &mut |node| {
            exchanges |= matches!(node, Node::Subgroup { .. });
        });
        if !is_start || !exchanges {
            return None;
        }
        let stmts: Vec<StmtId> = nodes.iter().flat_map(stmts_of).collect();
        let own = self.only_in(&stmts);
        // Values that are the same for all lanes would change once for each strip.
        let mut fits = true;
        each_node(nodes, &mut |node| {
            if let Node::Once(stmt) = node {
                local_uses::itself(self.kernel, *stmt, &mut |local, used| {
                    fits &= used == LocalUse::Read || own.contains(&local);
                });
            }
        });
        fits.then_some(Run { nodes, stmts, own })
    }

    /// True if lanes of different strips do not wait for each other in a node, and all lanes take the same way.
    fn is_quiet(&self, node: &Node) -> bool {
        let mut quiet = true;
        each_node(std::slice::from_ref(node), &mut |node| {
            quiet &= match node {
                Node::Barrier => false,
                Node::Region { stmts, .. } => {
                    let is_joint = stmts.iter().any(|stmt| self.joint.contains(stmt));
                    !is_joint && !self.returns(stmts) && !self.leaves(stmts)
                }
                Node::Once(stmt) => matches!(
                    self.kernel.stmt(*stmt),
                    Stmt::Let { .. } | Stmt::Assign { .. } | Stmt::Update { .. }
                ),
                Node::Subgroup { .. } => true,
                Node::If { masked, .. } => masked.is_none(),
                Node::Loop {
                    masked, iteration, ..
                } => masked.is_none() && iteration.is_none(),
            };
        });
        quiet
    }

    /// True if a jump among the statements leaves a loop around them, or its turn. Only a mask of the block can tell
    /// who has left.
    fn leaves(&self, stmts: &[StmtId]) -> bool {
        let all = || self.kernel.stmts_in(stmts.iter().copied());
        let inside: HashSet<LabelId> = all()
            .filter_map(|id| self.kernel.stmt(id).loop_label())
            .collect();
        all().any(|id| match self.kernel.stmt(id).facts().flow {
            Flow::Break(label) | Flow::Continue(label) => !inside.contains(&label),
            Flow::Next | Flow::Branch | Flow::Loop(_) | Flow::Return | Flow::Panic => false,
        })
    }

    /// True for a node at which a run may end.
    fn is_end(&self, node: &Node) -> bool {
        match node {
            Node::Region { stmts, .. } => !self.has_loops(stmts),
            Node::Subgroup { .. } | Node::If { .. } | Node::Loop { .. } => true,
            Node::Once(_) | Node::Barrier => false,
        }
    }

    fn has_loops(&self, stmts: &[StmtId]) -> bool {
        let mut all = self.kernel.stmts_in(stmts.iter().copied());
        all.any(|id| self.kernel.stmt(id).loop_label().is_some())
    }

    /// The locals that only these statements use.
    fn only_in(&self, stmts: &[StmtId]) -> HashSet<LocalId> {
        let inside: HashSet<StmtId> = self.kernel.stmts_in(stmts.iter().copied()).collect();
        let (mut own, mut others) = (HashSet::new(), HashSet::new());
        for id in (0..self.kernel.stmts.len() as u32).map(StmtId) {
            let found = match inside.contains(&id) {
                true => &mut own,
                false => &mut others,
            };
            local_uses::itself(self.kernel, id, &mut |local, _| {
                found.insert(local);
            });
        }
        own.retain(|local| !others.contains(local));
        own
    }

    /// The width of a run's strips. `None` if rows are shorter.
    fn subgroup_width(&self, run: &Run<'_>) -> Option<u32> {
        let mut chained = false;
        each_node(run.nodes, &mut |node| {
            if let Node::Subgroup { stmt, .. } = node {
                chained |= self.is_chained(*stmt);
            }
        });
        let wide = chained.then_some(CHAINED);
        let mut widths = wide.into_iter().chain(WIDTHS);
        match self.kernel.block {
            Some([x, _, _]) => widths.find(|width| x.is_multiple_of(*width)),
            None => widths.next(),
        }
    }

    /// True for an operation on floats whose order matters.
    fn is_chained(&self, stmt: StmtId) -> bool {
        let Stmt::Subgroup { op, args, .. } = self.kernel.stmt(stmt) else {
            return false;
        };
        let is_prefix = match op {
            SubgroupOp::InclusiveSum | SubgroupOp::ExclusiveSum => true,
            SubgroupOp::Sum
            | SubgroupOp::Product
            | SubgroupOp::Min
            | SubgroupOp::Max
            | SubgroupOp::ShuffleUp
            | SubgroupOp::ShuffleDown
            | SubgroupOp::ShuffleXor
            | SubgroupOp::Shuffle
            | SubgroupOp::Broadcast
            | SubgroupOp::All
            | SubgroupOp::Any
            | SubgroupOp::Ballot => false,
        };
        let mut args = self.kernel.list(args);
        is_prefix && args.any(|arg| self.kernel.scalar_of(arg).is_float())
    }

    /// Splits the statements of a run.
    fn subgroup_plan(
        &self,
        frame: &Frame<'_>,
        run: &Run<'_>,
        stmts: &[StmtId],
    ) -> Option<(Plan, Moved)> {
        let locals = (0..self.kernel.locals.len() as u32).map(LocalId);
        let places: HashMap<LocalId, Place> = locals
            .map(|local| (local, frame.plan.place(local)))
            .filter(|(local, place)| *place != Place::Lane && !run.own.contains(local))
            .collect();
        let kept = places.iter().filter(|(_, place)| **place == Place::Lanes);
        let among = Among {
            known: self.known.clone(),
            varying: kept.map(|(local, _)| *local).collect(),
            row: true,
            params: self.arrays.cloned().unwrap_or_default(),
            function: self.is_function,
        };
        let uniformity = Uniformity::among(self.kernel, &among);
        let moved = self.moved(&uniformity, stmts);
        if !moved.turns.is_empty() {
            return None;
        }
        // Lanes that act alone outside of other branches have loops of their own.
        let leaders: HashSet<StmtId> = stmts.iter().copied().collect();
        let leaders = |stmt: StmtId| leaders.contains(&stmt) && self.leader(stmt).is_some();
        let rules = Rules {
            kernel: self.kernel,
            uniformity: &uniformity,
            boundary: &|stmt| {
                let effect = self.kernel.stmt(stmt).facts().effect;
                let is_exchange = matches!(effect, Effect::Subgroup(..));
                is_exchange || moved.loops.contains(&stmt) || leaders(stmt)
            },
        };
        let plan = Plan::of(&rules, stmts, &places);
        let mut together = plan.tree.root.is_none();
        each_node(&plan.tree.nodes, &mut |node| {
            together &= match node {
                Node::Region { .. } | Node::Once(_) | Node::Subgroup { .. } => true,
                Node::Barrier => false,
                Node::If {
                    stmt,
                    masked,
                    then,
                    otherwise,
                } => {
                    let is_alone =
                        matches!(then[..], [Node::Region { .. }]) && otherwise.is_empty();
                    masked.is_none() || is_alone && leaders(*stmt)
                }
                Node::Loop { stmt, masked, .. } => masked.is_none() || moved.steps.contains(stmt),
            };
        });
        let locals = (0..self.kernel.locals.len() as u32).map(LocalId);
        let mut kept = locals.filter(|local| plan.place(*local) == Place::Lanes);
        let is_scalar = |local: LocalId| {
            let scalar = self.kernel.locals[local.index()].ty.as_scalar();
            scalar.is_some()
        };
        (together && kept.all(is_scalar)).then_some((plan, moved))
    }

    /// The arrays of the block that a run uses, and whether it writes them.
    fn shared_with(&self, frame: &Frame<'_>, run: &Run<'_>) -> BTreeMap<LocalId, bool> {
        let mut regions: BTreeSet<RegionId> = BTreeSet::new();
        each_node(run.nodes, &mut |node| match node {
            Node::Region { id, .. } | Node::Subgroup { id, .. } => {
                regions.insert(*id);
            }
            Node::Once(_) | Node::Barrier => {}
            Node::If { masked, .. } => regions.extend(masked.map(|masked| masked.cond)),
            Node::Loop { masked, .. } => regions.extend(masked.map(|masked| masked.cond)),
        });
        let mut shared = BTreeMap::new();
        for id in regions {
            for (local, writes) in &frame.plan.uses[id.0 as usize].lanes {
                if !run.own.contains(local) {
                    *shared.entry(*local).or_default() |= *writes;
                }
            }
        }
        shared
    }
}

/// The statements of a node.
fn stmts_of(node: &Node) -> Vec<StmtId> {
    match node {
        Node::Region { stmts, .. } => stmts.clone(),
        Node::Once(stmt)
        | Node::Subgroup { stmt, .. }
        | Node::If { stmt, .. }
        | Node::Loop { stmt, .. } => vec![*stmt],
        Node::Barrier => vec![],
    }
}
