//! Plans by seed: any transformations, good or bad, so that tests run unusual ones.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use sarek_ir::optimize::{Privatize, ShortLoops};
use sarek_ir::{Axis, Kernel};

use super::Planning;
use super::plans::{Accesses, Copies, Plan, Tile, Turned};

/// The plans of a list. The first one that applies to the kernel is taken.
const PLANS: u32 = 6;

/// Random numbers from a seed: SplitMix64.
struct Dice(u64);

impl Dice {
    /// The numbers for a seed, the content of a kernel, and an extent.
    fn new(seed: u64, kernel: &Kernel, extent: [u64; 3]) -> Dice {
        // This hasher has fixed keys.
        let mut hasher = DefaultHasher::new();
        format!("{:?} {:?} {:?}", kernel.params, kernel.stmts, kernel.exprs).hash(&mut hasher);
        (seed, extent).hash(&mut hasher);
        Dice(hasher.finish())
    }

    fn below(&mut self, n: u32) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % u64::from(n)) as u32
    }

    fn flip(&mut self) -> bool {
        self.below(2) == 0
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u32) as usize]
    }

    /// The factor of a merge.
    fn factor(&mut self) -> u32 {
        self.pick(&[2, 2, 3, 4, 4, 5, 7, 8, 16])
    }
}

impl Planning<'_, '_> {
    /// Plans that depend on the seed, on the kernel, and on its extent only.
    pub(super) fn any(&self, seed: u64) -> Vec<Plan> {
        let mut dice = Dice::new(seed, &self.call.kernel.kernel, self.space.extent);
        let mut plans: Vec<Plan> = (0..PLANS).filter_map(|_| self.one(&mut dice)).collect();
        // These apply to most kernels.
        plans.extend(Axis::ALL.map(|axis| Plan::merge([(axis, dice.factor())])));
        plans.retain(|plan| !plan.is_empty());
        plans
    }

    fn one(&self, dice: &mut Dice) -> Option<Plan> {
        let plan = match dice.below(8) {
            0 => self.any_stage(dice),
            1 => any_square(dice),
            2 => self.any_copies(dice)?,
            3 => self.any_window(dice)?,
            4 => return Some(Plan::own()),
            _ => Plan::merge(self.any_merges(dice)),
        };
        Some(Plan {
            accesses: dice.pick(&[Accesses::Merged, Accesses::Merged, Accesses::Scalar]),
            ..plan
        })
    }

    /// Merges along up to three axes, in any order.
    fn any_merges(&self, dice: &mut Dice) -> Vec<(Axis, u32)> {
        let wide = |axis: &Axis| self.space.extent[axis.index()] > 1;
        let mut axes: Vec<Axis> = Axis::ALL.into_iter().filter(wide).collect();
        let mut merges = vec![];
        while !axes.is_empty() && (merges.is_empty() || dice.flip()) {
            let axis = axes.swap_remove(dice.below(axes.len() as u32) as usize);
            merges.push((axis, dice.factor()));
        }
        merges
    }

    fn any_stage(&self, dice: &mut Dice) -> Plan {
        let merges = self.any_merges(dice);
        let mut threads = [dice.pick(&[1, 2, 4, 8, 16]), dice.pick(&[1, 2, 4]), 1];
        for (axis, factor) in &merges {
            threads[axis.index()] *= factor;
        }
        for axis in Axis::ALL {
            if self.space.extent[axis.index()] == 1 {
                threads[axis.index()] = 1;
            }
        }
        let tile = Tile {
            threads,
            chunk: dice.pick(&[1, 2, 3, 4, 5, 8]),
            double: dice.flip(),
            least: 0,
            run: dice.pick(&[1, 2, 4, 8, 16]),
        };
        Plan::staged(tile, merges)
    }

    /// Small blocks with private copies, after some merges or without.
    fn any_copies(&self, dice: &mut Dice) -> Option<Plan> {
        let slice = Privatize::target(&self.call.kernel.kernel)?;
        let len = u32::try_from(self.call.args[slice.index()].units()).ok()?;
        let copies = Copies {
            slice,
            len,
            block: dice.pick(&[1, 4, 32, 64]),
            fixed: dice.flip(),
        };
        let merges = match dice.flip() {
            true => self.any_merges(dice),
            false => vec![],
        };
        (len > 0).then(|| Plan {
            copies: Some(copies),
            ..Plan::merge(merges)
        })
    }

    /// Unrolled loops, after some merges or without.
    fn any_window(&self, dice: &mut Dice) -> Option<Plan> {
        let kernel = &self.call.kernel.kernel;
        let short = ShortLoops::of(kernel, &|expr| self.launch_value(expr))?;
        let merges = match dice.flip() {
            true => self.any_merges(dice),
            false => vec![],
        };
        (!short.labels.is_empty()).then(|| Plan {
            short: Some(short),
            ..Plan::merge(merges)
        })
    }
}

/// Square tiles of any size.
fn any_square(dice: &mut Dice) -> Plan {
    let tile = dice.pick(&[2, 4, 8, 16]);
    let mut side = || tile / dice.pick(&[1, 2]);
    let block = [side(), side()];
    Plan::square(Turned {
        tile,
        block,
        exchanged: dice.flip(),
    })
}
