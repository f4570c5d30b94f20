//! Elements of slices, ids and lengths.

use sarek::ir::Scalar;

use super::control::of_variable;
use super::{Gen, Role, Rule, Slice, integer, make};
use crate::tree::{Expr, Facts, Node};

pub(super) const RULES: &[Rule<Expr>] = &[
    Rule {
        weight: 12,
        fits: |g, ty| !readable(g, ty).is_empty(),
        make: load,
    },
    Rule {
        weight: 6,
        fits: |_, ty| ty == Scalar::Usize,
        make: id,
    },
    Rule {
        weight: 2,
        fits: |_, ty| ty == Scalar::Usize,
        make: len,
    },
    Rule {
        weight: 1,
        fits: |_, ty| ty == Scalar::Bool,
        make: |g, ty| {
            let slice = any_slice(g);
            make(ty, Facts::ANY, format!("{}.is_empty()", slice.name), vec![])
        },
    },
];

pub(super) const STORES: &[Rule<Node>] = &[
    Rule {
        weight: 10,
        fits: |g, _| !written(g).is_empty(),
        make: store,
    },
    Rule {
        weight: 5,
        fits: |g, _| written(g).iter().any(|s| s.elem.is_int()),
        make: compound,
    },
];

fn readable(g: &Gen, ty: Scalar) -> Vec<Slice> {
    let fits = |s: &&Slice| match s.role {
        Role::In { .. } | Role::Out { .. } => s.elem == ty,
        Role::Wild | Role::Near { .. } => false,
    };
    g.slices.iter().filter(fits).cloned().collect()
}

fn written(g: &Gen) -> Vec<Slice> {
    let fits = |s: &&Slice| matches!(s.role, Role::Out { .. });
    g.slices.iter().filter(fits).cloned().collect()
}

fn any_slice(g: &mut Gen) -> Slice {
    let slices = g.slices.clone();
    g.pick(&slices).clone()
}

fn load(g: &mut Gen, ty: Scalar) -> Expr {
    let slices = readable(g, ty);
    let slice = g.pick(&slices).clone();
    let index = g.index(&slice);
    make(
        ty,
        of_variable(ty),
        format!("{}[@]", slice.name),
        vec![index],
    )
}

impl Gen {
    /// An index of the slice: in bounds, unless the kernel may fault, and the thread's own where it writes.
    pub(super) fn index(&mut self, slice: &Slice) -> Expr {
        let faulty = self.traits.faults && self.once_in(5);
        let usize = |text: String, exprs| make(Scalar::Usize, Facts::ANY, text, exprs);
        match slice.role {
            Role::Out { each } | Role::Near { each } => match each {
                1 => usize("i".into(), vec![]),
                each => {
                    let k = self.below(each);
                    usize(format!("i * {each} + {k}"), vec![])
                }
            },
            Role::In { .. } | Role::Wild if faulty => integer::small(self, Scalar::Usize, 63),
            Role::In { covers: true } if !self.once_in(3) => usize("i".into(), vec![]),
            Role::In { .. } | Role::Wild => {
                let at = self.expr(Scalar::Usize);
                usize(format!("@ % {}.len()", slice.name), vec![at])
            }
        }
    }
}

/// One of the thread's ids or of the launch's extents.
fn id(g: &mut Gen, ty: Scalar) -> Expr {
    let ids = sarek::ir::Builtin::ALL;
    let (name, _) = *g.pick(&ids);
    make(ty, Facts::ANY, format!("{name}()"), vec![])
}

fn len(g: &mut Gen, ty: Scalar) -> Expr {
    let slice = any_slice(g);
    make(ty, Facts::ANY, format!("{}.len()", slice.name), vec![])
}

fn store(g: &mut Gen, _: Scalar) -> Node {
    let slices = written(g);
    let slice = g.pick(&slices).clone();
    let (value, index) = (g.settled(slice.elem), g.index(&slice));
    Node::new(
        format!("{}[@] = @;", slice.name),
        vec![index, value],
        vec![],
    )
}

fn compound(g: &mut Gen, _: Scalar) -> Node {
    let slices: Vec<_> = written(g).into_iter().filter(|s| s.elem.is_int()).collect();
    let slice = g.pick(&slices).clone();
    let op = *g.pick(&["+=", "-=", "*=", "^=", "|=", "&=", "<<=", ">>="]);
    let (value, index) = (g.expr(slice.elem), g.index(&slice));
    Node::new(
        format!("{}[@] {op} @;", slice.name),
        vec![index, value],
        vec![],
    )
}
