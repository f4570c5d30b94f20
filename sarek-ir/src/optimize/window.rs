//! Windows: the elements that the statements of a block load from a read-only slice are loaded once, in their order.
//!
//! The writer makes wide accesses of loads that follow each other. So a thread that computes four neighbours of a sum
//! over 17 elements loads 20 elements in five accesses, and keeps them in registers.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::analysis::shape::same;
use crate::facts::{Flow, Reads};
use crate::{Access, Block, Expr, ExprId, Kernel, LocalId, Memory, Stmt, StmtId};

use super::lane::{binary, number, split};

/// Fewer elements are left where they are.
const LEAST_ELEMENTS: usize = 4;

/// The largest number of elements of a block's windows: each takes a register.
const MOST_ELEMENTS: usize = 160;

/// Loads at indices with one base: the locals that hold each element, by its offset.
struct Window {
    base: Option<ExprId>,
    memory: Memory,
    elements: BTreeMap<u64, Vec<LocalId>>,
    load: ExprId,
}

/// Rewrites all blocks of a closed kernel, whose proved checks are gone.
pub(super) fn apply(kernel: &mut Kernel) {
    let mut renamed = HashMap::new();
    kernel.body = block(kernel, kernel.body, &mut renamed);
    for expr in kernel.exprs.to_mut() {
        if let Expr::Local(local) = expr
            && let Some(other) = renamed.get(local)
        {
            *local = *other;
        }
    }
}

fn block(kernel: &mut Kernel, body: Block, renamed: &mut HashMap<LocalId, LocalId>) -> Block {
    let stmts: Vec<StmtId> = kernel.block(body).collect();
    let windows = windows(kernel, &stmts);
    let held: HashSet<LocalId> = windows
        .iter()
        .flat_map(|window| window.elements.values().flatten().copied())
        .collect();
    let mut out = vec![];
    for window in windows {
        window.load_all(kernel, renamed, &mut out);
    }
    for id in stmts {
        match kernel.stmt(id) {
            Stmt::Let { local, .. } if held.contains(&local) => {}
            _ => {
                kernel.map_blocks(id, &mut |kernel, inner| block(kernel, inner, renamed));
                out.push(id);
            }
        }
    }
    kernel.push_block(&out)
}

/// The windows of a block whose elements can be loaded at its beginning: every thread that enters the block loads them.
fn windows(kernel: &Kernel, stmts: &[StmtId]) -> Vec<Window> {
    let declared: HashSet<LocalId> = stmts
        .iter()
        .filter_map(|id| kernel.stmt(*id).facts().declares)
        .collect();
    let leaves = |id: &&StmtId| {
        let mut inner = kernel.stmts_in([**id]);
        inner.any(|id| {
            let flow = kernel.stmt(id).facts().flow;
            matches!(
                flow,
                Flow::Break(_) | Flow::Continue(_) | Flow::Return | Flow::Panic
            )
        })
    };
    let mut found: Vec<Window> = vec![];
    for id in stmts.iter().take_while(|id| !leaves(id)) {
        let Stmt::Let {
            local,
            init: Some(load),
        } = kernel.stmt(*id)
        else {
            continue;
        };
        let Expr::Load {
            memory: memory @ Memory::Slice(_),
            index,
            ..
        } = kernel.expr(load)
        else {
            continue;
        };
        let is_fixed = |id: ExprId| match kernel.expr(id).facts().reads {
            Reads::Local(local) => {
                !declared.contains(&local) && !kernel.locals[local.index()].mutable
            }
            Reads::Memory(_) | Reads::Faults => false,
            Reads::Operands | Reads::Constant | Reads::Id(_) | Reads::Param(_) | Reads::Len(_) => {
                true
            }
        };
        let fits = kernel.access(memory) == Access::Read
            && !kernel.locals[local.index()].mutable
            && kernel.exprs_in([index]).all(is_fixed);
        if !fits {
            continue;
        }
        let (base, offset) = split(kernel, index);
        let is_same = |window: &Window| {
            window.memory == memory
                && match (window.base, base) {
                    (Some(a), Some(b)) => same(kernel, a, b),
                    (None, None) => true,
                    (Some(_), None) | (None, Some(_)) => false,
                }
        };
        // The loads of a window mostly follow each other.
        let known = found.iter().rposition(is_same);
        let at = known.unwrap_or_else(|| {
            found.push(Window {
                base,
                memory,
                elements: BTreeMap::new(),
                load,
            });
            found.len() - 1
        });
        found[at].elements.entry(offset).or_default().push(local);
    }
    let mut left = MOST_ELEMENTS;
    found.retain(|window| {
        let count = window.elements.len();
        let fits = (LEAST_ELEMENTS..=left).contains(&count);
        if fits {
            left -= count;
        }
        fits
    });
    found
}

impl Window {
    /// Loads each element once.
    fn load_all(
        self,
        kernel: &mut Kernel,
        renamed: &mut HashMap<LocalId, LocalId>,
        out: &mut Vec<StmtId>,
    ) {
        let loc = kernel.expr_locs[self.load.index()];
        let ty = kernel.type_of(self.load);
        for (offset, locals) in self.elements {
            let index = match (self.base, offset) {
                (Some(base), 0) => kernel.copy_expr(base),
                (Some(base), _) => {
                    let base = kernel.copy_expr(base);
                    let offset = number(kernel, offset, loc);
                    binary(kernel, crate::BinaryOp::Add, base, offset, loc)
                }
                (None, _) => number(kernel, offset, loc),
            };
            let load = Expr::Load {
                memory: self.memory,
                index,
                site: None,
            };
            let init = Some(kernel.push_expr(load, ty, loc));
            let local = locals[0];
            out.push(kernel.push_stmt(Stmt::Let { local, init }, loc));
            renamed.extend(locals[1..].iter().map(|other| (*other, local)));
        }
    }
}
