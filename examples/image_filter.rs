//! Gaussian blur and Sobel edges of a picture.
//!
//! `cargo run --release --example image_filter [-- INPUT OUTPUT]`
//!
//! Reads PNG or JPEG. The output shows the blurred picture above its edges. Without arguments, it draws a
//! landscape, writes it to `image_filter_input.png`, and writes the result to `image_filter_output.png`.

use std::path::{Path, PathBuf};
use std::time::Instant;

use image::{Rgb, RgbImage};
use sarek::prelude::*;

type Fallible<T> = Result<T, Box<dyn std::error::Error>>;

const SIGMA: f32 = 3.0;
const RADIUS: usize = 9;

/// The horizontal pass of a separable symmetric filter. Pixels beyond the border repeat the border's.
#[kernel]
fn blur_rows(
    width: usize,
    height: usize,
    radius: usize,
    weights: &[f32],
    input: &[f32],
    output: &mut [f32],
) {
    let x = global_idx_x();
    let y = global_idx_y();
    if x < width && y < height {
        let row = y * width;
        let mut sum = weights[0] * input[row + x];
        for k in 1..=radius {
            let left = x.saturating_sub(k);
            let right = (x + k).min(width - 1);
            sum += weights[k] * (input[row + left] + input[row + right]);
        }
        output[row + x] = sum;
    }
}

/// The vertical pass.
#[kernel]
fn blur_columns(
    width: usize,
    height: usize,
    radius: usize,
    weights: &[f32],
    input: &[f32],
    output: &mut [f32],
) {
    let x = global_idx_x();
    let y = global_idx_y();
    if x < width && y < height {
        let mut sum = weights[0] * input[y * width + x];
        for k in 1..=radius {
            let above = y.saturating_sub(k);
            let below = (y + k).min(height - 1);
            sum += weights[k] * (input[above * width + x] + input[below * width + x]);
        }
        output[y * width + x] = sum;
    }
}

/// The magnitude of the brightness gradient, by the Sobel operator.
#[kernel]
fn sobel(width: usize, height: usize, input: &[f32], output: &mut [f32]) {
    let x = global_idx_x();
    let y = global_idx_y();
    if x < width && y < height {
        let left = x.saturating_sub(1);
        let right = (x + 1).min(width - 1);
        let above = y.saturating_sub(1) * width;
        let below = (y + 1).min(height - 1) * width;
        let here = y * width;
        let gx = input[above + right] + 2.0 * input[here + right] + input[below + right]
            - input[above + left]
            - 2.0 * input[here + left]
            - input[below + left];
        let gy = input[below + left] + 2.0 * input[below + x] + input[below + right]
            - input[above + left]
            - 2.0 * input[above + x]
            - input[above + right];
        output[here + x] = (gx * gx + gy * gy).sqrt();
    }
}

/// A picture as one plane of brightness from 0 to 1 for each colour.
struct Planes {
    width: usize,
    height: usize,
    colours: [Vec<f32>; 3],
}

impl Planes {
    fn of(image: &RgbImage) -> Planes {
        let plane = |c: usize| image.pixels().map(|p| f32::from(p.0[c]) / 255.0).collect();
        let (width, height) = (image.width() as usize, image.height() as usize);
        Planes {
            width,
            height,
            colours: [plane(0), plane(1), plane(2)],
        }
    }

    fn at(&self, x: usize, y: usize, gain: f32) -> Rgb<u8> {
        let byte = |v: f32| ((gain * v).clamp(0.0, 1.0) * 255.0).round() as u8;
        Rgb([0, 1, 2].map(|c| byte(self.colours[c][y * self.width + x])))
    }
}

/// The weights of a Gaussian from the middle outwards. With the mirrored half, they sum to one.
fn weights() -> Vec<f32> {
    let bell = |k: usize| (-0.5 * (k as f32 / SIGMA).powi(2)).exp();
    let sum = bell(0) + 2.0 * (1..=RADIUS).map(bell).sum::<f32>();
    (0..=RADIUS).map(|k| bell(k) / sum).collect()
}

/// Computes the blurred picture and its edges on a device.
fn filter(device: &Device, picture: &Planes) -> sarek::Result<(Planes, Planes)> {
    let (w, h) = (picture.width, picture.height);
    let weights = Vector::from_vec(weights());
    let mut blurred = Planes {
        width: w,
        height: h,
        colours: Default::default(),
    };
    let mut edges = Planes {
        width: w,
        height: h,
        colours: Default::default(),
    };
    for c in 0..3 {
        let input = Vector::from_slice(&picture.colours[c]);
        let mut rows = Vector::zeros(w * h);
        let mut both = Vector::zeros(w * h);
        let mut gradient = Vector::zeros(w * h);
        blur_rows(w, h, RADIUS, &weights, &input, &mut rows)
            .over((w, h))
            .run_on(device)?;
        blur_columns(w, h, RADIUS, &weights, &rows, &mut both)
            .over((w, h))
            .run_on(device)?;
        sobel(w, h, &both, &mut gradient)
            .over((w, h))
            .run_on(device)?;
        blurred.colours[c] = both.into_vec()?;
        edges.colours[c] = gradient.into_vec()?;
    }
    Ok((blurred, edges))
}

/// A blurred pixel in plain Rust, as one two-dimensional sum in `f64`.
fn reference(picture: &Planes, c: usize, x: usize, y: usize) -> f64 {
    let weights = weights();
    let reach = -(RADIUS as i64)..=RADIUS as i64;
    let clamp = |v: i64, len: usize| v.clamp(0, len as i64 - 1) as usize;
    let mut sum = 0.0;
    for dy in reach.clone() {
        for dx in reach.clone() {
            let at = (
                clamp(x as i64 + dx, picture.width),
                clamp(y as i64 + dy, picture.height),
            );
            let weight = weights[dx.unsigned_abs() as usize] * weights[dy.unsigned_abs() as usize];
            sum += f64::from(weight) * f64::from(picture.colours[c][at.1 * picture.width + at.0]);
        }
    }
    sum
}

/// The largest difference from plain Rust over a sample of pixels, which includes all borders.
fn check(picture: &Planes, blurred: &Planes, edges: &Planes) -> Fallible<f64> {
    let (w, h) = (picture.width, picture.height);
    let columns: Vec<usize> = (0..w).step_by((w / 24).max(1)).chain([w - 1]).collect();
    let rows: Vec<usize> = (0..h).step_by((h / 24).max(1)).chain([h - 1]).collect();
    let mut worst = 0.0f64;
    for &y in &rows {
        for &x in &columns {
            for c in 0..3 {
                let here = y * w + x;
                let blur = f64::from(blurred.colours[c][here]) - reference(picture, c, x, y);
                let edge = f64::from(edges.colours[c][here]) - gradient(blurred, c, x, y);
                let error = blur.abs().max(edge.abs());
                if error > 2e-4 || error.is_nan() {
                    return Err(format!("pixel ({x}, {y}) is off by {error}").into());
                }
                worst = worst.max(error);
            }
        }
    }
    Ok(worst)
}

/// The Sobel operator in plain Rust, on the device's blurred picture.
fn gradient(blurred: &Planes, c: usize, x: usize, y: usize) -> f64 {
    let (w, h) = (blurred.width as i64, blurred.height as i64);
    let get = |dx: i64, dy: i64| {
        let (px, py) = (
            (x as i64 + dx).clamp(0, w - 1),
            (y as i64 + dy).clamp(0, h - 1),
        );
        f64::from(blurred.colours[c][(py * w + px) as usize])
    };
    let smooth = [(-1, 1.0), (0, 2.0), (1, 1.0)];
    let gx: f64 = smooth
        .iter()
        .map(|&(d, k)| k * (get(1, d) - get(-1, d)))
        .sum();
    let gy: f64 = smooth
        .iter()
        .map(|&(d, k)| k * (get(d, 1) - get(d, -1)))
        .sum();
    gx.hypot(gy)
}

/// Draws a grainy landscape at dusk, the default picture.
fn landscape(width: u32, height: u32) -> RgbImage {
    let ridge = |x: f32, k: f32| {
        let waves = [
            (1.7, 0.5),
            (4.1, 0.3),
            (9.7, 0.13),
            (23.0, 0.05),
            (51.0, 0.02),
        ];
        waves
            .iter()
            .map(|(f, a)| a * (f * x + k * (1.0 + f)).sin())
            .sum::<f32>()
    };
    let mut grain = 0x2545_f491u32;
    RgbImage::from_fn(width, height, |px, py| {
        grain = grain.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let noise = (grain >> 24) as f32 / 255.0 * 0.03;
        let (x, y) = (px as f32 / width as f32, py as f32 / height as f32);
        let mut colour = [0.25 + 0.7 * y, 0.3 + 0.35 * y, 0.55 - 0.1 * y];
        let sun = (x - 0.7).hypot((y - 0.42) * height as f32 / width as f32);
        if sun < 0.05 {
            colour = [1.0, 0.93, 0.72];
        }
        for layer in 0..4 {
            let depth = layer as f32;
            let edge = 0.5 + 0.11 * depth + 0.07 * ridge(3.0 * x, 1.3 * depth + 0.4);
            if y > edge {
                let shade = 0.36 - 0.09 * depth;
                colour = [shade * 0.9, shade * (0.8 + 0.1 * depth), shade * 1.2];
            }
        }
        Rgb(colour.map(|v| ((v + noise).clamp(0.0, 1.0) * 255.0) as u8))
    })
}

fn input_and_output() -> Fallible<(RgbImage, PathBuf)> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [] => {
            let picture = landscape(1280, 720);
            let path = Path::new("image_filter_input.png");
            picture.save(path)?;
            println!("no picture given: drew {}", path.display());
            Ok((picture, "image_filter_output.png".into()))
        }
        [input, output] => Ok((image::open(input)?.to_rgb8(), output.into())),
        _ => Err("usage: image_filter [INPUT OUTPUT]".into()),
    }
}

fn main() -> Fallible<()> {
    let (image, output) = input_and_output()?;
    let picture = Planes::of(&image);
    if picture.width == 0 || picture.height == 0 {
        return Err("the picture is empty".into());
    }
    let device = Device::best()?;
    println!("device: {} ({})", device.name(), device.backend());
    println!(
        "blurring and finding edges in {} x {} pixels …",
        picture.width, picture.height
    );
    let start = Instant::now();
    filter(&device, &picture)?;
    let first = start.elapsed();
    let start = Instant::now();
    let (blurred, edges) = filter(&device, &picture)?;
    println!(
        "first run {first:.2?}, compilation included; second run {:.2?}",
        start.elapsed()
    );

    println!("comparing with plain Rust …");
    let worst = check(&picture, &blurred, &edges)?;
    println!("largest difference {worst:.2e} of full brightness");

    let (w, h) = (image.width(), image.height());
    let both = RgbImage::from_fn(w, 2 * h, |x, y| {
        let (planes, gain) = if y < h {
            (&blurred, 1.0)
        } else {
            (&edges, 2.0)
        };
        planes.at(x as usize, (y % h) as usize, gain)
    });
    both.save(&output)?;
    println!("wrote {}", output.display());
    Ok(())
}
