//! Short loops whose turns are known: each turn becomes code of its own, with a number in place of the counter.
//!
//! Neighbours along an axis load many of the same elements in different turns. Once the loop is gone, the
//! [window](super::window) of all these elements stays in registers.

use crate::{
    Block, Expr, ExprId, Kernel, LabelId, Memory, ParamId, ParamKind, Scalar, Stmt, StmtId, Value,
    passes,
};

use super::lane::{Ids, Indices, Lane};
use super::merge::allows;
use super::{Refusal, resolved};

/// Longer loops, nested ones multiplied, stay.
const MOST_TURNS: u64 = 128;

/// The largest number of statements that a loop becomes.
const MOST_STATEMENTS: usize = 2048;

/// Writes the values of scalar parameters and the lengths of slices into the kernel.
pub(super) fn settle(kernel: &mut Kernel, values: &[(ParamId, u64)]) {
    for (param, value) in values {
        let (read, scalar) = match kernel.params[param.index()].kind {
            ParamKind::Scalar(scalar) => (Expr::Param(*param), scalar),
            ParamKind::Slice { .. } => (Expr::Len(Memory::Slice(*param)), Scalar::Usize),
            ParamKind::Value(_) | ParamKind::Reference(_) => continue,
        };
        let Some(value) = Value::int(scalar, (*value).into()) else {
            continue;
        };
        for expr in kernel.exprs.to_mut() {
            if *expr == read {
                *expr = Expr::Literal(value);
            }
        }
    }
}

/// Loops of a closed kernel that can be unrolled, and the launch values that bound them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ShortLoops {
    /// The loops.
    pub labels: Vec<LabelId>,
    /// The scalar parameters and the slices whose values and lengths occur in bounds.
    pub params: Vec<ParamId>,
    /// The turns of the longest loop, times those of the loops around it.
    pub turns: u64,
}

impl ShortLoops {
    /// All loops of a kernel; `None` if one of them is long, or `value` does not know its bounds.
    pub fn of(kernel: &Kernel, value: &dyn Fn(Expr) -> Option<u64>) -> Option<ShortLoops> {
        let mut found = ShortLoops::default();
        found.block(kernel, (kernel.body, 1), value)?;
        Some(found)
    }

    fn block(
        &mut self,
        kernel: &Kernel,
        (block, outer): (Block, u64),
        value: &dyn Fn(Expr) -> Option<u64>,
    ) -> Option<()> {
        for id in kernel.block(block) {
            let mut turns = outer;
            match kernel.stmt(id) {
                Stmt::For {
                    label, start, end, ..
                } => {
                    let [start, end] = [start, end].map(|bound| {
                        let bound = resolved(kernel, bound);
                        if let Expr::Param(param) | Expr::Len(Memory::Slice(param)) = bound {
                            self.params.push(param);
                        }
                        value(bound)
                    });
                    turns = outer.checked_mul(end?.saturating_sub(start?))?;
                    if turns > MOST_TURNS {
                        return None;
                    }
                    self.labels.push(label);
                    self.turns = self.turns.max(turns);
                }
                Stmt::Loop { .. } | Stmt::Break { .. } | Stmt::Continue { .. } => return None,
                _ => {}
            }
            for inner in kernel.blocks_of(id) {
                self.block(kernel, (inner, turns), value)?;
            }
        }
        Some(())
    }
}

/// Unrolls these loops of a closed kernel, whose bounds are numbers and whose proved checks are gone.
///
/// # Errors
/// [`Refusal::Size`], [`Refusal::Uneven`] if a bound is no number, and the refusals of a [merge](super::merge). The kernel must
/// not be used then.
pub(super) fn apply(kernel: &mut Kernel, labels: &[LabelId]) -> Result<(), Refusal> {
    allows(kernel, false)?;
    let indices = Indices::of(kernel);
    let mut written = 0;
    let mut result = Ok(());
    passes::rewrite(kernel, &mut |kernel, id, out| match kernel.stmt(id) {
        Stmt::For { label, .. } if labels.contains(&label) && result.is_ok() => {
            result = turns(kernel, &indices, id, (&mut written, &mut *out));
        }
        _ => out.push(id),
    });
    result
}

/// A copy of a loop's body for each value of the counter.
fn turns(
    kernel: &mut Kernel,
    indices: &Indices,
    id: StmtId,
    (written, out): (&mut usize, &mut Vec<StmtId>),
) -> Result<(), Refusal> {
    let Stmt::For {
        local,
        start,
        end,
        body,
        ..
    } = kernel.stmt(id)
    else {
        unreachable!("only counted loops are unrolled");
    };
    let number = |id: ExprId| match resolved(kernel, id) {
        Expr::Literal(value) => value.as_int(),
        _ => None,
    };
    let (Some(start), Some(end)) = (number(start), number(end)) else {
        return Err(Refusal::Uneven);
    };
    let loc = kernel.stmt_locs[id.index()];
    let scalar = kernel.local_scalar(&kernel.locals[local.index()]);
    let stmts: Vec<StmtId> = kernel.block(body).collect();
    let count = kernel.stmts_in(stmts.iter().copied()).count();
    for turn in start..end {
        *written += count;
        if *written > MOST_STATEMENTS {
            return Err(Refusal::Size);
        }
        let turn = Value::int(scalar, turn).ok_or(Refusal::Uneven)?;
        let mut lane = Lane::new(Ids::own(), [].into());
        lane.values.insert(local, kernel.push_literal(turn, loc));
        for id in &stmts {
            lane.stmt(kernel, indices, *id, out);
        }
    }
    Ok(())
}
