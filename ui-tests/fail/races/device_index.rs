//! Functions whose results two threads may share, or whose results are not known.

use sarek::prelude::*;

const WIDTH: usize = 16;

#[device]
fn half(i: usize) -> usize {
    i / 2
}

#[kernel]
fn of_half(y: &mut [u32]) {
    y[half(global_idx_x())] = 1;
}

#[device]
fn diagonal(row: usize, column: usize, width: usize) -> usize {
    row + column * width - column * width + column
}

#[kernel]
fn of_diagonal(width: usize, y: &mut [u32]) {
    let (column, row) = (global_idx_x(), global_idx_y());
    if column < width {
        let at = diagonal(row, column, width);
        y[at] = 1;
    }
}

#[device]
fn early(i: usize) -> usize {
    if i > 100 {
        return 0;
    }
    i
}

#[kernel]
fn of_early(y: &mut [u32]) {
    y[early(global_idx_x())] = 1;
}

#[device]
fn narrow(i: usize) -> usize {
    i as u8 as usize
}

#[kernel]
fn of_narrow(y: &mut [u32]) {
    y[narrow(global_idx_x())] = 1;
}

#[device]
fn wraps(i: u32) -> usize {
    (i * 65536) as usize
}

#[kernel]
fn of_wraps(y: &mut [u32]) {
    y[wraps(global_idx_x() as u32)] = 1;
}

#[device]
fn too_narrow(row: usize, column: usize) -> usize {
    row * (WIDTH - 1) + column
}

#[kernel]
fn of_too_narrow(y: &mut [u32]) {
    let (column, row) = (global_idx_x(), global_idx_y());
    if column < WIDTH {
        y[too_narrow(row, column)] = 1;
    }
}

#[device]
fn spread<const N: usize>(i: usize) -> usize {
    N * i
}

#[kernel]
fn of_zero(y: &mut [u32]) {
    y[spread::<0>(global_idx_x())] = 1;
}

/// The factor 256 is 0 in this type.
#[device]
fn vanishes(i: u8) -> u8 {
    i * 16 * 16
}

#[kernel]
fn of_vanishing(y: &mut [u32]) {
    let at: u8 = vanishes(global_idx_x() as u8);
    y[at as usize] = 1;
}

struct Plane;

#[device]
impl Plane {
    fn at(row: usize, column: usize, width: usize) -> usize {
        row * width + column
    }
}

/// The call is wrong in the other order.
#[kernel]
fn of_other_order(width: usize, y: &mut [u32]) {
    let (column, row) = (global_idx_x(), global_idx_y());
    if column < width {
        y[Plane::at(column, row, width)] = 1;
    }
}

fn main() {}
