//! The patterns that the planner knows, each with its plans.

use sarek_ir::optimize::footprint::{Access, Distance};
use sarek_ir::optimize::{Footprint, Merge, Privatize, ShortLoops, Spread, Square, Stage};
use sarek_ir::{Axis, ParamId};

use super::{Planning, WIDE};

/// The steps of a plan, before the launch's numbers are known.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Plan {
    /// The staging, if the plan has one.
    pub(super) stage: Option<Tile>,
    /// The staging of loads that are far apart, if the plan has one.
    pub(super) square: Option<Turned>,
    /// The factor of each merge, in order. All factors of a staged plan divide its tile.
    pub(super) merges: Vec<(Axis, u32)>,
    /// The private copies, if the plan has some.
    pub(super) copies: Option<Copies>,
    /// The loops that are unrolled, if there are some.
    pub(super) short: Option<ShortLoops>,
    /// The use of wide accesses.
    pub(super) accesses: Accesses,
}

/// The use of wide accesses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Accesses {
    /// Wide accesses to the neighbouring elements of merged threads.
    Merged,
    /// Wide accesses to runs of elements that the kernel has already: a plan without any transformation.
    Own,
    /// No wide accesses: slices count as not aligned.
    Scalar,
}

/// Private copies of a slice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Copies {
    pub(super) slice: ParamId,
    pub(super) len: u32,
    /// The threads of a block.
    pub(super) block: u32,
    /// True if each thread of the launch has its own work alone: it has loops already.
    pub(super) fixed: bool,
}

impl Copies {
    /// The copies of a launch of `extent` threads. If `guarded` is true, threads beyond along x do nothing by
    /// themselves.
    pub(super) fn steps(self, extent: [u64; 3], processors: u64, guarded: bool) -> Privatize {
        let wide = extent[0].div_ceil(self.block.into());
        let (axis, most) = match extent[1] > 1 {
            true => (Axis::Y, extent[1]),
            false => (Axis::X, wide),
        };
        let blocks = wide * extent[1] * extent[2];
        let turns = blocks.div_ceil(processors * COPYING.1).min(most);
        let turns = if self.fixed { 1 } else { rounded(turns) };
        let target = (self.slice, self.len);
        Privatize::new(target, self.block, (axis, turns), extent, guarded)
    }
}

/// The next lower number that is a power of two, or three times one: launches of similar sizes share a text.
fn rounded(n: u64) -> u32 {
    let power = 1 << n.max(1).ilog2().min(16);
    match power / 2 * 3 {
        more if power > 1 && more <= n => more as u32,
        _ => power as u32,
    }
}

/// The tile of a staged plan.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Tile {
    /// The user's threads of a block.
    pub(super) threads: [u32; 3],
    /// The turns of a chunk.
    pub(super) chunk: u32,
    /// True if each tile has two buffers.
    pub(super) double: bool,
    /// The least number of elements in the buffers of a chunk. With fewer, the loads of the pattern are not staged.
    pub(super) least: u32,
    /// The most neighbours in a run of a merged thread.
    pub(super) run: u32,
}

/// Square tiles for loads that are far apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Turned {
    pub(super) tile: u32,
    /// The threads of a block along x and y.
    pub(super) block: [u32; 2],
    /// True if the stores are far apart instead of the loads.
    pub(super) exchanged: bool,
}

impl Tile {
    /// A tile for loads of which each thread of a row or column needs its own, in elements a turn.
    const fn new(x: u32, y: u32, chunk: u32, elements: u32) -> Tile {
        Tile {
            threads: [x, y, 1],
            chunk,
            double: true,
            least: chunk * elements,
            run: RUN,
        }
    }

    /// The number of blocks of a launch.
    fn blocks(self, extent: [u64; 3]) -> u64 {
        let along = |axis: usize| extent[axis].div_ceil(self.threads[axis].into());
        along(0) * along(1) * along(2)
    }
}

/// The most neighbours in a run of the staged plans: one wide access.
const RUN: u32 = 4;

impl Plan {
    pub(super) fn merge(merges: impl IntoIterator<Item = (Axis, u32)>) -> Plan {
        let merges = merges.into_iter().filter(|(_, factor)| *factor > 1);
        Plan {
            stage: None,
            square: None,
            merges: merges.collect(),
            copies: None,
            short: None,
            accesses: Accesses::Merged,
        }
    }

    /// The plan that makes runs of elements wide accesses, and changes nothing else.
    pub(super) fn own() -> Plan {
        Plan {
            accesses: Accesses::Own,
            ..Plan::merge([])
        }
    }

    pub(super) fn square(square: Turned) -> Plan {
        let Turned { tile, block, .. } = square;
        let factors = [(Axis::Y, tile / block[1]), (Axis::X, tile / block[0])];
        Plan {
            square: Some(square),
            ..Plan::merge(factors)
        }
    }

    pub(super) fn staged(tile: Tile, merges: impl IntoIterator<Item = (Axis, u32)>) -> Plan {
        Plan {
            stage: Some(tile),
            ..Plan::merge(merges)
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.stage.is_none()
            && self.square.is_none()
            && self.merges.is_empty()
            && self.copies.is_none()
            && self.short.is_none()
            && self.accesses != Accesses::Own
    }

    /// The square staging and its merges in a launch.
    pub(super) fn turned(&self, extent: [u64; 3]) -> Option<(Square, Vec<Merge>)> {
        let Turned {
            tile,
            block,
            exchanged,
        } = self.square?;
        let merges = self.merges.iter().map(|&(axis, factor)| {
            let block = block[axis.index()];
            Merge::staged(axis, factor, Spread { block, run: 1 })
        });
        Some((
            Square::new(tile, block, exchanged, extent),
            merges.collect(),
        ))
    }

    /// The staging and the merges in a launch.
    pub(super) fn steps(&self, mut extent: [u64; 3]) -> (Option<Stage>, Vec<Merge>) {
        let Some(tile) = self.stage else {
            let merge = |&(axis, factor): &(Axis, u32)| {
                let threads = &mut extent[axis.index()];
                let merge = Merge::new(axis, factor, *threads);
                *threads = merge.threads(*threads);
                merge
            };
            return (None, self.merges.iter().map(merge).collect());
        };
        let mut block = tile.threads;
        for (axis, factor) in &self.merges {
            block[axis.index()] /= factor;
        }
        let merges = self.merges.iter().map(|&(axis, factor)| {
            let mut runs = (1..=tile.run).rev();
            let run = runs.find(|run| factor.is_multiple_of(*run)).unwrap_or(1);
            let block = block[axis.index()];
            Merge::staged(axis, factor, Spread { block, run })
        });
        let stage = Stage {
            double: tile.double,
            ..Stage::new(tile.threads, block, tile.chunk, extent)
        };
        (Some(stage), merges.collect())
    }
}

/// The shared memory of a device from which on the tiles of a product have two buffers.
const TWO_BUFFERS: u64 = 32 << 10;
/// The words of a wide access.
const WORDS: u64 = 4;
/// The least number of threads along x and y for square tiles.
const LEAST_SQUARE: u64 = 64;
/// The threads of a block with private copies, and the blocks of a launch for each processor.
const COPYING: (u32, u64) = (512, 4);
/// The most bytes of a private copy. With these, four blocks fit on a processor.
const MOST_COPY: u64 = 48 << 10;
/// The threads of a launch for each element that has private copies.
const LEAST_COUNTED: u64 = 16;
/// The turns of a loop from which on a thread computes more neighbours.
const LONG_WINDOW: u64 = 32;
/// The loads of one slice from which on threads along y share some.
const SHARED_LOADS: usize = 4;

/// The sums of a product that large blocks compute, and those that blocks of fewer threads do. Threads along x come in
/// groups of 8 or more, so that a warp loads few different elements.
const LARGE: (Tile, [(Axis, u32); 2]) = (Tile::new(128, 128, 8, 256), [(Axis::Y, 8), (Axis::X, 8)]);
const MIDDLE: (Tile, [(Axis, u32); 2]) =
    (Tile::new(128, 64, 16, 192), [(Axis::Y, 4), (Axis::X, 8)]);
const SMALL: (Tile, [(Axis, u32); 2]) = (Tile::new(64, 64, 16, 128), [(Axis::Y, 4), (Axis::X, 8)]);

impl Planning<'_, '_> {
    /// The plans for the pattern of the kernel, best first.
    pub(super) fn plans(&self, footprint: &Footprint) -> Vec<Plan> {
        let inner = footprint.accesses.iter().filter(|access| access.depth > 0);
        let is_shared = |access: &&Access, by: usize, not_by: usize| {
            access.distance[by] == Distance::None && access.distance[not_by] != Distance::None
        };
        let reused = [0, 1].map(|by| inner.clone().any(|access| is_shared(&access, by, 1 - by)));
        let even = |axis: usize| !footprint.uneven[axis] && self.space.extent[axis] > 1;
        let wide = self.width(footprint, |_| true);
        let along_x = |count: u32| (Axis::X, count.min(wide));
        let plans = if reused == [true, true] && even(0) && even(1) {
            // A product: rows of one operand, columns of the other.
            let mut plans = self.products();
            plans.extend([
                Plan::merge([along_x(4), (Axis::Y, 8)]),
                Plan::merge([along_x(4), (Axis::Y, 4)]),
                Plan::merge([along_x(2), (Axis::Y, 2)]),
            ]);
            plans
        } else if let Some(plans) = self.windows(footprint) {
            plans
        } else if footprint.loops {
            self.rows(footprint)
        } else if let Some(exchanged) = self.is_turned(footprint) {
            let square = |rows: u32| {
                Plan::square(Turned {
                    tile: 64,
                    block: [64, rows],
                    exchanged,
                })
            };
            vec![square(16), square(4)]
        } else if self.is_stencil(footprint) {
            // Measured: with planes, wide accesses gain more than rows that stay in registers.
            let wide = match self.space.extent[2] {
                1 => 1,
                _ => self
                    .width(footprint, |access| access.multiple >= WORDS)
                    .min(WORDS as u32),
            };
            let columns = Plan::merge([(Axis::X, wide)]);
            let rows = [4, 2].map(|rows| Plan::merge([(Axis::Y, rows)]));
            [columns].into_iter().chain(rows).collect()
        } else {
            vec![Plan::merge([along_x(WIDE)])]
        };
        let copies = self.private_copies(footprint, wide);
        let own = (footprint.runs && self.call.is_aligned()).then(Plan::own);
        let plans = copies.into_iter().chain(plans).chain(own);
        plans.filter(|plan| !plan.is_empty()).collect()
    }

    /// The plan of a kernel whose threads all change a few elements by atomic operations.
    fn private_copies(&self, footprint: &Footprint, wide: u32) -> Option<Plan> {
        let kernel = &self.call.kernel.kernel;
        let slice = Privatize::target(kernel)?;
        let len = self.call.args[slice.index()].units();
        let size = kernel.element(slice.into()).size() as u64;
        let fits = size == 4 && len > 0 && len * size <= MOST_COPY.min(self.info.max_shared);
        let all = self.space.threads();
        if !fits || all < len * LEAST_COUNTED {
            return None;
        }
        let fixed = footprint.loops;
        let merges = [(Axis::X, wide)].into_iter().filter(|_| !fixed);
        Some(Plan {
            copies: Some(Copies {
                slice,
                len: len as u32,
                block: COPYING.0.min(self.info.max_block_threads),
                fixed,
            }),
            ..Plan::merge(merges)
        })
    }

    /// The staged plans of a product that leave enough blocks for the processors.
    fn products(&self) -> Vec<Plan> {
        let (extent, units) = (self.space.extent, self.processors());
        let fills = |(tile, _): &(Tile, _), percent: u64| {
            tile.blocks(extent).saturating_mul(100) >= units * percent
        };
        // Measured: blocks of other sizes are faster where large ones leave processors idle at the end.
        let plans = [(LARGE, 190), (MIDDLE, 90), (SMALL, 60)];
        let plans = plans.into_iter();
        let plans = plans.filter(|(plan, percent)| fills(plan, *percent));
        let double = self.info.max_shared >= TWO_BUFFERS;
        let plans = plans.map(|((tile, merges), _)| Plan::staged(Tile { double, ..tile }, merges));
        plans.collect()
    }

    /// The plans of short loops whose threads load many of the same elements: stencils with loops, and convolutions.
    fn windows(&self, footprint: &Footprint) -> Option<Vec<Plan>> {
        let kernel = &self.call.kernel.kernel;
        let slides = |access: &Access| {
            access.depth > 0 && !access.stores && access.distance[0] == Distance::One
        };
        if !footprint.accesses.iter().any(slides) || footprint.uneven != [false; 3] {
            return None;
        }
        let short = ShortLoops::of(kernel, &|expr| self.launch_value(expr))?;
        let wide = self.width(footprint, |access| access.depth == 0);
        let rows = match self.space.extent[1] > 1 {
            true => &[4, 2][..],
            false => &[1],
        };
        let columns = |rows: u32| match wide {
            _ if rows > 1 => wide.min(4),
            4 if short.turns > LONG_WINDOW => 8,
            _ => wide.max(2),
        };
        let plans = rows.iter().map(|&rows| Plan {
            short: Some(short.clone()),
            ..Plan::merge([(Axis::X, columns(rows)), (Axis::Y, rows)])
        });
        Some(plans.collect())
    }

    /// The plans of loops over elements that all threads share, and of loops in which each thread reads a row.
    fn rows(&self, footprint: &Footprint) -> Vec<Plan> {
        let inner = || footprint.accesses.iter().filter(|access| access.depth > 0);
        let even = !footprint.uneven[0] && self.space.extent[0] > 1;
        if inner().count() == 0 || !even {
            return vec![];
        }
        let flat = self.space.extent[1] == 1 && self.space.extent[2] == 1;
        let (threads, units) = (self.space.extent[0], self.processors());
        let mut plans = vec![];
        if inner().all(|access| access.distance[0] == Distance::None) {
            if flat && threads >= 128 * units {
                plans.push(Plan::staged(Tile::new(256, 1, 256, 1), []));
            }
            plans.push(Plan::merge([(Axis::X, 2)]));
        } else if flat && inner().any(|access| access.distance[0] == Distance::Other) {
            let tile = Tile::new(32, 1, 64, 32);
            if tile.blocks(self.space.extent) >= 2 * units {
                plans.push(Plan::staged(tile, []));
            }
        }
        plans
    }

    /// True or false if either all stores or some loads are far apart along x, but side by side along y: true for the
    /// stores. All other accesses are side by side along x.
    fn is_turned(&self, footprint: &Footprint) -> Option<bool> {
        let least = LEAST_SQUARE;
        if self.space.extent[0] < least || self.space.extent[1] < least {
            return None;
        }
        let (far, near): (Vec<&Access>, Vec<&Access>) = footprint
            .accesses
            .iter()
            .partition(|access| access.distance[0] != Distance::One);
        let is_far = |access: &&Access| {
            access.distance[0] == Distance::Other && access.distance[1] == Distance::One
        };
        let stores = |all: &[&Access]| all.iter().filter(|access| access.stores).count();
        if far.is_empty() || !far.iter().all(is_far) {
            return None;
        }
        match (stores(&far), stores(&near)) {
            (0, 1..) => Some(false),
            (far_stores, 0) if far_stores == far.len() && !near.is_empty() => Some(true),
            (_, _) => None,
        }
    }

    /// True if threads along y load elements that their neighbours load, too.
    fn is_stencil(&self, footprint: &Footprint) -> bool {
        let mut slices = footprint.accesses.iter().map(|access| access.slice);
        let loads = |slice: ParamId| {
            let all = footprint
                .accesses
                .iter()
                .filter(|a| a.slice == slice && !a.stores);
            all.filter(|a| a.distance[0] == Distance::One).count()
        };
        self.space.extent[1] > 1 && slices.any(|slice| loads(slice) >= SHARED_LOADS)
    }

    /// The number of neighbouring elements that one access can load or store in all slices; 1 if that is not known.
    fn width(&self, footprint: &Footprint, counts: impl Fn(&Access) -> bool) -> u32 {
        if !self.call.is_aligned() || self.call.strided {
            return 1;
        }
        let wgsl = self.target == "wgsl";
        let mut widths = vec![];
        for access in footprint.accesses.iter().filter(|access| counts(access)) {
            match access.distance[0] {
                Distance::None => {}
                // WGSL has no wide types for elements of 8 and 16 bits.
                Distance::One if !wgsl || access.size >= 4 => {
                    widths.push(access.multiple.min(u64::from(WIDE / access.size)));
                }
                Distance::One | Distance::Other => return 1,
            }
        }
        let mut width = widths.into_iter().min().unwrap_or(WORDS);
        while width > 1 && !self.fits(footprint, width) {
            width /= 2;
        }
        width as u32
    }

    /// True if rows and pitches are multiples of so many elements, so that each wide access begins at one.
    fn fits(&self, footprint: &Footprint, width: u64) -> bool {
        let is_multiple = |n: u64| n.is_multiple_of(width);
        let flat = self.space.extent[1] == 1 && self.space.extent[2] == 1;
        let whole = is_multiple(self.space.extent[0]);
        let mut pitches = footprint.pitches.iter();
        // The elements of a WGSL buffer have one width.
        let tail = whole || self.target != "wgsl";
        let pitches = pitches.all(|param| self.usize_arg(*param).is_some_and(is_multiple));
        pitches && tail && (flat || whole)
    }
}
