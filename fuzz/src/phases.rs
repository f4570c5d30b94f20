//! Checks that a tree is free of races between the threads of a block.
//!
//! Barriers divide the run of a block into *phases*. In each, an array has one access mode: each thread accesses its own element, or all threads
//! read any element, or all threads update any element atomically. The generator follows this rule. The shrinker removes barriers, so it checks each candidate.

use std::collections::{HashMap, HashSet};

use crate::tree::{Block, Effect, Node};

/// True if no array has two access modes between two barriers, and none is accessed before it is filled.
pub fn is_race_free(body: &Block) -> bool {
    let mut walk = Walk {
        race_free: true,
        filled: HashSet::new(),
        left: HashMap::new(),
    };
    walk.block(body, &mut HashSet::new());
    walk.race_free
}

/// The accesses since the last barrier, along any path.
type Uses = HashSet<Effect>;

struct Walk {
    race_free: bool,
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
        for effect in &node.effects {
            match *effect {
                Effect::Barrier => uses.clear(),
                Effect::Fill(array) => _ = self.filled.insert(array),
                Effect::Own(array) | Effect::Any(array) | Effect::Update(array) => {
                    uses.insert(*effect);
                    self.race_free &= self.filled.contains(&array);
                    let others = [
                        Effect::Own(array),
                        Effect::Any(array),
                        Effect::Update(array),
                    ];
                    self.race_free &= others.iter().all(|o| o == effect || !uses.contains(o));
                }
                Effect::Loop(number) => loop_ = Some(number),
                Effect::Leave(number) => self.left.entry(number).or_default().extend(uses.iter()),
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
    fn generated_kernels_are_race_free() {
        for seed in 0..300 {
            let made = generate(seed);
            assert!(
                is_race_free(&made.function.body),
                "seed {seed}:\n{}",
                made.function
            );
        }
    }

    #[test]
    fn a_missing_barrier_is_found() {
        let fill = || Node::leaf("a[t] = 0;").with_effects(&[Effect::Fill(0), Effect::Own(0)]);
        let own = || Node::leaf("a[t] = 1;").with_effects(&[Effect::Own(0)]);
        let any = || Node::leaf("a[0];").with_effects(&[Effect::Any(0)]);
        let barrier = || Node::leaf("barrier();").with_effects(&[Effect::Barrier]);
        assert!(is_race_free(&vec![fill(), own(), barrier(), any()]));
        assert!(!is_race_free(&vec![own(), barrier(), any()]));
        assert!(!is_race_free(&vec![fill(), any()]));
        let in_loop = |body| vec![fill(), Node::new("loop {#}", vec![], vec![body])];
        assert!(is_race_free(&in_loop(vec![
            own(),
            barrier(),
            any(),
            barrier()
        ])));
        assert!(!is_race_free(&in_loop(vec![own(), barrier(), any()])));
    }
}
