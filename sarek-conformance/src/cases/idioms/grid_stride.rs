//! Fewer threads than elements: each thread goes on by the number of threads.

use super::{PLANES, SIZES, in_place};
use crate::Case;
use crate::check::Check;
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("idioms/grid_stride_while", &[], by_while),
    Case::new("idioms/grid_stride_loop", &[], by_loop),
    Case::new("idioms/grid_stride_step_by", &[], by_steps),
    Case::new("idioms/grid_stride_plane", &[], plane),
    Case::new("idioms/grid_stride_rows", &[], rows),
    Case::new("idioms/grid_stride_u32", &[], counted_in_u32),
    Case::new("idioms/grid_stride_sums", &[], sums),
    Case::new("idioms/stride_of_a_function", &[], of_function),
    Case::new("idioms/stride_in_the_loop", &[], in_the_loop),
];

/// Runs a kernel on each size, in launches of one thread and of 66 threads.
fn along(
    run: impl Fn(&mut Vector<u32>, usize, usize) -> sarek::Result<()>,
    reference: impl Fn(&mut [u32]),
) -> Check {
    for n in SIZES {
        for (grid, block) in [(1, 1), (2, 33)] {
            let what = format!("{grid} blocks of {block}");
            in_place(&what, n, |y| run(y, grid, block), &reference)?;
        }
    }
    Ok(())
}

#[kernel]
fn while_kernel(y: &mut [u32]) {
    let mut i = global_idx_x();
    while i < y.len() {
        y[i] = 3 * y[i] + i as u32;
        i += global_dim_x();
    }
}

fn by_while(device: &Device) -> Check {
    along(
        |y, grid, block| while_kernel(y).grid(grid).block(block).run_on(device),
        |y| (0..y.len()).for_each(|i| y[i] = 3 * y[i] + i as u32),
    )
}

/// The stride is the extent of the grid, put together by hand.
#[kernel]
fn loop_kernel(n: usize, y: &mut [u32]) {
    let threads = grid_dim_x() * block_dim_x();
    let mut at = block_dim_x() * block_idx_x() + thread_idx_x();
    loop {
        if at >= n {
            break;
        }
        y[at] = y[at] / 2 + 7;
        at += threads;
    }
}

fn by_loop(device: &Device) -> Check {
    along(
        |y, grid, block| {
            loop_kernel(y.len(), y)
                .grid(grid)
                .block(block)
                .run_on(device)
        },
        |y| y.iter_mut().for_each(|y| *y = *y / 2 + 7),
    )
}

#[kernel]
fn step_by_kernel(y: &mut [u32]) {
    for i in (global_idx_x()..y.len()).step_by(global_dim_x()) {
        y[i] += 5;
    }
}

fn by_steps(device: &Device) -> Check {
    along(
        |y, grid, block| step_by_kernel(y).grid(grid).block(block).run_on(device),
        |y| y.iter_mut().for_each(|y| *y += 5),
    )
}

#[kernel]
fn plane_kernel(width: usize, height: usize, y: &mut [u32]) {
    let mut row = global_idx_y();
    while row < height {
        let mut col = global_idx_x();
        while col < width {
            y[row * width + col] += (100 * row + col) as u32;
            col += global_dim_x();
        }
        row += global_dim_y();
    }
}

fn plane(device: &Device) -> Check {
    for (w, h) in PLANES {
        let run = |y: &mut Vector<u32>| {
            let launch = plane_kernel(w, h, y).grid((2, 1)).block((8, 4));
            launch.run_on(device)
        };
        in_place(&format!("{w} by {h}"), w * h, run, |y| {
            (0..w * h).for_each(|i| y[i] += (100 * (i / w) + i % w) as u32);
        })?;
    }
    Ok(())
}

/// A block takes every so many rows, and its threads every so many columns.
#[kernel]
fn rows_kernel(rows: usize, cols: usize, y: &mut [u32]) {
    let mut row = block_idx_x();
    while row < rows {
        let mut col = thread_idx_x();
        while col < cols {
            y[row * cols + col] += row as u32;
            col += block_dim_x();
        }
        row += grid_dim_x();
    }
}

fn rows(device: &Device) -> Check {
    for (w, h) in PLANES {
        in_place(
            &format!("{h} rows of {w}"),
            w * h,
            |y| rows_kernel(h, w, y).grid(3).block(32).run_on(device),
            |y| (0..w * h).for_each(|i| y[i] += (i / w) as u32),
        )?;
    }
    Ok(())
}

#[kernel]
fn u32_kernel(n: u32, y: &mut [u32]) {
    let step = global_dim_x() as u32;
    let mut i = global_idx_x() as u32;
    while i < n {
        y[i as usize] ^= i;
        i += step;
    }
}

fn counted_in_u32(device: &Device) -> Check {
    along(
        |y, grid, block| {
            u32_kernel(y.len() as u32, y)
                .grid(grid)
                .block(block)
                .run_on(device)
        },
        |y| (0..y.len()).for_each(|i| y[i] ^= i as u32),
    )
}

/// A partial sum for each thread, in an element of its own.
#[kernel]
fn sums_kernel(x: &[u32], y: &mut [u32]) {
    let mut sum = 0;
    let mut i = global_idx_x();
    while i < x.len() {
        sum += x[i];
        i += global_dim_x();
    }
    y[global_idx_x()] = sum;
}

fn sums(device: &Device) -> Check {
    for n in SIZES {
        let x = super::random(7, n);
        in_place(
            &format!("sums of {n}"),
            66,
            |y| {
                let x = Vector::from_slice(&x);
                let launch = sums_kernel(&x, y);
                launch.grid(2).block(33).run_on(device)
            },
            |y| {
                for (i, y) in y.iter_mut().enumerate() {
                    *y = x.iter().skip(i).step_by(66).sum();
                }
            },
        )?;
    }
    Ok(())
}

#[device]
fn stride() -> usize {
    grid_dim_x() * block_dim_x()
}

/// The stride is the result of a function.
#[kernel]
fn of_function_kernel(y: &mut [u32]) {
    let mut i = global_idx_x();
    while i < y.len() {
        y[i] += i as u32;
        i += stride();
    }
}

fn of_function(device: &Device) -> Check {
    along(
        |y, grid, block| of_function_kernel(y).grid(grid).block(block).run_on(device),
        |y| y.iter_mut().zip(0..).for_each(|(y, i)| *y += i),
    )
}

/// Locals of the loop's body hold the stride.
#[kernel]
fn in_the_loop_kernel(y: &mut [u32]) {
    let mut i = global_idx_x();
    while i < y.len() {
        y[i] += 2 * i as u32;
        let threads = block_dim_x();
        let stride = threads * grid_dim_x();
        i += stride;
    }
}

fn in_the_loop(device: &Device) -> Check {
    along(
        |y, grid, block| in_the_loop_kernel(y).grid(grid).block(block).run_on(device),
        |y| y.iter_mut().zip(0..).for_each(|(y, i)| *y += 2 * i),
    )
}
