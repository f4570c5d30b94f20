//! The functions by which kernels read ids and extents.
//!
//! Kernels recognise them by name, and they cost nothing there. As functions they serve the type
//! checker, editors, and [`crate::Kernel::reference`]; elsewhere they panic.
//!
//! An expansion checks that each recognised name means the function here (`crate::types::named`).
//! So a user's own function of the same name is a compile error.

use super::reference::position;

/// The index of the thread in its block, along x.
pub fn thread_idx_x() -> usize {
    let p = position("thread_idx_x");
    p.thread[0]
}

/// The index of the thread in its block, along y.
pub fn thread_idx_y() -> usize {
    let p = position("thread_idx_y");
    p.thread[1]
}

/// The index of the thread in its block, along z.
pub fn thread_idx_z() -> usize {
    let p = position("thread_idx_z");
    p.thread[2]
}

/// The index of the block in the grid, along x.
pub fn block_idx_x() -> usize {
    let p = position("block_idx_x");
    p.block[0]
}

/// The index of the block in the grid, along y.
pub fn block_idx_y() -> usize {
    let p = position("block_idx_y");
    p.block[1]
}

/// The index of the block in the grid, along z.
pub fn block_idx_z() -> usize {
    let p = position("block_idx_z");
    p.block[2]
}

/// The number of threads of a block, along x.
pub fn block_dim_x() -> usize {
    let p = position("block_dim_x");
    p.space.block[0] as usize
}

/// The number of threads of a block, along y.
pub fn block_dim_y() -> usize {
    let p = position("block_dim_y");
    p.space.block[1] as usize
}

/// The number of threads of a block, along z.
pub fn block_dim_z() -> usize {
    let p = position("block_dim_z");
    p.space.block[2] as usize
}

/// The number of blocks of the grid, along x.
pub fn grid_dim_x() -> usize {
    let p = position("grid_dim_x");
    p.space.grid[0] as usize
}

/// The number of blocks of the grid, along y.
pub fn grid_dim_y() -> usize {
    let p = position("grid_dim_y");
    p.space.grid[1] as usize
}

/// The number of blocks of the grid, along z.
pub fn grid_dim_z() -> usize {
    let p = position("grid_dim_z");
    p.space.grid[2] as usize
}

/// The index of the thread in the launch, along x.
pub fn global_idx_x() -> usize {
    let p = position("global_idx_x");
    p.block[0] * p.space.block[0] as usize + p.thread[0]
}

/// The index of the thread in the launch, along y.
pub fn global_idx_y() -> usize {
    let p = position("global_idx_y");
    p.block[1] * p.space.block[1] as usize + p.thread[1]
}

/// The index of the thread in the launch, along z.
pub fn global_idx_z() -> usize {
    let p = position("global_idx_z");
    p.block[2] * p.space.block[2] as usize + p.thread[2]
}

/// The number of threads of the launch, along x.
pub fn global_dim_x() -> usize {
    let p = position("global_dim_x");
    p.space.extent[0] as usize
}

/// The number of threads of the launch, along y.
pub fn global_dim_y() -> usize {
    let p = position("global_dim_y");
    p.space.extent[1] as usize
}

/// The number of threads of the launch, along z.
pub fn global_dim_z() -> usize {
    let p = position("global_dim_z");
    p.space.extent[2] as usize
}

/// The index of the item that a thread of a kernel over items works on: `global_idx_x()`.
pub fn item_id() -> usize {
    let p = position("item_id");
    p.block[0] * p.space.block[0] as usize + p.thread[0]
}

/// The number of the thread in the launch, x running fastest: `(global_idx_z() * global_dim_y() +
/// global_idx_y()) * global_dim_x() + global_idx_x()`.
pub fn global_thread_id() -> usize {
    (global_idx_z() * global_dim_y() + global_idx_y()) * global_dim_x() + global_idx_x()
}

/// The maximal number of threads of a subgroup. The threads of a block are divided into subgroups
/// in the order of their numbers, x running fastest.
pub fn subgroup_size() -> usize {
    let _ = position("subgroup_size");
    super::collective::REFERENCE_SUBGROUP
}

/// The index of the thread in its subgroup.
pub fn subgroup_lane() -> usize {
    let p = position("subgroup_lane");
    p.lane() % super::collective::REFERENCE_SUBGROUP
}
