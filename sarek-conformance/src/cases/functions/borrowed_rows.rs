//! Arrays of arrays passed to functions as slices of rows, and arrays passed by value or as `&[T; N]`.

use super::super::block::barriers::of_each_thread;
use crate::Case;
use crate::cases::faults::fault_of;
use crate::check::{Check, ensure, expect, sentinel_filled};
use sarek::FaultKind;
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("functions/borrowed_rows", &[], own),
    Case::new("functions/borrowed_rows_of_shared_arrays", &[], shared),
    Case::new(
        "functions/borrowed_rows_with_barriers",
        &[],
        own_with_barriers,
    ),
    Case::new("functions/faults_of_borrowed_rows", &[], faults),
    Case::new("functions/arrays_by_value", &[], by_value),
    Case::new("functions/changed_rows", &[], changed),
    Case::new("functions/borrowed_cubes_and_named_widths", &[], cubes),
];

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Pair {
    a: u32,
    b: u32,
}

#[device]
fn diagonal(x: &[[u32; 2]]) -> u32 {
    let mut sum = 0;
    for k in 0..x.len() {
        sum += x[k][k % 2];
    }
    sum
}

#[device]
fn mark(x: &mut [[u32; 2]], by: u32) {
    x[1][0] = by;
    x[2] = [by + 1, by + 2];
}

#[device]
fn deepest(x: &mut [[[u32; 2]; 3]]) -> u32 {
    x[1][2][1] += 5;
    x.len() as u32 * 100 + x[1][2][1]
}

#[device]
fn swapped(x: &mut [[Pair; 2]]) {
    for k in 0..x.len() {
        x[k] = [x[k][1], x[k][0]];
    }
}

#[kernel]
fn own_kernel(y: &mut [u32]) {
    let t = thread_idx_x() as u32;
    let mut rows = [[t, 1], [2, 3], [4, 5]];
    let before = diagonal(&rows);
    mark(&mut rows, 10 * t);
    let mut cube = [[[t; 2]; 3]; 4];
    let deep = deepest(&mut cube);
    let mut pairs = [[Pair { a: t, b: 7 }, Pair { a: 9, b: 11 }]; 3];
    swapped(&mut pairs);
    let sums = before + diagonal(&rows) + deep + cube[1][2][1];
    y[global_idx_x()] = sums + pairs[2][0].a + 100 * pairs[1][1].b + rows[2][1];
}

fn own(device: &Device) -> Check {
    let run = |y: &mut Vector<u32>, block| own_kernel(y).grid(2).block(block).run_on(device);
    of_each_thread(device, run, |_, t, _| {
        let diagonals = (t + 3 + 4) + (t + 3 + 10 * t + 1);
        diagonals + 400 + 2 * (t + 5) + 9 + 700 + 10 * t + 2
    })
}

/// Twice the value of the next thread, plus the first element of the tile.
#[device]
fn of_next(tile: &mut [[u32; 2]], x: u32) -> u32 {
    let t = thread_idx_x();
    tile[t][0] = x;
    tile[t][1] = 2 * x;
    barrier();
    let next = (t + 1) % block_dim_x();
    let other = tile[next][1] + tile[0][0];
    barrier();
    other
}

#[kernel]
fn shared_kernel(y: &mut [u32]) {
    let tile = shared_array::<[u32; 2], 1024>();
    let t = thread_idx_x() as u32;
    let first = of_next(tile, t);
    y[global_idx_x()] = first + of_next(tile, 3 * t + 1);
}

fn shared(device: &Device) -> Check {
    let run = |y: &mut Vector<u32>, block| shared_kernel(y).grid(2).block(block).run_on(device);
    of_each_thread(device, run, |_, t, n| {
        let next = (t + 1) % n;
        2 * next + 2 * (3 * next + 1) + 1
    })
}

#[device]
fn add_next(own: &mut [[u32; 3]], tile: &mut [u32]) {
    let t = thread_idx_x();
    for k in 0..own.len() {
        tile[t] = own[k][1];
        barrier();
        own[k][2] += 10 * tile[(t + 1) % block_dim_x()];
        barrier();
    }
    barrier();
}

#[kernel]
fn own_with_barriers_kernel(y: &mut [u32]) {
    let tile = shared_array::<u32, 1024>();
    let t = thread_idx_x() as u32;
    let mut own = [[t, 2 * t, 1], [5, 6, 7]];
    add_next(&mut own, tile);
    add_next(&mut own, tile);
    y[global_idx_x()] = own[0][2] + own[1][2] + own[0][0];
}

fn own_with_barriers(device: &Device) -> Check {
    let run = |y: &mut Vector<u32>, block| {
        let launch = own_with_barriers_kernel(y).grid(2).block(block);
        launch.run_on(device)
    };
    of_each_thread(device, run, |_, t, n| 1 + 40 * ((t + 1) % n) + 7 + 120 + t)
}

#[kernel]
fn faults_kernel(at: usize, y: &mut [u32]) {
    let rows = [[1, 2], [3, 4]];
    y[global_idx_x()] = element(&rows, 1, at);
}

#[device]
fn element(rows: &[[u32; 2]], i: usize, j: usize) -> u32 {
    rows[i][j]
}

fn faults(device: &Device) -> Check {
    let mut y = sentinel_filled(8);
    let result = faults_kernel(2, &mut y).grid(2).block(4).run_on(device);
    let fault = fault_of(result, &mut y)?;
    let is_expected = matches!(
        &fault.kind,
        FaultKind::Dimension {
            dimension: 1,
            index: 2,
            ..
        }
    );
    ensure(is_expected, || {
        format!("{:?} of the third column of two", fault.kind)
    })
}

#[device]
fn total(x: [u32; 3]) -> u32 {
    x[0] + x[1] + x[2]
}

#[device]
fn trace(x: [[u32; 2]; 2]) -> u32 {
    x[0][0] + x[1][1]
}

#[device]
fn any_total<const N: usize>(x: [u32; N]) -> u32 {
    let mut sum = 0;
    for k in 0..N {
        sum += x[k];
    }
    sum
}

#[device]
fn known_total(x: &[u32; 3]) -> u32 {
    let mut sum = 0;
    for k in 0..x.len() {
        sum += x[k];
    }
    sum
}

#[device]
fn double(x: &mut [u32; 3]) {
    for k in 0..3 {
        x[k] *= 2;
    }
}

#[kernel]
fn by_value_kernel(y: &mut [u32]) {
    let t = thread_idx_x() as u32;
    let mut own = [t, 2, 3];
    let square = [[1, 2], [3, t]];
    let before = total(own) + total([1, t, 1]) + trace(square);
    double(&mut own);
    y[global_idx_x()] = before + known_total(&own) + any_total(own);
}

fn by_value(device: &Device) -> Check {
    let run = |y: &mut Vector<u32>, block| by_value_kernel(y).grid(2).block(block).run_on(device);
    of_each_thread(device, run, |_, t, _| {
        (t + 5) + (t + 2) + (t + 1) + 2 * (2 * t + 10)
    })
}

#[device]
fn bump(x: &mut [u32], by: u32) {
    for k in 0..x.len() {
        x[k] += by;
    }
}

#[device]
fn add(x: &mut [u32], y: &[u32]) {
    for k in 0..x.len() {
        x[k] += y[k];
    }
}

#[device]
fn bump_columns(x: &mut [[u32; 2]], by: u32) {
    for k in 0..x.len() {
        x[k][1] += by;
    }
}

#[device]
fn pair(a: u32) -> [u32; 2] {
    [a, a + 1]
}

/// Changes single rows of local and shared arrays.
#[kernel]
fn changed_kernel(y: &mut [u32]) {
    let tile = shared_array::<[u32; 2], 1024>();
    let t = thread_idx_x();
    let mut rows = [[1, 2], [t as u32, 4], [5, 6]];
    bump(&mut rows[1], 10);
    let first = rows[0];
    add(&mut rows[2], &first);
    let mut cube = [[[1u32; 2]; 2]; 3];
    bump_columns(&mut cube[t % 3], 7);
    bump(&mut cube[2][1], rows[1][0]);
    tile[t] = [rows[1][1], 3];
    bump(&mut tile[t], 5);
    tile[t] = pair(tile[t][0]);
    let own = tile[t];
    barrier();
    let next = any_total(tile[(t + 1) % block_dim_x()]);
    y[global_idx_x()] = rows[1][0] + rows[2][1] + cube[2][1][1] + cube[0][1][1] + own[1] + next;
}

fn changed(device: &Device) -> Check {
    let run = |y: &mut Vector<u32>, block| changed_kernel(y).grid(2).block(block).run_on(device);
    of_each_thread(device, run, |_, t, _| {
        let by = |k| if t % 3 == k { 7 } else { 0 };
        (t + 10) + 8 + (1 + by(2) + t + 10) + (1 + by(0)) + 20 + 39
    })
}

const WIDTH: usize = 8;

#[device]
fn turned(tile: &mut [[u32; WIDTH]], x: u32) -> u32 {
    let (column, row) = (thread_idx_x(), thread_idx_y());
    tile[row][column] = x;
    barrier();
    let other = tile[column][row];
    barrier();
    other
}

#[device]
fn any_turned<const N: usize>(tile: &mut [[u32; N]], x: u32) -> u32 {
    let (column, row) = (thread_idx_x(), thread_idx_y());
    tile[row][column] = x;
    barrier();
    let other = tile[column][row];
    barrier();
    other
}

#[device]
fn rolled(tile: &mut [[[u32; 4]; 8]], x: u32) -> u32 {
    let (a, b, c) = (thread_idx_x(), thread_idx_y(), thread_idx_z());
    tile[c][b][a] = x;
    barrier();
    let other = tile[(c + 1) % 2][7 - b][3 - a];
    barrier();
    other
}

#[kernel(block = (8, 8))]
fn squares_kernel(y: &mut [u32]) {
    let tile = shared_array::<[u32; WIDTH], WIDTH>();
    let x = 10 * thread_idx_y() as u32 + thread_idx_x() as u32;
    let turned = turned(tile, x);
    y[global_thread_id()] = turned + 100 * any_turned(tile, x + 1);
}

#[kernel(block = (4, 8, 2))]
fn cubes_kernel(y: &mut [u32]) {
    let tile = shared_array::<[[u32; 4]; 8], 2>();
    let (b, c) = (thread_idx_y() as u32, thread_idx_z() as u32);
    y[global_thread_id()] = rolled(tile, 100 * c + 10 * b + thread_idx_x() as u32);
}

fn cubes(device: &Device) -> Check {
    let mut y = sentinel_filled(64);
    squares_kernel(&mut y).grid(1).run_on(device)?;
    let turned = |i: u32| 10 * (i % 8) + i / 8;
    let expected: Vec<u32> = (0..64).map(|i| turned(i) + 100 * (turned(i) + 1)).collect();
    expect("squares", &y, &expected)?;
    let mut y = sentinel_filled(64);
    cubes_kernel(&mut y).grid(1).run_on(device)?;
    let rolled = |i: u32| 100 * (1 - i / 32) + 10 * (7 - i / 4 % 8) + (3 - i % 4);
    expect("cubes", &y, &(0..64).map(rolled).collect::<Vec<u32>>())
}
