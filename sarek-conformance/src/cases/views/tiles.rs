//! Tiles in shared memory, in safe kernels: the facts about views prove that threads write different elements.

use super::SHAPES;
use crate::check::{Check, ensure, expect, sentinel_filled};
use crate::{Capability, Case};
use sarek::Element;
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("views/transpose_i32", &[], int),
    Case::new("views/transpose_f32", &[], float),
    Case::new("views/transpose_f64", &[Capability::F64], double),
    Case::new("views/transpose_records", &[], records),
    Case::new("views/matmul", &[], matmul),
];

#[derive(Clone, Copy, PartialEq, Debug, KernelType)]
#[repr(C)]
struct Record {
    key: u32,
    at: [f32; 2],
}

const SIDE: usize = 8;

/// Each block reads a tile, and writes it transposed to the mirrored position.
#[kernel(block = (8, 8))]
fn transpose_kernel<T: Element>(x: View2<T>, mut y: ViewMut2<T>) {
    let tile = shared_array::<[T; 9], 8>();
    let tx = thread_idx_x();
    let ty = thread_idx_y();
    let row = global_idx_y();
    let col = global_idx_x();
    if row < x.rows() && col < x.cols() {
        tile[ty][tx] = x[[row, col]];
    }
    barrier();
    let row = block_idx_x() * 8 + ty;
    let col = block_idx_y() * 8 + tx;
    if row < y.rows() && col < y.cols() {
        y[[row, col]] = tile[tx][ty];
    }
}

fn transposes<T: Element + PartialEq + std::fmt::Debug>(
    device: &Device,
    value: impl Fn(usize) -> T,
) -> Check {
    for (rows, cols) in SHAPES {
        let x: Vec<T> = (0..rows * cols).map(&value).collect();
        let expected: Vec<T> = (0..rows * cols)
            .map(|i| x[i % rows * cols + i / rows])
            .collect();
        let mut y = Vector::filled(rows * cols, value(0));
        let x = Vector::from_vec(x);
        transpose_kernel::<T>(x.view2(rows, cols)?, y.view2_mut(cols, rows)?)
            .grid((cols.div_ceil(SIDE), rows.div_ceil(SIDE)))
            .run_on(device)?;
        let y = y.to_vec()?;
        ensure(y == expected, || {
            format!("{rows} x {cols}: {y:?}, not {expected:?}")
        })?;
    }
    Ok(())
}

fn int(device: &Device) -> Check {
    transposes(device, |i| i as i32 * 3 - 50)
}

fn float(device: &Device) -> Check {
    transposes(device, |i| i as f32 * 0.5)
}

fn double(device: &Device) -> Check {
    transposes(device, |i| i as f64 * 0.5)
}

fn records(device: &Device) -> Check {
    transposes(device, |i| Record {
        key: i as u32,
        at: [i as f32, -(i as f32)],
    })
}

#[kernel(block = (8, 8))]
fn matmul_kernel(a: View2<f32>, b: View2<f32>, mut c: ViewMut2<f32>) {
    let left = shared_array::<[f32; SIDE], SIDE>();
    let right = shared_array::<[f32; SIDE], SIDE>();
    let tx = thread_idx_x();
    let ty = thread_idx_y();
    let row = global_idx_y();
    let col = global_idx_x();
    let mut sum = 0.0;
    let mut first = 0;
    while first < a.cols() {
        let across = first + tx;
        left[ty][tx] = if row < a.rows() && across < a.cols() {
            a[[row, across]]
        } else {
            0.0
        };
        let down = first + ty;
        right[ty][tx] = if down < b.rows() && col < b.cols() {
            b[[down, col]]
        } else {
            0.0
        };
        barrier();
        for k in 0..SIDE {
            sum += left[ty][k] * right[k][tx];
        }
        barrier();
        first += SIDE;
    }
    if row < c.rows() && col < c.cols() {
        c[[row, col]] = sum;
    }
}

fn matmul(device: &Device) -> Check {
    for (n, k, m) in [(1, 1, 1), (8, 8, 8), (9, 13, 20), (3, 40, 17)] {
        let small = |n: usize| -> Vec<f32> { (0..n).map(|i| (i * 5 % 7) as f32 - 3.0).collect() };
        let (a, b) = (small(n * k), small(k * m));
        let at = |i: usize| (0..k).map(|j| a[i / m * k + j] * b[j * m + i % m]).sum();
        let expected: Vec<f32> = (0..n * m).map(at).collect();
        let grid = (m.div_ceil(SIDE), n.div_ceil(SIDE));
        let (u, v) = (Vector::from_slice(&a), Vector::from_slice(&b));
        let mut c = sentinel_filled(expected.len());
        matmul_kernel(u.view2(n, k)?, v.view2(k, m)?, c.view2_mut(n, m)?)
            .grid(grid)
            .run_on(device)?;
        expect(&format!("{n} x {k} x {m}"), &c, &expected)?;
        // Stores the right matrix by columns.
        let turned: Vec<f32> = (0..k * m).map(|i| b[i % k * m + i / k]).collect();
        let v = Vector::from_vec(turned);
        let mut c = sentinel_filled(expected.len());
        let right = v.view2(m, k)?.transposed();
        matmul_kernel(u.view2(n, k)?, right, c.view2_mut(n, m)?)
            .grid(grid)
            .run_on(device)?;
        expect(&format!("{n} x {k} x {m}, by columns"), &c, &expected)?;
    }
    Ok(())
}
