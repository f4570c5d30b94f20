//! Checks that a tree is free of races between the threads of a block.
//!
//! Between two barriers, an array has one access mode, its *turn*: each thread accesses its own element, or all threads read any
//! element, or all threads update any element atomically. The generator follows this rule. The shrinker removes barriers, so it checks each candidate.

use std::collections::{HashMap, HashSet};

use crate::tree::{Block, Node, Touch};

/// True if no array has two access modes between two barriers, and none is accessed before it is filled.
pub fn are_kept(body: &Block) -> bool {
    let mut walk = Walk {
        kept: true,
        filled: HashSet::new(),
        left: HashMap::new(),
    };
    walk.block(body, &mut HashSet::new());
    walk.kept
}

/// The accesses since the last barrier, along any path.
type Uses = HashSet<Touch>;

struct Walk {
    kept: bool,
    filled: HashSet<usize>,
    /// For each loop: the accesses pending at its `break` and `continue` statements.
    left: HashMap<u32, Uses>,
}

impl Walk {
    fn block(&mut self, block: &Block, uses: &mut Uses) {
        for node in block {
            self.node(node, uses);
        }
    }

    fn node(&mut self, node: &Node, uses: &mut Uses) {
        for expr in &node.exprs {
            self.node(&expr.node, uses);
        }
        let mut loop_ = None;
        for touch in &node.touches {
            match *touch {
                Touch::Barrier => uses.clear(),
                Touch::Fill(array) => _ = self.filled.insert(array),
                Touch::Own(array) | Touch::Any(array) | Touch::Update(array) => {
                    uses.insert(*touch);
                    self.kept &= self.filled.contains(&array);
                    let others = [Touch::Own(array), Touch::Any(array), Touch::Update(array)];
                    self.kept &= others.iter().all(|o| o == touch || !uses.contains(o));
                }
                Touch::Loop(number) => loop_ = Some(number),
                Touch::Leave(number) => self.left.entry(number).or_default().extend(uses.iter()),
            }
        }
        let before = uses.clone();
        for block in &node.blocks {
            let mut inside = before.clone();
            // A second pass sees the accesses that the previous iteration left pending.
            for _ in 0..2 {
                self.block(block, &mut inside);
                let left = loop_.and_then(|l| self.left.get(&l));
                inside.extend(before.iter().chain(left.into_iter().flatten()));
            }
            uses.extend(inside);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::generate;

    #[test]
    fn what_is_generated_keeps_turns() {
        for seed in 0..300 {
            let made = generate(seed);
            assert!(
                are_kept(&made.function.body),
                "seed {seed}:\n{}",
                made.function
            );
        }
    }

    #[test]
    fn a_barrier_between_two_uses_is_missed() {
        let fill = || Node::leaf("a[t] = 0;").touching(&[Touch::Fill(0), Touch::Own(0)]);
        let own = || Node::leaf("a[t] = 1;").touching(&[Touch::Own(0)]);
        let any = || Node::leaf("a[0];").touching(&[Touch::Any(0)]);
        let barrier = || Node::leaf("barrier();").touching(&[Touch::Barrier]);
        assert!(are_kept(&vec![fill(), own(), barrier(), any()]));
        assert!(!are_kept(&vec![own(), barrier(), any()]));
        assert!(!are_kept(&vec![fill(), any()]));
        let in_loop = |body| vec![fill(), Node::new("loop {#}", vec![], vec![body])];
        assert!(are_kept(&in_loop(vec![own(), barrier(), any(), barrier()])));
        assert!(!are_kept(&in_loop(vec![own(), barrier(), any()])));
    }
}
