use crate::Case;
use crate::check::{Check, TAIL, ensure, sentinel_filled};
use crate::input::Sample;
use sarek::prelude::*;
use sarek::testing::tolerance::Class;

pub const CASES: &[Case] = &[Case::new("mandelbrot", &[], run)];

/// Share of the pixels whose count may differ if the target fuses or reorders operations: close to
/// the set's border, a count depends on the last bit.
const DIFFERENT: f64 = 0.02;

#[kernel]
fn mandelbrot(width: usize, height: usize, limit: u32, counts: &mut [u32]) {
    let col = global_idx_x();
    let row = global_idx_y();
    if col < width && row < height {
        let cx = -2.0 + 3.0 * (col as f32 + 0.5) / width as f32;
        let cy = -1.0 + 2.0 * (row as f32 + 0.5) / height as f32;
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

fn reference(width: usize, height: usize, limit: u32) -> Vec<u32> {
    let mut counts = Vec::with_capacity(width * height);
    for row in 0..height {
        for col in 0..width {
            let c = (
                -2.0 + 3.0 * (col as f32 + 0.5) / width as f32,
                -1.0 + 2.0 * (row as f32 + 0.5) / height as f32,
            );
            let mut z = (0.0f32, 0.0f32);
            let escape = (0..limit).find(|_| {
                let escaped = z.0 * z.0 + z.1 * z.1 > 4.0;
                z = (z.0 * z.0 - z.1 * z.1 + c.0, 2.0 * z.0 * z.1 + c.1);
                escaped
            });
            counts.push(escape.unwrap_or(limit));
        }
    }
    counts
}

fn run(device: &Device) -> Check {
    for (width, height) in [(1, 1), (33, 7), (96, 64)] {
        let limit = 128;
        let expected = reference(width, height, limit);
        let mut counts = sentinel_filled(width * height);
        mandelbrot(width, height, limit, &mut counts)
            .over((width, height))
            .run_on(device)?;
        let got = counts.to_vec()?;
        let different = got.iter().zip(&expected).filter(|(g, d)| g != d).count();
        let allowed = match Class::of(device) {
            Class::Host => 0.0,
            Class::Cuda | Class::OpenCl | Class::Wgsl => {
                (DIFFERENT * expected.len() as f64).max(8.0)
            }
        };
        ensure(different as f64 <= allowed, || {
            format!(
                "{width}x{height}: {different} of {} counts differ",
                expected.len()
            )
        })?;
        ensure(got[expected.len()..] == [u32::SENTINEL; TAIL], || {
            "wrote past the picture".into()
        })?;
    }
    Ok(())
}
