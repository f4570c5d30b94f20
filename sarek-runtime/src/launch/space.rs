//! Index spaces: turns the requested shape into blocks and threads within a device's limits.
//!
//! - `.over(extent)`: exactly those threads run. Blocks of an automatic size, or the kernel's,
//!   cover them; threads of edge blocks that lie outside do not run.
//! - `.cover(extent)`: all threads of the blocks that cover the extent run. The block size depends
//!   on the extent alone ([`covering_block`]), so that the same threads run on every device. A
//!   device that cannot run such blocks refuses.
//! - `.grid(grid)` with a block: all threads of those blocks run. Without a block, the device picks
//!   its size, or [`open_block`] does.
//!
//! A backend may pick the size of blocks that are open ([`crate::backend::BackendDevice::pick_block`]).
//!
//! A grid beyond a device's limits is *folded*: the device starts a physical grid with at least as
//! many blocks, numbered linearly.

use crate::host::IndexSpace;
use crate::plugin::backend::DeviceInfo;

use super::dims::Dims;

/// The shape that the user asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Shape {
    Over(Dims),
    Cover(Dims),
    Grid {
        grid: Dims,
        block: Dims,
    },
    /// Blocks of an open size.
    Blocks(Dims),
}

/// The threads of a block with an automatic size.
const BLOCK_THREADS: u64 = 256;
/// The threads of a block of `.cover(extent)` along x are a multiple of this.
const COVERING_ROW: u32 = 32;
/// The maximum number of threads in a host block. Such a block is one row, or several short rows. A
/// body runs each row as one loop, along which the processor prefetches memory.
const ROW: u64 = 4096;

/// The block of a host device for kernels that access elements across rows, or more than once. A
/// core vectorises a row, and the rows are enough to use whole cache lines.
const TILE: [u64; 2] = [256, 16];
/// The block of a host device for kernels that copy what the rows of a block read in common.
const TALL_TILE: [u64; 2] = [64, 128];
/// The least number of blocks for each core of a host device, if there is enough work: a core that
/// finishes early takes more.
const BLOCKS_PER_UNIT: u64 = 4;
/// The same for rows that stay at least [`LONG`] threads long: short blocks keep the wait for the
/// slowest core short.
const ROWS_PER_UNIT: u64 = 16;
/// The threads of a long row: several strips, whatever their width.
const LONG: u64 = 128;
/// The least work of a block of a host device, in operations as [`crate::host::Direct::cost`]
/// counts them.
const WORTH_A_BLOCK: u64 = 1 << 13;
/// The threads of a row are a multiple of this: strips of lanes that a core keeps in registers.
const STRIP: u64 = 32;

/// A kernel's properties on a host device.
#[derive(Clone, Copy, Debug)]
pub(super) struct Host {
    /// The approximate number of operations of a thread.
    pub(super) cost: u32,
    /// True if a thread accesses only elements along x.
    pub(super) row_wise: bool,
    /// True if a block copies what its rows read in common.
    pub(super) tall: bool,
}

impl Host {
    /// The block size along x and y: rows or tiles, small enough that every core gets some, unless
    /// the launch is very little work.
    fn block(self, extent: [u64; 3], units: u64) -> [u64; 2] {
        let [columns, rows, planes] = extent;
        let cost = u64::from(self.cost.max(1));
        let least = WORTH_A_BLOCK.div_ceil(cost);
        let units = units.max(1);
        let blocks = units.saturating_mul(BLOCKS_PER_UNIT);
        if rows == 1 || self.row_wise {
            let threads = columns.saturating_mul(rows).saturating_mul(planes);
            let short = threads.div_ceil(units.saturating_mul(ROWS_PER_UNIT));
            let fair = threads.div_ceil(blocks).min(short.max(LONG));
            let most = fair.max(least).min(ROW).next_multiple_of(STRIP);
            let x = columns.min(most);
            return [x, rows.min(most / x)];
        }
        let most = if self.tall { TALL_TILE } else { TILE };
        let x = columns.min(most[0]);
        let mut y = rows.min(most[1]);
        let tiles = |y: u64| {
            let plane = columns.div_ceil(x).saturating_mul(rows.div_ceil(y));
            plane.saturating_mul(planes)
        };
        while y > 1 && tiles(y) < blocks && x * y > least {
            y = y.div_ceil(2);
        }
        [x, y]
    }
}

impl Shape {
    /// The number of threads that the user asked for; if the block size is open, as of one thread.
    pub(super) fn threads(&self) -> [u64; 3] {
        match self {
            Shape::Over(extent) | Shape::Cover(extent) => extent.0.map(|n| n as u64),
            Shape::Grid { grid, block } => {
                let along = |i: usize| (grid.0[i] as u64).saturating_mul(block.0[i] as u64);
                [along(0), along(1), along(2)]
            }
            Shape::Blocks(grid) => widen(*grid),
        }
    }

    /// True if there are no threads to run.
    pub(super) fn is_empty(&self) -> bool {
        match self {
            Shape::Over(extent) | Shape::Cover(extent) => extent.0.contains(&0),
            Shape::Grid { grid, .. } | Shape::Blocks(grid) => grid.0.contains(&0),
        }
    }

    /// Checks the shape for errors that hold on every device.
    pub(super) fn check(&self, fixed: Option<[u32; 3]>) -> Result<(), String> {
        let block = match self {
            Shape::Over(_) | Shape::Cover(_) | Shape::Blocks(_) => {
                Dims(fixed.unwrap_or([1; 3]).map(|b| b as usize))
            }
            Shape::Grid { block, .. } => *block,
        };
        if block.0.contains(&0) {
            return Err(format!(
                "a block of {block} has no threads; each size must be at least 1"
            ));
        }
        if block.0.iter().any(|&b| u32::try_from(b).is_err()) {
            return Err(format!(
                "a block of {block} is larger than any device can run"
            ));
        }
        match self {
            Shape::Over(extent) | Shape::Cover(extent) => countable(widen(*extent)),
            Shape::Grid { grid, .. } | Shape::Blocks(grid) => {
                countable(product(widen(*grid), widen(block)).ok_or_else(too_many)?)
            }
        }
    }

    /// The blocks and threads of a non-empty, checked shape on a device. A device that runs all
    /// threads one after the other (`serial`) has blocks of one thread. An open block size is the
    /// one that was `picked`.
    pub(super) fn space(
        &self,
        (fixed, serial): (Option<[u32; 3]>, bool),
        picked: Option<[u32; 3]>,
        info: &DeviceInfo,
        host: Option<Host>,
    ) -> Result<IndexSpace, String> {
        let one = serial.then_some([1; 3]);
        let (extent, block, exact) = match *self {
            Shape::Over(extent) => (widen(extent), None, true),
            Shape::Cover(extent) => {
                let extent = widen(extent);
                let block = fixed.or(picked).unwrap_or_else(|| covering_block(extent));
                let grid = grid_of(extent, block);
                let whole = product(grid, block.map(u64::from)).ok_or_else(too_many)?;
                (whole, Some(block), false)
            }
            Shape::Grid { grid, block } => {
                let block = block.0.map(|b| b as u32);
                let extent = product(widen(grid), block.map(u64::from)).ok_or_else(too_many)?;
                (extent, Some(block), false)
            }
            Shape::Blocks(grid) => {
                let grid = widen(grid);
                let open = || open_block(grid, info);
                let block = one.or(fixed).or(picked).unwrap_or_else(open);
                let extent = product(grid, block.map(u64::from)).ok_or_else(too_many)?;
                (extent, Some(block), false)
            }
        };
        let block = one
            .or(block)
            .or(fixed)
            .or(picked)
            .unwrap_or_else(|| automatic_block(extent, info, host));
        check_block(block, info)?;
        let grid = grid_of(extent, block);
        let extent = match exact {
            true => extent,
            false => product(grid, block.map(u64::from)).ok_or_else(too_many)?,
        };
        countable(extent)?;
        Ok(IndexSpace {
            grid,
            block,
            extent,
        })
    }
}

/// The same threads in blocks of an automatic size, on a host device.
pub(super) fn reblocked(space: IndexSpace, info: &DeviceInfo, host: Host) -> IndexSpace {
    let block = automatic_block(space.extent, info, Some(host));
    IndexSpace {
        grid: grid_of(space.extent, block),
        block,
        extent: space.extent,
    }
}

fn widen(dims: Dims) -> [u64; 3] {
    dims.0.map(|n| n as u64)
}

fn product(a: [u64; 3], b: [u64; 3]) -> Option<[u64; 3]> {
    Some([
        a[0].checked_mul(b[0])?,
        a[1].checked_mul(b[1])?,
        a[2].checked_mul(b[2])?,
    ])
}

fn too_many() -> String {
    "it has more threads than 64 bits can count".to_owned()
}

/// The number of blocks that cover an extent.
fn grid_of(extent: [u64; 3], block: [u32; 3]) -> [u64; 3] {
    std::array::from_fn(|i| extent[i].div_ceil(u64::from(block[i])))
}

/// The block size of `.cover(extent)` where the kernel fixes none: at most 256 threads as `256`,
/// `(32, 8)` or `(32, 4, 2)`, a multiple of 32 along x, and no larger than the extent needs.
fn covering_block(extent: [u64; 3]) -> [u32; 3] {
    let any = DeviceInfo {
        warp: COVERING_ROW,
        ..DeviceInfo::default()
    };
    automatic_block(extent, &any, None)
}

/// The largest block of `.grid(grid)` without a block: like that of a large extent along the axes on
/// which there are several blocks, and along x.
pub(super) fn open_block(grid: [u64; 3], info: &DeviceInfo) -> [u32; 3] {
    let along = |axis: usize| {
        if axis == 0 || grid[axis] > 1 {
            u64::MAX
        } else {
            1
        }
    };
    automatic_block([along(0), along(1), along(2)], info, None)
}

/// The next smaller block: half of one along the last axis that has several threads. `None` below a
/// block of one thread.
pub(super) fn halved(block: [u32; 3]) -> Option<[u32; 3]> {
    let axis = block.iter().rposition(|&threads| threads > 1)?;
    let mut less = block;
    less[axis] /= 2;
    Some(less)
}

/// Returns an error if the number of threads exceeds 64 bits.
fn countable(extent: [u64; 3]) -> Result<(), String> {
    let count = extent.iter().try_fold(1u64, |n, &e| n.checked_mul(e));
    count.map(|_| ()).ok_or_else(too_many)
}

/// Checks that the device can run a block of this size.
pub(super) fn check_block(block: [u32; 3], info: &DeviceInfo) -> Result<(), String> {
    let threads: u64 = block
        .iter()
        .map(|&b| u64::from(b))
        .fold(1, u64::saturating_mul);
    let fits = (0..3).all(|i| block[i] <= info.max_block[i]);
    if fits && threads <= u64::from(info.max_block_threads) {
        return Ok(());
    }
    let [x, y, z] = info.max_block;
    Err(format!(
        "a block of {} is too large for {}, which runs at most {} threads a block, and ({x}, {y}, {z}) along the axes",
        Dims(block.map(|b| b as usize)),
        info.name,
        info.max_block_threads,
    ))
}

/// An automatic block size for an extent that is not empty. It is within the device's limits, a
/// multiple of its warp along x if the limits allow that, and no larger than the extent needs.
fn automatic_block(extent: [u64; 3], info: &DeviceInfo, host: Option<Host>) -> [u32; 3] {
    let limit = info.max_block.map(|m| u64::from(m.max(1)));
    let threads = u64::from(info.max_block_threads.max(1));
    if let Some(host) = host {
        let [x, y] = host.block(extent, u64::from(info.compute_units));
        let x = x.min(limit[0]).min(threads);
        let y = y.min(limit[1]).min(threads / x);
        return [x as u32, y as u32, 1];
    }
    let threads = threads.min(BLOCK_THREADS);
    let warp = u64::from(info.warp.max(1));
    let flat = extent[2] == 1;
    // A few threads along y and z, taken from those along x: (256), (32, 8), (32, 4, 2).
    let along = |axis: usize, most: u64| extent[axis].min(most).min(limit[axis]);
    let z = along(2, 2).min(threads);
    let y = along(1, if flat { 8 } else { 4 }).min(threads / z);
    let x = (threads / (y * z)).min(limit[0]);
    let x = x.min(extent[0].checked_next_multiple_of(warp).unwrap_or(u64::MAX));
    let x = if x > warp { x - x % warp } else { x };
    // Threads that a narrow extent leaves over go to y, then to z.
    let y = along(1, threads / (x * z));
    let z = along(2, threads / (x * y));
    [x as u32, y as u32, z as u32]
}

/// The grid to start for a logical grid: the same one, or a folded one with at least as many
/// blocks. `None` if the device cannot start that many.
pub(super) fn physical_grid(grid: [u64; 3], max: [u32; 3]) -> Option<[u32; 3]> {
    let max = max.map(|m| u64::from(m.max(1)));
    let narrow = |grid: [u64; 3]| grid.map(|g| g as u32);
    if (0..3).all(|i| grid[i] <= max[i]) {
        return Some(narrow(grid));
    }
    let blocks = grid.iter().try_fold(1u64, |n, &g| n.checked_mul(g))?;
    let y = blocks.div_ceil(max[0]).min(max[1]);
    let z = blocks.div_ceil(max[0]).div_ceil(y);
    let x = blocks.div_ceil(y).div_ceil(z);
    (z <= max[2]).then(|| narrow([x, y, z]))
}

#[cfg(test)]
mod tests;
