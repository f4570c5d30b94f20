//! Reduces a failing kernel to a small one that still fails, by delta debugging on its tree.
//!
//! The algorithm is a greedy variant of Zeller and Hildebrandt's (2002), applied to a tree as by Misherghi and Su (2006). A candidate is the
//! kernel with one reduction: statements are removed, a statement is replaced by its block, an operation by an operand, or an expression by a
//! literal. The replacement's bounds must imply the old ones ([`Facts::refine`]), so loops still end and floats stay exact. A candidate
//! may be an invalid kernel; the frontend rejects it.
//!
//! [`Facts::refine`]: crate::tree::Facts::refine

use std::time::Instant;

use sarek_ir::Scalar;

use crate::case::Shape;
use crate::generate::Generated;
use crate::phases;
use crate::tree::{Block, Expr, Facts, Node};

/// Returns the smallest kernel found for which `fails` holds, starting at `from`, for which it holds too. Calls `fails` at most `most`
/// times, and not after `until`.
pub fn shrink(
    from: &Generated,
    mut most: usize,
    until: Instant,
    mut fails: impl FnMut(&Generated) -> bool,
) -> Generated {
    let mut best = from.clone();
    loop {
        let mut improved = false;
        let mut at = 0;
        // A removal changes the candidates after it, so each call counts them again from the start.
        while let Some(candidate) = candidate(&best, at) {
            if most == 0 || Instant::now() >= until {
                return best;
            }
            most -= 1;
            if phases::is_race_free(&candidate.function.body) && fails(&candidate) {
                best = candidate;
                improved = true;
            } else {
                at += 1;
            }
        }
        if !improved {
            return best;
        }
    }
}

/// The candidate with this number; `None` past the last.
fn candidate(from: &Generated, at: usize) -> Option<Generated> {
    let mut smaller = from.clone();
    let mut steps = Steps { left: at };
    let body = &mut smaller.function.body;
    let done = steps.chunks(body)
        || steps.statements(body)
        || steps.expressions(body)
        || steps.launch(&mut smaller);
    done.then_some(smaller)
}

/// Counts candidates down to the requested one, and applies it.
struct Steps {
    left: usize,
}

impl Steps {
    /// Counts one candidate. True if it is the requested one.
    fn here(&mut self) -> bool {
        match self.left.checked_sub(1) {
            None => true,
            Some(left) => {
                self.left = left;
                false
            }
        }
    }

    /// Removes a half, a quarter, an eighth of the body, and so on.
    fn chunks(&mut self, body: &mut Block) -> bool {
        let mut size = body.len() / 2;
        while size > 1 {
            for start in (0..body.len()).step_by(size) {
                if self.here() {
                    body.drain(start..(start + size).min(body.len()));
                    return true;
                }
            }
            size /= 2;
        }
        false
    }

    /// Removes one statement, or replaces it by the statements of one of its blocks.
    fn statements(&mut self, block: &mut Block) -> bool {
        for at in (0..block.len()).rev() {
            if self.here() {
                block.remove(at);
                return true;
            }
            for inner in inner_blocks(&block[at]) {
                if self.here() {
                    block.splice(at..=at, inner);
                    return true;
                }
            }
            let node = &mut block[at];
            let inside = node.blocks.iter_mut().any(|b| self.statements(b))
                || node.exprs.iter_mut().any(|e| self.inner_statements(e));
            if inside {
                return true;
            }
        }
        false
    }

    fn inner_statements(&mut self, expr: &mut Expr) -> bool {
        let node = &mut expr.node;
        node.blocks.iter_mut().any(|b| self.statements(b))
            || node.exprs.iter_mut().any(|e| self.inner_statements(e))
    }

    fn expressions(&mut self, block: &mut Block) -> bool {
        block.iter_mut().any(|node| self.of_node(node))
    }

    fn of_node(&mut self, node: &mut Node) -> bool {
        node.exprs.iter_mut().any(|e| self.expression(e))
            || node.blocks.iter_mut().any(|b| self.expressions(b))
    }

    /// Replaces an expression by a literal or by one of its operands, or does so with an expression nested in it.
    fn expression(&mut self, expr: &mut Expr) -> bool {
        let is_leaf = expr.node.exprs.is_empty() && expr.node.blocks.is_empty();
        for literal in literals(expr.ty) {
            let simpler = !is_leaf || !is_literal(&expr.node.text);
            if simpler && literal.facts.refine(expr.facts) && self.here() {
                *expr = literal;
                return true;
            }
        }
        let mut inside = vec![];
        operands(&expr.node, &mut inside);
        for operand in inside {
            let fits = operand.ty == expr.ty && operand.facts.refine(expr.facts);
            if fits && self.here() {
                *expr = operand.clone();
                return true;
            }
        }
        self.of_node(&mut expr.node)
    }

    /// Reduces the number of threads.
    fn launch(&mut self, from: &mut Generated) -> bool {
        // A launch keeps its kind of shape: where the device picks the block, values that depend on the block may differ.
        let shapes = match from.launch.shape {
            Shape::Over(_) => [Shape::Over([1; 3]), Shape::Over([7, 1, 1])],
            // PoCL refuses barriers in smaller blocks.
            Shape::Grid(..) => [[1; 3], [2, 1, 1]].map(|grid| Shape::Grid(grid, [3, 1, 1])),
        };
        for shape in shapes {
            if shape.threads() < from.launch.shape.threads() && self.here() {
                from.launch.shape = shape;
                return true;
            }
        }
        false
    }
}

/// The outermost blocks of a statement and of its expressions.
fn inner_blocks(node: &Node) -> Vec<Block> {
    let of_exprs = node.exprs.iter().flat_map(|e| inner_blocks(&e.node));
    node.blocks.iter().cloned().chain(of_exprs).collect()
}

/// Collects the expressions of a node, nested ones included.
fn operands<'t>(node: &'t Node, all: &mut Vec<&'t Expr>) {
    for expr in &node.exprs {
        all.push(expr);
        operands(&expr.node, all);
    }
}

fn is_literal(text: &str) -> bool {
    let first = text.trim_start_matches(['(', '-']).chars().next();
    first.is_some_and(|c| c.is_ascii_digit()) || ["true", "false"].contains(&text)
}

fn literals(ty: Scalar) -> Vec<Expr> {
    let literal = |text: String, bound: f64| Expr {
        node: Node::leaf(text),
        ty,
        facts: Facts {
            bound,
            frac: 0,
            nonzero: bound != 0.0,
        },
    };
    match ty {
        Scalar::Bool => vec![
            Expr {
                facts: Facts::ANY,
                ..literal("false".into(), 0.0)
            },
            Expr {
                facts: Facts::ANY,
                ..literal("true".into(), 1.0)
            },
        ],
        Scalar::F32 | Scalar::F64 => {
            vec![
                literal(format!("0.0{ty}"), 0.0),
                literal(format!("1.0{ty}"), 1.0),
            ]
        }
        Scalar::F16 | Scalar::Bf16 => vec![
            literal(format!("{ty}::ZERO"), 0.0),
            literal(format!("{ty}::ONE"), 1.0),
        ],
        _ => vec![
            literal(format!("0{ty}"), 0.0),
            literal(format!("1{ty}"), 1.0),
        ],
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::generate::generate;

    #[test]
    fn time_ends_shrinking() {
        let (from, mut asked) = (generate(1), 0);
        let until = Instant::now() + Duration::from_millis(50);
        let small = shrink(&from, usize::MAX, until, |_| {
            asked += 1;
            std::thread::sleep(Duration::from_millis(30));
            false
        });
        assert_eq!(small, from);
        assert!((1..=2).contains(&asked), "{asked}");
    }

    /// Shrinking keeps what the property requires, and little more.
    #[test]
    fn a_kernel_shrinks_to_what_fails() {
        let (seed, text) = (0..)
            .map(|seed| (seed, generate(seed).function.to_string()))
            .find(|(_, text)| text.contains("rotate_left"))
            .expect("some kernel rotates");
        let from = generate(seed);
        let late = Instant::now() + Duration::from_secs(600);
        let small = shrink(&from, 10_000, late, |candidate| {
            let case = candidate.case();
            case.function.contains("rotate_left") && crate::judge::lower(&case).is_ok()
        });
        let small = small.function.to_string();
        assert!(
            small.contains("rotate_left") && small.lines().count() < 10,
            "{small}\nof {text}"
        );
    }
}
