//! Memory that the threads of a block use by turns: shared arrays, slices, atomics.
//!
//! Between two barriers it is the turn of one kind of use ([`Turn`]); [`super::together`] makes the barriers.
//! In scope are `t`, the thread's number in its block, and `n`, how many it has.

use sarek_ir::Scalar;

use super::control::of_variable;
use super::{Form, Gen, Role, Rule, Slice, make, within};
use crate::case::Shape;
use crate::tree::{Block, Expr, Facts, Node, Touch};

/// Which kind of use may be made of an array.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Turn {
    /// A thread reads and writes its own element.
    Own,
    /// All read any element.
    Any,
    /// All update any element by an operation whose order is no matter.
    Update,
}

/// An array that threads use by turns.
#[derive(Clone, Debug)]
pub(super) struct Team {
    name: String,
    elem: Scalar,
    kind: Kind,
    /// What may be read or updated: an element for each hole that is below this.
    count: String,
    pub(super) turn: Turn,
    /// The turns that it takes.
    pub(super) turns: &'static [Turn],
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Line,
    /// Rows of so many.
    Rows(usize),
    /// A slice with an element for each thread.
    Slice,
    /// Updated by this method.
    Atomics(&'static str),
}

const PLAIN: &[Turn] = &[Turn::Own, Turn::Any];
const ATOMIC: &[Turn] = &[Turn::Own, Turn::Any, Turn::Update];

pub(super) const RULES: &[Rule<Expr>] = &[Rule {
    weight: 24,
    fits: |g, ty| {
        !g.uniform
            && g.teams
                .iter()
                .any(|a| a.elem == ty && a.turn != Turn::Update)
    },
    make: load,
}];

pub(super) const STORES: &[Rule<Node>] = &[
    Rule {
        weight: 24,
        fits: |g, _| g.teams.iter().any(|a| a.turn == Turn::Own),
        make: store,
    },
    Rule {
        weight: 12,
        fits: |g, _| g.teams.iter().any(|a| a.turn == Turn::Update),
        make: update,
    },
];

/// Blocks of every awkward size.
const BLOCKS: [usize; 8] = [1, 3, 32, 33, 64, 64, 255, 256];

/// No block is larger.
pub(super) const MOST: usize = 256;

/// Operations of which the order is no matter.
const UPDATES: [&str; 6] = [
    "fetch_add",
    "fetch_min",
    "fetch_max",
    "fetch_and",
    "fetch_or",
    "fetch_xor",
];

fn pick(g: &mut Gen, fits: impl Fn(&Team) -> bool) -> (usize, Team) {
    let teams: Vec<_> = g.teams.iter().cloned().enumerate().collect();
    let teams: Vec<_> = teams.into_iter().filter(|(_, a)| fits(a)).collect();
    g.pick(&teams).clone()
}

impl Team {
    /// The thread's own element.
    fn own(&self) -> String {
        let name = &self.name;
        match self.kind {
            Kind::Line | Kind::Atomics(_) => format!("{name}[t]"),
            Kind::Rows(width) => format!("{name}[t / {width}][t % {width}]"),
            Kind::Slice => format!("{name}[i]"),
        }
    }

    /// Any element; one hole.
    fn any(&self) -> String {
        let (name, count) = (&self.name, &self.count);
        match self.kind {
            Kind::Line | Kind::Atomics(_) => format!("{name}[@ % {count}]"),
            Kind::Rows(width) => {
                format!("{{ let w = @ % {count}; {name}[w / {width}][w % {width}] }}")
            }
            Kind::Slice => format!("{name}[block_idx_x() * n + @ % {count}]"),
        }
    }

    fn is_atomic(&self) -> bool {
        matches!(self.kind, Kind::Atomics(_))
    }
}

fn load(g: &mut Gen, ty: Scalar) -> Expr {
    let (number, team) = pick(g, |a| a.elem == ty && a.turn != Turn::Update);
    let end = if team.is_atomic() { ".load()" } else { "" };
    let (text, exprs, touch) = match team.turn {
        Turn::Own => (team.own(), vec![], Touch::Own(number)),
        Turn::Any | Turn::Update => {
            let at = neighbour(g);
            (team.any(), vec![at], Touch::Any(number))
        }
    };
    let mut made = make(ty, of_variable(ty), text + end, exprs);
    made.node = made.node.touching(&[touch]);
    made
}

/// Another thread, mostly.
fn neighbour(g: &mut Gen) -> Expr {
    let text = match g.below(5) {
        0 => return g.expr(Scalar::Usize),
        1 => "(t + 1)".into(),
        2 => format!("(t ^ {})", 1 << g.below(6)),
        3 => "(n - 1 - t)".into(),
        _ => format!("(t + n - {} % n)", g.below(70)),
    };
    make(Scalar::Usize, Facts::ANY, text, vec![])
}

fn store(g: &mut Gen, _: Scalar) -> Node {
    let (number, team) = pick(g, |a| a.turn == Turn::Own);
    let (place, value) = (team.own(), g.settled(team.elem));
    let node = if team.is_atomic() {
        Node::new(format!("{place}.store(@);"), vec![value], vec![])
    } else if team.elem.is_int() && g.once_in(2) {
        let op = *g.pick(&["+=", "-=", "*=", "^=", "|=", "&="]);
        Node::new(format!("{place} {op} @;"), vec![value], vec![])
    } else {
        Node::new(format!("{place} = @;"), vec![value], vec![])
    };
    node.touching(&[Touch::Own(number)])
}

fn update(g: &mut Gen, _: Scalar) -> Node {
    let (number, team) = pick(g, |a| a.turn == Turn::Update);
    let Kind::Atomics(name) = team.kind else {
        unreachable!("only atomics are updated")
    };
    let (at, value) = (g.expr(Scalar::Usize), g.expr(team.elem));
    let text = format!("{}.{name}(@);", team.any());
    Node::new(text, vec![at, value], vec![]).touching(&[Touch::Update(number)])
}

impl Gen {
    pub(super) fn team_shape(&mut self) -> Shape {
        // naga takes a thread's place in its subgroup in blocks of one dimension alone.
        let is_line = self.traits.subgroups && !self.traits.host;
        match self.below(6) {
            _ if is_line => {
                Shape::Grid([1 + self.below(3), 1, 1], [*self.pick(&BLOCKS[1..]), 1, 1])
            }
            0 => Shape::Grid(
                [1 + self.below(2), 1, 1],
                *self.pick(&[[8, 4, 1], [5, 3, 2]]),
            ),
            1 => Shape::Grid([2, 2, 1], [4, 2, 1]),
            _ => {
                // PoCL refuses barriers in the smallest ones.
                let blocks = if self.traits.host {
                    &BLOCKS[..]
                } else {
                    &BLOCKS[1..]
                };
                Shape::Grid([1 + self.below(3), 1, 1], [*self.pick(blocks), 1, 1])
            }
        }
    }

    /// The slice as a parameter.
    pub(super) fn slice_text(&mut self, slice: &Slice) -> String {
        let (name, elem) = (&slice.name, slice.elem);
        let is_written = matches!(slice.role, Role::Out { .. } | Role::Near { .. });
        match (slice.form, is_written) {
            (Form::Slice, _) => {}
            (Form::View(rank), false) => return format!("{name}: View{rank}<{elem}>"),
            (Form::View(rank), true) => return format!("mut {name}: ViewMut{rank}<{elem}>"),
            (Form::Item, false) => return format!("#[item] {name}: {elem}"),
            (Form::Item, true) => return format!("#[item] {name}: &mut {elem}"),
        }
        match slice.role {
            Role::In { .. } | Role::Wild => format!("{name}: &[{elem}]"),
            Role::Out { .. } | Role::Near { .. } => format!("{name}: &mut [{elem}]"),
            Role::Team if is_atomic(elem) && self.once_in(2) => {
                let kind = Kind::Atomics(UPDATES[self.below(UPDATES.len())]);
                let count = format!("{name}.len()");
                self.join(name, elem, kind, count, &[Turn::Update]);
                format!("{name}: &[Atomic<{elem}>]")
            }
            Role::Team => {
                self.join(name, elem, Kind::Slice, "n".into(), PLAIN);
                format!("{name}: &mut [{elem}]")
            }
        }
    }

    fn join(
        &mut self,
        name: &str,
        elem: Scalar,
        kind: Kind,
        count: String,
        turns: &'static [Turn],
    ) {
        self.teams.push(Team {
            name: name.to_owned(),
            elem,
            kind,
            count,
            turn: turns[0],
            turns,
        });
    }

    /// The shared arrays of an element for each thread and more, by number and name.
    pub(super) fn lines(&self, elem: Scalar) -> Vec<(usize, String)> {
        let teams = self.teams.iter().enumerate();
        let lines = teams.filter(|(_, a)| a.kind == Kind::Line && a.elem == elem);
        lines.map(|(at, a)| (at, a.name.clone())).collect()
    }

    /// The atomics that a block may add up in: the number, an element, its type, and the method.
    pub(super) fn totals(&self) -> impl Iterator<Item = (usize, String, Scalar, &'static str)> {
        let teams = self.teams.iter().enumerate();
        teams.filter_map(|(at, team)| match team.kind {
            Kind::Atomics(update @ ("fetch_add" | "fetch_min" | "fetch_max"))
                if team.turn == Turn::Update && team.elem.size() == 4 =>
            {
                Some((at, format!("{}[0]", team.name), team.elem, update))
            }
            _ => None,
        })
    }

    /// The slices that threads use by turns, which are filled from the beginning.
    pub(super) fn filled(&mut self, shape: Shape) -> Vec<Touch> {
        // A slice's neighbours are those of the block only where the block is a line.
        if !matches!(shape, Shape::Grid([_, 1, 1], [_, 1, 1])) {
            self.teams.retain(|a| a.kind != Kind::Slice);
        }
        (0..self.teams.len()).map(Touch::Fill).collect()
    }

    /// Makes shared arrays and fills them.
    pub(super) fn share(&mut self, body: &mut Block) {
        if !self.traits.team {
            return;
        }
        body.push(Node::leaf(
            "let t = (thread_idx_z() * block_dim_y() + thread_idx_y()) * block_dim_x() + thread_idx_x();",
        ));
        body.push(Node::leaf(
            "let n = block_dim_x() * block_dim_y() * block_dim_z();",
        ));
        self.bind("t", Scalar::Usize, within(256.0), false);
        self.bind_uniform("n", Scalar::Usize, within(256.0));
        for at in 0..1 + self.below(4) {
            self.shared(body, format!("s{at}"));
        }
    }

    /// A type of which all bits are values.
    pub(super) fn shared_type(&mut self) -> Scalar {
        let narrow = self.traits.narrow;
        self.ty(|ty| ![Scalar::Usize, Scalar::Bool].contains(&ty) && (narrow || ty.size() >= 4))
    }

    fn shared(&mut self, body: &mut Block, name: String) {
        let elem = self.shared_type();
        let atomic = is_atomic(elem) && self.once_in(4);
        let mut count = "n".to_owned();
        let (kind, text) = match self.below(4) {
            _ if atomic => {
                let kind = Kind::Atomics(UPDATES[self.below(UPDATES.len())]);
                (kind, format!("shared_array::<Atomic<{elem}>, {MOST}>()"))
            }
            0 => {
                let width = *self.pick(&[8, 17, 32]);
                let rows = MOST.div_ceil(width);
                let text = format!("shared_array::<[{elem}; {width}], {rows}>()");
                (Kind::Rows(width), text)
            }
            1 => {
                let more = self.below(4);
                (Kind::Line, format!("shared_slice::<{elem}>(n + {more})"))
            }
            _ => (Kind::Line, format!("shared_array::<{elem}, {MOST}>()")),
        };
        body.push(Node::leaf(format!("let {name} = {text};")));
        let number = self.teams.len();
        let all = kind == Kind::Line && self.once_in(3);
        if all {
            count = format!("{name}.len()");
        }
        let turns = if atomic { ATOMIC } else { PLAIN };
        let value = self.settled(elem);
        self.join(&name, elem, kind, count, turns);
        let own = self.teams[number].own();
        let text = match (all, atomic) {
            // A thread's own are those that many threads apart.
            (true, _) => format!(
                "let fill = @; let mut k = t; while k < {name}.len() {{ {name}[k] = fill; k += n; }}"
            ),
            (false, true) => format!("{own}.store(@);"),
            (false, false) => format!("{own} = @;"),
        };
        let filled = Node::new(text, vec![value], vec![]);
        body.push(filled.touching(&[Touch::Fill(number), Touch::Own(number)]));
    }

    /// Ends the body: what the others have flows into variables.
    pub(super) fn gather(&mut self, body: &mut Block) {
        if !self.traits.team {
            return;
        }
        let turns: Vec<_> = self.teams.iter().map(|a| a.last_turn()).collect();
        self.take_turns(&turns, body);
        for number in 0..self.teams.len() {
            let team = self.teams[number].clone();
            if team.turn != Turn::Any {
                continue;
            }
            let end = if team.is_atomic() { ".load()" } else { "" };
            let (name, at) = (self.name(), neighbour(self));
            let text = format!("let {name} = {}{end};", team.any());
            let node = Node::new(text, vec![at], vec![]);
            body.push(node.touching(&[Touch::Any(number)]));
            self.bind(&name, team.elem, of_variable(team.elem), false);
        }
    }
}

impl Team {
    fn last_turn(&self) -> Turn {
        match self.turns.contains(&Turn::Any) {
            true => Turn::Any,
            false => self.turns[0],
        }
    }
}

fn is_atomic(ty: Scalar) -> bool {
    ty.is_int() && ty.size() >= 4 && ty != Scalar::Usize
}
