//! Local arrays in rows: the elements of one lane side by side.
//!
//! An array that lives across regions is usually kept element by element, the first elements of all
//! lanes first, so that a strip of lanes finds them in vectors. A kernel that is tuned for GPUs may
//! have a tile of results for each thread instead, and short loops along the rows of that tile:
//! `for j in 0..8 { sums[i][j] += left[i] * right[j] }`. There, the values of one lane fill vectors
//! by themselves, while those of a strip fill no registers. Such an array is kept in rows. Regions
//! that use it run lane by lane on a copy in variables, and LLVM vectorises their loops.

use std::collections::{BTreeSet, HashMap, HashSet};

use sarek_ir::analysis::regions::{Node, Place, Plan};
use sarek_ir::facts::{Effect, Flow, Reads};
use sarek_ir::{Argument, BinaryOp, Block, Expr, ExprId, Length, LocalId, Memory, Stmt, StmtId};

use super::Writer;
use super::tree::each_node;

/// The largest array that a region copies.
const MOST_BYTES: u64 = 512;

/// The shortest loop that fills a vector.
const SHORTEST: u64 = 4;

/// An access in a loop: the memory, the index, and true for a store.
type Accessed = (Memory, ExprId, bool);

impl Writer<'_> {
    /// The local arrays of a kernel's body that are kept in rows.
    pub fn arrays_in_rows(&self, plan: &Plan) -> BTreeSet<LocalId> {
        let mut has_subgroups = false;
        each_node(&plan.tree.nodes, &mut |node| {
            has_subgroups |= matches!(node, Node::Subgroup { .. });
        });
        if has_subgroups || !self.shapes.strips {
            return BTreeSet::new();
        }
        let locals = (0..self.kernel.locals.len() as u32).map(LocalId);
        let mut found: BTreeSet<LocalId> = locals
            .filter(|local| plan.place(*local) == Place::Lanes && self.is_short_array(*local))
            .collect();
        for call in self.kernel.calls.iter() {
            let lent = call.args.iter().filter_map(|arg| match arg {
                Argument::Local(local) | Argument::Memory(Memory::Local(local)) => Some(*local),
                Argument::Value(_) | Argument::Memory(_) => None,
            });
            for local in lent.chain(call.result) {
                found.remove(&local);
            }
        }
        if found.is_empty() {
            return found;
        }
        let along = self.arrays_along_loops();
        found.retain(|local| along.contains(local));
        found
    }

    /// True for an array of few scalars.
    fn is_short_array(&self, local: LocalId) -> bool {
        let Some((elem, Length::Fixed(len))) = self.kernel.array(local) else {
            return false;
        };
        let bytes = elem
            .as_scalar()
            .map(|scalar| len.saturating_mul(scalar.size() as u64));
        bytes.is_some_and(|bytes| bytes <= MOST_BYTES)
    }

    /// The local arrays along which the deepest loops run that use them.
    fn arrays_along_loops(&self) -> HashSet<LocalId> {
        let mut found = HashMap::new();
        self.judge_loops(self.kernel.body, 0, &mut found);
        let along = found.into_iter().filter(|(_, (_, along))| *along);
        along.map(|(array, _)| array).collect()
    }

    /// Finds for each local array the depth of the deepest loops that use it, and whether all of these run along it.
    fn judge_loops(&self, block: Block, depth: usize, found: &mut HashMap<LocalId, (usize, bool)>) {
        for id in self.kernel.block(block) {
            let is_loop = self.kernel.stmt(id).loop_label().is_some();
            let depth = depth + usize::from(is_loop);
            for inner in self.kernel.blocks_of(id) {
                if is_loop {
                    self.judge_loop(id, inner, depth, found);
                }
                self.judge_loops(inner, depth, found);
            }
        }
    }

    fn judge_loop(
        &self,
        id: StmtId,
        body: Block,
        depth: usize,
        found: &mut HashMap<LocalId, (usize, bool)>,
    ) {
        let accesses = self.accesses_in(body);
        let counter = self.short_loop(id, body, &accesses);
        for (memory, index, _) in &accesses {
            let Memory::Local(array) = memory else {
                continue;
            };
            let along = counter.is_some_and(|counter| self.factor(*index, counter) == Some(1));
            let judged = found.entry(*array).or_insert((depth, along));
            if depth > judged.0 {
                *judged = (depth, along);
            } else if depth == judged.0 {
                judged.1 &= along;
            }
        }
    }

    /// The counter of an innermost loop that fills vectors.
    fn short_loop(&self, id: StmtId, body: Block, accesses: &[Accessed]) -> Option<LocalId> {
        let Stmt::For {
            local: counter,
            start,
            end,
            ..
        } = self.kernel.stmt(id)
        else {
            return None;
        };
        let turns = self.turns_between(start, end)?;
        let fills = turns >= SHORTEST && turns.is_multiple_of(SHORTEST);
        (fills && self.fills_vectors(counter, body, accesses)).then_some(counter)
    }

    /// The number of turns of a loop whose bounds are numbers.
    fn turns_between(&self, start: ExprId, end: ExprId) -> Option<u64> {
        let number = |expr| self.kernel.literal(expr)?.as_int();
        let turns = number(end)?.checked_sub(number(start)?)?;
        u64::try_from(turns).ok()
    }

    /// True if the turns of a loop are independent, and read and write adjacent elements or the same.
    fn fills_vectors(&self, counter: LocalId, body: Block, accesses: &[Accessed]) -> bool {
        let mut own = HashSet::new();
        let simple = self.kernel.block(body).all(|id| {
            let stmt = self.kernel.stmt(id);
            let facts = stmt.facts();
            own.extend(facts.declares);
            let is_own = if let Stmt::Assign { local, .. } = stmt {
                own.contains(&local)
            } else {
                true
            };
            let is_quiet = matches!(facts.effect, Effect::None | Effect::Store(_));
            is_own && is_quiet && facts.flow == Flow::Next
        });
        simple
            && accesses.iter().all(|(memory, index, stores)| {
                let factor = self.factor(*index, counter);
                let adjacent = factor == Some(1) || factor == Some(0) && !stores;
                let mut others = accesses.iter();
                let apart = others.all(|(of, at, _)| of != memory || self.same(*at, *index));
                adjacent && (apart || !accesses.iter().any(|(of, _, s)| of == memory && *s))
            })
    }

    /// The accesses to memory in a block.
    fn accesses_in(&self, body: Block) -> Vec<Accessed> {
        let mut found = vec![];
        for id in self.kernel.stmts_in(self.kernel.block(body)) {
            if let Stmt::Store { memory, index, .. } = self.kernel.stmt(id) {
                found.push((memory, index, true));
            }
            for expr in self.kernel.exprs_in(self.kernel.operands_of(id)) {
                if let Expr::Load { memory, index, .. } = self.kernel.expr(expr) {
                    found.push((memory, index, false));
                }
            }
        }
        found
    }

    /// The difference of an index between two turns of a loop, if it is a known number.
    fn factor(&self, index: ExprId, counter: LocalId) -> Option<i128> {
        let factor = |expr| self.factor(expr, counter);
        match self.kernel.expr(index) {
            Expr::Local(local) if local == counter => Some(1),
            Expr::Local(local) => {
                let is_fixed = !self.kernel.locals[local.index()].mutable;
                match self.values.get(local).filter(|_| is_fixed) {
                    Some(value) => factor(value),
                    None => Some(0),
                }
            }
            Expr::Bounded { index, .. } => factor(index),
            Expr::Binary {
                op: BinaryOp::Add,
                lhs,
                rhs,
            } => Some(factor(lhs)? + factor(rhs)?),
            other => {
                let is_load = matches!(other.facts().reads, Reads::Memory(_));
                let operands = self.kernel.operands(index);
                let still = operands.into_iter().all(|e| factor(e) == Some(0));
                (still && !is_load).then_some(0)
            }
        }
    }

    /// True if two indices are the same expression.
    fn same(&self, a: ExprId, b: ExprId) -> bool {
        if a == b {
            return true;
        }
        let (left, right) = (self.kernel.operands(a), self.kernel.operands(b));
        let parts = left.len() == right.len();
        let parts = parts && left.iter().zip(&right).all(|(a, b)| self.same(*a, *b));
        parts
            && match (self.kernel.expr(a), self.kernel.expr(b)) {
                (Expr::Binary { op: a, .. }, Expr::Binary { op: b, .. }) => a == b,
                (Expr::Bounded { .. }, Expr::Bounded { .. }) => true,
                (a, b) => left.is_empty() && a == b,
            }
    }
}

#[cfg(test)]
mod tests {
    /// True if some array of a kernel with these loops is kept in rows. `body` runs between two barriers.
    fn is_in_rows(body: &str) -> bool {
        let source = format!(
            "unsafe fn k(n: usize, x: &[f32], out: &mut [f32]) {{
                let tile = shared_array::<f32, 256>();
                let t = thread_idx_x();
                let mut sums = [0.0f32; 16];
                for first in 0..n {{
                    tile[t] = x[first * 32 + t];
                    barrier();
                    {body}
                    barrier();
                }}
                for j in 0..16 {{ out[global_idx_x() * 16 + j] = sums[j]; }}
            }}"
        );
        let tokens = source.parse().expect("the source is tokens");
        let options = "block = 32, __shapes = \"-\"".parse();
        let expansion = crate::expand::kernel(options.expect("the options are tokens"), tokens);
        assert_eq!(expansion.errors, [""; 0], "{body}");
        let text: String = expansion.tokens.to_string().split_whitespace().collect();
        text.contains("[[__f32;16];")
    }

    #[test]
    fn a_tile_of_sums_is_in_rows() {
        for body in [
            "for j in 0..16 { sums[j] += tile[t * 4 + j]; }",
            "for i in 0..4 { for j in 0..4 { sums[i * 4 + j] += tile[i] * tile[t + j]; } }",
            "for i in 0..4 { for j in 0..4 { sums[i * 4 + j] += tile[t + j]; } }
            for j in 0..16 { if j < n { out[t] = sums[j]; } }",
            "for j in 0..16 { let at = t + j; let mut v = tile[at]; v = v * 2.0; sums[j] += v; }",
        ] {
            assert!(is_in_rows(body), "{body}");
        }
    }

    #[test]
    fn others_are_not() {
        for body in [
            // The lanes' elements are adjacent, not those of a lane.
            "for j in 0..4 { sums[j] += tile[t + 32 * j]; }",
            // A chain of additions.
            "let mut sum = 0.0; for j in 0..16 { sum += sums[j]; } sums[t % 16] = sum;",
            "for j in 0..16 { sums[j] = sums[15 - j]; }",
            // Too short for a vector.
            "for j in 0..3 { sums[j] += tile[t + j]; }",
            "for j in 0..n { sums[j] += tile[t + j]; }",
        ] {
            assert!(!is_in_rows(body), "{body}");
        }
    }
}
