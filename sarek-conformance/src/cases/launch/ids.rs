//! Every id and extent, as every thread reports them.

use crate::Case;
use crate::check::{Check, TAIL, ensure, expect, sentinel_filled};
use crate::input::{Sample, block_sizes};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("launch/ids_in_blocks", &[], in_blocks),
    Case::new("launch/ids_over", &[], over),
    Case::new("launch/ids_fixed_block", &[], fixed_block),
];

const WORDS: usize = 19;

#[kernel]
fn report(out: &mut [u32]) {
    let base = 19 * global_thread_id();
    out[base] = thread_idx_x() as u32;
    out[base + 1] = thread_idx_y() as u32;
    out[base + 2] = thread_idx_z() as u32;
    out[base + 3] = block_idx_x() as u32;
    out[base + 4] = block_idx_y() as u32;
    out[base + 5] = block_idx_z() as u32;
    out[base + 6] = block_dim_x() as u32;
    out[base + 7] = block_dim_y() as u32;
    out[base + 8] = block_dim_z() as u32;
    out[base + 9] = grid_dim_x() as u32;
    out[base + 10] = grid_dim_y() as u32;
    out[base + 11] = grid_dim_z() as u32;
    out[base + 12] = global_idx_x() as u32;
    out[base + 13] = global_idx_y() as u32;
    out[base + 14] = global_idx_z() as u32;
    out[base + 15] = global_dim_x() as u32;
    out[base + 16] = global_dim_y() as u32;
    out[base + 17] = global_dim_z() as u32;
    out[base + 18] = global_thread_id() as u32;
}

/// The records of a grid's threads, with x varying fastest.
fn records(grid: [usize; 3], block: [usize; 3]) -> Vec<u32> {
    let [grid, block] = [grid, block].map(|sizes| sizes.map(|size| size as u32));
    let extent = [0, 1, 2].map(|k| grid[k] * block[k]);
    let mut records = vec![];
    for z in 0..extent[2] {
        for y in 0..extent[1] {
            for x in 0..extent[0] {
                let global = [x, y, z];
                records.extend([0, 1, 2].map(|k| global[k] % block[k]));
                records.extend([0, 1, 2].map(|k| global[k] / block[k]));
                records.extend(block);
                records.extend(grid);
                records.extend(global);
                records.extend(extent);
                records.push(records.len() as u32 / WORDS as u32);
            }
        }
    }
    records
}

fn in_blocks(device: &Device) -> Check {
    for block in block_sizes(device) {
        let expected = records([3, 1, 1], [block, 1, 1]);
        let mut out = sentinel_filled(expected.len());
        report(&mut out).grid(3).block(block).run_on(device)?;
        expect(&format!("grid(3).block({block})"), &out, &expected)?;
    }
    let shapes = [
        ([2, 3, 1], [4, 2, 1]),
        ([1, 1, 1], [5, 3, 2]),
        ([3, 2, 2], [2, 3, 4]),
        ([1, 4, 3], [1, 1, 1]),
        ([2, 2, 2], [32, 1, 2]),
    ];
    for (grid, block) in shapes {
        let expected = records(grid, block);
        let mut out = sentinel_filled(expected.len());
        let (g, b) = ((grid[0], grid[1], grid[2]), (block[0], block[1], block[2]));
        report(&mut out).grid(g).block(b).run_on(device)?;
        expect(&format!("grid({g:?}).block({b:?})"), &out, &expected)?;
    }
    Ok(())
}

/// The runtime chooses the block size, so blocks are only checked for consistency.
fn over(device: &Device) -> Check {
    for extent in [
        [1, 1, 1],
        [77, 1, 1],
        [1000, 1, 1],
        [7, 5, 1],
        [33, 17, 1],
        [9, 5, 3],
    ] {
        let threads: usize = extent.iter().map(|&e| e as usize).product();
        let mut out = sentinel_filled::<u32>(threads * WORDS);
        let [w, h, d] = extent.map(|e| e as usize);
        let launch = report(&mut out);
        match extent {
            [_, 1, 1] => launch.over(w).run_on(device)?,
            [_, _, 1] => launch.over((w, h)).run_on(device)?,
            _ => launch.over((w, h, d)).run_on(device)?,
        }
        let got = out.to_vec()?;
        for (id, record) in got[..threads * WORDS].chunks(WORDS).enumerate() {
            check_record(id as u32, record, extent)?;
        }
        ensure(got[threads * WORDS..] == [u32::SENTINEL; TAIL], || {
            "a stray record".into()
        })?;
    }
    Ok(())
}

fn check_record(id: u32, record: &[u32], extent: [u32; 3]) -> Check {
    let part = |k: usize| [record[k], record[k + 1], record[k + 2]];
    let (thread, block, block_dim, grid_dim) = (part(0), part(3), part(6), part(9));
    let (global, global_dim) = (part(12), part(15));
    let place = [
        id % extent[0],
        id / extent[0] % extent[1],
        id / extent[0] / extent[1],
    ];
    let consistent = (0..3).all(|k| {
        thread[k] < block_dim[k]
            && block[k] < grid_dim[k]
            && u64::from(block[k]) * u64::from(block_dim[k]) + u64::from(thread[k])
                == u64::from(global[k])
            && u64::from(grid_dim[k]) * u64::from(block_dim[k]) >= u64::from(extent[k])
            && u64::from(grid_dim[k] - 1) * u64::from(block_dim[k]) < u64::from(extent[k])
    });
    let exact = global == place && global_dim == extent && record[18] == id;
    ensure(consistent && exact, || {
        format!("over({extent:?}): thread {id} at {place:?} reports {record:?}")
    })
}

#[kernel(block = (8, 4))]
fn fixed_kernel(width: usize, out: &mut [u32]) {
    let col = global_idx_x();
    let row = global_idx_y();
    if col < width {
        let shape = block_dim_x() * 100 + block_dim_y() * 10 + block_dim_z();
        out[row * width + col] = shape as u32;
    }
}

fn fixed_block(device: &Device) -> Check {
    let (width, height) = (21, 9);
    let expected = vec![841; width * height];
    let mut out = sentinel_filled(expected.len());
    fixed_kernel(width, &mut out)
        .over((width, height))
        .run_on(device)?;
    expect("over", &out, &expected)?;
    let mut out = sentinel_filled(24 * 8);
    fixed_kernel(24, &mut out).grid((3, 2)).run_on(device)?;
    expect("grid", &out, &vec![841; 24 * 8])
}
