//! Elements of views: dense, strided, shifted, transposed, of three dimensions, and of structs.

use super::SHAPES;
use crate::Case;
use crate::check::{Check, ensure, expect, sentinel_filled};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("views/add", &[], add),
    Case::new("views/transposed", &[], transposed),
    Case::new("views/windows", &[], windows),
    Case::new("views/repeated", &[], repeated),
    Case::new("views/rows", &[], rows),
    Case::new("views/planes", &[], planes),
    Case::new("views/structs", &[], structs),
    Case::new("views/empty", &[], empty),
];

#[kernel]
fn add_kernel(a: View2<i32>, b: View2<i32>, mut sum: ViewMut2<i32>) {
    let row = global_idx_y();
    let col = global_idx_x();
    if row < sum.rows() && col < sum.cols() {
        sum[[row, col]] = a[[row, col]] + b[[row, col]];
        sum[[row, col]] *= 3;
    }
}

fn numbers(n: usize) -> Vec<i32> {
    (0..n as i32).map(|i| i * 7 % 1000 - 300).collect()
}

fn add(device: &Device) -> Check {
    for (rows, cols) in SHAPES {
        let (a, b) = (numbers(rows * cols), numbers(rows * cols + 9));
        let expected: Vec<i32> = a.iter().zip(&b).map(|(a, b)| (a + b) * 3).collect();
        let (a, b, mut sum) = (
            Vector::from_vec(a),
            Vector::from_vec(b),
            sentinel_filled(expected.len()),
        );
        let (x, y) = (a.view2(rows, cols)?, b.view2(rows, cols)?);
        add_kernel(x, y, sum.view2_mut(rows, cols)?)
            .over((cols + 1, rows + 2))
            .run_on(device)?;
        expect(&format!("{rows} x {cols}"), &sum, &expected)?;
    }
    Ok(())
}

/// The columns of one view are the rows of the other, which is read or written.
fn transposed(device: &Device) -> Check {
    for (rows, cols) in SHAPES {
        let (a, b) = (numbers(rows * cols), numbers(rows * cols));
        let at = |i: usize| (a[i % rows * cols + i / rows] + b[i]) * 3;
        let expected: Vec<i32> = (0..rows * cols).map(at).collect();
        let (u, v) = (Vector::from_slice(&a), Vector::from_slice(&b));
        let mut sum = sentinel_filled(expected.len());
        add_kernel(
            u.view2(rows, cols)?.transposed(),
            v.view2(cols, rows)?,
            sum.view2_mut(cols, rows)?,
        )
        .over((rows, cols))
        .run_on(device)?;
        expect(&format!("read, {rows} x {cols}"), &sum, &expected)?;
        let mut sum = sentinel_filled(expected.len());
        add_kernel(
            u.view2(rows, cols)?,
            v.view2(cols, rows)?.transposed(),
            sum.view2_mut(cols, rows)?.transposed(),
        )
        .over((cols, rows))
        .run_on(device)?;
        expect(&format!("written, {rows} x {cols}"), &sum, &expected)?;
    }
    Ok(())
}

/// Elements outside a window stay unchanged.
fn windows(device: &Device) -> Check {
    let (rows, cols) = (9, 12);
    let a = numbers(rows * cols);
    let mut expected = vec![-1; rows * cols];
    for r in 0..4 {
        for c in 0..5 {
            expected[(r + 3) * cols + c + 6] =
                (a[(r + 1) * cols + c + 2] + a[2 * r * cols + 2 * c]) * 3;
        }
    }
    let a = Vector::from_vec(a);
    let mut sum = sentinel_filled(rows * cols);
    sum.as_mut_slice()?[..rows * cols].fill(-1);
    let wide = a.strided([4, 5], 0, [2 * cols, 2])?;
    let out = sum.view2_mut(rows, cols)?.window([3, 6], [4, 5])?;
    add_kernel(a.view2(rows, cols)?.window([1, 2], [4, 5])?, wide, out)
        .over((5, 4))
        .run_on(device)?;
    expect("windows", &sum, &expected)
}

/// A stride of 0 repeats one row, or one column.
fn repeated(device: &Device) -> Check {
    let a = numbers(13);
    let expected: Vec<i32> = (0..4 * 13).map(|i| (a[i % 13] + a[i / 13]) * 3).collect();
    let a = Vector::from_vec(a);
    let mut sum = sentinel_filled(expected.len());
    let (row, column) = (
        a.strided([4, 13], 0, [0, 1])?,
        a.strided([4, 13], 0, [1, 0])?,
    );
    add_kernel(row, column, sum.view2_mut(4, 13)?)
        .over((13, 4))
        .run_on(device)?;
    expect("repeated", &sum, &expected)
}

/// Each thread has a row, and loops over the columns.
#[kernel]
fn rows_kernel(a: View2<f32>, scale: f32, mut scaled: ViewMut2<f32>, sums: &mut [f32]) {
    let row = global_idx_x();
    if row < a.shape()[0] {
        let mut sum = 0.0;
        for col in 0..a.cols() {
            sum += a[[row, col]];
            scaled[[row, col]] = a[[row, col]] * scale;
        }
        sums[row] = sum;
    }
}

fn rows(device: &Device) -> Check {
    for (rows, cols) in SHAPES {
        let a: Vec<f32> = numbers(rows * cols).into_iter().map(|v| v as f32).collect();
        let expected: Vec<f32> = a.iter().map(|v| v * 0.5).collect();
        let total: Vec<f32> = a.chunks(cols).map(|row| row.iter().sum()).collect();
        let a = Vector::from_vec(a);
        let (mut scaled, mut sums) = (sentinel_filled(expected.len()), sentinel_filled(rows));
        rows_kernel(
            a.view2(rows, cols)?,
            0.5,
            scaled.view2_mut(rows, cols)?,
            &mut sums,
        )
        .over(rows)
        .run_on(device)?;
        expect("scaled", &scaled, &expected)?;
        expect("sums", &sums, &total)?;
    }
    Ok(())
}

#[kernel]
fn planes_kernel(a: View3<u32>, mut b: ViewMut3<u32>) {
    let z = global_idx_z();
    let y = global_idx_y();
    let x = global_idx_x();
    if z < b.depth() && y < b.rows() && x < b.cols() {
        let up = if z > 0 { a[[z - 1, y, x]] } else { 0 };
        b[[z, y, x]] = a[[z, y, x]] * 10 + up;
    }
}

fn planes(device: &Device) -> Check {
    let (d, r, c) = (3, 4, 5);
    let a: Vec<u32> = (0..d * r * c).map(|i| i as u32 % 23).collect();
    let at = |z: usize, y: usize, x: usize| a[(z * r + y) * c + x];
    let value = |i: usize| {
        let (z, y, x) = (i / (r * c), i / c % r, i % c);
        at(z, y, x) * 10 + if z > 0 { at(z - 1, y, x) } else { 0 }
    };
    let expected: Vec<u32> = (0..d * r * c).map(value).collect();
    let v = Vector::from_slice(&a);
    let mut b = sentinel_filled(expected.len());
    planes_kernel(v.view3(d, r, c)?, b.view3_mut(d, r, c)?)
        .over((c, r, d))
        .run_on(device)?;
    expect("planes", &b, &expected)?;
    // The output is a view of `c` planes with its dimensions in reverse order.
    let mut turned = sentinel_filled(expected.len());
    let out = turned.view3_mut(c, r, d)?.transposed();
    planes_kernel(v.view3(d, r, c)?, out)
        .over((c, r, d))
        .run_on(device)?;
    let moved = |i: usize| expected[(i % d * r + i / d % r) * c + i / (d * r)];
    let expected: Vec<u32> = (0..d * r * c).map(moved).collect();
    expect("turned", &turned, &expected)
}

#[derive(Clone, Copy, PartialEq, Debug, KernelType)]
#[repr(C)]
struct Pixel {
    colour: [f32; 3],
    count: u32,
}

#[kernel]
fn structs_kernel(a: View2<Pixel>, mut b: ViewMut2<Pixel>) {
    let row = global_idx_y();
    let col = global_idx_x();
    if row < b.rows() && col < b.cols() {
        let pixel = a[[col, row]];
        b[[row, col]] = pixel;
        b[[row, col]].count += 1;
        b[[row, col]].colour[1] = pixel.colour[2] + a[[col, row]].colour[0];
    }
}

fn structs(device: &Device) -> Check {
    for (rows, cols) in SHAPES {
        let pixel = |i: usize| Pixel {
            colour: [i as f32, 0.5, 2.0],
            count: i as u32,
        };
        let a: Vec<Pixel> = (0..rows * cols).map(pixel).collect();
        let mut b = Vector::filled(rows * cols, pixel(0));
        let v = Vector::from_slice(&a);
        structs_kernel(v.view2(rows, cols)?, b.view2_mut(cols, rows)?)
            .over((rows, cols))
            .run_on(device)?;
        for (i, found) in b.to_vec()?.into_iter().enumerate() {
            let mut expected = a[i % rows * cols + i / rows];
            expected.count += 1;
            expected.colour[1] = 2.0 + expected.colour[0];
            ensure(found == expected, || {
                format!("{rows} x {cols}, [{i}]: {found:?}, not {expected:?}")
            })?;
        }
    }
    Ok(())
}

fn empty(device: &Device) -> Check {
    let a = Vector::from_vec(numbers(4));
    let mut sum = sentinel_filled(4);
    let none = a.strided([0, 7], 99, [1, 1])?;
    add_kernel(none, a.view2(0, 5)?, sum.view2_mut(0, 5)?)
        .over((5, 5))
        .run_on(device)?;
    let expected = sum.to_vec()?;
    expect("nothing is written", &sum, &expected[..4])
}
