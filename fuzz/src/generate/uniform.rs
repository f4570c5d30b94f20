//! Generates uniform control flow: barriers, and the branches and loops around them.
//!
//! Conditions and loop bounds are uniform, that is, the same for all threads of a block ([`Gen::uniform_value`]). Each block and loop ends with
//! the access modes ([`AccessMode`]) with which it began, and so does each jump out of a loop.

use sarek_ir::Scalar;

use super::control::of_variable;
use super::shared_memory::AccessMode;
use super::{Gen, Loop, Rule, Var, boolean, integer, make};
use crate::tree::{Block, Effect, Expr, Facts, Node};

/// Statements for uniform control flow.
pub(super) const RULES: &[Rule<Node>] = &[
    Rule {
        weight: 60,
        fits: |g, _| g.converged,
        make: change,
    },
    Rule {
        weight: 10,
        fits: |g, _| g.converged,
        make: binding,
    },
    Rule {
        weight: 10,
        fits: |g, _| g.converged && !assignable(g).is_empty(),
        make: assign,
    },
    Rule {
        weight: 24,
        fits: |g, _| g.converged && g.is_roomy(),
        make: branch,
    },
    Rule {
        weight: 24,
        fits: |g, _| g.converged && g.affords(3),
        make: count,
    },
    Rule {
        weight: 24,
        fits: |g, _| g.converged && g.affords(4),
        make: while_loop,
    },
    Rule {
        weight: 16,
        fits: |g, _| g.converged && g.loops.iter().any(|l| l.uniform.is_some()),
        make: leave,
    },
    Rule {
        weight: 20,
        fits: |g, _| g.converged && g.traits.subgroups && g.traits.host,
        make: subgroup,
    },
    Rule {
        weight: 12,
        fits: |g, _| g.converged && g.traits.subgroups,
        make: subgroup_of_any_size,
    },
    Rule {
        weight: 40,
        fits: |g, _| g.converged && g.traits.subgroups && g.accumulators().next().is_some(),
        make: total,
    },
];

/// The first letter of the uniform variables that [`assign`] may change.
pub(super) const ASSIGNABLE: char = 'u';

impl Gen {
    /// A uniform value.
    pub(super) fn uniform_value(&mut self, ty: Scalar) -> Expr {
        let uniform = std::mem::replace(&mut self.uniform, true);
        let value = self.settled(ty);
        self.uniform = uniform;
        value
    }

    /// A uniform condition that is seldom constant.
    fn uniform_condition(&mut self) -> Expr {
        let uniform = std::mem::replace(&mut self.uniform, true);
        let cond = match self.once_in(3) {
            true => self.expr(Scalar::Bool),
            false => self.uniform_test(),
        };
        self.uniform = uniform;
        cond
    }

    /// A comparison of the low bits of a uniform variable.
    fn uniform_test(&mut self) -> Expr {
        let fits = |v: &&Var| v.uniform && v.ty.is_int();
        let vars: Vec<_> = self.scope.iter().filter(fits).cloned().collect();
        let var = self.pick(&vars).clone();
        let int = make(var.ty, var.facts, var.name, vec![]);
        let (mask, op, with) = (
            *self.pick(&[1, 3, 7]),
            boolean::comparison(self),
            self.below(4),
        );
        make(
            Scalar::Bool,
            Facts::ANY,
            format!("(@ & {mask} {op} {with})"),
            vec![int],
        )
    }

    /// Sets the access modes of the shared arrays. Emits a barrier if any changes.
    pub(super) fn set_access_modes(&mut self, modes: &[AccessMode], body: &mut Block) {
        if self.access_modes() != modes {
            body.push(barrier());
            for (array, mode) in self.shared_arrays.iter_mut().zip(modes) {
                array.mode = *mode;
            }
        }
    }

    fn access_modes(&self) -> Vec<AccessMode> {
        self.shared_arrays.iter().map(|a| a.mode).collect()
    }

    /// A block in uniform control flow.
    fn uniform_block(&mut self, trips: usize) -> Block {
        let modes = self.access_modes();
        let mut block = self.scoped(trips, false, Gen::statement);
        self.set_access_modes(&modes, &mut block);
        block
    }

    /// The body of a uniform loop with this number.
    fn uniform_loop_body(&mut self, number: u32, label: &str, trips: usize) -> Block {
        self.loops.push(Loop {
            label: label.to_owned(),
            is_block: false,
            value: None,
            uniform: Some((number, self.access_modes())),
        });
        let labels_all = std::mem::replace(&mut self.labels_all, false);
        let block = self.uniform_block(trips);
        self.labels_all = labels_all;
        self.loops.pop();
        block
    }

    fn numbered_label(&mut self) -> (u32, String) {
        let label = self.label();
        (self.names, label)
    }
}

fn barrier() -> Node {
    Node::leaf("barrier();").with_effects(&[Effect::Barrier])
}

/// Emits a barrier or two, and picks new access modes.
fn change(g: &mut Gen, _: Scalar) -> Node {
    for at in 0..g.shared_arrays.len() {
        if !g.once_in(3) {
            let modes = g.shared_arrays[at].modes;
            g.shared_arrays[at].mode = *g.pick(modes);
        }
    }
    match g.below(12) {
        0 => Node::leaf("barrier(); barrier();").with_effects(&[Effect::Barrier]),
        1 => Node::leaf("superstep! { }").with_effects(&[Effect::Barrier]),
        _ => barrier(),
    }
}

fn binding(g: &mut Gen, _: Scalar) -> Node {
    let ty = g.ty(|_| true);
    let value = g.uniform_value(ty);
    let name = g.name();
    if g.once_in(2) {
        let name = name.replacen('v', &ASSIGNABLE.to_string(), 1);
        g.bind_uniform(&name, ty, of_variable(ty));
        return Node::new(format!("let mut {name}: {ty} = @;"), vec![value], vec![]);
    }
    let facts = value.facts;
    g.bind_uniform(&name, ty, facts);
    Node::new(format!("let {name}: {ty} = @;"), vec![value], vec![])
}

fn assignable(g: &Gen) -> Vec<(String, Scalar)> {
    let fits = |v: &&Var| v.uniform && v.name.starts_with(ASSIGNABLE);
    let vars = g.scope.iter().filter(fits);
    vars.map(|v| (v.name.clone(), v.ty)).collect()
}

fn assign(g: &mut Gen, _: Scalar) -> Node {
    let vars = assignable(g);
    let (name, ty) = g.pick(&vars).clone();
    let value = g.uniform_value(ty);
    let op = match ty.is_int() && g.once_in(2) {
        true => *g.pick(&["+=", "-=", "*=", "^=", "|=", "&="]),
        false => "=",
    };
    Node::new(format!("{name} {op} @;"), vec![value], vec![])
}

fn branch(g: &mut Gen, _: Scalar) -> Node {
    let cond = g.uniform_condition();
    let then = g.uniform_block(1);
    if g.once_in(2) {
        return Node::new("if @ {#}", vec![cond], vec![then]);
    }
    let otherwise = g.uniform_block(1);
    Node::new("if @ {#} else {#}", vec![cond], vec![then, otherwise])
}

fn count(g: &mut Gen, _: Scalar) -> Node {
    let ty = g.ty(Scalar::is_int);
    let uniform = std::mem::replace(&mut g.uniform, true);
    let more = integer::small(g, ty, 3);
    g.uniform = uniform;
    let (number, label) = g.numbered_label();
    let (name, scope) = (g.name(), g.scope.clone());
    g.bind_uniform(&name, ty, super::within(66.0));
    let body = g.uniform_loop_body(number, &label, 3);
    g.scope = scope;
    let start = g.below(60);
    let rev = *g.pick(&["", ".rev()", ".step_by(2)"]);
    let text = match rev {
        "" => format!("{label}: for {name} in {start}{ty}..@ + {start} {{#}}"),
        _ => format!("{label}: for {name} in (0{ty}..@){rev} {{#}}"),
    };
    Node::new(text, vec![more], vec![body]).with_effects(&[Effect::Loop(number)])
}

/// A uniform `while` loop or `loop`. A counter ends it after a few iterations, whatever its condition is.
fn while_loop(g: &mut Gen, _: Scalar) -> Node {
    let (number, label) = g.numbered_label();
    let counter = g.name();
    let last = 1 + g.below(3);
    let cond = g.uniform_condition();
    let body = g.uniform_loop_body(number, &label, last);
    let text = match g.once_in(3) {
        true => format!(
            "let mut {counter} = 0u32; {label}: loop {{ {counter} += 1; if {counter} > {last} || @ {{ break {label}; }}# }}"
        ),
        false => format!(
            "let mut {counter} = 0u32; {label}: while {counter} < {last} && @ {{ {counter} += 1;#}}"
        ),
    };
    Node::new(text, vec![cond], vec![body]).with_effects(&[Effect::Loop(number)])
}

/// A uniform `break` or `continue` of a uniform loop.
fn leave(g: &mut Gen, _: Scalar) -> Node {
    let loops: Vec<_> = g
        .loops
        .iter()
        .filter_map(|l| Some((l.label.clone(), l.uniform.clone()?)))
        .collect();
    let (label, (number, at_start)) = g.pick(&loops).clone();
    let cond = g.uniform_condition();
    let mut way = vec![];
    if g.access_modes() != at_start || g.once_in(4) {
        way.push(barrier());
    }
    let word = *g.pick(&["break", "break", "continue"]);
    let out = Node::leaf(format!("{word} {label};"));
    way.push(out.with_effects(&[Effect::Leave(number)]));
    Node::new("if @ {#}", vec![cond], vec![way])
}

/// An operation of a subgroup of 32 threads.
fn subgroup(g: &mut Gen, _: Scalar) -> Node {
    let name = g.name();
    let int = g.ty(|ty| ty.is_int() && ty.size() >= 4 && ty != Scalar::Usize);
    let (ty, text, of) = match g.below(5) {
        0 => (
            Scalar::Bool,
            *g.pick(&["subgroup_any(@)", "subgroup_all(@)"]),
            Scalar::Bool,
        ),
        1 | 2 => {
            let text = *g.pick(&[
                "subgroup_sum(@)",
                "subgroup_min(@)",
                "subgroup_max(@)",
                "subgroup_product(@)",
                "subgroup_inclusive_sum(@)",
                "subgroup_exclusive_sum(@)",
            ]);
            (int, text, int)
        }
        _ => {
            let text = *g.pick(&[
                "subgroup_shuffle_xor(@, 1)",
                "subgroup_shuffle_up(@, 2)",
                "subgroup_shuffle_down(@, 3)",
                "subgroup_shuffle(@, (t * 7) % 32)",
                "subgroup_broadcast(@, 5)",
            ]);
            (int, text, int)
        }
    };
    let value = make_simple(g, of);
    g.bind(&name, ty, Facts::ANY, false);
    Node::new(format!("let {name} = {text};"), vec![value], vec![])
}

/// A subgroup operation on a uniform value, whose result does not depend on the division into subgroups.
fn subgroup_of_any_size(g: &mut Gen, _: Scalar) -> Node {
    let name = g.name();
    let (ty, text) = match g.below(2) {
        0 => (
            Scalar::Bool,
            *g.pick(&["subgroup_any(@)", "subgroup_all(@)"]),
        ),
        _ => (
            *g.pick(&[Scalar::I32, Scalar::U32]),
            *g.pick(&["subgroup_min(@)", "subgroup_max(@)"]),
        ),
    };
    let value = g.uniform_value(ty);
    g.bind(&name, ty, Facts::ANY, false);
    Node::new(format!("let {name} = {text};"), vec![value], vec![])
}

/// A reduction over the block: each subgroup reduces its values, then its first thread updates an atomic with the result.
fn total(g: &mut Gen, _: Scalar) -> Node {
    let accumulators: Vec<_> = g.accumulators().collect();
    let (number, place, ty, update) = g.pick(&accumulators).clone();
    let (name, of_subgroup) = (
        g.name(),
        update.replace("fetch_add", "sum").replace("fetch_", ""),
    );
    let value = g.expr(ty);
    let text = format!(
        "let {name} = subgroup_{of_subgroup}(@); if subgroup_exclusive_sum(1u32) == 0 {{ {place}.{update}({name}); }}"
    );
    Node::new(text, vec![value], vec![]).with_effects(&[Effect::Update(number)])
}

fn make_simple(g: &mut Gen, ty: Scalar) -> Expr {
    let value = g.expr(ty);
    make(ty, value.facts, "(@)", vec![value])
}
