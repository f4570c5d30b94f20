//! The Mandelbrot set, in colour.
//!
//! `cargo run --release --example mandelbrot [-- [--size WIDTHxHEIGHT] [OUTPUT.png]]`
//!
//! The device is the best one, or that of the backend named in `SAREK_BACKEND`. The iteration
//! counts are compared with those of plain Rust. Backends that run on the host give equal counts.
//! Devices that fuse `a * b + c` round differently, so up to one pixel in a hundred may differ, close
//! to the border of the set.

use std::path::PathBuf;
use std::time::Instant;

use image::{Rgb, RgbImage};
use sarek::prelude::*;

type Fallible<T> = Result<T, Box<dyn std::error::Error>>;

const LIMIT: u32 = 500;

/// The part of the complex plane to draw: its centre and width.
const CENTRE: (f32, f32) = (-0.65, 0.0);
const SPAN: f32 = 3.2;

#[kernel]
fn mandelbrot(
    width: usize,
    height: usize,
    left: f32,
    top: f32,
    step: f32,
    limit: u32,
    counts: &mut [u32],
) {
    let col = global_idx_x();
    let row = global_idx_y();
    if col < width && row < height {
        let cx = left + step * col as f32;
        let cy = top - step * row as f32;
        let mut x = 0.0f32;
        let mut y = 0.0f32;
        let mut count = 0;
        while count < limit && x * x + y * y <= 4.0 {
            let next = x * x - y * y + cx;
            y = 2.0 * x * y + cy;
            x = next;
            count += 1;
        }
        counts[row * width + col] = count;
    }
}

struct Picture {
    width: usize,
    height: usize,
    left: f32,
    top: f32,
    step: f32,
}

impl Picture {
    fn new(width: usize, height: usize) -> Picture {
        let step = SPAN / width as f32;
        let left = CENTRE.0 - step * (width / 2) as f32;
        let top = CENTRE.1 + step * (height / 2) as f32;
        Picture {
            width,
            height,
            left,
            top,
            step,
        }
    }

    fn on(&self, device: &Device) -> sarek::Result<Vec<u32>> {
        let mut counts = Vector::zeros(self.width * self.height);
        let Picture {
            width,
            height,
            left,
            top,
            step,
        } = *self;
        mandelbrot(width, height, left, top, step, LIMIT, &mut counts)
            .over((width, height))
            .run_on(device)?;
        counts.into_vec()
    }

    /// Computes the counts in plain Rust.
    fn on_host(&self) -> Vec<u32> {
        let points = (0..self.height).flat_map(|row| (0..self.width).map(move |col| (row, col)));
        points.map(|(row, col)| self.escape(row, col)).collect()
    }

    fn escape(&self, row: usize, col: usize) -> u32 {
        let c = (
            self.left + self.step * col as f32,
            self.top - self.step * row as f32,
        );
        let mut z = (0.0f32, 0.0f32);
        for count in 0..LIMIT {
            let (xx, yy) = (z.0 * z.0, z.1 * z.1);
            if xx + yy > 4.0 {
                return count;
            }
            z = (xx - yy + c.0, 2.0 * z.0 * z.1 + c.1);
        }
        LIMIT
    }
}

/// Black inside the set; outside, a cyclic colour map of the logarithm of the count.
fn colour(count: u32) -> Rgb<u8> {
    if count == LIMIT {
        return Rgb([0, 0, 0]);
    }
    let turn = (count as f32 + 1.0).ln() * 1.7;
    let wave = |phase: f32| (127.5 * (1.0 + (turn + phase).sin())) as u8;
    Rgb([wave(-1.2), wave(-0.2), wave(1.3)])
}

/// The FNV-1a hash of the counts, to compare pictures of different runs.
fn checksum(counts: &[u32]) -> u64 {
    let bytes = counts.iter().flat_map(|c| c.to_le_bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |h, b| {
        (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3)
    })
}

fn arguments() -> Fallible<(usize, usize, PathBuf)> {
    let (mut width, mut height) = (1920, 1080);
    let mut output = None;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        if argument == "--size" {
            let size = arguments.next().ok_or("`--size` needs WIDTHxHEIGHT")?;
            let (w, h) = size.split_once('x').ok_or("`--size` needs WIDTHxHEIGHT")?;
            (width, height) = (w.parse()?, h.parse()?);
        } else if output.is_none() && !argument.starts_with('-') {
            output = Some(PathBuf::from(argument));
        } else {
            return Err(format!("unknown argument `{argument}`").into());
        }
    }
    if width == 0 || height == 0 {
        return Err("the picture is empty".into());
    }
    Ok((
        width,
        height,
        output.unwrap_or_else(|| "mandelbrot.png".into()),
    ))
}

fn main() -> Fallible<()> {
    let (width, height, output) = arguments()?;
    let device = Device::best()?;
    println!("device: {} ({})", device.name(), device.backend());

    let picture = Picture::new(width, height);
    println!("{width} x {height} pixels, up to {LIMIT} iterations …");
    let start = Instant::now();
    let counts = picture.on(&device)?;
    let first = start.elapsed();
    let start = Instant::now();
    let again = picture.on(&device)?;
    println!(
        "first run {first:.2?}, compilation included; second run {:.2?}",
        start.elapsed()
    );
    if again != counts {
        return Err("two runs gave two pictures".into());
    }

    println!("comparing with plain Rust on one core …");
    let start = Instant::now();
    let expected = picture.on_host();
    println!("plain Rust took {:.2?}", start.elapsed());
    let different = counts.iter().zip(&expected).filter(|(a, b)| a != b).count();
    let allowed = match device.backend() {
        "native" | "interpreter" => 0,
        _ => counts.len() / 100,
    };
    println!(
        "checksum {:016x}; {different} pixels differ, {allowed} may",
        checksum(&counts)
    );

    let pixels = counts.iter().flat_map(|&count| colour(count).0).collect();
    RgbImage::from_raw(width.try_into()?, height.try_into()?, pixels)
        .ok_or("the picture does not fit its size")?
        .save(&output)?;
    println!("wrote {}", output.display());
    if different > allowed {
        return Err("the picture is wrong".into());
    }
    Ok(())
}
