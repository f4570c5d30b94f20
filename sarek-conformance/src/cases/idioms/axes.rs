//! Blocks as rows or images, one thread of a plane, and parts of blocks: preconditions on the shape of the launch.

use super::{PLANES, in_place};
use crate::Case;
use crate::check::{Check, ensure};
use sarek::Error;
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("idioms/images_by_block", &[], images),
    Case::new("idioms/first_thread_of_a_plane", &[], first),
    Case::new("idioms/first_thread_of_each_part", &[], parts),
    Case::new("idioms/view_by_a_grid_stride", &[], view),
];

fn is_refused(result: sarek::Result<()>, why: &str) -> Check {
    let is = matches!(&result, Err(Error::Precondition { requirement, .. }) if requirement.contains(why));
    ensure(is, || format!("{result:?}"))
}

/// The blocks along z are images.
#[kernel]
fn images_kernel(w: usize, h: usize, y: &mut [u32]) {
    let (c, r) = (global_idx_x(), global_idx_y());
    if c < w && r < h {
        y[block_idx_z() * (w * h) + r * w + c] += (block_idx_z() + r + c) as u32;
    }
}

fn images(device: &Device) -> Check {
    for (w, h) in PLANES {
        let run = |y: &mut Vector<u32>| {
            images_kernel(w, h, y)
                .grid((w.div_ceil(8).max(1), h.div_ceil(4), 3))
                .block((8, 4, 1))
                .run_on(device)
        };
        in_place("images", 3 * w * h, run, |y| {
            for (i, y) in y.iter_mut().enumerate() {
                *y += (i / (w * h) + i / w % h + i % w) as u32;
            }
        })?;
    }
    let mut y = Vector::zeros(8);
    let twice = images_kernel(2, 2, &mut y)
        .grid((1, 1, 1))
        .block((2, 2, 2))
        .run_on(device);
    is_refused(twice, "a block has at most 1 threads along z")
}

/// The first thread of a block, which has two dimensions, stores.
#[kernel]
fn first_kernel(y: &mut [u32]) {
    if thread_idx_x() == 0 && thread_idx_y() == 0 {
        y[block_idx_x()] += block_dim_y() as u32;
    }
}

fn first(device: &Device) -> Check {
    let run = |y: &mut Vector<u32>| first_kernel(y).grid((5, 1)).block((4, 2)).run_on(device);
    in_place("first", 5, run, |y| y.iter_mut().for_each(|y| *y += 2))?;
    let mut y = Vector::zeros(5);
    let rows = first_kernel(&mut y)
        .grid((5, 2))
        .block((4, 2))
        .run_on(device);
    is_refused(rows, "at most 1 block along y, but it has 2 blocks there")
}

/// One thread of each 16.
#[kernel]
fn parts_kernel(x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    if thread_idx_x() % 16 == 0 && i < x.len() {
        y[i / 16] += x[i];
    }
}

fn parts(device: &Device) -> Check {
    let x = Vector::from_vec((0..100).collect());
    let run = |y: &mut Vector<u32>| parts_kernel(&x, y).grid(4).block(32).run_on(device);
    in_place("parts", 7, run, |y| {
        (0..7).for_each(|i| y[i] += 16 * i as u32);
    })?;
    // A single block has all multiples of 16 in itself.
    let run = |y: &mut Vector<u32>| parts_kernel(&x, y).grid(1).block(40).run_on(device);
    in_place("one block", 3, run, |y| {
        (0..3).for_each(|i| y[i] += 16 * i as u32);
    })?;
    let mut y = Vector::zeros(7);
    let odd = parts_kernel(&x, &mut y).grid(4).block(24).run_on(device);
    is_refused(
        odd,
        "blocks of a multiple of 16 threads there, but its blocks have 24 threads there",
    )
}

#[kernel]
fn view_kernel(mut y: ViewMut2<u32>) {
    let mut r = global_idx_y();
    while r < y.rows() {
        let mut c = global_idx_x();
        while c < y.cols() {
            y[[r, c]] += (r + c) as u32;
            c += global_dim_x();
        }
        r += global_dim_y();
    }
}

fn view(device: &Device) -> Check {
    for (w, h) in PLANES {
        let run = |y: &mut Vector<u32>| {
            let view = y.view2_mut(h, w)?;
            view_kernel(view).grid((2, 1)).block((4, 3)).run_on(device)
        };
        in_place("view", w * h, run, |y| {
            for (i, y) in y.iter_mut().enumerate() {
                *y += (i / w + i % w) as u32;
            }
        })?;
    }
    Ok(())
}
