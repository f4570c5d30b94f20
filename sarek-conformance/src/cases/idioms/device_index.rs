//! Indices that `#[device]` functions compute. The macro of the kernel does not see the bodies of the functions.

use super::{PLANES, SIZES, in_place, random};
use crate::Case;
use crate::check::Check;
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("idioms/device_index_row_major", &[], row_major),
    Case::new("idioms/device_index_column_first", &[], column_first),
    Case::new("idioms/device_index_of_a_grid", &[], of_a_grid),
    Case::new("idioms/device_index_of_named_constants", &[], named),
    Case::new("idioms/device_index_of_a_tile", &[], tile),
    Case::new("idioms/device_index_multiple", &[], multiple),
    Case::new("idioms/device_index_reversed", &[], reversed),
    Case::new("idioms/device_index_in_loops", &[], loops),
    Case::new("idioms/device_index_of_planes", &[], planes),
    Case::new("idioms/device_index_through_functions", &[], through),
    Case::new("idioms/device_index_of_a_generic_function", &[], generic),
    Case::new("idioms/device_index_of_a_trait", &[], of_a_trait),
    Case::new("idioms/device_index_of_views", &[], views),
    Case::new("idioms/index_of_a_function_by_ids", &[], by_ids),
    Case::new("idioms/index_of_a_function_by_quotients", &[], by_quotients),
    Case::new("idioms/index_of_a_function_in_a_ring", &[], in_a_ring),
    Case::new("idioms/index_of_a_function_by_bits", &[], by_bits),
];

/// Functions of another module.
mod layout {
    use sarek::prelude::*;

    pub const PITCH: usize = 40;

    #[device]
    pub fn at(row: usize, column: usize, width: usize) -> usize {
        row * width + column
    }

    #[device]
    pub fn at_column(x: usize, y: usize, width: usize) -> usize {
        let row = y * width;
        row + x
    }

    /// The row has a type of its own.
    #[device]
    pub fn in_pitch(row: u32, column: usize) -> usize {
        assert!(column < PITCH);
        row as usize * PITCH + column
    }

    #[device]
    pub fn in_tile(row: usize, column: usize) -> usize {
        row * 16 + column
    }

    #[device]
    pub fn third(i: usize) -> usize {
        3 * i + 2
    }

    #[device]
    pub fn back(i: usize, n: usize) -> usize {
        n - 1 - i
    }

    #[device]
    pub fn of_three(z: usize, y: usize, x: usize, height: usize, width: usize) -> usize {
        (z * height + y) * width + x
    }
}

use layout::{at, at_column, back, in_pitch, in_tile, of_three, third};

/// Adds its index to each element.
fn numbered(y: &mut [u32]) {
    (0..y.len()).for_each(|i| y[i] += i as u32);
}

#[kernel]
fn row_major_kernel(width: usize, height: usize, y: &mut [u32]) {
    let (column, row) = (global_idx_x(), global_idx_y());
    if column < width && row < height {
        let i = at(row, column, width);
        y[i] += i as u32;
    }
}

/// Threads for all elements, and some more.
fn in_planes(
    what: &str,
    run: impl Fn(usize, usize, &mut Vector<u32>) -> sarek::Result<()>,
) -> Check {
    for (w, h) in PLANES {
        let what = format!("{what}, {w} by {h}");
        in_place(&what, w * h, |y| run(w, h, y), numbered)?;
    }
    Ok(())
}

fn row_major(device: &Device) -> Check {
    in_planes("row major", |w, h, y| {
        let launch = row_major_kernel(w, h, y);
        launch.over((w + 1, h + 1)).run_on(device)
    })
}

#[kernel]
fn column_first_kernel(width: usize, height: usize, y: &mut [u32]) {
    let (column, row) = (global_idx_x(), global_idx_y());
    if column < width && row < height {
        y[at_column(column, row, width)] += (row * width + column) as u32;
    }
}

fn column_first(device: &Device) -> Check {
    in_planes("column first", |w, h, y| {
        let launch = column_first_kernel(w, h, y);
        launch.over((w + 1, h + 1)).run_on(device)
    })
}

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Plane {
    width: u32,
    height: u32,
}

#[device]
impl Plane {
    fn index(&self, x: u32, y: u32) -> u32 {
        y * self.width + x
    }
}

#[kernel]
fn of_a_grid_kernel(plane: Plane, y: &mut [u32]) {
    let (column, row) = (global_idx_x() as u32, global_idx_y() as u32);
    if column < plane.width && row < plane.height {
        let i: u32 = plane.index(column, row);
        y[i as usize] += i;
    }
}

fn of_a_grid(device: &Device) -> Check {
    in_planes("a grid", |w, h, y| {
        let plane = Plane {
            width: w as u32,
            height: h as u32,
        };
        let launch = of_a_grid_kernel(plane, y);
        launch.over((w + 1, h + 1)).run_on(device)
    })
}

#[kernel]
fn named_kernel(y: &mut [u32]) {
    let (column, row) = (global_idx_x(), global_idx_y());
    if column < layout::PITCH && row < y.len() / layout::PITCH {
        let i = in_pitch(row as u32, column);
        y[i] += i as u32;
    }
}

fn named(device: &Device) -> Check {
    for rows in [0, 1, 5, 33] {
        let run = |y: &mut Vector<u32>| named_kernel(y).over((48, rows + 1)).run_on(device);
        in_place("a named constant", rows * layout::PITCH, run, numbered)?;
    }
    Ok(())
}

/// The same function for an element and for its mirror image.
#[kernel(block = (16, 16))]
fn tile_kernel(width: usize, height: usize, x: &[u32], y: &mut [u32]) {
    let tile = shared_array::<u32, 256>();
    let (tx, ty) = (thread_idx_x(), thread_idx_y());
    let (left, top) = (16 * block_idx_x(), 16 * block_idx_y());
    if left + tx < width && top + ty < height {
        tile[in_tile(ty, tx)] = x[(top + ty) * width + left + tx];
    }
    barrier();
    if top + tx < height && left + ty < width {
        y[(left + ty) * height + top + tx] = tile[in_tile(tx, ty)];
    }
}

fn tile(device: &Device) -> Check {
    for (w, h) in PLANES {
        let x = random(24, w * h);
        let run = |y: &mut Vector<u32>| {
            let x = Vector::from_slice(&x);
            let launch = tile_kernel(w, h, &x, y);
            let blocks = (w.div_ceil(16), h.div_ceil(16));
            launch.grid(blocks).run_on(device)
        };
        in_place(&format!("{w} by {h}"), w * h, run, |y| {
            (0..w * h).for_each(|i| y[i] = x[i % h * w + i / h]);
        })?;
    }
    Ok(())
}

#[kernel]
fn multiple_kernel(y: &mut [u32]) {
    let i = global_idx_x();
    if 3 * i + 2 < y.len() {
        y[third(i)] += i as u32;
    }
}

fn multiple(device: &Device) -> Check {
    for n in SIZES {
        let run = |y: &mut Vector<u32>| multiple_kernel(y).over(n).run_on(device);
        in_place("a multiple", n, run, |y| {
            (0..n / 3).for_each(|i| y[3 * i + 2] += i as u32);
        })?;
    }
    Ok(())
}

#[kernel]
fn reversed_kernel(y: &mut [u32]) {
    let (i, n) = (global_idx_x(), y.len());
    if i < n {
        y[back(i, n)] += (n - 1 - i) as u32;
    }
}

fn reversed(device: &Device) -> Check {
    for n in SIZES {
        let run = |y: &mut Vector<u32>| reversed_kernel(y).over(n + 3).run_on(device);
        in_place("reversed", n, run, numbered)?;
    }
    Ok(())
}

/// The arguments are mutable, so that each call has its own.
#[kernel]
fn loops_kernel(width: usize, height: usize, y: &mut [u32]) {
    let mut row = global_idx_y();
    while row < height {
        let mut column = global_idx_x();
        while column < width {
            y[at(row, column, width)] += (row * width + column) as u32;
            column += global_dim_x();
        }
        row += global_dim_y();
    }
}

fn loops(device: &Device) -> Check {
    in_planes("loops", |w, h, y| {
        let launch = loops_kernel(w, h, y);
        launch.over((5, 3)).run_on(device)
    })
}

#[kernel]
fn planes_kernel(width: usize, height: usize, planes: usize, y: &mut [u32]) {
    let (column, row) = (global_idx_x(), global_idx_y());
    if column < width && row < height {
        for plane in 0..planes {
            let i = of_three(plane, row, column, height, width);
            y[i] += i as u32;
        }
    }
}

fn planes(device: &Device) -> Check {
    for (w, h) in PLANES {
        let run = |y: &mut Vector<u32>| {
            let launch = planes_kernel(w, h, 3, y);
            launch.over((w + 1, h + 1)).run_on(device)
        };
        in_place(&format!("planes of {w} by {h}"), 3 * w * h, run, numbered)?;
    }
    Ok(())
}

/// A function that calls another.
#[device]
fn behind(row: usize, column: usize, plane: &Plane) -> usize {
    let above = at(row, column, plane.width as usize);
    above + 2
}

#[kernel]
fn through_kernel(plane: Plane, y: &mut [u32]) {
    let (column, row) = (global_idx_x(), global_idx_y());
    let i = row * plane.width as usize + column + 2;
    if column < plane.width as usize && row < plane.height as usize && i < y.len() {
        y[behind(row, column, &plane)] += i as u32;
    }
}

fn through(device: &Device) -> Check {
    for (w, h) in PLANES {
        let run = |y: &mut Vector<u32>| {
            let plane = Plane {
                width: w as u32,
                height: h as u32,
            };
            let launch = through_kernel(plane, y);
            launch.over((w + 1, h + 1)).run_on(device)
        };
        in_place(&format!("through functions, {w} by {h}"), w * h, run, |y| {
            (2..w * h).for_each(|i| y[i] += i as u32);
        })?;
    }
    Ok(())
}

#[device]
fn of_width<const W: usize>(row: usize, column: usize) -> usize {
    row * W + column
}

#[kernel(block = 8)]
fn generic_kernel(y: &mut [u32]) {
    let i = of_width::<8>(block_idx_x(), thread_idx_x());
    if i < y.len() {
        y[i] += i as u32;
    }
}

fn generic(device: &Device) -> Check {
    for n in SIZES {
        let run = |y: &mut Vector<u32>| generic_kernel(y).grid(n.div_ceil(8)).run_on(device);
        in_place("a generic function", n, run, numbered)?;
    }
    Ok(())
}

#[device]
trait Layout: KernelType {
    fn place(&self, i: usize) -> usize;
}

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Every {
    offset: u32,
}

#[device]
impl Layout for Every {
    fn place(&self, i: usize) -> usize {
        i * 2 + self.offset as usize
    }
}

#[kernel]
fn of_a_trait_kernel(layout: Every, y: &mut [u32]) {
    let i = global_idx_x();
    if 2 * i + (layout.offset as usize) < y.len() {
        y[layout.place(i)] += i as u32;
    }
}

fn of_a_trait(device: &Device) -> Check {
    for n in SIZES {
        let run = |y: &mut Vector<u32>| {
            let launch = of_a_trait_kernel(Every { offset: 1 }, y);
            launch.over(n).run_on(device)
        };
        in_place("a trait", n, run, |y| {
            (0..n / 2).for_each(|i| y[2 * i + 1] += i as u32);
        })?;
    }
    Ok(())
}

#[kernel]
fn views_kernel(mut y: ViewMut2<u32>) {
    let (column, row) = (global_idx_x(), global_idx_y());
    let rows = y.rows();
    if column < y.cols() && row < rows {
        y[[back(row, rows), column]] += 7;
    }
}

fn views(device: &Device) -> Check {
    for (w, h) in PLANES {
        let run = |y: &mut Vector<u32>| {
            let launch = views_kernel(y.view2_mut(h, w)?);
            launch.over((w, h)).run_on(device)
        };
        in_place(&format!("a view of {w} by {h}"), w * h, run, |y| {
            y.iter_mut().for_each(|value| *value += 7);
        })?;
    }
    Ok(())
}

#[device]
fn my_index(width: usize) -> usize {
    global_idx_y() * width + global_idx_x()
}

#[kernel]
fn by_ids_kernel(w: usize, h: usize, y: &mut [u32]) {
    if global_idx_x() < w && global_idx_y() < h {
        y[my_index(w)] += 1;
    }
}

fn by_ids(device: &Device) -> Check {
    for (w, h) in PLANES {
        let run = |y: &mut Vector<u32>| by_ids_kernel(w, h, y).over((w + 3, h + 1)).run_on(device);
        in_place("ids", w * h, run, |y| y.iter_mut().for_each(|y| *y += 1))?;
    }
    Ok(())
}

#[device]
fn row(i: usize, width: usize) -> usize {
    i / width
}

#[device]
fn column(i: usize, width: usize) -> usize {
    i % width
}

/// The transposition of a plane.
#[kernel]
fn by_quotients_kernel(w: usize, h: usize, x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    if i < w * h {
        let (r, c) = (row(i, w), column(i, w));
        y[c * h + r] = x[i];
    }
}

fn by_quotients(device: &Device) -> Check {
    for (w, h) in PLANES {
        let values = random(31, w * h);
        let run = |y: &mut Vector<u32>| {
            let x = Vector::from_slice(&values);
            by_quotients_kernel(w, h, &x, y).over(w * h).run_on(device)
        };
        in_place("quotients", w * h, run, |y| {
            for i in 0..w * h {
                y[i % w * h + i / w] = values[i];
            }
        })?;
    }
    Ok(())
}

#[device]
fn around(i: usize, by: usize, n: usize) -> usize {
    (i + by) % n
}

#[kernel]
fn in_a_ring_kernel(by: usize, x: &[u32], y: &mut [u32]) {
    let (i, n) = (global_idx_x(), x.len());
    if i < n {
        y[around(i, by, n)] = x[i];
    }
}

fn in_a_ring(device: &Device) -> Check {
    for n in [1, 5, 64, 301] {
        let values = random(32, n);
        let run = |y: &mut Vector<u32>| {
            let x = Vector::from_slice(&values);
            in_a_ring_kernel(7, &x, y).over(n).run_on(device)
        };
        in_place("ring", n, run, |y| {
            for i in 0..n {
                y[(i + 7) % n] = values[i];
            }
        })?;
    }
    Ok(())
}

#[device]
fn flipped(i: usize, mask: usize) -> usize {
    i ^ mask
}

#[kernel]
fn by_bits_kernel(mask: usize, x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    y[flipped(i, mask)] = x[i];
}

fn by_bits(device: &Device) -> Check {
    let values = random(33, 64);
    let run = |y: &mut Vector<u32>| {
        let x = Vector::from_slice(&values);
        by_bits_kernel(5, &x, y).over(64).run_on(device)
    };
    in_place("bits", 64, run, |y| {
        for i in 0..64 {
            y[i ^ 5] = values[i];
        }
    })
}
