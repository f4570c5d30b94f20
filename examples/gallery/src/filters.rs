//! Filters of an image: a foggy picture, the same with an equalised histogram, and its edges by Sobel's operator.

use sarek::prelude::*;

use crate::{Pixels, colour};

const LEVELS: usize = 256;

/// Counts how many pixels have each brightness.
#[kernel]
fn histogram(image: &[u32], counts: &[Atomic<u32>]) {
    let i = global_idx_x();
    if i < image.len() {
        counts[image[i] as usize % LEVELS].fetch_add(1);
    }
}

/// Replaces each brightness by that of a table.
#[kernel]
fn look_up(table: &[u32], image: &mut [u32]) {
    let i = global_idx_x();
    if i < image.len() {
        image[i] = table[image[i] as usize % LEVELS];
    }
}

/// The change of the brightness at each pixel, by Sobel's operator.
#[kernel]
fn edges(width: usize, height: usize, image: &[u32], out: &mut [u32]) {
    let (x, y) = (global_idx_x(), global_idx_y());
    if x >= width || y >= height {
        return;
    }
    let (left, right) = (x.saturating_sub(1), (x + 1).min(width - 1));
    let (above, below) = (y.saturating_sub(1) * width, (y + 1).min(height - 1) * width);
    let row = y * width;
    let east = image[above + right] + 2 * image[row + right] + image[below + right];
    let west = image[above + left] + 2 * image[row + left] + image[below + left];
    let north = image[above + left] + 2 * image[above + x] + image[above + right];
    let south = image[below + left] + 2 * image[below + x] + image[below + right];
    out[row + x] = (east.abs_diff(west) + north.abs_diff(south)).min(255);
}

pub fn draw(device: &Device, width: usize, height: usize, _: usize) -> sarek::Result<Pixels> {
    let n = width * height;
    // A meadow behind fog: all of it is nearly as bright.
    let fog = |at: usize| {
        let [r, g, b] = colour::meadow(at % width, at / width, width, height).map(u32::from);
        110 + (2 * r + 5 * g + b) / 40
    };
    let foggy: Vec<u32> = (0..n).map(fog).collect();
    let mut image = Vector::from_slice(&foggy);
    let mut counts = Vector::<u32>::zeros(LEVELS);
    histogram(&image, &mut counts).over(n).run_on(device)?;
    // The new brightness is the part of the pixels that are at most as bright.
    let mut sum = 0u64;
    let mut table = vec![];
    for count in counts.into_vec()? {
        sum += u64::from(count);
        table.push((sum * 255 / n as u64) as u32);
    }
    let table = Vector::from_vec(table);
    look_up(&table, &mut image).over(n).run_on(device)?;
    let mut outline = Vector::zeros(n);
    edges(width, height, &image, &mut outline)
        .over((width, height))
        .run_on(device)?;
    let (clear, outline) = (image.into_vec()?, outline.into_vec()?);
    let pixel = |at: usize| match at % width * 3 / width {
        _ if at % width * 3 % width < 3 => [255, 200, 60],
        0 => [foggy[at] as u8; 3],
        1 => [clear[at] as u8; 3],
        _ => colour::ramp(colour::FIRE, outline[at] as f32 / 255.0),
    };
    Ok((0..n).map(pixel).collect())
}
