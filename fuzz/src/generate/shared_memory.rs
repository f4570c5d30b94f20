//! Generates accesses to memory that the threads of a block share: shared arrays, slices and atomics, together called *arrays*.
//!
//! Between two barriers, each array has one access mode ([`AccessMode`]), so no accesses race. [`super::uniform`] emits the barriers.
//! Two variables are in scope: `t` is the thread's index in its block, and `n` is the number of threads in the block.

use sarek_ir::Scalar;

use super::control::of_variable;
use super::{Form, Gen, Role, Rule, Slice, make, within};
use crate::case::Shape;
use crate::tree::{Block, Effect, Expr, Facts, Node};

/// The access mode of an array between two barriers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum AccessMode {
    /// Each thread reads and writes its own element.
    Own,
    /// All threads read any element.
    Any,
    /// All threads update any element by a commutative atomic operation.
    Update,
}

/// An array that threads share.
#[derive(Clone, Debug)]
pub(super) struct SharedArray {
    name: String,
    elem: Scalar,
    kind: Kind,
    /// The text of an upper bound for indices that may be read or updated.
    count: String,
    pub(super) mode: AccessMode,
    /// The access modes that it may have.
    pub(super) modes: &'static [AccessMode],
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// A shared array of elements.
    Flat,
    /// A shared array of rows of this many elements.
    Rows(usize),
    /// A slice with an element for each thread.
    Slice,
    /// An array of atomics, updated by this method.
    Atomics(&'static str),
}

const PLAIN: &[AccessMode] = &[AccessMode::Own, AccessMode::Any];
const ATOMIC: &[AccessMode] = &[AccessMode::Own, AccessMode::Any, AccessMode::Update];

pub(super) const RULES: &[Rule<Expr>] = &[Rule {
    weight: 24,
    fits: |g, ty| {
        !g.uniform
            && g.shared_arrays
                .iter()
                .any(|a| a.elem == ty && a.mode != AccessMode::Update)
    },
    make: load,
}];

pub(super) const STORES: &[Rule<Node>] = &[
    Rule {
        weight: 24,
        fits: |g, _| g.shared_arrays.iter().any(|a| a.mode == AccessMode::Own),
        make: store,
    },
    Rule {
        weight: 12,
        fits: |g, _| g.shared_arrays.iter().any(|a| a.mode == AccessMode::Update),
        make: update,
    },
];

/// The block sizes, mostly awkward ones.
const BLOCKS: [usize; 8] = [1, 3, 32, 33, 64, 64, 255, 256];

/// The largest block size.
pub(super) const MOST: usize = 256;

/// The commutative atomic operations.
const UPDATES: [&str; 6] = [
    "fetch_add",
    "fetch_min",
    "fetch_max",
    "fetch_and",
    "fetch_or",
    "fetch_xor",
];

fn pick(g: &mut Gen, fits: impl Fn(&SharedArray) -> bool) -> (usize, SharedArray) {
    let arrays: Vec<_> = g.shared_arrays.iter().cloned().enumerate().collect();
    let arrays: Vec<_> = arrays.into_iter().filter(|(_, a)| fits(a)).collect();
    g.pick(&arrays).clone()
}

impl SharedArray {
    /// The thread's own element.
    fn own(&self) -> String {
        let name = &self.name;
        match self.kind {
            Kind::Flat | Kind::Atomics(_) => format!("{name}[t]"),
            Kind::Rows(width) => format!("{name}[t / {width}][t % {width}]"),
            Kind::Slice => format!("{name}[i]"),
        }
    }

    /// Any element; its index has one hole.
    fn any(&self) -> String {
        let (name, count) = (&self.name, &self.count);
        match self.kind {
            Kind::Flat | Kind::Atomics(_) => format!("{name}[@ % {count}]"),
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
    let (number, array) = pick(g, |a| a.elem == ty && a.mode != AccessMode::Update);
    let end = if array.is_atomic() { ".load()" } else { "" };
    let (text, exprs, effect) = match array.mode {
        AccessMode::Own => (array.own(), vec![], Effect::Own(number)),
        AccessMode::Any | AccessMode::Update => {
            let at = neighbour(g);
            (array.any(), vec![at], Effect::Any(number))
        }
    };
    let mut made = make(ty, of_variable(ty), text + end, exprs);
    made.node = made.node.with_effects(&[effect]);
    made
}

/// An index, mostly that of another thread.
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
    let (number, array) = pick(g, |a| a.mode == AccessMode::Own);
    let (place, value) = (array.own(), g.settled(array.elem));
    let node = if array.is_atomic() {
        Node::new(format!("{place}.store(@);"), vec![value], vec![])
    } else if array.elem.is_int() && g.once_in(2) {
        let op = *g.pick(&["+=", "-=", "*=", "^=", "|=", "&="]);
        Node::new(format!("{place} {op} @;"), vec![value], vec![])
    } else {
        Node::new(format!("{place} = @;"), vec![value], vec![])
    };
    node.with_effects(&[Effect::Own(number)])
}

fn update(g: &mut Gen, _: Scalar) -> Node {
    let (number, array) = pick(g, |a| a.mode == AccessMode::Update);
    let Kind::Atomics(name) = array.kind else {
        unreachable!("only atomics are updated")
    };
    let (at, value) = (g.expr(Scalar::Usize), g.expr(array.elem));
    let text = format!("{}.{name}(@);", array.any());
    Node::new(text, vec![at, value], vec![]).with_effects(&[Effect::Update(number)])
}

impl Gen {
    pub(super) fn cooperative_shape(&mut self) -> Shape {
        // naga supports a thread's index in its subgroup only in one-dimensional blocks.
        let is_linear = self.traits.subgroups && !self.traits.host;
        match self.below(6) {
            _ if is_linear => {
                Shape::Grid([1 + self.below(3), 1, 1], [*self.pick(&BLOCKS[1..]), 1, 1])
            }
            0 => Shape::Grid(
                [1 + self.below(2), 1, 1],
                *self.pick(&[[8, 4, 1], [5, 3, 2]]),
            ),
            1 => Shape::Grid([2, 2, 1], [4, 2, 1]),
            _ => {
                // PoCL rejects barriers in blocks of one thread.
                let blocks = if self.traits.host {
                    &BLOCKS[..]
                } else {
                    &BLOCKS[1..]
                };
                Shape::Grid([1 + self.below(3), 1, 1], [*self.pick(blocks), 1, 1])
            }
        }
    }

    /// The text of a slice parameter.
    pub(super) fn slice_text(&mut self, slice: &Slice) -> String {
        let (name, elem) = (&slice.name, slice.elem);
        let is_written = matches!(slice.role, Role::Out { .. } | Role::Inexact { .. });
        match (slice.form, is_written) {
            (Form::Slice, _) => {}
            (Form::View(rank), false) => return format!("{name}: View{rank}<{elem}>"),
            (Form::View(rank), true) => return format!("mut {name}: ViewMut{rank}<{elem}>"),
            (Form::Item, false) => return format!("#[item] {name}: {elem}"),
            (Form::Item, true) => return format!("#[item] {name}: &mut {elem}"),
        }
        match slice.role {
            Role::In { .. } | Role::AnyFloat => format!("{name}: &[{elem}]"),
            Role::Out { .. } | Role::Inexact { .. } => format!("{name}: &mut [{elem}]"),
            Role::Shared if is_atomic(elem) && self.once_in(2) => {
                let kind = Kind::Atomics(UPDATES[self.below(UPDATES.len())]);
                let count = format!("{name}.len()");
                self.join(name, elem, kind, count, &[AccessMode::Update]);
                format!("{name}: &[Atomic<{elem}>]")
            }
            Role::Shared => {
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
        modes: &'static [AccessMode],
    ) {
        self.shared_arrays.push(SharedArray {
            name: name.to_owned(),
            elem,
            kind,
            count,
            mode: modes[0],
            modes,
        });
    }

    /// The one-dimensional shared arrays, by number and name. They have at least one element for each thread.
    pub(super) fn flat_arrays(&self, elem: Scalar) -> Vec<(usize, String)> {
        let arrays = self.shared_arrays.iter().enumerate();
        let flat_arrays = arrays.filter(|(_, a)| a.kind == Kind::Flat && a.elem == elem);
        flat_arrays.map(|(at, a)| (at, a.name.clone())).collect()
    }

    /// The atomics for a reduction over a block: the array's number, an element, its type, and the method.
    pub(super) fn accumulators(
        &self,
    ) -> impl Iterator<Item = (usize, String, Scalar, &'static str)> {
        let arrays = self.shared_arrays.iter().enumerate();
        arrays.filter_map(|(at, array)| match array.kind {
            Kind::Atomics(update @ ("fetch_add" | "fetch_min" | "fetch_max"))
                if array.mode == AccessMode::Update && array.elem.size() == 4 =>
            {
                Some((at, format!("{}[0]", array.name), array.elem, update))
            }
            _ => None,
        })
    }

    /// The shared arrays that are parameters, as effects that mark them initialised.
    pub(super) fn fills(&mut self, shape: Shape) -> Vec<Effect> {
        // A block's elements of a slice are adjacent only if the block and the grid have one dimension.
        if !matches!(shape, Shape::Grid([_, 1, 1], [_, 1, 1])) {
            self.shared_arrays.retain(|a| a.kind != Kind::Slice);
        }
        (0..self.shared_arrays.len()).map(Effect::Fill).collect()
    }

    /// Declares shared arrays and fills them.
    pub(super) fn share(&mut self, body: &mut Block) {
        if !self.traits.shared_memory {
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

    /// A type for shared arrays, in which every bit pattern is a value.
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
                (Kind::Flat, format!("shared_slice::<{elem}>(n + {more})"))
            }
            _ => (Kind::Flat, format!("shared_array::<{elem}, {MOST}>()")),
        };
        body.push(Node::leaf(format!("let {name} = {text};")));
        let number = self.shared_arrays.len();
        let all = kind == Kind::Flat && self.once_in(3);
        if all {
            count = format!("{name}.len()");
        }
        let modes = if atomic { ATOMIC } else { PLAIN };
        let value = self.settled(elem);
        self.join(&name, elem, kind, count, modes);
        let own = self.shared_arrays[number].own();
        let text = match (all, atomic) {
            // The thread fills every `n`-th element, starting at its own.
            (true, _) => format!(
                "let fill = @; let mut k = t; while k < {name}.len() {{ {name}[k] = fill; k += n; }}"
            ),
            (false, true) => format!("{own}.store(@);"),
            (false, false) => format!("{own} = @;"),
        };
        let filled = Node::new(text, vec![value], vec![]);
        body.push(filled.with_effects(&[Effect::Fill(number), Effect::Own(number)]));
    }

    /// Ends the body: reads other threads' elements into variables.
    pub(super) fn gather(&mut self, body: &mut Block) {
        if !self.traits.shared_memory {
            return;
        }
        let modes: Vec<_> = self.shared_arrays.iter().map(|a| a.last_mode()).collect();
        self.set_access_modes(&modes, body);
        for number in 0..self.shared_arrays.len() {
            let array = self.shared_arrays[number].clone();
            if array.mode != AccessMode::Any {
                continue;
            }
            let end = if array.is_atomic() { ".load()" } else { "" };
            let (name, at) = (self.name(), neighbour(self));
            let text = format!("let {name} = {}{end};", array.any());
            let node = Node::new(text, vec![at], vec![]);
            body.push(node.with_effects(&[Effect::Any(number)]));
            self.bind(&name, array.elem, of_variable(array.elem), false);
        }
    }
}

impl SharedArray {
    fn last_mode(&self) -> AccessMode {
        match self.modes.contains(&AccessMode::Any) {
            true => AccessMode::Any,
            false => self.modes[0],
        }
    }
}

fn is_atomic(ty: Scalar) -> bool {
    ty.is_int() && ty.size() >= 4 && ty != Scalar::Usize
}
