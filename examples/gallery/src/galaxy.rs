//! Two galaxies meet: gravity between all pairs of stars, which are drawn by adding light to pixels.

use sarek::prelude::*;

use crate::{Pixels, colour, is_strict};

/// The squared distance within which gravity is softened.
const SOFTENING: f32 = 0.002;

strict_and_loose! {
    /// Moves each star by a step: all stars pull at it. A star is x, y, z and mass.
    fn pull, pull_loosely(
        dt: f32,
        stars: &[f32x4],
        velocities: &mut [f32x4],
        moved: &mut [f32x4],
    ) {
        let i = global_idx_x();
        if i < stars.len() {
            let own = stars[i];
            let mut ax = 0.0;
            let mut ay = 0.0;
            let mut az = 0.0;
            for j in 0..stars.len() {
                let other = stars[j];
                let dx = other.x - own.x;
                let dy = other.y - own.y;
                let dz = other.z - own.z;
                let square = dx * dx + dy * dy + dz * dz + SOFTENING;
                let pull = other.w / (square * square.sqrt());
                ax += pull * dx;
                ay += pull * dy;
                az += pull * dz;
            }
            let velocity = velocities[i] + dt * f32x4::new(ax, ay, az, 0.0);
            velocities[i] = velocity;
            moved[i] = own + dt * velocity;
        }
    }
}

/// Adds each star's light to its pixel.
#[kernel]
fn shine(width: usize, height: usize, stars: &[f32x4], light: &[Atomic<u32>]) {
    let i = global_idx_x();
    if i < stars.len() {
        let x = stars[i].x * height as f32 * 0.58 + 0.5 * width as f32;
        let y = stars[i].y * height as f32 * 0.58 + 0.5 * height as f32;
        if x >= 0.0 && y >= 0.0 && x < width as f32 && y < height as f32 {
            let at = y as usize * width + x as usize;
            if at < light.len() {
                light[at].fetch_add(1);
            }
        }
    }
}

pub fn draw(device: &Device, width: usize, height: usize, steps: usize) -> sarek::Result<Pixels> {
    let pull = if is_strict(device) {
        pull
    } else {
        pull_loosely
    };
    let n = (width * height / 48).max(64);
    let (mut stars, mut velocities) = (vec![], vec![]);
    for i in 0..n as u32 {
        let random = |k: u32| colour::unit(i * 8 + k);
        let (radius, angle) = (0.06 + 0.6 * random(0), std::f32::consts::TAU * random(1));
        let side = if i % 2 == 0 { 1.0 } else { -1.0 };
        let (sin, cos) = angle.sin_cos();
        let speed = side * (0.5 * radius / (radius + 0.25)).sqrt() * 0.9;
        let tilt = 0.4 * side;
        stars.push(f32x4::new(
            side * 0.75 + radius * cos,
            side * 0.25 + radius * sin,
            tilt * radius * sin + 0.02 * random(2),
            1.0 / n as f32,
        ));
        velocities.push(f32x4::new(
            -speed * sin - side * 0.28,
            speed * cos + side * 0.06,
            0.0,
            0.0,
        ));
    }
    let (mut stars, mut velocities) = (Vector::from_vec(stars), Vector::from_vec(velocities));
    let mut moved = Vector::from_vec(vec![f32x4::ZERO; n]);
    let mut light = Vector::<u32>::zeros(width * height);
    for step in 0..steps {
        pull(0.015, &stars, &mut velocities, &mut moved)
            .over(n)
            .run_on(device)?;
        std::mem::swap(&mut stars, &mut moved);
        // The last steps stay visible as trails.
        if step + 12 >= steps {
            shine(width, height, &stars, &mut light)
                .over(n)
                .run_on(device)?;
        }
    }
    let stops = &[
        [4, 5, 16],
        [60, 70, 160],
        [190, 180, 240],
        [255, 245, 220],
        [255, 255, 255],
    ];
    Ok(light
        .into_vec()?
        .iter()
        .map(|&l| colour::ramp(stops, (l as f32).sqrt() * 0.24))
        .collect())
}
