//! Chooses the storage of each local in a split body.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::{Node, RegionId, Rules, Tree, is_cheap};
use crate::analysis::local_uses::{self, LocalUse};
use crate::{ExprId, Kernel, LocalId, Stmt, StmtId};

/// The storage of a local.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// Used in one region: a variable of that region, one per lane while it runs.
    Lane,
    /// All lanes agree on the value: one variable for all lanes.
    Once,
    /// Used in several regions, and cheap enough for each of them to evaluate it again.
    Again,
    /// Used in several regions: an array with one element per lane.
    Lanes,
}

/// The locals that a region shares with other regions.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Uses {
    /// Locals of [`Place::Lanes`], including arrays. The flag is true if the region writes the local.
    pub lanes: Vec<(LocalId, bool)>,
    /// Locals of [`Place::Again`] that are declared elsewhere, in order of declaration.
    pub again: Vec<LocalId>,
}

/// A split body with the storage of its locals.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Plan {
    /// The split body.
    pub tree: Tree,
    /// The storage of each local of the kernel; [`Place::Lane`] for unused ones.
    pub places: Vec<Place>,
    /// For each region, the locals that it has in common with other regions.
    pub uses: Vec<Uses>,
    /// Locals declared outside of the body that are read by code that runs once for all lanes.
    pub read_once: BTreeSet<LocalId>,
}

impl Plan {
    /// Splits statements. `outer` holds the storage of the locals declared around them.
    pub fn of(rules: &Rules<'_>, stmts: &[StmtId], outer: &HashMap<LocalId, Place>) -> Plan {
        let definitions = Definitions::of(rules.kernel, stmts);
        let mut once = HashSet::new();
        loop {
            let tree = Tree::split(rules, stmts, &once);
            let found = Occurrences::of(rules.kernel, &tree);
            let before = once.len();
            let masked = masked_loops(&tree.nodes);
            // An outer local with one value per lane is also assigned per lane.
            let by_lanes = |local| outer.get(local).is_some_and(|place| *place != Place::Once);
            for (local, at) in found.locals.iter().filter(|(local, _)| !by_lanes(local)) {
                if at.is_crossing() && definitions.agreed(rules, &masked, *local) {
                    once.extend(definitions.of[local].iter().filter(|s| rules.is_value(**s)));
                }
            }
            if before == once.len() {
                return Plan::placed(rules, tree, &found, &definitions, outer);
            }
        }
    }

    fn placed(
        rules: &Rules<'_>,
        tree: Tree,
        found: &Occurrences,
        definitions: &Definitions,
        outer: &HashMap<LocalId, Place>,
    ) -> Plan {
        let kernel = rules.kernel;
        let values = Values::of(kernel);
        let masked = masked_loops(&tree.nodes);
        let mut places = vec![Place::Lane; kernel.locals.len()];
        // A value that is evaluated again may need locals that do not occur here.
        for (local, _) in outer.iter().filter(|(_, place)| **place == Place::Again) {
            places[local.index()] = Place::Again;
        }
        let mut read_once = BTreeSet::new();
        // In order of declaration: the operands of a value come before it.
        for index in 0..kernel.locals.len() {
            let local = LocalId(index as u32);
            let Some(at) = found.locals.get(&local) else {
                continue;
            };
            places[index] = match outer.get(&local) {
                Some(place) => {
                    if at.once && *place != Place::Once {
                        read_once.insert(local);
                    }
                    *place
                }
                None if !at.is_crossing() => Place::Lane,
                None if definitions.agreed(rules, &masked, local) => Place::Once,
                None => match definitions.value(kernel, &values, local) {
                    Some(value) if can_repeat(kernel, value, &places) => Place::Again,
                    Some(_) | None => Place::Lanes,
                },
            };
        }
        let mut uses = vec![Uses::default(); tree.regions as usize];
        for (local, at) in &found.locals {
            for (region, touches) in &at.regions {
                let uses = &mut uses[region.0 as usize];
                match places[local.index()] {
                    Place::Lanes => uses.lanes.push((*local, touches.writes)),
                    Place::Again if !touches.declares => uses.again.push(*local),
                    Place::Lane | Place::Once | Place::Again => {}
                }
            }
        }
        for uses in &mut uses {
            let again = uses.again.iter().copied().collect();
            uses.again = values.needed(kernel, &places, &again).into_iter().collect();
            uses.lanes.sort();
        }
        Plan {
            tree,
            places,
            uses,
            read_once,
        }
    }

    /// The storage of a local.
    pub fn place(&self, local: LocalId) -> Place {
        self.places[local.index()]
    }
}

impl Rules<'_> {
    /// True if the statement only gives a local a value.
    fn is_value(&self, stmt: StmtId) -> bool {
        matches!(
            self.kernel.stmt(stmt),
            Stmt::Let { .. } | Stmt::Assign { .. } | Stmt::Update { .. }
        )
    }
}

/// The loops that lanes leave one by one.
fn masked_loops(nodes: &[Node]) -> HashSet<StmtId> {
    let mut found = HashSet::new();
    for node in nodes {
        match node {
            Node::If {
                then, otherwise, ..
            } => {
                found.extend(masked_loops(then));
                found.extend(masked_loops(otherwise));
            }
            Node::Loop {
                stmt, masked, body, ..
            } => {
                found.extend(masked.map(|_| *stmt));
                found.extend(masked_loops(body));
            }
            Node::Region { .. } | Node::Once(_) | Node::Barrier | Node::Subgroup { .. } => {}
        }
    }
    found
}

fn can_repeat(kernel: &Kernel, value: ExprId, places: &[Place]) -> bool {
    is_cheap(kernel, value, &|local| {
        let place = places[local.index()];
        let fixed = !kernel.locals[local.index()].mutable;
        fixed && matches!(place, Place::Again | Place::Once)
    })
}

/// A region's uses of one local.
#[derive(Clone, Copy, Default)]
struct Touches {
    writes: bool,
    declares: bool,
}

/// The regions that use a local, and whether code that runs once uses it.
#[derive(Default)]
struct At {
    regions: Vec<(RegionId, Touches)>,
    once: bool,
}

impl At {
    fn is_crossing(&self) -> bool {
        self.once || self.regions.len() > 1
    }
}

#[derive(Default)]
struct Occurrences {
    locals: std::collections::BTreeMap<LocalId, At>,
}

impl Occurrences {
    fn of(kernel: &Kernel, tree: &Tree) -> Occurrences {
        let mut found = Occurrences::default();
        found.nodes(kernel, &tree.nodes);
        found
    }

    fn nodes(&mut self, kernel: &Kernel, nodes: &[Node]) {
        for node in nodes {
            match node {
                Node::Region { id, stmts } => {
                    for stmt in stmts {
                        local_uses::stmt(kernel, *stmt, &mut |l, t| self.region(*id, l, t));
                    }
                }
                Node::Once(stmt) => local_uses::itself(kernel, *stmt, &mut |l, _| self.once(l)),
                Node::Barrier => {}
                Node::Subgroup { id, stmt } => {
                    local_uses::itself(kernel, *stmt, &mut |l, t| self.region(*id, l, t));
                }
                Node::If {
                    stmt,
                    masked,
                    then,
                    otherwise,
                } => {
                    self.node(kernel, *stmt, masked.map(|m| m.cond));
                    self.nodes(kernel, then);
                    self.nodes(kernel, otherwise);
                }
                Node::Loop {
                    stmt, masked, body, ..
                } => {
                    self.node(kernel, *stmt, masked.map(|m| m.cond));
                    self.nodes(kernel, body);
                }
            }
        }
    }

    fn node(&mut self, kernel: &Kernel, stmt: StmtId, masked: Option<RegionId>) {
        local_uses::itself(kernel, stmt, &mut |local, touch| match masked {
            Some(id) => self.region(id, local, touch),
            None => self.once(local),
        });
    }

    fn once(&mut self, local: LocalId) {
        self.locals.entry(local).or_default().once = true;
    }

    fn region(&mut self, id: RegionId, local: LocalId, touch: LocalUse) {
        let regions = &mut self.locals.entry(local).or_default().regions;
        // Regions come in order.
        if regions.last().is_none_or(|(last, _)| *last != id) {
            regions.push((id, Touches::default()));
        }
        if let Some((_, touches)) = regions.last_mut() {
            touches.writes |= touch != LocalUse::Read;
            touches.declares |= touch == LocalUse::Declare;
        }
    }
}

/// The statements that give each local its values.
struct Definitions {
    of: HashMap<LocalId, Vec<StmtId>>,
}

impl Definitions {
    fn of(kernel: &Kernel, stmts: &[StmtId]) -> Definitions {
        let mut definitions = Definitions { of: HashMap::new() };
        for stmt in kernel.stmts_in(stmts.iter().copied()) {
            local_uses::itself(kernel, stmt, &mut |local, touch| {
                if touch != LocalUse::Read {
                    definitions.of.entry(local).or_default().push(stmt);
                }
            });
        }
        definitions
    }

    /// True if all lanes agree on the local, and arrive together at each of its definitions. In a masked loop,
    /// each lane counts for itself.
    fn agreed(&self, rules: &Rules<'_>, masked: &HashSet<StmtId>, local: LocalId) -> bool {
        let Some(stmts) = self.of.get(&local) else {
            return false;
        };
        let simple = |stmt: &StmtId| {
            // A store writes to an array.
            matches!(
                rules.kernel.stmt(*stmt),
                Stmt::Let { .. } | Stmt::Assign { .. } | Stmt::Update { .. } | Stmt::For { .. }
            ) && rules.uniformity.control(*stmt)
                && !masked.contains(stmt)
        };
        rules.uniformity.local(local) && stmts.iter().all(simple)
    }

    /// The initialiser of a local that is defined only once.
    fn value(&self, kernel: &Kernel, values: &Values, local: LocalId) -> Option<ExprId> {
        match self.of.get(&local)?[..] {
            [only] => values.get(local).filter(|_| is_let(kernel, only)),
            _ => None,
        }
    }
}

fn is_let(kernel: &Kernel, stmt: StmtId) -> bool {
    matches!(kernel.stmt(stmt), Stmt::Let { .. })
}

/// The initialiser of each local, from its `let`.
pub struct Values {
    of: HashMap<LocalId, ExprId>,
}

impl Values {
    /// The initialisers of all locals of a kernel.
    pub fn of(kernel: &Kernel) -> Values {
        let each = (0..kernel.stmts.len() as u32).map(StmtId);
        let of = each.filter_map(|stmt| {
            if let Stmt::Let { local, init } = kernel.stmt(stmt) {
                return Some((local, init?));
            }
            None
        });
        Values { of: of.collect() }
    }

    /// The initialiser of a local.
    pub fn get(&self, local: LocalId) -> Option<ExprId> {
        self.of.get(&local).copied()
    }

    /// Those of some locals that are evaluated again, and all others that their values need, in order of
    /// declaration.
    pub fn needed(
        &self,
        kernel: &Kernel,
        places: &[Place],
        locals: &BTreeSet<LocalId>,
    ) -> BTreeSet<LocalId> {
        let is_again = |local: &LocalId| places[local.index()] == Place::Again;
        let mut all: BTreeSet<LocalId> = locals.iter().copied().filter(is_again).collect();
        let mut open: Vec<LocalId> = all.iter().copied().collect();
        while let Some(local) = open.pop() {
            let Some(value) = self.get(local) else {
                continue;
            };
            local_uses::expr(kernel, value, &mut |local, _| {
                if is_again(&local) && all.insert(local) {
                    open.push(local);
                }
            });
        }
        all
    }
}
