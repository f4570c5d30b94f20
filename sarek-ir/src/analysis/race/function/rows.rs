//! Flattens a shared array of arrays to its innermost elements, as [`crate::analysis::access`] expects:
//! `tile[i][j]` becomes `tile[i * n + j]`.

use std::collections::HashMap;

use crate::{
    BinaryOp, Compound, Expr, ExprId, Kernel, Length, Memory, PlaceId, Precondition, Root, Scalar,
    SharedId, Step, Stmt, Type, TypeDef, Value,
};

/// For each flattened index, the two indices from which it was made.
pub(super) type Parts = HashMap<ExprId, [ExprId; 2]>;

/// Flattens a shared array as long as its elements are arrays, and each use is of an element of those.
pub(super) fn by_elements(kernel: &mut Kernel, shared: SharedId) -> Parts {
    let mut parts = Parts::new();
    while let Some((elem, len)) = rows(kernel, shared) {
        let memory = Memory::Shared(shared);
        if !are_indexed(kernel, memory) {
            break;
        }
        loads(kernel, memory, len, &mut parts);
        stores(kernel, memory, len, &mut parts);
        kernel.shared.to_mut()[shared.index()].elem = elem;
    }
    parts
}

/// The type and number of elements of an array's elements, if those are arrays.
fn rows(kernel: &Kernel, shared: SharedId) -> Option<(Type, Length)> {
    let Type::Compound(id) = kernel.shared[shared.index()].elem else {
        return None;
    };
    let TypeDef::Array { elem, len } = kernel.types[id.index()] else {
        return None;
    };
    Some((elem, len))
}

/// The row and the index within it, if the expression loads an element of a row of the memory.
fn row_of(kernel: &Kernel, id: ExprId, of: Memory) -> Option<(ExprId, ExprId)> {
    let Expr::Compound(compound) = kernel.expr(id) else {
        return None;
    };
    let Compound::Index { base, index, .. } = kernel.compounds[compound.index()] else {
        return None;
    };
    let Expr::Load {
        memory, index: row, ..
    } = kernel.expr(base)
    else {
        return None;
    };
    (memory == of).then_some((row, index))
}

/// True if no use is of a whole row, except by calls that are passed all of them.
fn are_indexed(kernel: &Kernel, memory: Memory) -> bool {
    let all = || (0..kernel.exprs.len() as u32).map(ExprId);
    let is_load =
        |id: &ExprId| matches!(kernel.expr(*id), Expr::Load { memory: of, .. } if of == memory);
    let loads = all().filter(is_load).count();
    let rows = all().filter(|id| row_of(kernel, *id, memory).is_some());
    let is_store = |stmt: &Stmt| matches!(stmt, Stmt::Store { memory: of, .. } | Stmt::Atomic { memory: of, .. } if *of == memory);
    let are_parts = kernel.places.iter().all(|place| match place.root {
        Root::Element { memory: of, .. } if of == memory => {
            matches!(place.steps.first(), Some(Step::Index { .. }))
        }
        Root::Element { .. } | Root::Local(_) | Root::Param(_) => true,
    });
    loads == rows.count() && are_parts && !kernel.stmts.iter().any(is_store)
}

fn loads(kernel: &mut Kernel, memory: Memory, len: Length, parts: &mut Parts) {
    let all = (0..kernel.exprs.len() as u32).map(ExprId);
    // Loads of this dimension only: each becomes a row load of the next one.
    let found: Vec<ExprId> = all
        .filter(|id| row_of(kernel, *id, memory).is_some())
        .collect();
    for id in found {
        if let Some(of) = row_of(kernel, id, memory) {
            let index = flat(kernel, of, len, parts);
            let load = Expr::Load {
                memory,
                index,
                site: None,
            };
            let row = std::mem::replace(&mut kernel.exprs.to_mut()[id.index()], load);
            // The load of the whole row is now unused.
            if let Expr::Compound(compound) = row
                && let Compound::Index { base, .. } = kernel.compounds[compound.index()]
            {
                kernel.exprs.to_mut()[base.index()] = Expr::Literal(Value::Usize(0));
            }
        }
    }
}

fn stores(kernel: &mut Kernel, memory: Memory, len: Length, parts: &mut Parts) {
    for id in (0..kernel.places.len() as u32).map(PlaceId) {
        let place = kernel.places[id.index()].clone();
        if let Root::Element {
            memory: of, index, ..
        } = place.root
            && of == memory
            && let [Step::Index { index: inner, .. }, rest @ ..] = &place.steps[..]
        {
            let index = flat(kernel, (index, *inner), len, parts);
            let place = &mut kernel.places.to_mut()[id.index()];
            place.steps = rest.to_vec().into();
            place.root = Root::Element {
                memory,
                index,
                site: None,
            };
        }
    }
}

/// `i * n + j`, where `j` is checked to be below `n`.
fn flat(kernel: &mut Kernel, of: (ExprId, ExprId), len: Length, parts: &mut Parts) -> ExprId {
    let (row, index) = of;
    let loc = kernel.expr_locs[index.index()];
    let [rows, bound] = [len; 2].map(|len| match len {
        Length::Fixed(n) => kernel.push_literal(Value::Usize(n), loc),
        Length::Link(link) => kernel.push_expr(Expr::Link(link), Scalar::Usize, loc),
        Length::Launch(rows) => rows,
    });
    let bounded = Expr::Bounded {
        index,
        len: bound,
        site: None,
    };
    let binary = |op, lhs, rhs| Expr::Binary { op, lhs, rhs };
    let mut push = |expr| kernel.push_expr(expr, Scalar::Usize, loc);
    let (start, bounded) = (push(binary(BinaryOp::Mul, row, rows)), push(bounded));
    let flat = push(binary(BinaryOp::Add, start, bounded));
    parts.insert(flat, [row, index]);
    flat
}

/// Replaces a precondition on a flattened index by preconditions on its parts: the parts do not overflow.
pub(super) fn of_parts(need: Precondition, parts: &Parts) -> Vec<Precondition> {
    match need {
        Precondition::NoOverflow(id) => match parts.get(&id) {
            Some(of) => of
                .iter()
                .flat_map(|part| of_parts(Precondition::NoOverflow(*part), parts))
                .collect(),
            None => vec![need],
        },
        Precondition::SingleThread(_)
        | Precondition::ExtentAtMost(..)
        | Precondition::BlockAtMost(..)
        | Precondition::GridAtMost(..)
        | Precondition::BlockMultipleOf(_)
        | Precondition::SubgroupSize(_)
        | Precondition::SubgroupSizeIs(_)
        | Precondition::EqualSubgroups
        | Precondition::WholeSubgroups
        | Precondition::BlockOfSubgroups
        | Precondition::Positive(_)
        | Precondition::Holds(_) => vec![need],
    }
}
