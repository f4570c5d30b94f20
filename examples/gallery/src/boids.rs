//! A flock (Reynolds, 1987): each bird keeps its distance, follows its neighbours' direction, and stays with them.

use sarek::prelude::*;

use crate::{Pixels, colour, is_strict};

/// The distance that a bird sees.
const SIGHT: f32 = 0.06;
/// The distance that it keeps.
const NEAR: f32 = 0.014;
const SPEED: f32 = 0.003;
/// The steps that stay visible.
const TRAIL: usize = 18;

strict_and_loose! {
    /// Moves each bird by a step. A bird is its place x, y and its velocity z, w; the sky is a torus of `aspect` by 1.
    fn fly, fly_loosely(aspect: f32, birds: &[f32x4], moved: &mut [f32x4]) {
        let i = global_idx_x();
        if i < birds.len() {
            let own = birds[i];
            let mut count = 0.0;
            let mut middle_x = 0.0;
            let mut middle_y = 0.0;
            let mut along_x = 0.0;
            let mut along_y = 0.0;
            let mut apart_x = 0.0;
            let mut apart_y = 0.0;
            for j in 0..birds.len() {
                let other = birds[j];
                let dx = other.x - own.x;
                let dy = other.y - own.y;
                let square = dx * dx + dy * dy;
                if square < SIGHT * SIGHT {
                    count += 1.0;
                    middle_x += dx;
                    middle_y += dy;
                    along_x += other.z - own.z;
                    along_y += other.w - own.w;
                }
                if square < NEAR * NEAR {
                    apart_x -= dx;
                    apart_y -= dy;
                }
            }
            // The bird itself is one of `count`.
            let vx = own.z + 0.05 * apart_x + (0.004 * middle_x + 0.1 * along_x) / count;
            let vy = own.w + 0.05 * apart_y + (0.004 * middle_y + 0.1 * along_y) / count;
            // All fly at nearly one speed.
            let scale = 0.9 + 0.1 * SPEED / ((vx * vx + vy * vy).sqrt() + 1e-6);
            let x = own.x + scale * vx;
            let y = own.y + scale * vy;
            moved[i] = f32x4::new(
                x - aspect * (x / aspect).floor(),
                y - y.floor(),
                scale * vx,
                scale * vy,
            );
        }
    }
}

/// Red, green and blue for a direction.
fn hue(bird: &f32x4) -> [f32; 3] {
    let angle = bird.w.atan2(bird.z);
    [0.0, 2.1, 4.2].map(|shift| 150.0 + 100.0 * (angle + shift).cos())
}

pub fn draw(device: &Device, width: usize, height: usize, steps: usize) -> sarek::Result<Pixels> {
    let fly = if is_strict(device) { fly } else { fly_loosely };
    let aspect = width as f32 / height as f32;
    let n = (width * height / 200).max(48);
    let bird = |i: usize| {
        let random = |k: u32| colour::unit(i as u32 * 4 + k);
        let (sin, cos) = (std::f32::consts::TAU * random(2)).sin_cos();
        f32x4::new(aspect * random(0), random(1), SPEED * cos, SPEED * sin)
    };
    let mut birds = Vector::from_vec((0..n).map(bird).collect());
    let mut moved = Vector::from_vec(vec![f32x4::ZERO; n]);
    let night = |at| colour::ramp(&[[16, 22, 52], [58, 34, 72]], at as f32 / height as f32);
    let mut pixels: Pixels = (0..width * height).map(|at| night(at / width)).collect();
    for step in 0..steps {
        fly(aspect, &birds, &mut moved).over(n).run_on(device)?;
        std::mem::swap(&mut birds, &mut moved);
        // A bird is the trail of its last steps, in the colour of its direction.
        let age = steps - 1 - step;
        if age < TRAIL {
            let light = 1.0 - age as f32 / TRAIL as f32;
            for bird in birds.as_slice()? {
                let x = (bird.x * height as f32) as usize % width;
                let y = (bird.y * height as f32) as usize % height;
                let pixel = &mut pixels[y * width + x];
                for (channel, full) in pixel.iter_mut().zip(hue(bird)) {
                    let faded = f32::from(*channel) * (1.0 - light) + full * light;
                    *channel = faded as u8;
                }
            }
        }
    }
    Ok(pixels)
}
