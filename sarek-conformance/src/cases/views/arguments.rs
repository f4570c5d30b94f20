//! Views passed to functions: by value, by reference, passed on, and to all threads of a block.

use super::SHAPES;
use crate::Case;
use crate::cases::faults::fault_of;
use crate::check::{Check, ensure, expect, sentinel_filled};
use sarek::prelude::*;
use sarek::{Element, FaultKind};

pub const CASES: &[Case] = &[
    Case::new("views/arguments_read", &[], read),
    Case::new("views/arguments_of_methods", &[], methods),
    Case::new("views/arguments_written", &[], written),
    Case::new("views/arguments_of_recursion", &[], recursion),
    Case::new("views/arguments_of_collective_functions", &[], together),
    Case::new("views/faults_in_functions", &[], faults),
];

/// The sum of an element and its neighbours.
#[device]
fn around<T: Num>(x: View2<T>, row: usize, col: usize) -> T {
    let mut sum = x[[row, col]];
    if row > 0 {
        sum += x[[row - 1, col]];
    }
    if col > 0 {
        sum += x[[row, col - 1]];
    }
    if row + 1 < x.rows() {
        sum += x[[row + 1, col]];
    }
    if col + 1 < x.cols() {
        sum += x[[row, col + 1]];
    }
    sum
}

/// Passes its views on.
#[device]
fn difference<T: Num>(x: &View2<T>, y: View2<T>, at: [usize; 2]) -> T {
    around(*x, at[0], at[1]) - around(y, at[0], at[1])
}

#[kernel]
fn read_kernel<T: Num>(x: View2<T>, z: View2<T>, mut y: ViewMut2<T>) {
    let row = global_idx_y();
    let col = global_idx_x();
    if row < y.rows() && col < y.cols() {
        y[[row, col]] = difference(&x, z, [row, col]);
    }
}

fn numbers(n: usize) -> Vec<i32> {
    (0..n as i32).map(|i| i * 7 % 1000 - 300).collect()
}

/// The expected sum around each element of `rows` times `cols`.
fn expected_around(at: impl Fn(usize, usize) -> i32, rows: usize, cols: usize) -> Vec<i32> {
    let near = |row: usize, col: usize| {
        let steps = [(0, 0), (-1, 0), (1, 0), (0, -1), (0, 1)];
        let there = steps.into_iter().filter_map(|(down, right)| {
            let row = row.checked_add_signed(down).filter(|r| *r < rows)?;
            let col = col.checked_add_signed(right).filter(|c| *c < cols)?;
            Some(at(row, col))
        });
        there.sum()
    };
    (0..rows * cols).map(|i| near(i / cols, i % cols)).collect()
}

fn read(device: &Device) -> Check {
    reads(device, |v| v)?;
    reads(device, |v| v as f32)
}

fn reads<T: Num + sarek::testing::Sample + Element>(
    device: &Device,
    of: impl Fn(i32) -> T,
) -> Check {
    for (rows, cols) in SHAPES {
        let (a, b) = (numbers(rows * cols), numbers((rows + 2) * (cols + 3)));
        let turned = expected_around(|r, c| a[c * rows + r], rows, cols);
        let inner = expected_around(|r, c| b[(r + 1) * (cols + 3) + c + 2], rows, cols);
        let expected: Vec<T> = turned.iter().zip(inner).map(|(a, b)| of(a - b)).collect();
        let vector = |v: &[i32]| Vector::from_vec(v.iter().map(|v| of(*v)).collect());
        let (a, b) = (vector(&a), vector(&b));
        let mut y = sentinel_filled(rows * cols);
        let outer = b.view2(rows + 2, cols + 3)?;
        read_kernel::<T>(
            a.view2(cols, rows)?.transposed(),
            outer.window([1, 2], [rows, cols])?,
            y.view2_mut(rows, cols)?,
        )
        .over((cols + 1, rows + 2))
        .run_on(device)?;
        expect(&format!("{rows} x {cols}"), &y, &expected)?;
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Debug, KernelType)]
#[repr(C)]
struct Cell {
    key: u32,
    at: [u32; 2],
}

#[device]
trait Field: KernelType {
    fn seen(&self, by: &View2<Cell>, row: usize) -> u32;
}

#[device]
impl Field for Cell {
    fn seen(&self, by: &View2<Cell>, row: usize) -> u32 {
        self.key * 2 + by[[row, 0]].key
    }
}

#[device]
impl Cell {
    fn of(x: View2<Cell>, row: usize, col: usize) -> Cell {
        let mut cell = x[[row, col]];
        cell.key += x[[row, x.cols() - 1]].at[1];
        cell
    }

    fn moved(&self, x: View2<Cell>, row: usize) -> u32 {
        self.key + x[[row, 0]].at[0]
    }
}

#[device]
fn seen_by<F: Field>(field: F, by: View2<Cell>, row: usize) -> u32 {
    field.seen(&by, row)
}

#[kernel]
fn methods_kernel(x: View2<Cell>, mut y: ViewMut2<u32>) {
    let row = global_idx_y();
    let col = global_idx_x();
    if row < y.rows() && col < y.cols() {
        let cell = Cell::of(x, row, col);
        y[[row, col]] = cell.moved(x, row) + x[[row, col]].moved(x, row) + seen_by(cell, x, row);
    }
}

fn methods(device: &Device) -> Check {
    for (rows, cols) in SHAPES {
        let cell = |i: usize| Cell {
            key: i as u32,
            at: [i as u32 % 7, i as u32 % 11],
        };
        let cells: Vec<Cell> = (0..rows * cols).map(cell).collect();
        let expected = (0..rows * cols).map(|i| {
            let (row, first) = (i / cols, cells[i / cols * cols]);
            let key = cells[i].key + cells[(row + 1) * cols - 1].at[1];
            let moved = |key| key + first.at[0];
            moved(key) + moved(cells[i].key) + key * 2 + first.key
        });
        let expected: Vec<u32> = expected.collect();
        let cells = Vector::from_vec(cells);
        let mut y = sentinel_filled(rows * cols);
        methods_kernel(cells.view2(rows, cols)?, y.view2_mut(rows, cols)?)
            .over((cols, rows))
            .run_on(device)?;
        expect(&format!("{rows} x {cols}"), &y, &expected)?;
    }
    Ok(())
}

#[device]
fn put(y: &mut ViewMut2<i32>, row: usize, col: usize, value: i32) {
    y[[row, col]] = value;
    y[[row, col]] += get(y, row, col);
}

#[device]
fn get(y: &ViewMut2<i32>, row: usize, col: usize) -> i32 {
    y[[row, col]]
}

/// Takes the view by value.
#[device]
fn finish(mut y: ViewMut2<i32>, row: usize, col: usize) {
    put(&mut y, row, col, 7);
    y[[row, col]] *= 3;
}

#[kernel]
unsafe fn written_kernel(x: View3<i32>, mut y: ViewMut2<i32>) {
    let row = global_idx_y();
    let col = global_idx_x();
    if row < y.rows() && col < y.cols() {
        put(&mut y, row, col, x[[x.depth() - 1, row, col]]);
        let more = get(&y, row, col);
        if more % 4 == 0 {
            finish(y, row, col);
        }
    }
}

fn written(device: &Device) -> Check {
    for (rows, cols) in SHAPES {
        let n = rows * cols;
        let x = numbers(3 * n);
        let value = |v: i32| if v % 2 == 0 { 42 } else { 2 * v };
        let expected: Vec<i32> = x[2 * n..].iter().map(|v| value(*v)).collect();
        let x = Vector::from_vec(x);
        let mut y = sentinel_filled(n);
        // SAFETY: each thread writes an element of its own.
        unsafe { written_kernel(x.view3(3, rows, cols)?, y.view2_mut(rows, cols)?) }
            .over((cols + 1, rows))
            .run_on(device)?;
        expect(&format!("{rows} x {cols}"), &y, &expected)?;
    }
    Ok(())
}

/// Tail recursion, which becomes a loop.
#[device]
fn total(x: View3<i32>, at: usize, plane: usize, sum: i32) -> i32 {
    if plane == x.depth() {
        sum
    } else {
        total(x, at, plane + 1, sum + x[[plane, 0, at]])
    }
}

/// Nested recursion with a declared maximum depth.
#[device(inline = 6)]
fn nested(x: &View3<i32>, at: usize, plane: usize) -> i32 {
    if plane == x.depth() {
        1
    } else {
        x[[plane, 0, at]] - 2 * nested(x, at, plane + 1)
    }
}

#[kernel]
fn recursion_kernel(x: View3<i32>, y: &mut [i32]) {
    let i = global_idx_x();
    if i < x.cols() {
        y[i] = total(x, i, 0, 0) + nested(&x, i, 0);
    }
}

fn recursion(device: &Device) -> Check {
    let (planes, n) = (5, 33);
    let x = numbers(planes * n);
    let expected = (0..n).map(|i| {
        let column = (0..planes).map(|p| x[p * n + i]);
        let alternating = column.clone().rev().fold(1, |sum, v| v - 2 * sum);
        column.sum::<i32>() + alternating
    });
    let expected: Vec<i32> = expected.collect();
    let x = Vector::from_vec(x);
    let mut y = sentinel_filled(n);
    recursion_kernel(x.view3(planes, 1, n)?, &mut y)
        .over(n)
        .run_on(device)?;
    expect("recursion", &y, &expected)
}

/// The sum of all elements, each row weighted by its number plus one. Blocks of 32 threads load them into `tile`.
#[device]
fn block_total(x: View2<f32>, tile: &mut [f32]) -> f32 {
    let t = thread_idx_x();
    let mut sum = 0.0;
    for row in 0..x.rows() {
        let mut first = 0;
        while first < x.cols() {
            let col = first + t;
            tile[t] = if col < x.cols() { x[[row, col]] } else { 0.0 };
            barrier();
            for k in 0..32 {
                sum += tile[k] * (row + 1) as f32;
            }
            barrier();
            first += 32;
        }
    }
    barrier();
    sum
}

#[device]
fn two_totals(x: &View2<f32>, z: View2<f32>, tile: &mut [f32]) -> f32 {
    let one = block_total(*x, tile);
    one + 2.0 * block_total(z, tile)
}

#[kernel(block = 32)]
fn together_kernel(x: View2<f32>, z: View2<f32>, y: &mut [f32]) {
    let tile = shared_array::<f32, 32>();
    let sum = two_totals(&x, z, tile);
    y[global_idx_x()] = sum;
}

fn together(device: &Device) -> Check {
    for (rows, cols) in SHAPES {
        let n = rows * cols;
        let a: Vec<f32> = (0..n).map(|i| (i * 7 % 16) as f32 - 3.0).collect();
        let weighed = |of: &dyn Fn(usize) -> usize| -> f32 {
            (0..n).map(|i| a[i] * (of(i) + 1) as f32).sum()
        };
        let expected = weighed(&|i| i / cols) + 2.0 * weighed(&|i| i % cols);
        let x = Vector::from_slice(&a);
        let mut y = sentinel_filled(64);
        let turned = x.view2(rows, cols)?.transposed();
        together_kernel(x.view2(rows, cols)?, turned, &mut y)
            .grid(2)
            .run_on(device)?;
        expect(&format!("{rows} x {cols}"), &y, &[expected; 64])?;
    }
    Ok(())
}

#[kernel]
fn faults_kernel(x: View2<i32>, down: usize, mut y: ViewMut2<i32>) {
    y[[global_idx_y(), global_idx_x()]] = around(x, global_idx_y() + down, global_idx_x());
}

/// The fault names the kernel's view.
fn faults(device: &Device) -> Check {
    let x = Vector::from_vec(numbers(64));
    let mut y = Vector::filled(64, 5);
    let result = faults_kernel(
        x.view2(8, 8)?.window([0, 0], [4, 6])?,
        2,
        y.view2_mut(4, 6)?,
    )
    .over((6, 3))
    .run_on(device);
    let fault = fault_of(result, &mut y)?;
    let expected = FaultKind::Dimension {
        argument: "x".into(),
        dimension: 0,
        index: 4,
    };
    ensure(fault.kind == expected, || {
        format!("{:?}, not {expected:?}", fault.kind)
    })
}
