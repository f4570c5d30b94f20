//! Generates accesses to elements of slices, thread ids and lengths.

use sarek_ir::{Axis, Builtin, Scalar};

use super::control::of_variable;
use super::{Form, Gen, Role, Rule, Slice, integer, make, view};
use crate::tree::{Expr, Facts, Node};

pub(super) const RULES: &[Rule<Expr>] = &[
    Rule {
        weight: 12,
        fits: |g, ty| !readable(g, ty).is_empty(),
        make: load,
    },
    Rule {
        weight: 6,
        fits: |g, ty| ty == Scalar::Usize && !g.in_function,
        make: id,
    },
    Rule {
        weight: 2,
        fits: |g, ty| ty == Scalar::Usize && !g.slices.is_empty(),
        make: len,
    },
    Rule {
        weight: 1,
        fits: |g, ty| ty == Scalar::Bool && g.slices.iter().any(|s| s.form == Form::Slice),
        make: |g, ty| {
            let slices = g.slices.iter().filter(|s| s.form == Form::Slice);
            let slices: Vec<_> = slices.cloned().collect();
            let name = &g.pick(&slices).name;
            make(ty, Facts::ANY, format!("{name}.is_empty()"), vec![])
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
        Role::AnyFloat | Role::Inexact { .. } | Role::Shared => false,
    };
    let is_same = |s: &Slice| matches!(s.role, Role::In { .. }) && s.form != Form::Item;
    let fits = |s: &&Slice| fits(s) && (!g.uniform || is_same(s));
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
    let (text, exprs) = g.element(&slice);
    make(ty, of_variable(ty), text, exprs)
}

impl Gen {
    /// An element of the slice, in bounds unless the kernel may fault. In an output it is the thread's own, and its index has no
    /// holes, so shrinking cannot change it.
    pub(super) fn element(&mut self, slice: &Slice) -> (String, Vec<Expr>) {
        let faulty = self.traits.faults && self.once_in(5);
        let name = &slice.name;
        match slice.form {
            Form::Slice => {}
            Form::View(rank) => return self.element_of_view(slice, rank, faulty),
            Form::Item => {
                let text = match slice.role {
                    Role::In { .. } => name.clone(),
                    _ => format!("(*{name})"),
                };
                return (text, vec![]);
            }
        }
        match slice.role {
            Role::Out { each: 1 } | Role::Inexact { each: 1 } => (format!("{name}[i]"), vec![]),
            Role::Out { each } | Role::Inexact { each } => {
                let k = self.below(each);
                (format!("{name}[i * {each} + {k}]"), vec![])
            }
            Role::In { .. } | Role::AnyFloat if faulty => {
                let index = integer::small(self, Scalar::Usize, 63);
                (format!("{name}[@]"), vec![index])
            }
            Role::In { covers: true } if !self.uniform && !self.once_in(3) => {
                (format!("{name}[i]"), vec![])
            }
            Role::Shared => unreachable!("`shared_memory` makes its accesses"),
            Role::In { .. } | Role::AnyFloat => {
                let at = self.expr(Scalar::Usize);
                (format!("{name}[@ % {name}.len()]"), vec![at])
            }
        }
    }
}

/// One of the thread's ids or of the launch's extents. Where the device picks the block, ids that depend on the block are left out, since
/// devices would differ.
fn id(g: &mut Gen, ty: Scalar) -> Expr {
    let depends = |id: &Builtin| match id {
        Builtin::GlobalIdx(_) | Builtin::GlobalDim(_) | Builtin::GlobalThreadId => false,
        Builtin::ThreadIdx(_)
        | Builtin::BlockIdx(_)
        | Builtin::BlockDim(_)
        | Builtin::GridDim(_) => true,
        Builtin::SubgroupSize | Builtin::SubgroupLane => true,
    };
    let fixed = g.traits.fixed_block;
    let fits = |id: &Builtin| match id {
        Builtin::GlobalIdx(_) | Builtin::GlobalThreadId | Builtin::ThreadIdx(_) => !g.uniform,
        Builtin::SubgroupLane => g.traits.subgroups && g.traits.host && !g.uniform,
        Builtin::SubgroupSize => g.traits.subgroups && g.traits.host,
        Builtin::GlobalDim(_)
        | Builtin::BlockIdx(_)
        | Builtin::BlockDim(_)
        | Builtin::GridDim(_) => true,
    };
    let names_other_threads = |id: &Builtin| match id {
        Builtin::GlobalIdx(axis) | Builtin::ThreadIdx(axis) | Builtin::BlockIdx(axis) => {
            g.traits.along_x && *axis != Axis::X
        }
        Builtin::GlobalThreadId
        | Builtin::GlobalDim(_)
        | Builtin::BlockDim(_)
        | Builtin::GridDim(_)
        | Builtin::SubgroupSize
        | Builtin::SubgroupLane => false,
    };
    let ids: Vec<_> = Builtin::ALL
        .into_iter()
        .filter(|(_, id)| (fixed || !depends(id)) && fits(id) && !names_other_threads(id))
        .collect();
    let (name, _) = *g.pick(&ids);
    make(ty, Facts::ANY, format!("{name}()"), vec![])
}

fn len(g: &mut Gen, ty: Scalar) -> Expr {
    let slice = any_slice(g);
    let name = &slice.name;
    let text = match slice.form {
        Form::Slice => format!("{name}.len()"),
        Form::View(rank) => format!("{name}.{}()", g.pick(view::extents(rank))),
        Form::Item => "global_dim_x()".into(),
    };
    make(ty, Facts::ANY, text, vec![])
}

fn store(g: &mut Gen, _: Scalar) -> Node {
    let slices = written(g);
    let slice = g.pick(&slices).clone();
    let (value, (place, _)) = (g.settled(slice.elem), g.element(&slice));
    Node::new(format!("{place} = @;"), vec![value], vec![])
}

fn compound(g: &mut Gen, _: Scalar) -> Node {
    let slices: Vec<_> = written(g).into_iter().filter(|s| s.elem.is_int()).collect();
    let slice = g.pick(&slices).clone();
    let op = *g.pick(&["+=", "-=", "*=", "^=", "|=", "&=", "<<=", ">>="]);
    let (value, (place, _)) = (g.expr(slice.elem), g.element(&slice));
    Node::new(format!("{place} {op} @;"), vec![value], vec![])
}
